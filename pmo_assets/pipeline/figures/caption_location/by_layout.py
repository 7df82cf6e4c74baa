"""Captions by layout alone: a line that begins with a label and looks like a caption by punctuation, font and place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pmo_assets.pipeline.figures.caption_location.labels import LabelStart
from pmo_assets.pipeline.figures.caption_location.lines import CaptionLocation, DocumentText, caption_of_lines
from pmo_assets.pipeline.figures.page import LineKey, TextLine
from pmo_assets.pipeline.figures.page_turns import turned_box
from pmo_assets.pipeline.figures.running_text import SAME_SIZE, body_style
from pmo_assets.records.geometry import Box, union_box

# What speaks for and against a caption, in points. Set by hand: a label that is punctuated as labels are needs one more
# sign, and nothing outweighs a sentence that goes on behind the number.

ACCEPTED_SCORE = 3.0
"""Points from which a line is the start of a caption."""

FULL_SCORE = 10.0
"""Points that count as certain: the score divided by this is the caption's similarity. More than all signs together."""

BLOCK_START_SCORE = 1.0
"""It begins a block, or space precedes it."""

PUNCTUATION_SCORE = 2.0
"""Punctuation behind the number, as in "Figure 3.", or nothing else in the block's first line."""

SENTENCE_SCORE = -3.0
"""A lower-case word right behind the number ("Figure 2 shows"), or a sentence's punctuation."""

STYLED_WORD_SCORE = 1.0
"""No punctuation, but a label in bold or capitals sets itself off."""

REFERENCE_SCORE = -3.0
"""A reference within a sentence: "Figure 2)" or "Figures 2-4"."""

STYLED_LABEL_SCORE = 1.5
"""The label is bold, its line or the one before is not."""

OTHER_FONT_SCORE = 1.0
"""Size or font are not those of running text."""

RUNNING_ON_SCORE = -2.0
"""The sentence before goes on: a column break in the middle of "(see ... / Figure 2. ...)"."""

RUNNING_ON_LETTERS = 25
"""Characters of the line before, from which it is a line of running text."""

# Where a caption's lines end, in font sizes unless it says otherwise.

BLOCK_GAP = 0.6
"""Space above a line that begins something new: more than leading, less than an empty line."""

SAME_ROW = 0.4
"""Vertical overlap of two boxes in one row; line boxes reach into their neighbours by less."""

ROW_GAP = 3.0
"""Widest gap in a row of one caption: wider than stretched word space, narrower than a gutter and a letter."""

LINE_GAP = 0.9
"""Largest gap between a caption's lines: less than an empty line."""

MIN_PITCH = 1.05
"""Least distance of two baselines: solid typesetting, rounded up."""

PITCH_SLACK = 0.25
"""By so much may a later line lie further down than the first two show, when PyMuPDF puts it in another block."""

SIZE_CHANGE = 0.6
"""Points by which the font size may change within a caption."""

SMALL_SCRIPT = 0.8
"""A short line smaller than this (of the caption's size) is an index or exponent."""

SMALL_SCRIPT_LETTERS = 6
"""Characters of such a line, at most."""

OVERLEAF_FROM = 0.75
"""A caption that goes on overleaf ends below this part of its page ..."""

OVERLEAF_UNTIL = 3
"""... and goes on in the first third of the next."""

NEW_COLUMN_GAP = 1e6
"""Points between lines of which the second stands in a new column: further than anything on a page."""

_ADDRESS = re.compile(r"^(?:doi\s*:|https?://(?:dx\.)?doi\.org)\s*\S+$", re.IGNORECASE)
"""A figure's own DOI, printed below its caption by PLOS and others; it is not part of the caption."""


def captions_by_layout(text: DocumentText) -> list[CaptionLocation]:
    """Return all captions, of figures and tables, that show by layout; in the PDF's order, numbers may repeat."""
    body_size, body_font = body_style(text.pages)
    captions = []
    for start in text.starts:
        score = _layout_score(text, start, body_size, body_font)
        if score < ACCEPTED_SCORE:
            continue
        keys = following_lines(text, start)
        keys += _overleaf_lines(text, keys, body_size, body_font)
        captions.append(
            caption_of_lines(
                text, keys, start.kind, start.label, start.number, None, min(1.0, score / FULL_SCORE), start.continued
            )
        )
    return captions


