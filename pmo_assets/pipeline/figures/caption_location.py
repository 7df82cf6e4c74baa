"""Where the captions are: XML captions aligned with the page text, and captions found by layout alone.

The XML gives label and text of each caption, so locating it is an alignment problem: find the line that starts like
the caption, then take the lines that together differ least from it. Where the XML is silent, a caption is a line that
begins with a label ("Figure 3.", "Fig. 3 |") and looks like a caption by punctuation, font and position.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from pmo_assets.pipeline.figures.page import PageContent, TextLine, turned_box
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.figure import PageBox
from pmo_assets.records.geometry import Box, union_box

LineKey = tuple[int, int]
"""(page index, index of the line in `PageContent.lines`)."""

ACCEPTED_SIMILARITY = 0.55
"""Least similarity of a caption's first characters after its label. A body sentence that begins with the same label
("Figure 2 shows ...") shares about 0.3 with the caption; a caption with formulas or small caps keeps over 0.7."""

HEAD = 160
"""How many (letter and digit) characters of a caption decide where it starts: two to three lines."""

MIN_RUN = 5
"""Letters in a row that must agree before a line counts as part of a caption; four occur by chance in any text."""

MIN_REMAINDER = 40
"""A caption's missing tail is looked for in another column or on another page when it has at least so many
characters, i.e. about one line."""

_KIND = (
    r"(?:fig(?:ure)?s?|scheme|chart|plate|abb(?:ildung)?|abbildung|illustration|table|tab|box|video|movie|algorithm)"
)
_NUMBER = r"(?:[a-z]{1,2}[\s.\-]?)?\d{1,3}(?:[.\-]\d{1,2})?[a-z]?|[ivx]{1,5}"
_CONTINUED = r"\s*[\(\[]?\s*(?:continued|cont['’]?d?\.?)(?=\s*(?:[\)\].:;,–—]|$))\s*[\)\]]?"
"""The word alone, set off by punctuation or the line's end: "Continued expression of ..." is a caption's sentence."""

_LABEL = re.compile(
    rf"^\W{{0,2}}(?P<prefix>(?:(?:supplementary|supplemental|supporting|extended\s+data|appendix|additional|online)\s+)*)"
    rf"(?P<kind>{_KIND})(?P<dot>\s*\.?)\s*(?P<number>{_NUMBER})(?![a-z0-9])"
    rf"(?P<continued>\s*[.:|–—\-]*{_CONTINUED})?(?P<after>\s*[.:|)–—\-]*)",
    re.IGNORECASE,
)
_COMPACT_LABEL = re.compile(r"^(?:supplementary|supplemental)?(?P<kind>fig(?:ure)?s?|table)(?P<number>[a-z]?\d{1,2})")
_CONTINUED_TAIL = re.compile(rf"^\W*?{_CONTINUED}", re.IGNORECASE)
_ADDRESS = re.compile(r"^(?:doi\s*:|https?://(?:dx\.)?doi\.org)\s*\S+$", re.IGNORECASE)
"""A figure's own DOI, printed below its caption by PLOS and others; it is not part of the caption."""

_TABLE_KINDS = ("table", "tab")
_ROMAN = {"i": 1, "v": 5, "x": 10}


@dataclass(frozen=True, slots=True)
class CaptionLocation:
    """A caption on the page.

    Attributes:
        kind: "figure" or "table" (tables claim their own surroundings, so that no figure does).
        label: as printed, without punctuation behind it; from the XML when that has one.
        number: normalised number, e.g. "3", "s1", "a2"; "" when there is none.
        caption: text in the PDF without the label, hyphenation at line ends undone.
        image_cluster_id: the package figure it was located by; None when found by layout.
        lines: its lines in reading order.
        boxes: one per page, in page order, points as displayed.
        quarter_turns: reading direction, see `TextLine`.
        similarity: 0..1, how well the PDF's text agrees with the XML's; the layout score / 10 without XML.
        is_continuation: says that it continues an earlier figure ("Figure 3 (continued)").
    """

    kind: str
    label: str | None
    number: str
    caption: str
    image_cluster_id: str | None
    lines: tuple[LineKey, ...]
    boxes: tuple[PageBox, ...]
    quarter_turns: int
    similarity: float
    is_continuation: bool = False


