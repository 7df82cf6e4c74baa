"""Captions by the XML's words: the lines of the pages that together differ least from each caption of the XML.

The XML gives label and text of each caption, so locating it is an alignment problem: find the line that starts like
the caption, then take the lines that together differ least from it. Texts are compared as letters and digits only
(`labels.compact_text`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from pmo_assets.pipeline.figures.caption_location.by_layout import captions_by_layout, following_lines
from pmo_assets.pipeline.figures.caption_location.labels import LabelStart, compact_text, figure_number
from pmo_assets.pipeline.figures.caption_location.lines import CaptionLocation, DocumentText, caption_of_lines
from pmo_assets.pipeline.figures.page import LineKey
from pmo_assets.pipeline.figures.page_turns import turned_box
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.geometry import Box, union_box

ACCEPTED_SIMILARITY = 0.55
"""Least similarity of a caption's first characters after its label. A body sentence that begins with the same label
("Figure 2 shows ...") shares about 0.3 with the caption; a caption with formulas or small caps keeps over 0.7."""

MENTION_SIMILARITY = 0.3
"""Similarity of a sentence behind a label when the XML's caption is empty: as little as any other body sentence."""

LABEL_ONLY_SIMILARITY = 0.3
"""Similarity of a caption of which nothing but the number is that of the XML: its words share no more than chance."""

SAME_SCORE = 1e-9
"""A later line must be better by more than rounding, so that of equals the first is taken."""

HEAD = 160
"""Number of (letter and digit) characters of a caption that decide where it starts: two to three lines."""

MIN_SEARCHED = 24
"""Characters of a caption that is looked for without its label; fewer are found by chance."""

MIN_SEARCH_SCORE = 85
"""Least partial ratio (0..100, RapidFuzz) of a caption that is looked for without its label: a few characters of 80
may be typeset otherwise."""

MIN_RUN = 5
"""Letters in a row that must agree before a line counts as part of a caption; four occur by chance in any text."""

MIN_LINE_AGREEMENT = 0.5
"""Part of a line that must agree: a running head or another column's line between matches by chance only."""

MIN_OVERHANG = 2 * MIN_RUN
"""Characters behind the XML's last word, from which the printed caption goes on where the XML's ends."""

LONGEST_RUN = (1.25, 200)
"""Factor of the caption's length, and characters besides, after which no line is added to a run any more."""

MIN_REMAINDER = 40
"""A caption's missing tail is looked for in another column or on another page when it has at least so many
characters, i.e. about one line."""

MAX_REMAINDERS = 3
"""Most times that a caption's rest is looked for elsewhere: more columns than a page has."""

REMAINDER_HEAD = 80
"""Characters by which the tail is looked for ..."""

REMAINDER_LINES = 4
"""... in at most so many lines ..."""

MIN_REMAINDER_SIMILARITY = 0.7
"""... and how similar they must be: more than at the caption's start, since no label helps."""

OVER = 0.5
"""Font sizes by which the boxes of lines that follow each other may overlap."""

_SUBCAPTION = re.compile(r"^[(\[]?(?:[A-Za-z]|[ivx]{1,4}|\d{1,2})[)\].:]")
"""Beginning of the text under one of several pictures: "(a) Original"."""

LABEL_GAP = 2.0
"""A label on a line of its own is at most so many font sizes away from the caption's first line."""


def captions_by_xml(
    text: DocumentText, package_figures: Sequence[PackageFigure]
) -> tuple[list[CaptionLocation], list[PackageFigure]]:
    """Return the captions of package figures that are in the text, and the figures whose caption is not."""
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


def _caption_by_xml(text: DocumentText, figure: PackageFigure, used: set[LineKey]) -> CaptionLocation | None:
    number = figure_number(figure.label)
    wanted = compact_text(figure.caption)
    best: tuple[float, LabelStart] | None = None
    for start in text.starts:
        if start.kind != "figure" or start.key in used or start.continued or (number and start.number != number):
            continue
        score = _head_similarity(text, start, wanted)
        if best is None or score > best[0] + SAME_SCORE:
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
    printed = next((s for s in text.starts if s.key == keys[0] and s.kind == "figure"), None)
    if not number and printed is not None:  # the XML does not number its figures: take what is printed
        label, number = label or printed.label, printed.number
    return caption_of_lines(text, keys, "figure", label, number, figure.image_cluster_id, similarity)


