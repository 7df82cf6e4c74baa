"""References of the running text to figures and to their panels: "Figs. 2A–C and 3", "panel B of Figure 4".

The one home of how a text names figures and panels. Add here: forms of references. Keep out: which figure or panel of
an article is meant (`mentions`, and `pipeline.context`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

MAX_RANGE: Final = 30
"""A range such as "Figs. 2-9" that spans more numbers is a misprint (pages, a year), not a list of figures."""

MAX_NAMES: Final = 80
"""Names of panels in one list: a list of 40 single panels has as many, and the bound keeps reading linear."""

BEFORE: Final = 80
"""Characters before a figure's name in which its panels are looked for: "panels A, B and C of Figure 3"."""

_NUMBER = r"(?:[A-Z]{1,2}[.-]?)?\d{1,3}(?:\.\d{1,2})*(?![\d%])|[IVX]{1,5}(?![A-Za-z])"
_PARTS = r"(?:\s?\(?[a-zA-Z](?:\d|[ivx]{1,3})?\)?(?![a-zA-Z]))"
_PART_LIST = rf"(?:{_PARTS}(?:\s?(?:,|and|&|–|—|-|to|/)\s?{_PARTS}){{0,25}})?"
_WORD: Final = re.compile(
    r"(?<![A-Za-z])(?:(suppl(?:ement(?:ary|al)|\.)?|extended[\s-]data|online|additional|appendix)\s+)?"
    r"(e)?(?:(fig(?:ure|\.)?)(s?)\.?|(scheme|plate|chart)(s?))[\s:]{0,2}",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(rf"({_NUMBER}){_PART_LIST}")
# "Figure 4—figure supplement 1A": eLife's supplement of a figure, which is another one than the figure.
_SUPPLEMENT: Final = re.compile(
    r"\s?(?:[—–-]|,\s)\s?figure\ssupplements?\s(\d{1,2})[A-Z]?(?:\s?(?:,|and|&|[—–-])\s?(?:\d{1,2}[A-Z]?|[A-Z])(?!\w)){0,9}",
    re.IGNORECASE,
)
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


PanelName = tuple[str, str]
"""A panel's name as printed, or a range of names (first, last); last is "" for a single name."""


@dataclass(frozen=True, slots=True)
class FigureReference:
    """A place of a text that names a figure, and the panels of it that are named there.

    Attributes:
        start, end: range of the text that names them.
        key: of the figure (`label_key`); None for the figure that the text named before ("panel B", "ibid.").
        names: of its panels; empty for the figure as a whole.
    """

    start: int
    end: int
    key: str | None
    names: tuple[PanelName, ...] = ()


@dataclass(frozen=True, slots=True)
class _Item:
    """A figure in a list of them: range of its number with what reads like panels, end of the number, key."""

    start: int
    end: int
    number_end: int
    key: str


def figure_references(text: str) -> list[tuple[int, str]]:
    """Return (offset, key) of every figure that a text names, in order: "Figs 2-4" gives the keys 2, 3 and 4.

    A key is the number as printed ("2", "S1", "IV"), with a prefix for kinds of figures that are counted on their own
    ("ED1" for extended data figures, "scheme 1"), and with what sets a supplement apart ("2 supplement 1": eLife's
    "Figure 2—figure supplement 1"). Panel letters ("Figure 2A,B") are read over.
    """
    return [(items[0].start, item.key) for items in _lists(text) for item in items]


def _lists(text: str, *, once: bool = False) -> Iterator[list[_Item]]:
    """Lists of figures behind a word for figures; the first item begins with that word.

    With `once`, "Fig. 1, Fig. 2" is one list and not two, of which the first holds the second.
    """
    read = 0
    for head in _WORD.finditer(text):
        if once and head.start() < read:
            continue
        prefix, electronic = head.group(1), head.group(2)
        word = head.group(3) or head.group(5)
        plural = bool(head.group(4) or head.group(6))
        if head.group()[-1].isalpha() and not text[head.end() : head.end() + 1].isdigit():
            # "figure5" is a number behind the word, "figurehead" is another word.
            continue
        item = _ITEM.match(text, head.end())
        if item is None:
            continue
        items = [_item(text, head.start(), item, _key(prefix, electronic, word, item.group(1)))]
        while len(items) <= MAX_RANGE:
            separator = _SEPARATOR.match(text, items[-1].end)
            following = _ITEM.match(text, separator.end()) if separator else None
            if separator is None or following is None:
                break
            sign = separator.group(1).lower().strip()
            if not plural and sign.startswith((",", ";")) and not _closes(text, following.end()):
                # "In Figure 2, 3 patients": behind the singular a bare number goes on only to the end of the bracket.
                break
            key = _key(prefix, electronic, word, following.group(1))
            own = _item(text, following.start(), following, key)
            between = _between(items[-1].key, key) if sign in _RANGE_SIGNS else []
            items.extend(_Item(own.start, own.start, own.start, number) for number in between)
            items.append(own)
        read = items[-1].end
        if _ELSEWHERE.match(text, items[-1].end) is None:
            yield items


def _item(text: str, start: int, found: re.Match[str], key: str) -> _Item:
    """A figure of a list, or the supplement of it that is named there."""
    supplement = _SUPPLEMENT.match(text, found.end(1)) or _SUPPLEMENT.match(text, found.end())
    if supplement is None:
        return _Item(start, found.end(), found.end(1), key)
    return _Item(start, supplement.end(), supplement.end(), f"{key} supplement {supplement.group(1)}")


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


_NAME = r"(?:[A-Za-z](?:\d{1,2}|[ivx]{1,4})?|[A-Z][a-h]|[ivx]{2,5}|[IVX]{2,5})[′″']?(?![\w%°=])"
_DASH = r"[–—‐‑−-]"
_NOUN = r"(?:(?:sub)?panels?|sub-?figures?|insets?|images?|parts?|pictures?|photo(?:graph)?s?)"
# What stands behind a name that stands alone: the end of a list or bracket, another name, what a picture does.
_VERB = (
    r"(?:shows?|showed|is|are|was|were|depicts?|demonstrates?|demonstrated|illustrates?|displays?|presents?|represents?"
    r"|reveals?|indicates?|corresponds?|summari[sz]es?|compares?|plots?|gives?|contains?|highlights?)"
)
_WORDS: Final = frozenset({"a", "A", "I"})
_ABBREVIATED: Final = re.compile(r"\.\s?[a-z]")
_END_OF_NAME: Final = re.compile(
    rf"\s?(?:[),;:\]]|\.(?!\s?[a-z]|\w)|\Z|(?:{_DASH}\s?|/)[(\[]?{_NAME}|(?:and|or|&|to|through|vs\.?|versus)\s|respectively|{_VERB}\b)"
)
_FIRST_NAME: Final = re.compile(
    rf"(?:(?P<attached>[.-]?)|\s?(?P<bracket>[(\[])\s?|(?P<bare>[,:;]?\s))(?P<noun>{_NOUN}\s[(\[]?)?"
    rf"(?P<own>[(\[])?(?P<name>{_NAME})"
)
_NEXT_NAME: Final = re.compile(
    rf"[)\]]?\s?(?P<sign>,\s?(?:and|&|or)\s|[,;/&]\s?|(?:and|or|vs\.?|versus)\s|{_DASH}\s?|(?:to|through)\s)"
    rf"(?:{_NOUN}\s)?(?P<own>[(\[])?(?P<name>{_NAME}|\d{{1,2}}(?![\w%]))"
)
_PLACE = r"(?:upper|lower|top|bottom|left|right|middle|cent(?:er|re|ral))(?:most)?"
_ORDINAL = r"(?:first|second|third|fourth|last)"
_PLACES = (
    rf"(?:(?:(?:on|at|in)\s)?the\s)?(?:{_PLACE}(?:[\s-]{_PLACE})?(?:[\s-]hand)?(?:\s(?:{_NOUN}|rows?|columns?))?"
    rf"|{_ORDINAL}\s(?:rows?|columns?))"
)
_PLACE_LIST: Final = re.compile(
    rf"(?P<list>(?>{_PLACES}(?:(?:,\s|,?\s?(?:and|or|&)\s){_PLACES}){{0,7}}))"
    rf"(?=[),;:.\]]|\s(?:and|of|in)\s|\s{_VERB}\b|\Z)",
    re.IGNORECASE,
)
_ONE_PLACE: Final = re.compile(rf"(?:{_PLACE}|{_ORDINAL})(?:[\s-]{_PLACE})?(?:\s(?:row|column))?", re.I)
_PLACE_OPENS: Final = re.compile(r"\s?[(\[,:;]\s?|\s")
_NAMES_PLACE: Final = re.compile(rf"{_NOUN}\Z|(?:rows?|columns?)\Z", re.I)
_BEFORE_FIGURE: Final = re.compile(r"[)\]]?\s(?:of|in|from)\s(?:the\s)?\Z")
# "(left panel Figure 1)": only where a bracket opens, else the panel may be of the figure before it.
_BESIDE_FIGURE: Final = re.compile(r"[)\]]?,?\s\Z")
# "Fig. 2A and 3 patients": the number is of something else.
_COUNTED: Final = re.compile(
    r"\s(?:(?:more|other|further)\s)?(?:patients?|eyes?|cases?|subjects?|participants?|controls?|animals?|mice|rats?|months?"
    r"|years?|weeks?|days?|hours?|minutes?|times|mm|cm|[µμ]m|m[lL]|mg)\b"
)
# "their figure 3", "[12, Fig. 2]", "(Smith et al. 2014, Fig. 2)", "ref. 12, Fig. 2".
_OTHERS: Final = re.compile(
    r"(?:\btheir\s[(\[]?(?:see\s)?|\[\d{1,3},\s|\bet\sal\.?[,\s(\[]{1,3}(?:19|20)\d\d[a-z]?\)?[,;]\s(?:see\s)?"
    r"|\bref(?:s|erence)?\.?\s\[?\d{1,3}\]?[,;]\s)\Z",
    re.IGNORECASE,
)
_PANEL: Final = re.compile(
    rf"(?<![A-Za-z])(?:(?P<noun>(?:sub)?panels?|sub-?figures?|{_NOUN})(?=\s[(\[]?[A-Za-z])|(?P<place>(?:{_PLACE}|{_ORDINAL})\s)"
    r"|(?P<again>ibid\.?|(?:the\s)?same\sfigure\b))",
    re.I,
)
_NAMING: Final = re.compile(r"(?:sub)?panels?|sub-?figures?", re.I)


def references(text: str) -> list[FigureReference]:
    """Return every reference of a text to figures and panels, in order.

    Names of panels stand behind the figure ("Fig. 2A,B", "Fig. 2 (a) and (b)", "Figure 2, left") or before it ("panel B
    of Figure 2"). "Figure 2 A total of …" names none. A panel without a figure ("panel B shows …") and "ibid." refer to
    the figure that was named before. What belongs to other publications is left out ("Fig. 2 of [12]").
    """
    found: list[FigureReference] = []
    for items in _lists(text, once=True):
        before = text[max(0, items[0].start - BEFORE) : items[0].start]
        if _OTHERS.search(before):
            continue
        own: list[FigureReference] = []
        for item in items:
            last = own[-1] if own else None
            if last is not None and item.number_end <= last.end:
                continue  # "Fig. 2A1-3": the number was one of a panel
            names, end = _names_behind(text, item.number_end) if item.end > item.start else ((), item.end)
            if last is not None and not names and _COUNTED.match(text, item.number_end):
                continue
            if last is not None and last.key == item.key and _is_range(last, names, text[last.end : item.start]):
                own[-1] = FigureReference(last.start, end, last.key, ((last.names[0][0], names[0][0]),))
                continue
            own.append(FigureReference(item.start, max(end, item.number_end), item.key, names))
        if len(own) == 1 and not own[0].names:
            own[0] = _with_names_before(text, own[0])
        found += own
    return _with_panels_alone(text, found)


def _is_range(last: FigureReference, names: Sequence[PanelName], between: str) -> bool:
    """Say whether two references to one figure are the ends of a range of its panels: "Figures 1(a)–1(c)"."""
    single = len(names) == len(last.names) == 1
    return single and between.strip() in _RANGE_SIGNS and _ascends(last.names[0][0], names[0][0])


def is_of_another_publication(text: str, offset: int) -> bool:
    """Say whether the figure that is named at an offset is another publication's: "Fig 1 in [73]".

    Args:
        text: of the paragraph.
        offset: of the word for the figure, or of its number.
    """
    word = _WORD.match(text, offset)
    item = _ITEM.match(text, word.end() if word is not None else offset)
    return item is not None and _ELSEWHERE.match(text, item.end()) is not None


def reference_at(text: str, offset: int, key: str) -> FigureReference:
    """Return the reference at a cross-reference that no words for a figure introduce: "2A", "B and C", "above".

    Args:
        text: of the paragraph.
        offset: of the cross-reference.
        key: of its figure, whose number the text may repeat.
    """
    number = _ITEM.match(text, offset)
    if number is not None:
        names, end = _names_behind(text, number.end(1))
        return FigureReference(offset, max(end, number.end(1)), key, names)
    names, end = _name_list(text, offset)
    if len(names) == 1 and not _END_OF_NAME.match(text, end):
        return FigureReference(offset, offset, key)  # "a fundus photograph"
    return FigureReference(offset, end, key, names)


def _names_behind(text: str, position: int) -> tuple[tuple[PanelName, ...], int]:
    """Names of panels that follow a figure's number at `position`, and where they end."""
    names, end = _name_list(text, position)
    return (names, end) if names else _place_list(text, position)


def _name_list(text: str, position: int, *, named: bool = False) -> tuple[tuple[PanelName, ...], int]:
    """A list of names at a position: "A", "(a) and (b)", ", panels A–C"; `named`: behind a word for panels."""
    first = _FIRST_NAME.match(text, position)
    if first is None or not _is_name(text, first, named=named):
        return (), position
    is_bracketed = bool(first["bracket"] or first["own"]) or (first["noun"] or " ")[-1] in "(["
    names: list[PanelName] = [(first["name"], "")]
    end = first.end()
    while len(names) < MAX_NAMES:
        following = _NEXT_NAME.match(text, end)
        if following is None:
            break
        last = names[-1][1] or names[-1][0]
        name = _completed(following["name"], last)
        sign = following["sign"].strip()
        is_range = sign in _RANGE_SIGNS
        is_free = not is_bracketed and following["own"] is None
        if name is None or not _goes_on(text, last, name, following.end(), is_free=is_free):
            break
        if is_range and (names[-1][1] or not _ascends(last, name)):
            break
        if is_range:
            names[-1] = (names[-1][0], name)
        else:
            names.append((name, ""))
        end = following.end()
        is_bracketed = following["own"] is not None or (is_bracketed and text[end - 1] != ")")
    return tuple(names), end + (is_bracketed and text[end : end + 1] in (")", "]"))


def _is_name(text: str, first: re.Match[str], *, named: bool) -> bool:
    """Say whether a match is a panel's name and no article, initial or unit: by what stands before or behind it."""
    name = first["name"]
    ends = _END_OF_NAME.match(text, first.end()) is not None
    if named or first["noun"]:
        return ends or name not in _WORDS  # "images A total of"
    if first["attached"] == "" or first["own"]:
        return True
    return ends and (len(name) == 1 or name[1:].isdigit() or first["bracket"] is not None)


def _completed(name: str, last: str) -> str | None:
    """The name behind another one, with the letter that it leaves out: "A1-3", "Aii–iv"; None when it is none."""
    if name.isdigit():
        return last.rstrip("0123456789") + name if last[-1].isdigit() else None
    shortened = last[0].isupper() and last[1:] and not set(last[1:] + name) - set("ivx")
    return last[0] + name if shortened else name


def _goes_on(text: str, last: str, name: str, end: int, *, is_free: bool) -> bool:
    """Say whether a list goes on with a name: "Fig. 2A and a second patient", "Fig. 2B, C. albicans" do not."""
    if last[0].isupper() != name[0].isupper():
        return False
    if not is_free or _END_OF_NAME.match(text, end):
        return True
    return name not in _WORDS and _ascends(last, name) and not _ABBREVIATED.match(text, end)


def _ascends(first: str, last: str) -> bool:
    numbers = [int(name[1:]) if name[1:].isdigit() else 0 for name in (first, last)]
    return (first[0].lower(), numbers[0], len(first), first) < (last[0].lower(), numbers[1], len(last), last)


def _place_list(text: str, position: int) -> tuple[tuple[PanelName, ...], int]:
    """Words of place at a position: ", left", " (top row)", " left panel"; of the eye or lid are none."""
    opens = _PLACE_OPENS.match(text, position)
    found = _PLACE_LIST.match(text, opens.end()) if opens else None
    if opens is None or found is None:
        return (), position
    if opens.group() == " " and text[found.end() : found.end() + 1] != ")" and not _NAMES_PLACE.search(found["list"]):
        return (), position
    return _places(found["list"]), found.end()


def _places(listed: str) -> tuple[PanelName, ...]:
    return tuple((" ".join(re.split(r"[\s-]", place.group().lower())), "") for place in _ONE_PLACE.finditer(listed))


def _with_names_before(text: str, reference: FigureReference) -> FigureReference:
    """The reference with the panels before it: "panels A and B of Figure 3", "(left panel Fig. 3)"."""
    start = max(0, reference.start - BEFORE)
    before = text[start : reference.start]
    linked = _BEFORE_FIGURE.search(before)
    link = linked or _BESIDE_FIGURE.search(before)
    if link is None:
        return reference
    for word in _PANEL.finditer(before, 0, link.start()):
        if linked is None and before[: word.start()].rstrip()[-1:] not in {"(", "["}:
            continue
        names, end = _panel_names(before if linked else before[: link.start()], word)
        if names and end >= link.start():
            return FigureReference(start + word.start(), reference.end, reference.key, names)
    return reference


def _panel_names(text: str, word: re.Match[str]) -> tuple[tuple[PanelName, ...], int]:
    """Names that a word for panels introduces, and where they end."""
    if word["noun"]:
        return _name_list(text, word.end(), named=_NAMING.fullmatch(word["noun"]) is not None)
    found = _PLACE_LIST.match(text, word.start()) if word["place"] else None
    return (_places(found["list"]), found.end()) if found and _NAMES_PLACE.search(found["list"]) else ((), word.end())


def _with_panels_alone(text: str, found: list[FigureReference]) -> list[FigureReference]:
    """The references with panels that are named without a figure, and "ibid."."""
    alone: list[FigureReference] = []
    n = end = 0
    for word in _PANEL.finditer(text):
        while n < len(found) and found[n].end <= word.start():
            n += 1
        if word.start() < end or (n < len(found) and found[n].start <= word.start()):
            continue
        if word["again"]:
            names, end = _names_behind(text, word.end())
            alone.append(FigureReference(word.start(), end, None, names))
        elif word["noun"] and _NAMING.fullmatch(word["noun"]):
            names, end = _panel_names(text, word)
            if names:
                alone.append(FigureReference(word.start(), end, None, names))
    return sorted([*found, *alone], key=lambda reference: reference.start) if alone else found