@dataclass(frozen=True, slots=True)
class LocatedCaptions:
    """All captions of a document.

    Attributes:
        captions: figures in reading order, by XML or by layout; each number once, continuations besides.
        others: tables and captions that are not used (duplicates, lists of legends): they still bound regions.
        missing: package figures whose caption is not in the text.
    """

    captions: tuple[CaptionLocation, ...]
    others: tuple[CaptionLocation, ...]
    missing: tuple[PackageFigure, ...]


def compact_text(text: str) -> str:
    """Return only letters and digits, lower case, compatibility forms (ligatures, superscripts) resolved."""
    if text.isascii():
        return "".join(filter(str.isalnum, text)).lower()
    return "".join(c for c in unicodedata.normalize("NFKD", text).lower() if c.isalnum())


def figure_number(label: str | None) -> str:
    """Return the number in a label: "Figure 3" -> "3", "Fig. S1" -> "s1", "FIGURE IV" -> "4"; "" without one."""
    if not label:
        return ""
    match = _LABEL.match(label.strip())
    if match:
        number = _normalised_number(match["number"])
        prefix = match["prefix"].strip().lower()
        return ("s" if prefix.startswith("suppl") and number[:1].isdigit() else "") + number
    loose = re.search(r"([A-Za-z]?\d+)", label)
    return loose.group(1).lower() if loose else ""


def _normalised_number(text: str) -> str:
    number = re.sub(r"[\s.\-](?=\d)", "", text.lower()) if text[:1].isalpha() else text.lower()
    if re.fullmatch(r"[ivx]+", number):
        values = [_ROMAN[c] for c in number]
        pairs = zip(values, [*values[1:], 0], strict=True)
        return str(sum(-value if value < after else value for value, after in pairs))
    return number


@dataclass(frozen=True, slots=True)
class _Start:
    """A line that begins with a label."""

    key: LineKey
    kind: str
    label: str
    number: str
    rest: str
    continued: bool
    after: str


@dataclass(slots=True)
class _Text:
    """The document's lines, once as printed and once compact."""

    pages: Sequence[PageContent]
    compact: list[list[str]]
    starts: list[_Start]
    words: set[str] = field(default_factory=set)

    def line(self, key: LineKey) -> TextLine:
        return self.pages[key[0]].lines[key[1]]


def located_captions(pages: Sequence[PageContent], package_figures: Sequence[PackageFigure] = ()) -> LocatedCaptions:
    """Find the caption of each package figure, and by layout alone those that the XML does not have.

    Args:
        pages: all pages of the document, in order.
        package_figures: from the XML; empty without XML.
    """
    text = _document_text(pages)
    by_xml, missing = _captions_by_xml(text, package_figures)
    used = {key for caption in by_xml for key in caption.lines}
    by_layout = [c for c in _captions_by_layout(text) if not used.intersection(c.lines)]
    return _merged(by_xml, by_layout, missing)


def _document_text(pages: Sequence[PageContent]) -> _Text:
    compact = [[compact_text(line.text) for line in page.lines] for page in pages]
    starts = []
    words: set[str] = set()
    for p, page in enumerate(pages):
        for i, line in enumerate(page.lines):
            words.update(re.findall(r"\w+-\w+", line.text.lower()))
            start = _label_start((p, i), line.text, compact[p][i])
            if start is not None:
                starts.append(start)
    return _Text(pages, compact, starts, words)


