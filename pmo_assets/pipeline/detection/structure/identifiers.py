"""Panel identifiers: finding "A", "(b)", "c." or "Step 1" printed in a figure.

Live text of the PDF is read exactly. In flat pictures isolated letters are recognised by their shape (`glyphs.py`), and
only believed when a consistent set of them is found: one style, one size, the letters the caption names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pmo_assets.pipeline.detection.structure.glyphs import find_glyphs
from pmo_assets.pipeline.detection.structure.gutters import Canvas, Rect, pixel_rect
from pmo_assets.records.detections import FigureView

POSITIONAL = frozenset(
    [
        "left",
        "right",
        "top",
        "bottom",
        "middle",
        "centre",
        "center",
        "upper",
        "lower",
        "first",
        "second",
        "third",
        "fourth",
        "last",
        "above",
        "below",
        "row",
        "column",
        "panel",
        "panels",
        "central",
        "far",
        "image",
        "images",
        "side",
    ]
)
"""Words by which captions point at panels that carry no printed identifier."""

BRACKETED = re.compile(r"^[(\[]\s*([A-Za-z]\d{0,2}|\d{1,2}[a-z]?|[ivx]{1,5}|[A-Z]-?[ivx]{1,4})\s*[)\]][.:,]?(?=\s|$)")
SUFFIXED = re.compile(r"^([A-Za-z]\d{0,2}|[ivx]{2,5}|\d{1,2})[.):](?=\s|$)")
PLAIN = re.compile(r"^([A-Za-z]\d{0,2}|[ivx]{2,5}|\d{1,2}[a-z]?)$")

MOST_FURTHER, SURE_FURTHER = 2, 0.8
"""So many letters after the last one that the caption names are looked for, and how well they must be read."""

_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")

MOST = 64
"""More identifiers than this are text or a table, not panels."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """A printed identifier.

    Attributes:
        name: as read, without brackets and dots.
        rect: pixels of the canvas, brackets included.
        style: "brackets", "bracket", "dot", "plain" or "word".
        source: "text" (live text) or "glyph" (shape).
        score: 0..1, that an identifier is here.
        text_score: 0..1, how far the print itself says `name`.
    """

    name: str
    rect: Rect
    style: str
    source: str
    score: float
    text_score: float


def parse_identifier(text: str) -> tuple[str, str, int] | None:
    """Return (name, style, characters used) of text that is or begins with an identifier, else None.

    A beginning counts only with brackets or a closing bracket or dot: "(a) Control" but not "A control".
    """
    for pattern, style in ((BRACKETED, "brackets"), (SUFFIXED, "suffix"), (PLAIN, "plain")):
        match = pattern.match(text.strip())
        if match:
            if style == "suffix":
                style = "bracket" if text.strip()[match.end(1)] == ")" else "dot"
            return match.group(1), style, match.end()
    return None


def is_positional(name: str) -> bool:
    """Say whether a caption's name for a panel is a place ("left", "top row") and so is not printed."""
    words = re.findall(r"[a-z]+", name.lower())
    return bool(words) and any(word in POSITIONAL for word in words) and len(name) > 1


