"""In-text mentions: references of the running text to figures."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pmo_assets.pipeline.articles.references import figure_references, label_key
from pmo_assets.records.article import InTextMention
from pmo_assets.records.context import SectionClass

MAX_MENTIONS: Final = 100
"""Mentions kept per figure; real articles have a dozen at most, a hostile one could fill the tables."""

MAX_TEXT: Final = 2_000_000
"""Characters that are searched for mentions; a long monograph has a million."""

MAX_PARAGRAPH: Final = 20_000
"""Characters; longer text is no paragraph (a page has about 4,000), and its sentence stands for it."""

_ABBREVIATIONS: Final = frozenset((
    "fig", "figs", "ref", "refs", "eq", "eqs", "eqn", "eqns", "al", "e.g", "i.e", "eg", "ie", "vs", "cf", "dr",
    "mr", "mrs", "ms", "prof", "no", "nos", "vol", "vols", "pp", "ca", "approx", "resp", "inc", "ltd", "co", "corp",
    "st", "jr", "sr", "dept", "tab", "suppl", "supp", "ed", "eds", "viz", "univ", "ph.d", "m.d", "sec", "sect",
    "chap", "ch", "var", "sp", "spp",
))  # fmt: skip
"""Words whose full stop does not end a sentence; lower case, without the last full stop."""

_STARTERS: Final = frozenset((
    "the", "this", "these", "those", "that", "there", "then", "thus", "therefore", "however", "moreover",
    "furthermore", "in", "on", "at", "it", "its", "he", "she", "we", "our", "they", "their", "a", "an", "as", "all",
    "after", "before", "both", "but", "by", "for", "from", "if", "to", "when", "while", "with", "no", "also",
    "although", "fig", "figs", "figure", "figures", "table",
))  # fmt: skip
"""Words that start a sentence more often than they follow an initial or an abbreviation as a name."""

# Full stop, "!" or "?", closing quotes and brackets, white space, and something that can start a sentence. A citation
# number may stick to the full stop ("the retina.12 The"): superscripts are plain digits here.
_END: Final = re.compile(
    r"((?:(?<=[a-z)\]])\.\d{1,3}(?:[,–-]\d{1,3}){0,9}|[.!?][\"'”’)\]]{0,3}))\s+(?=[\"'“‘(\[]{0,2}[A-Z0-9α-ωΑ-Ω])"
)
_LAST_WORD: Final = re.compile(r"[^\s(\[,;/]{1,20}\Z")
_NEXT_WORD: Final = re.compile(r"[\"'“‘(\[]{0,2}([A-Za-z]+|\d)?")


@dataclass(frozen=True, slots=True)
class ReferringParagraph:
    """A paragraph of the running text.

    Attributes:
        text: plain, white space collapsed.
        references: (offset in `text`, id of the element referred to) of its cross-references to figures.
        section: class of its section.
        section_title: of the innermost section with a title; None without one.
        is_title: it is a title, of a section or of a part of one.
    """

    text: str
    references: tuple[tuple[int, str], ...] = ()
    section: SectionClass = "other"
    section_title: str | None = None
    is_title: bool = False


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    if text[match.start()] != ".":
        return True
    before = _LAST_WORD.search(text, max(0, match.start() - 20), match.start())
    word = before.group() if before else ""
    following = _NEXT_WORD.match(text, match.end())
    next_word = (following.group(1) or "") if following else ""
    if len(match.group(1)) > 1 and match.group(1)[1].isdigit():
        # "value.12 The": a citation number behind a word of letters; "No.5 Was" is none.
        return len(word) > 2 and word.lower() not in _ABBREVIATIONS
    is_initial = re.fullmatch(r"(?:[A-Z]\.)*[A-Z]", word) is not None
    if is_initial or word.lower() in _ABBREVIATIONS:
        return next_word.lower() in _STARTERS and next_word[:1].isupper()
    return True


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return [start, end) of every sentence in a text whose white space is collapsed, in order.

    "Fig.", "et al.", "e.g.", decimals and initials do not end a sentence. The spans leave out only the blanks between
    sentences.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if _ends_sentence(text, match):
            spans.append((start, match.end(1)))
            start = match.end()
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def mentions_of_figures(
    paragraphs: Sequence[ReferringParagraph], *, ids: Sequence[Sequence[str]], labels: Sequence[str]
) -> list[tuple[InTextMention, ...]]:
    """Return the mentions of every figure, each sentence once, in document order.

    Args:
        paragraphs: the running text, without captions.
        ids: per figure, the ids of its elements, which cross-references name.
        labels: per figure, its label. Where two figures bear the same number, the text means the first.
    """
    by_id: dict[str, int] = {}
    by_key: dict[str, int] = {}
    for index, (own_ids, label) in enumerate(zip(ids, labels, strict=True)):
        for own_id in own_ids:
            by_id.setdefault(own_id, index)
        key = label_key(label)
        if key is not None:
            by_key.setdefault(key, index)
    found: list[dict[InTextMention, None]] = [{} for _ in labels]
    searched = 0
    for paragraph in paragraphs:
        searched += len(paragraph.text)
        if searched > MAX_TEXT:
            break
        hits = _hits(paragraph, by_id, by_key)
        if not hits:
            continue
        text = paragraph.text
        spans = sentence_spans(text)
        starts = [start for start, _ in spans]
        sentences = dict.fromkeys((index, max(0, bisect_right(starts, offset) - 1)) for offset, index in hits)
        for index, n in sentences:
            sentence = text[slice(*spans[n])][:MAX_PARAGRAPH]
            if len(found[index]) < MAX_MENTIONS:
                found[index].setdefault(InTextMention(sentence, text if len(text) <= MAX_PARAGRAPH else sentence))
    return [tuple(mentions) for mentions in found]


def _hits(paragraph: ReferringParagraph, by_id: Mapping[str, int], by_key: Mapping[str, int]) -> list[tuple[int, int]]:
    """(offset, figure) of the paragraph's references, in text order."""
    hits = {(offset, by_id[target]) for offset, target in paragraph.references if target in by_id}
    hits |= {(offset, by_key[key]) for offset, key in figure_references(paragraph.text) if key in by_key}
    return sorted(hits)
