"""In-text mentions: references of the running text to figures."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pmo_assets.records.article import InTextMention

MAX_RANGE: Final = 30
"""A range such as "Figs. 2-9" that spans more numbers is a misprint (pages, a year), not a list of figures."""

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
    """

    text: str
    references: tuple[tuple[int, str], ...] = ()


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


_NUMBER = r"(?:[A-Z]{1,2}[.-]?)?\d{1,3}(?:\.\d{1,2})*(?![\d%])|[IVX]{1,5}(?![A-Za-z])"
_PARTS = r"(?:\s?\(?[a-zA-Z](?:\d|[ivx]{1,3})?\)?(?![a-zA-Z]))"
_PART_LIST = rf"(?:{_PARTS}(?:\s?(?:,|and|&|–|—|-|to|/)\s?{_PARTS}){{0,25}})?"
_WORD: Final = re.compile(
    r"(?<![A-Za-z])(?:(suppl(?:ement(?:ary|al)|\.)?|extended[\s-]data|online|additional|appendix)\s+)?"
    r"(e)?(?:(fig(?:ure|\.)?)(s?)\.?|(scheme|plate|chart)(s?))[\s:]{0,2}",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(rf"({_NUMBER}){_PART_LIST}")
_SEPARATOR: Final = re.compile(
    r"\s?(,\s?(?:and|&)\s|,|;|and\b|&|–|—|-|−|‐|‑|to\b|through\b|/)\s?(?:figs?\.?\s|figures?\s)?", re.I
)
_RANGE_SIGNS: Final = frozenset((
    "–", "—", "-", "−", "‐", "‑", "to", "through",
))  # fmt: skip
# "Figure 2 of [12]", "Figure 3 in Smith et al.": a figure of another publication.
_ELSEWHERE: Final = re.compile(
    r"\s(?:of|in|from)\s(?:refs?\b|references?\b|\[\d|[A-Z][\w'’-]+\s(?:et\sal|and\s[A-Z]\w+\s[(\[]))"
)


def _key(prefix: str | None, electronic: str | None, word: str, number: str) -> str:
    """The key of one figure: its number, with what sets it apart from the figure of the same number."""
    kind = (prefix or "").lower()
    number = re.sub(r"[.-](?=\d)", "", number, count=1) if number[:1].isalpha() else number
    if kind.startswith("extended"):
        return f"ED{number}"
    if (kind.startswith(("suppl", "online", "additional")) or electronic) and not number.startswith("S"):
        return f"S{number}"
    if kind.startswith("appendix") and not number.startswith("A"):
        return f"A{number}"
    return number if word.lower().startswith("fig") else f"{word.lower()} {number}"


def figure_references(text: str) -> list[tuple[int, str]]:
    """Return (offset, key) of every figure that a text names, in order: "Figs 2-4" gives the keys 2, 3 and 4.

    A key is the number as printed ("2", "S1", "IV"), with a prefix for kinds of figures that are counted on their own
    ("ED1" for extended data figures, "scheme 1"). Panel letters ("Figure 2A,B") are read over.
    """
    return list(_references(text))


def _references(text: str) -> Iterator[tuple[int, str]]:
    for head in _WORD.finditer(text):
        prefix, electronic = head.group(1), head.group(2)
        word = head.group(3) or head.group(5)
        plural = bool(head.group(4) or head.group(6))
        if head.group()[-1].isalpha() and not text[head.end() : head.end() + 1].isdigit():
            # "figure5" is a number behind the word, "figurehead" is another word.
            continue
        item = _ITEM.match(text, head.end())
        if item is None:
            continue
        keys = [_key(prefix, electronic, word, item.group(1))]
        end = item.end()
        while len(keys) <= MAX_RANGE:
            separator = _SEPARATOR.match(text, end)
            following = _ITEM.match(text, separator.end()) if separator else None
            if separator is None or following is None:
                break
            sign = separator.group(1).lower().strip()
            if not plural and sign.startswith((",", ";")) and not _closes(text, following.end()):
                # "In Figure 2, 3 patients": behind the singular a bare number goes on only to the end of the bracket.
                break
            key = _key(prefix, electronic, word, following.group(1))
            keys.extend(_between(keys[-1], key) if sign in _RANGE_SIGNS else [])
            keys.append(key)
            end = following.end()
        if _ELSEWHERE.match(text, end) is None:
            yield from ((head.start(), key) for key in keys)


def _closes(text: str, position: int) -> bool:
    return position >= len(text) or text[position] in ").,;]"


def _between(first: str, last: str) -> list[str]:
    """The keys strictly between the two ends of a range; empty where it is none."""
    low, high = re.fullmatch(r"(\D*)(\d+)", first), re.fullmatch(r"(\D*)(\d+)", last)
    if low is None or high is None or high.group(1) not in ("", low.group(1)):
        return []
    start, stop = int(low.group(2)), int(high.group(2))
    return [f"{low.group(1)}{number}" for number in range(start + 1, stop)] if 0 < stop - start <= MAX_RANGE else []


def label_key(label: str) -> str | None:
    """Return the key by which the text names the figure of this label; None where the label has no number."""
    found = figure_references(label)
    if found:
        return found[0][1]
    bare = re.fullmatch(rf"({_NUMBER})\W*", label.strip())
    return bare.group(1) if bare else None


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
    hits |= {(offset, by_key[key]) for offset, key in _references(paragraph.text) if key in by_key}
    return sorted(hits)