def key(name: str) -> str:
    """Return a name as it is compared: letters and digits, lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def is_word(name: str) -> bool:
    """Say whether a name is a word ("Step 1"): it is no place, no identifier, and longer than two letters ("OD")."""
    return len(key(name)) > 2 and not is_positional(name) and parse_identifier(name) is None


def live_candidates(view: FigureView, canvas: Canvas) -> list[Identifier]:
    """Return every piece of live text that could be an identifier."""
    height, width = canvas.ink.shape
    wanted = {key(name): name for name in view.caption_identifiers if is_word(name)}
    found = []
    for text in (*view.texts, *view.words):
        rect = pixel_rect(text.box, width, height)
        if rect[2] <= rect[0] or rect[3] <= rect[1]:
            continue
        if key(text.text) in wanted:
            found.append(Identifier(wanted[key(text.text)], rect, "word", "text", 0.9, 1.0))
            continue
        parsed = parse_identifier(text.text)
        if parsed is None:
            continue
        name, style, used = parsed
        if used < len(text.text.strip()):
            rect = first_word(canvas, rect, used / len(text.text.strip()))
        found.append(Identifier(name, rect, f"{style} {round(text.size, 1)} {text.bold}", "text", 0.95, 1.0))
    return found


def first_word(canvas: Canvas, rect: Rect, share: float) -> Rect:
    """Return the part of a line of text that its first `share` of characters takes: cut at the white nearest to it."""
    left, top, right, bottom = rect
    columns = np.flatnonzero(canvas.ink[top:bottom, left:right].sum(axis=0) == 0)
    expected = share * (right - left)
    near = columns[np.abs(columns - expected) <= 0.5 * (bottom - top)]
    if near.size == 0:
        return (left, top, left + max(1, round(expected)), bottom)
    # The space between words is the widest white run near the expected place; its start ends the identifier.
    pieces = np.split(near, np.flatnonzero(np.diff(near) > 1) + 1)
    widest = max(pieces, key=len)
    return (left, top, left + max(1, int(widest[0])), bottom)


def glyph_candidates(view: FigureView, canvas: Canvas, names: Sequence[str]) -> list[Identifier]:
    """Return isolated letters of the pixels that look like the wanted names (either case)."""
    side = max(canvas.ink.shape)
    letters = [name for name in names if len(name) == 1]
    if letters and all(name.isalpha() for name in letters):
        last = max(ord(name) for name in letters)
        letters += [chr(code) for code in range(last + 1, last + 1 + MOST_FURTHER) if chr(code).isalpha()]
    both = tuple(dict.fromkeys(c for name in letters for c in (name, name.lower(), name.upper())))
    # Identifiers are at least 7 px to be legible and at most 1/12 of the figure's long side.
    glyphs = find_glyphs(canvas.rgb, both, 7, max(10.0, side / 12))
    return [Identifier(g.name, g.rect, f"{g.style} {g.polarity}", "glyph", g.score, g.score) for g in glyphs]


def consistent_set(candidates: Iterable[Identifier], names: Sequence[str], tolerance: float) -> list[list[Identifier]]:
    """Choose one place (or the sub-places a1, a2 …) for every name so that the places line up.

    Args:
        candidates: of one style.
        names: wanted names in the caption's order.
        tolerance: pixels within which edges count as aligned.

    Returns:
        One list per name, empty where nothing fits; more than one place only for numbered sub-panels.
    """
    by_name: dict[str, list[Identifier]] = {}
    for candidate in candidates:
        by_name.setdefault(key(candidate.name), []).append(candidate)
    options: list[list[list[Identifier]]] = []
    for name in names:
        exact = by_name.get(key(name), [])
        if exact:
            same_case = [c for c in exact if c.name == name]
            options.append([[c] for c in (same_case or exact)[:24]])
            continue
        numbered = [c for k, cs in sorted(by_name.items()) for c in cs if re.fullmatch(re.escape(key(name)) + r"\d", k)]
        options.append([numbered] if numbered and key(name).isalpha() else [])
    beam: list[tuple[float, list[list[Identifier]]]] = [(0.0, [])]
    for places in options:
        grown: list[tuple[float, list[list[Identifier]]]] = []
        for total, chosen in beam:
            if not places:
                grown.append((total, [*chosen, []]))
            for place in places:
                others = [p[0].rect for p in chosen if p]
                grown.append((total + place[0].score + alignment(place[0].rect, others, tolerance), [*chosen, place]))
        grown.sort(key=lambda entry: -entry[0])
        beam = grown[:40]
    return beam[0][1]


def alignment(rect: Rect, others: list[Rect], tolerance: float) -> float:
    """Return how well a place fits to those chosen before: rows and columns shared, one height, reading order."""
    if not others:
        return 0.0
    rows = max(tolerance, 0.5 * (rect[3] - rect[1]))
    aligned = any(abs(rect[1] - o[1]) <= rows or abs(rect[3] - o[3]) <= rows for o in others)
    column = any(abs(rect[0] - o[0]) <= rows or abs(rect[2] - o[2]) <= rows for o in others)
    last = others[-1]
    follows = rect[0] > last[0] + rows or rect[1] > last[1] + rows
    apart = all(abs(rect[0] - o[0]) + abs(rect[1] - o[1]) > 3 * rows for o in others)
    heights = float(np.median([o[3] - o[1] for o in others]))
    size = min(heights, rect[3] - rect[1]) / max(heights, rect[3] - rect[1], 1)
    return 0.5 * aligned + 0.4 * column + 0.5 * follows + 1.0 * apart + 1.0 * size - 1.5


def sequence_names(candidates: Sequence[Identifier]) -> tuple[str, ...]:
    """Return the longest a, b, c … (or i, ii, …) sequence among the candidates of one style; empty below two.

    Numerals beside letters are parts of the panels that the letters name.
    """
    present = {c.name for c in candidates}
    found = [
        alphabet[: next((i for i, name in enumerate(alphabet) if name not in present), len(alphabet))]
        for alphabet in (tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), tuple("abcdefghijklmnopqrstuvwxyz"), _NUMERALS)
    ]
    return max((names for names in found if len(names) >= 2), key=sequence_rank, default=())


def sequence_rank(names: Sequence[str]) -> tuple[bool, int]:
    """Return a key by which the sequence that names panels is the largest: letters before numerals, then the longer."""
    return tuple(names) != _NUMERALS[: len(names)], len(names)


def find_identifiers(view: FigureView, canvas: Canvas) -> tuple[tuple[str, ...], list[list[Identifier]]]:
    """Return (names of the panels, places per name).

    With caption identifiers the names are those; without, the longest live-text sequence that starts at a, A or i, each
    printed once. Places may be empty lists. Live text wins over glyphs (annotation guide: an identifier printed in the
    bitmap and as text counts once, the text); glyphs count when at least two, and at least half of the names, are found
    in one style.
    """
    names = tuple(dict.fromkeys(view.caption_identifiers))[:MOST]
    printed = [name for name in names if not is_positional(name)]
    tolerance = canvas.glyph / 3
    live = live_candidates(view, canvas)
    styles = list(dict.fromkeys(c.style for c in live))
    if not names:
        best: tuple[str, ...] = ()
        places: list[list[Identifier]] = []
        for style in styles:
            group = [c for c in live if c.style == style]
            found = sequence_names(group)
            # Plain letters are also labels inside pictures; without a caption to agree they need brackets or bold type.
            sure = not style.startswith("plain") or style.endswith("True")
            once = all(sum(c.name == name for c in group) == 1 for name in found)
            if found and sure and once and (not best or sequence_rank(found) > sequence_rank(best)):
                best, places = found, consistent_set(group, found, tolerance)
        return best, places
    if not printed:
        return names, [[] for _ in names]
    choices: list[tuple[float, list[list[Identifier]], list[Identifier]]] = []
    for style in styles:
        group = [c for c in live if c.style == style]
        chosen = consistent_set(group, names, tolerance)
        hits = sum(bool(p) for p in chosen)
        bonus = 0.4 * style.startswith(("brackets", "word")) + 0.2 * style.endswith("True")
        exact = sum(p[0].name == name for p, name in zip(chosen, names, strict=True) if p)
        choices.append((hits + bonus + 0.1 * exact, chosen, group))
    best_live = max(choices, key=lambda c: c[0], default=(0.0, [], []))
    if best_live[0] >= len(names):
        return _with_further(names, *best_live[1:], tolerance)
    glyphs = glyph_candidates(view, canvas, printed) if len(names) > 1 else []
    for style in dict.fromkeys(c.style.split()[0] for c in glyphs):
        group = [c for c in glyphs if c.style.split()[0] == style]
        chosen = consistent_set(one_height(group, names), names, tolerance)
        hits = sum(bool(p) for p in chosen)
        quality = sum(p[0].score for p in chosen if p) / max(hits, 1)
        if hits >= 2 and hits >= len(names) / 2:
            choices.append((hits - 1 + quality + 0.3 * (style == "brackets"), chosen, group))
    nothing: list[list[Identifier]] = [[] for _ in names]
    best_any = max(choices, key=lambda c: c[0], default=(0.0, nothing, []))
    if sum(bool(p) for p in best_any[1]) < min(2, len(names)):
        return names, nothing
    return _with_further(names, *best_any[1:], tolerance)


def _with_further(
    names: tuple[str, ...], chosen: list[list[Identifier]], group: Sequence[Identifier], tolerance: float
) -> tuple[tuple[str, ...], list[list[Identifier]]]:
    """Return names and places with those that the caption does not name; see `further_names`."""
    further = further_names(names, chosen, group, tolerance)
    return (*names, *(item.name for item in further)), [*chosen, *([item] for item in further)]


def further_names(
    names: Sequence[str], chosen: Sequence[Sequence[Identifier]], group: Sequence[Identifier], tolerance: float
) -> list[Identifier]:
    """Return identifiers that the caption does not name: letters that continue its series, or fill a gap in it.

    A panel that the caption forgets is a panel all the same, no part of its neighbour. Each must be printed once, in
    the others' style, and stand in a row or column with one of them as they do.

    Args:
        names: the caption's names of the panels.
        chosen: the places where they are printed.
        group: all candidates of that style.
        tolerance: pixels within which edges count as aligned.
    """
    places = [place[0] for place in chosen if place]
    letters = [place.name for place in places]
    if len(places) < 2 or any(len(name) != 1 or not name.isalpha() for name in (*names, *letters)):
        return []
    if not (all(name.islower() for name in letters) or all(name.isupper() for name in letters)):
        return []
    named = {key(name) for name in names}
    last = max(ord(name) for name in letters)
    rects = [place.rect for place in places]
    found: list[Identifier] = []
    for code in range(ord("a" if letters[0].islower() else "A"), last + 1 + MOST_FURTHER):
        letter = chr(code)
        if not letter.isalpha() or key(letter) in named:
            continue
        same = [c for c in group if c.name == letter]
        # Letters in brackets are printed for panels only, wherever they stand.
        bracketed = bool(same) and same[0].source == "text" and same[0].style.startswith("brackets")
        if (
            len(same) == 1
            and same[0].score >= SURE_FURTHER
            and (bracketed or _stands_with(same[0].rect, rects, tolerance))
        ):
            found.append(same[0])
        elif code > last:
            break  # the series ends with the first letter that is not printed
    return found


def _stands_with(rect: Rect, others: Sequence[Rect], tolerance: float) -> bool:
    """Say whether a place lies in a row or column with another one, is as high as they are, and apart from them."""
    rows = max(tolerance, 0.5 * (rect[3] - rect[1]))
    aligned = any(
        abs(rect[1] - o[1]) <= rows or abs(rect[3] - o[3]) <= rows or abs(rect[0] - o[0]) <= rows for o in others
    )
    height = float(np.median([o[3] - o[1] for o in others]))
    alike = 0.6 <= (rect[3] - rect[1]) / max(height, 1.0) <= 1.6
    return aligned and alike and all(abs(rect[0] - o[0]) + abs(rect[1] - o[1]) > 4 * height for o in others)


def one_height(group: Sequence[Identifier], names: Sequence[str]) -> list[Identifier]:
    """Return the candidates around the height at which most names occur (identifiers of a figure have one size)."""
    wanted = {key(name) for name in names}
    best: list[Identifier] = []
    most = (0, 0.0)
    for height in sorted({c.rect[3] - c.rect[1] for c in group}):
        # x-height letters (a, c, e) and ascenders (b, d, f) of one font differ by a factor of 1.45.
        near = [c for c in group if height <= c.rect[3] - c.rect[1] <= 1.45 * height + 1]
        present = {key(c.name) for c in near} & wanted
        value = (len(present), sum(max(c.score for c in near if key(c.name) == k) for k in sorted(present)))
        if value > most:
            best, most = near, value
    return best