def _label_start(key: LineKey, text: str, compact: str) -> _Start | None:
    if not compact[:1].isalpha():
        return None
    match = _LABEL.match(text)
    if match:
        kind = "table" if match["kind"].lower().rstrip(".") in _TABLE_KINDS else "figure"
        if match["kind"].lower() in ("box", "video", "movie", "algorithm"):
            kind = "table"  # not a figure, but it bounds figures like a table does
        label = text[: match.end("number")].strip().lstrip("([• ")
        rest = text[match.end() :]
        return _Start(key, kind, label, figure_number(label), rest, bool(match["continued"]), match["after"].strip())
    # Letter-spaced labels ("F I G U R E 1") only show in the compact form.
    spaced = _COMPACT_LABEL.match(compact)
    if spaced and re.match(r"^\W*(?:\w\s+){3}", text):
        kind = "table" if spaced["kind"] == "table" else "figure"
        label = f"{spaced['kind'].capitalize()} {spaced['number'].upper()}"
        return _Start(key, kind, label, spaced["number"], text[_offset(text, spaced.end()) :], False, ".")
    return None


def _offset(text: str, count: int) -> int:
    """Return the position in `text` behind its first `count` compact characters."""
    seen = 0
    for k, character in enumerate(text):
        if seen >= count:
            return k
        seen += len(compact_text(character))
    return len(text)


# --- by XML -----------------------------------------------------------------------------------------------------------


def _captions_by_xml(
    text: _Text, package_figures: Sequence[PackageFigure]
) -> tuple[list[CaptionLocation], list[PackageFigure]]:
    found: list[CaptionLocation] = []
    missing: list[PackageFigure] = []
    used: set[LineKey] = set()
    for figure in package_figures:
        caption = _caption_by_xml(text, figure, used)
        if caption is None:
            missing.append(figure)
        else:
            used.update(caption.lines)
            found.append(caption)
    return found, missing


def _caption_by_xml(text: _Text, figure: PackageFigure, used: set[LineKey]) -> CaptionLocation | None:
    number = figure_number(figure.label)
    wanted = compact_text(figure.caption)
    best: tuple[float, _Start] | None = None
    for start in text.starts:
        if start.kind != "figure" or start.key in used or start.continued or (number and start.number != number):
            continue
        score = _head_similarity(text, start, wanted)
        if best is None or score > best[0] + 1e-9:
            best = (score, start)
    if best is not None and best[0] >= ACCEPTED_SIMILARITY:
        first, skip = best[1].key, len(compact_text(text.line(best[1].key).text)) - len(compact_text(best[1].rest))
    else:
        found = _search_without_label(text, wanted, used)
        if found is None:
            return _caption_by_label_only(text, figure, number, used)
        first, skip = found
    keys, similarity = _aligned_lines(text, first, skip, wanted, used)
    keys, similarity = _with_unlisted_lines(text, keys, skip, wanted, similarity)
    label_key = _label_line_before(text, keys, number)
    if label_key is not None:
        keys = [label_key, *keys]
    label = figure.label or None
    if not number:  # the XML does not number its figures: take what is printed
        printed = next((s for s in text.starts if s.key == keys[0] and s.kind == "figure"), None)
        label, number = (label or printed.label, printed.number) if printed else (label, "")
    return _caption(text, keys, "figure", label, number, figure.image_cluster_id, similarity)


def _head_similarity(text: _Text, start: _Start, wanted: str) -> float:
    if not wanted:
        # Only the label is printed: a sentence after it makes it a mention in the text.
        return 1.0 if not compact_text(start.rest) else 0.3
    page, index = start.key
    head = compact_text(start.rest)
    goal = wanted[:HEAD]
    for following in text.compact[page][index + 1 :]:
        if len(head) >= len(goal):
            break
        head += following
    return float(Levenshtein.normalized_similarity(head[: len(goal)], goal))