def _head_similarity(text: DocumentText, start: LabelStart, wanted: str) -> float:
    """Return the similarity 0..1 of the text behind a label with the beginning of the caption `wanted` (compact)."""
    if not wanted:
        # Only the label is printed: a sentence after it makes it a mention in the text.
        return 1.0 if not compact_text(start.rest) else MENTION_SIMILARITY
    page, index = start.key
    head = compact_text(start.rest)
    goal = wanted[:HEAD]
    for following in text.compact[page][index + 1 :]:
        if len(head) >= len(goal):
            break
        head += following
    return float(Levenshtein.normalized_similarity(head[: len(goal)], goal))


def _search_without_label(text: DocumentText, wanted: str, used: set[LineKey]) -> tuple[LineKey, int] | None:
    """Find a caption by its first characters alone: labels may be pictures or typeset elsewhere."""
    goal = wanted[: HEAD // 2]
    if len(goal) < MIN_SEARCHED:
        return None
    best: tuple[float, LineKey, int] | None = None
    for p, compact in enumerate(text.compact):
        whole = "".join(compact)
        if len(whole) < len(goal):
            continue
        hit = fuzz.partial_ratio_alignment(goal, whole, score_cutoff=MIN_SEARCH_SCORE)
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
    text: DocumentText, figure: PackageFigure, number: str, used: set[LineKey]
) -> CaptionLocation | None:
    """Take the caption that layout shows for this number when its words are not those of the XML."""
    candidates = [
        c
        for c in captions_by_layout(text)
        if c.kind == "figure" and c.number == number != "" and not c.is_continuation and not used.intersection(c.lines)
    ]
    if not candidates:
        return None
    best = max(candidates, key=lambda c: c.similarity)
    label = figure.label or best.label
    found = caption_of_lines(text, best.lines, "figure", label, number, figure.image_cluster_id, LABEL_ONLY_SIMILARITY)
    return replace(found, by_number=True)


def _label_line_before(text: DocumentText, keys: Sequence[LineKey], number: str) -> LineKey | None:
    """Return the line with nothing but the label just before (or beside) the first caption line."""
    if text.label_at(keys[0]) is not None:
        return None
    first = text.line(keys[0])
    for start in text.starts:
        if start.key[0] != keys[0][0] or start.number != number or compact_text(start.rest) or start.key in keys:
            continue
        label = text.line(start.key)
        gap = max(first.bbox[1] - label.bbox[3], label.bbox[1] - first.bbox[3])
        if gap < LABEL_GAP * first.size:
            return start.key
    return None


def _aligned_lines(
    text: DocumentText, first: LineKey, skip: int, wanted: str, used: set[LineKey]
) -> tuple[list[LineKey], float]:
    """Return the lines that hold the caption `wanted` (compact) from `first` on, and their similarity to it."""
    keys, remainder, distance = _aligned_run(text, first, skip, wanted)
    for _ in range(MAX_REMAINDERS):
        if len(remainder) < MIN_REMAINDER:
            break
        start = _remainder_start(text, first, keys[-1], remainder, used | set(keys))
        if start is None:
            break
        more, remainder, _ = _aligned_run(text, start, 0, remainder)
        keys += [key for key in more if key not in keys]
        printed = text.compact_lines(keys)[skip:]
        distance = Levenshtein.distance(printed, wanted)
    return keys, max(0.0, 1.0 - distance / max(len(wanted), 1))