def _layout_score(text: DocumentText, start: LabelStart, body_size: float, body_font: str) -> float:
    """Return how much a line that begins with a label looks like the start of a caption.

    Punctuation behind the number (or nothing else on the line), a bold label, the start of a block and a font other
    than the body's speak for a caption; a lower-case word right behind the number is a sentence ("Figure 2 shows").
    """
    page, index = start.key
    line = text.line(start.key)
    rest = start.rest.strip()
    previous = text.pages[page].lines[index - 1] if index else None
    is_block_start = previous is None or previous.block != line.block or _gap(previous, line) > BLOCK_GAP * line.size
    label_span = line.spans[0]
    is_styled = label_span.bold and (not line.bold or not previous or not previous.bold or is_block_start)
    score = BLOCK_START_SCORE if is_block_start else 0.0
    if start.after[:1] in (".", ":", "|", "–", "—", "-") or (not rest and is_block_start):
        score += PUNCTUATION_SCORE
    elif rest[:1].islower() or rest[:1] in ",;)]":
        score += SENTENCE_SCORE
    elif is_styled or label_span.text.isupper():
        score += STYLED_WORD_SCORE
    if start.after[:1] == ")" or (start.after[:1] in ("–", "-") and rest[:1].isdigit()):
        score += REFERENCE_SCORE
    if is_styled:
        score += STYLED_LABEL_SCORE
    if abs(line.size - body_size) > SAME_SIZE or (line.font != body_font and not line.bold):
        score += OTHER_FONT_SCORE
    if (
        previous is not None
        and previous.size == line.size
        and not is_styled
        and previous.text[-1:] not in ".!?:)]"
        and previous.quarter_turns == line.quarter_turns
        and len(previous.text) > RUNNING_ON_LETTERS
        and abs(line.size - body_size) <= SAME_SIZE
    ):
        score += RUNNING_ON_SCORE
    return score


def _gap(above: TextLine, below: TextLine) -> float:
    """Return the vertical space between two lines; large when `below` starts higher (a new column)."""
    if below.bbox[1] < above.bbox[1] - 2 * above.size:
        return NEW_COLUMN_GAP
    return below.bbox[1] - above.bbox[3]


def following_lines(text: DocumentText, start: LabelStart) -> list[LineKey]:
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
        is_small_script = line.size < SMALL_SCRIPT * reference and len(line.text) <= SMALL_SCRIPT_LETTERS
        same_row = box[1] < last[3] - SAME_ROW * reference and box[3] > last[1] + SAME_ROW * reference
        if same_row:
            if max(box[0] - around[2], around[0] - box[2]) > ROW_GAP * reference:
                break
        else:
            gap = box[1] - last[3]
            if box[1] < last[1] or gap > LINE_GAP * reference or min(box[2], around[2]) - max(box[0], around[0]) <= 0:
                break
            advance = box[3] - last[3]
            if (
                pitch is not None
                and line.block != page.lines[keys[-1][1]].block
                and advance > pitch + PITCH_SLACK * reference
            ):
                break
            if pitch is None and line.size == reference:
                pitch = max(advance, MIN_PITCH * reference)
        if size is not None and abs(line.size - size) > SIZE_CHANGE and not is_small_script:
            break
        if size is None:
            size = line.size
        keys.append(key)
        around = union_box([around, box])
        last = last if is_small_script else (box if not same_row else union_box([last, box]))
    return keys


def _overleaf_lines(text: DocumentText, keys: Sequence[LineKey], body_size: float, body_font: str) -> list[LineKey]:
    """Return the lines at the top of the next page with which an unfinished caption goes on.

    Only where the caption's style is not the body's; otherwise nothing tells them from running text.
    """
    last = text.line(keys[-1])
    following = keys[-1][0] + 1
    if (
        last.text[-1:] in ".!?)"
        or following >= len(text.pages)
        or last.bbox[3] < OVERLEAF_FROM * text.pages[keys[-1][0]].height
    ):
        return []
    if abs(last.size - body_size) <= SAME_SIZE and last.font == body_font:
        return []
    lines = text.pages[following].lines
    for index, line in enumerate(lines):
        if line.bbox[1] > text.pages[following].height / OVERLEAF_UNTIL:
            continue
        if line.size == last.size and line.font == last.font and line.text[:1].islower():
            start = LabelStart((following, index), "figure", "", "", line.text, False, "")
            return following_lines(text, start)
    return []