def _search_without_label(text: _Text, wanted: str, used: set[LineKey]) -> tuple[LineKey, int] | None:
    """Find a caption by its first characters alone: labels may be pictures or typeset elsewhere."""
    goal = wanted[: HEAD // 2]
    if len(goal) < 24:
        return None
    best: tuple[float, LineKey, int] | None = None
    for p, compact in enumerate(text.compact):
        whole = "".join(compact)
        if len(whole) < len(goal):
            continue
        hit = fuzz.partial_ratio_alignment(goal, whole, score_cutoff=85)
        if hit is None or (best is not None and hit.score <= best[0]):
            continue
        position = hit.dest_start
        for i, piece in enumerate(compact):
            if position < len(piece):
                if (p, i) not in used:
                    best = (hit.score, (p, i), position)
                break
            position -= len(piece)
    return (best[1], best[2]) if best else None


def _caption_by_label_only(
    text: _Text, figure: PackageFigure, number: str, used: set[LineKey]
) -> CaptionLocation | None:
    """Take the caption that layout shows for this number when its words are not those of the XML."""
    candidates = [
        c
        for c in _captions_by_layout(text)
        if c.kind == "figure" and c.number == number != "" and not c.is_continuation and not used.intersection(c.lines)
    ]
    if not candidates:
        return None
    best = max(candidates, key=lambda c: c.similarity)
    return _caption(text, list(best.lines), "figure", figure.label or best.label, number, figure.image_cluster_id, 0.3)


def _label_line_before(text: _Text, keys: Sequence[LineKey], number: str) -> LineKey | None:
    """Return the line with nothing but the label just before (or beside) the first caption line."""
    page, index = keys[0]
    if _label_start(keys[0], text.line(keys[0]).text, text.compact[page][index]) is not None:
        return None
    first = text.line(keys[0])
    for start in text.starts:
        if start.key[0] != page or start.number != number or compact_text(start.rest) or start.key in keys:
            continue
        label = text.line(start.key)
        gap = max(first.bbox[1] - label.bbox[3], label.bbox[1] - first.bbox[3])
        if gap < 2 * first.size:
            return start.key
    return None


def _aligned_lines(
    text: _Text, first: LineKey, skip: int, wanted: str, used: set[LineKey]
) -> tuple[list[LineKey], float]:
    """Return the lines that hold the caption `wanted` (compact) from `first` on, and their similarity to it."""
    keys, remainder, distance = _aligned_run(text, first, skip, wanted)
    for _ in range(3):
        if len(remainder) < MIN_REMAINDER:
            break
        start = _remainder_start(text, keys[-1], remainder, used | set(keys))
        if start is None:
            break
        more, remainder, _ = _aligned_run(text, start, 0, remainder)
        keys += [key for key in more if key not in keys]
        printed = "".join(text.compact[p][i] for p, i in keys)[skip:]
        distance = Levenshtein.distance(printed, wanted)
    return keys, max(0.0, 1.0 - distance / max(len(wanted), 1))


def _aligned_run(text: _Text, first: LineKey, skip: int, wanted: str) -> tuple[list[LineKey], str, int]:
    """Take consecutive lines while that brings their text closer to `wanted`.

    Returns the lines, what of `wanted` is not in them (at its end), and the edit distance.
    """
    page, index = first
    compact = text.compact[page]
    printed = compact[index][skip:]
    ends = [len(printed)]
    best = (Levenshtein.distance(printed, wanted), 1)
    limit = int(len(wanted) * 1.25) + 200
    for count, piece in enumerate(compact[index + 1 :], start=2):
        if len(printed) > limit:
            break
        printed += piece
        ends.append(len(printed))
        if not piece:
            continue
        distance = Levenshtein.distance(printed, wanted)
        if distance < best[0]:
            best = (distance, count)
    count = best[1]
    matched = _matched_letters(printed[: ends[count - 1]], ends[:count], wanted)
    keys = [first]
    kept = compact[index][skip:]
    for k in range(1, count):
        piece = compact[index + k]
        # A running head or another column's line between caption lines matches by chance only.
        if matched[k] >= 0.5 * len(piece):
            keys.append((page, index + k))
            kept += piece
    while len(keys) > 1 and not compact[keys[-1][1]]:
        keys.pop()
    _, last = _agreement_end(kept, wanted)
    return keys, wanted[last:], Levenshtein.distance(kept, wanted)


def _matched_letters(printed: str, ends: Sequence[int], wanted: str) -> list[int]:
    """Count per line (which ends at `ends[k]` in `printed`) the letters that agree with the caption.

    Any two texts share single letters in order, so only runs count; a line as short as a run (an index, a unit) may
    match in part of one.
    """
    matched = [0] * len(ends)
    line = 0
    for run in Levenshtein.opcodes(printed, wanted):
        if run.tag != "equal":
            continue
        is_long = run.src_end - run.src_start >= MIN_RUN
        for position in range(run.src_start, run.src_end):
            while position >= ends[line]:
                line += 1
            start = ends[line - 1] if line else 0
            if is_long or ends[line] - start <= MIN_RUN:
                matched[line] += 1
    return matched


def _with_unlisted_lines(
    text: _Text, keys: list[LineKey], skip: int, wanted: str, similarity: float
) -> tuple[list[LineKey], float]:
    """Add the lines that the XML leaves out (it may hold only the caption's title).

    The sign is that the last line, or the one after it, goes on behind the XML's last word; then layout tells where
    the caption ends.
    """
    page, index = keys[0]
    start = _label_start(keys[0], text.line(keys[0]).text, text.compact[page][index])
    if start is None or not wanted:
        return keys, similarity
    more = [key for key in _following_lines(text, start) if key not in keys]
    printed = "".join(text.compact[p][i] for p, i in keys)[skip:]
    end, known = _agreement_end(printed, wanted)
    rest = wanted[known:]
    goes_on = bool(more) and len(rest) >= MIN_RUN and text.compact[more[0][0]][more[0][1]].startswith(rest[:MIN_RUN])
    if not goes_on and len(printed) - end <= 2 * MIN_RUN:
        return keys, similarity
    keys = keys + more
    printed = "".join(text.compact[p][i] for p, i in keys)[skip:]
    end, _ = _agreement_end(printed, wanted)
    return keys, max(0.0, 1.0 - Levenshtein.distance(printed[:end], wanted) / len(wanted))


def _agreement_end(printed: str, wanted: str) -> tuple[int, int]:
    """Return where the last run of agreeing letters ends, in `printed` and in `wanted`."""
    ends = (0, 0)
    for run in Levenshtein.opcodes(printed, wanted):
        if run.tag == "equal" and run.src_end - run.src_start >= MIN_RUN:
            ends = (run.src_end, run.dest_end)
    return ends


def _remainder_start(text: _Text, last: LineKey, remainder: str, used: set[LineKey]) -> LineKey | None:
    """Find the line where a caption goes on: elsewhere on its page, or on the next page."""
    goal = remainder[:80]
    best: tuple[float, LineKey] | None = None
    for page in (last[0], last[0] + 1):
        if page >= len(text.compact):
            break
        compact = text.compact[page]
        for index, piece in enumerate(compact):
            if not piece or (page, index) in used:
                continue
            head = piece
            for following in compact[index + 1 : index + 4]:
                if len(head) >= len(goal):
                    break
                head += following
            score = float(Levenshtein.normalized_similarity(head[: len(goal)], goal, score_cutoff=0.7))
            if score > (best[0] if best else 0.0):
                best = (score, (page, index))
    return best[1] if best else None


# --- by layout --------------------------------------------------------------------------------------------------------


def body_style(pages: Iterable[PageContent]) -> tuple[float, str]:
    """Return font size (points) and font of the running text: those of most characters; (10, "") without text."""
    weights: Counter[tuple[float, str]] = Counter()
    for page in pages:
        for line in page.lines:
            weights[(round(line.size * 2) / 2, line.font)] += len(line.text)
    return max(weights, key=lambda style: weights[style]) if weights else (10.0, "")


def _captions_by_layout(text: _Text) -> list[CaptionLocation]:
    body_size, body_font = body_style(text.pages)
    captions = []
    for start in text.starts:
        score = _layout_score(text, start, body_size, body_font)
        if score < 3:
            continue
        keys = _following_lines(text, start)
        keys += _overleaf_lines(text, keys, body_size, body_font)
        captions.append(
            _caption(text, keys, start.kind, start.label, start.number, None, min(1.0, score / 10), start.continued)
        )
    return captions


def _layout_score(text: _Text, start: _Start, body_size: float, body_font: str) -> float:
    """Return how much a line that begins with a label looks like the start of a caption; 3 is enough.

    Punctuation behind the number (or nothing else on the line), a bold label, the start of a block and a font other
    than the body's speak for a caption; a lower-case word right behind the number is a sentence ("Figure 2 shows").
    """
    page, index = start.key
    line = text.line(start.key)
    rest = start.rest.strip()
    previous = text.pages[page].lines[index - 1] if index else None
    is_block_start = previous is None or previous.block != line.block or _gap(previous, line) > 0.6 * line.size
    label_span = line.spans[0]
    is_styled = label_span.bold and (not line.bold or not previous or not previous.bold or is_block_start)
    score = 1.0 if is_block_start else 0.0
    if start.after[:1] in (".", ":", "|", "–", "—", "-") or (not rest and is_block_start):
        score += 2
    elif rest[:1].islower() or rest[:1] in ",;)]":
        score -= 3
    elif is_styled or label_span.text.isupper():
        score += 1
    if start.after[:1] == ")" or (start.after[:1] in ("–", "-") and rest[:1].isdigit()):
        score -= 3
    if is_styled:
        score += 1.5
    if abs(line.size - body_size) > 0.4 or (line.font != body_font and not line.bold):
        score += 1
    if (
        previous is not None
        and previous.size == line.size
        and not is_styled
        and previous.text[-1:] not in ".!?:)]"
        and previous.quarter_turns == line.quarter_turns
        and len(previous.text) > 25
        and abs(line.size - body_size) <= 0.4
    ):
        score -= 2  # the sentence before goes on: a column break in the middle of "(see ... / Figure 2. ...)"
    return score


def _gap(above: TextLine, below: TextLine) -> float:
    """Return the vertical space between two lines; large when `below` starts higher (a new column)."""
    if below.bbox[1] < above.bbox[1] - 2 * above.size:
        return 1e6
    return below.bbox[1] - above.bbox[3]


def _following_lines(text: _Text, start: _Start) -> list[LineKey]:
    """Return the lines of the caption that begins at `start`: same size, close below each other, same column."""
    page_index, index = start.key
    page = text.pages[page_index]
    first = page.lines[index]
    turns = first.quarter_turns
    labels = {s.key for s in text.starts if s.kind == "table" or s.after or not s.rest}

    def upright(line: TextLine) -> Box:
        return turned_box(line.bbox, turns, page.width, page.height)

    keys = [start.key]
    last = upright(first)
    around = last
    size: float | None = first.size if start.rest.strip() else None
    pitch: float | None = None
    for k in range(index + 1, len(page.lines)):
        line = page.lines[k]
        key = (page_index, k)
        box = upright(line)
        if line.quarter_turns != turns or key in labels or _ADDRESS.match(line.text):
            break
        reference = size if size is not None else line.size
        is_small_script = line.size < 0.8 * reference and len(line.text) <= 6
        same_row = box[1] < last[3] - 0.4 * reference and box[3] > last[1] + 0.4 * reference
        if same_row:
            if box[0] - around[2] > 3 * reference or around[0] - box[2] > 3 * reference:
                break
        else:
            gap = box[1] - last[3]
            if box[1] < last[1] or gap > 0.9 * reference or min(box[2], around[2]) - max(box[0], around[0]) <= 0:
                break
            advance = box[3] - last[3]
            if pitch is not None and line.block != page.lines[keys[-1][1]].block and advance > pitch + 0.25 * reference:
                break
            if pitch is None and line.size == reference:
                pitch = max(advance, 1.05 * reference)
        if size is not None and abs(line.size - size) > 0.6 and not is_small_script:
            break
        if size is None and line.text.strip():
            size = line.size
        keys.append(key)
        around = union_box([around, box])
        last = last if is_small_script else (box if not same_row else union_box([last, box]))
    return keys


def _overleaf_lines(text: _Text, keys: Sequence[LineKey], body_size: float, body_font: str) -> list[LineKey]:
    """Return the lines at the top of the next page with which an unfinished caption goes on.

    Only where the caption's style is not the body's; otherwise nothing tells them from running text.
    """
    last = text.line(keys[-1])
    following = keys[-1][0] + 1
    if last.text[-1:] in ".!?)" or following >= len(text.pages) or last.bbox[3] < 0.75 * text.pages[keys[-1][0]].height:
        return []
    if abs(last.size - body_size) <= 0.4 and last.font == body_font:
        return []
    lines = text.pages[following].lines
    for index, line in enumerate(lines):
        if line.bbox[1] > text.pages[following].height / 3:
            continue
        if line.size == last.size and line.font == last.font and line.text[:1].islower():
            start = _Start((following, index), "figure", "", "", line.text, False, "")
            return _following_lines(text, start)
    return []


# --- both -------------------------------------------------------------------------------------------------------------


def _caption(
    text: _Text,
    keys: Sequence[LineKey],
    kind: str,
    label: str | None,
    number: str,
    image_cluster_id: str | None,
    similarity: float,
    is_continuation: bool = False,
) -> CaptionLocation:
    boxes = []
    for page in sorted({key[0] for key in keys}):
        boxes.append(PageBox(page, union_box(text.line(key).bbox for key in keys if key[0] == page)))
    return CaptionLocation(
        kind=kind,
        label=label,
        number=number,
        caption=_printed_caption(text, keys),
        image_cluster_id=image_cluster_id,
        lines=tuple(keys),
        boxes=tuple(boxes),
        quarter_turns=text.line(keys[0]).quarter_turns,
        similarity=similarity,
        is_continuation=is_continuation,
    )


def _printed_caption(text: _Text, keys: Sequence[LineKey]) -> str:
    """Join the lines without the label; a hyphen at a line end goes unless the document writes the word with it."""
    joined = ""
    for k, key in enumerate(keys):
        piece = text.line(key).text
        if k == 0:
            start = _label_start(key, piece, text.compact[key[0]][key[1]])
            if start is not None:
                piece = start.rest
        piece = piece.strip()
        if not joined:
            joined = piece.lstrip(".:|–—- ")
        elif joined[-1] in "-‐\u00ad" and piece[:1].islower():
            before = re.findall(r"\w+$", joined[:-1])
            after = re.findall(r"^\w+", piece)
            is_compound = bool(before and after) and f"{before[0]}-{after[0]}".lower() in text.words
            joined = (joined if is_compound else joined[:-1]) + piece
        elif joined[-1] in "-–/" and piece[:1].isalnum():
            joined += piece
        elif piece:
            joined += " " + piece
    return re.sub(r"\s+", " ", joined).replace("\u00ad", "").strip()


def _merged(
    by_xml: Sequence[CaptionLocation], by_layout: Sequence[CaptionLocation], missing: Sequence[PackageFigure]
) -> LocatedCaptions:
    numbers = {caption.number for caption in by_xml}
    others: list[CaptionLocation] = []
    best: dict[str, CaptionLocation] = {}
    continuations: list[CaptionLocation] = []
    for caption in by_layout:
        if caption.kind != "figure" or not caption.number:
            others.append(caption)
        elif caption.is_continuation or _CONTINUED_TAIL.match(caption.caption):
            continuations.append(replace(caption, is_continuation=True))
        elif caption.number in numbers:
            others.append(caption)
        elif caption.number not in best or caption.similarity > best[caption.number].similarity:
            if caption.number in best:
                others.append(best[caption.number])
            best[caption.number] = caption
        else:
            others.append(caption)
    captions = [*by_xml, *best.values(), *continuations]
    captions.sort(key=lambda c: (c.boxes[0].page, c.boxes[0].bbox[1], c.boxes[0].bbox[0]))
    return LocatedCaptions(tuple(captions), tuple(others), tuple(missing))