def _aligned_run(text: DocumentText, first: LineKey, skip: int, wanted: str) -> tuple[list[LineKey], str, int]:
    """Take consecutive lines while that brings their text closer to `wanted`.

    Returns the lines, what of `wanted` is not in them (at its end), and the edit distance.
    """
    page, index = first
    compact = text.compact[page]
    printed = compact[index][skip:]
    ends = [len(printed)]
    best = (Levenshtein.distance(printed, wanted), 1)
    limit = int(len(wanted) * LONGEST_RUN[0]) + LONGEST_RUN[1]
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
        if matched[k] >= MIN_LINE_AGREEMENT * len(piece):
            if _is_over(text, (page, index + k), keys):
                continue
            keys.append((page, index + k))
            kept += piece
    while len(keys) > 1 and not compact[keys[-1][1]]:
        keys.pop()
    _, last = _agreement_end(kept, wanted)
    return keys, wanted[last:], Levenshtein.distance(kept, wanted)


def _is_over(text: DocumentText, key: LineKey, keys: Sequence[LineKey]) -> bool:
    """Say whether a line stands in the figure over a caption and is no part of it, whatever it says.

    XMLs may repeat behind a caption's title the sub-captions that are printed under the pictures. A caption goes on
    below, or at the top of another column.
    """
    line, first = text.line(key), text.line(keys[0])
    if key[0] != keys[0][0] or line.quarter_turns != first.quarter_turns:
        return False
    page = text.pages[key[0]]

    def upright(one: LineKey) -> Box:
        return turned_box(text.line(one).bbox, first.quarter_turns, page.width, page.height)

    box, around = upright(key), union_box(upright(one) for one in keys if one[0] == key[0])
    if box[3] > upright(keys[0])[1] + OVER * first.size:
        return False
    return box[0] < around[2] or _SUBCAPTION.match(line.text) is not None


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
    text: DocumentText, keys: list[LineKey], skip: int, wanted: str, similarity: float
) -> tuple[list[LineKey], float]:
    """Add the lines that the XML leaves out (it may hold only the caption's title).

    The sign is that the last line, or the one after it, goes on behind the XML's last word; then layout tells where
    the caption ends.
    """
    start = text.label_at(keys[0])
    if start is None or not wanted:
        return keys, similarity
    more = [key for key in following_lines(text, start) if key not in keys]
    printed = text.compact_lines(keys)[skip:]
    end, known = _agreement_end(printed, wanted)
    rest = wanted[known:]
    goes_on = bool(more) and len(rest) >= MIN_RUN and text.compact_lines(more[:1]).startswith(rest[:MIN_RUN])
    if not goes_on and len(printed) - end <= MIN_OVERHANG:
        return keys, similarity
    keys = keys + more
    printed = text.compact_lines(keys)[skip:]
    end, _ = _agreement_end(printed, wanted)
    return keys, max(0.0, 1.0 - Levenshtein.distance(printed[:end], wanted) / len(wanted))


def _agreement_end(printed: str, wanted: str) -> tuple[int, int]:
    """Return where the last run of agreeing letters ends, in `printed` and in `wanted`."""
    ends = (0, 0)
    for run in Levenshtein.opcodes(printed, wanted):
        if run.tag == "equal" and run.src_end - run.src_start >= MIN_RUN:
            ends = (run.src_end, run.dest_end)
    return ends


def _remainder_start(
    text: DocumentText, first: LineKey, last: LineKey, remainder: str, used: set[LineKey]
) -> LineKey | None:
    """Find the line where a caption goes on: elsewhere on its page, or on the next page."""
    goal = remainder[:REMAINDER_HEAD]
    best: tuple[float, LineKey] | None = None
    for page in (last[0], last[0] + 1):
        if page >= len(text.compact):
            break
        compact = text.compact[page]
        for index, piece in enumerate(compact):
            if not piece or (page, index) in used or _is_over(text, (page, index), (first, last)):
                continue
            head = piece
            for following in compact[index + 1 : index + REMAINDER_LINES]:
                if len(head) >= len(goal):
                    break
                head += following
            score = float(
                Levenshtein.normalized_similarity(head[: len(goal)], goal, score_cutoff=MIN_REMAINDER_SIMILARITY)
            )
            if score > (best[0] if best else 0.0):
                best = (score, (page, index))
    return best[1] if best else None
