"""Reading of licence statements as a whole: the licence named, its conditions, and the words not understood.

A statement is cut into items (words, numbers, links, signs). The names of licences are put together first, then
phrases of `licence_words` are looked up, the longest first; conditions count wherever they stand. What is left over is
unread. Nothing here looks for negations: a word that nobody has declared harmless is unread, in every language.

Time is linear in the length of a statement.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from typing import Final

from pmo_assets.pipeline.articles import licence_words
from pmo_assets.pipeline.articles.licence_text import folded, plain


class Meaning(Flag):
    """Meaning of a phrase: the licence, conditions or form that it states."""

    HARMLESS = 0
    COMMONS = auto()
    ATTRIBUTION = auto()
    NON_COMMERCIAL = auto()
    NO_DERIVATIVES = auto()
    SHARE_ALIKE = auto()
    WAIVER = auto()
    TEXT_MINING = auto()
    NOUN = auto()
    FORM = auto()
    NAMING = auto()
    ASIDE = auto()


CONDITIONS: Final = Meaning.NON_COMMERCIAL | Meaning.NO_DERIVATIVES | Meaning.SHARE_ALIKE


@dataclass(frozen=True, slots=True)
class StatementReading:
    """A licence statement as read.

    Attributes:
        named: a licence with attribution is named (`Meaning.ATTRIBUTION`), CC0 (`WAIVER`), mining (`TEXT_MINING`), and
            under which conditions; also where the rest is not understood.
        unread: words and signs that are not understood, as written.
        speaks: it names Creative Commons, states a condition, or has a word that is about rights.
        versions: each licence that is named as Creative Commons', by itself, with the versions behind its name.
    """

    named: Meaning
    unread: tuple[str, ...]
    speaks: bool
    versions: tuple[tuple[Meaning, tuple[str, ...]], ...] = ()

    @property
    def suspicious(self) -> tuple[str, ...]:
        """The unread words that restrict, negate or add a licence as far as is known."""
        return tuple(word for word in self.unread if is_suspicious(word))


@dataclass(frozen=True, slots=True)
class _Item:
    """A word, number, link or sign.

    Attributes:
        key: the form in which phrases hold it; "" for a sign or link.
        shown: as written.
        kind: "word", "number", "sign", "harmless" (a link), "unread" (a link that is not), "licence" (a mention).
        meaning: of a mention, and of a file's name.
        joined: nothing stands between it and the item before.
        versions: of a mention, the numbers in it.
    """

    key: str
    shown: str
    kind: str
    meaning: Meaning = Meaning.HARMLESS
    joined: bool = False
    versions: tuple[str, ...] = ()


# --- items -----------------------------------------------------------------------------------------------------------

_CJK: Final = "\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_END: Final = r"\s<>()\[\]{}\"'|，。；、）（《》「」"
_ELEMENTS: Final = r"(?:by|nc|nd|sa)(?:(?:[-_+/ ]{1,3}|%2d|%20)?(?:by|nc|nd|sa)){0,3}"
_DEED: Final = re.compile(
    rf"\s?/\s?(?:licen[sc]es?|l)\s?/\s?({_ELEMENTS}|byc)(?![a-z-])"
    r"(?:\s?/\s?(?:[1-4]\.[05]|2\.1)(?![0-9])(?:/(?!(?:nc|nd|sa)\b)(?:[a-z]{2,3}|scotland)(?![a-z.]))?)?"
    r"(?:/(?:deed|legalcode)(?:[._-][a-z]{2}(?:[-_][a-z]{2,4})?)?)?(?:/\d{2}x\d{2}\.png)?/?",
    re.I,
)
_WAIVER: Final = re.compile(
    r"\s?/\s?publicdomain\s?/\s?zero(?:\s?/\s?1\.0)?(?:/(?:deed|legalcode)(?:[._-][a-z]{2}(?:[-_][a-z]{2,4})?)?)?/?",
    re.I,
)
_NO_DEED: Final = re.compile(r"(?:/(?:licen[sc]es|about|about/licenses)?)?/?(?![\w/%-])", re.I)
_TAIL: Final = re.compile(rf"[^{_END}.,;:。\u3000-\u9fff]*")
_PICTURES: Final = ("jpg", "jpeg", "png", "gif", "tif", "tiff", "eps", "svg", "webp")
_TOKEN: Final = re.compile(
    r"(?P<commons>(?:https?\s?:\s?/\s?/\s?)?(?:(?:www|i)\s?\.\s?)?\bcreativecommons\s?\.\s?org(?![\w.-]))"
    rf"|(?P<email>[\w.+-]{{1,64}}@[\w.-]{{1,255}})"
    rf"|(?P<picture>\b\w[\w.-]{{0,119}}+(?:{'|'.join(rf'(?<=[.]{end})' for end in _PICTURES)}))"
    rf"|(?P<link>(?:https?|ftp)\s?:\s?/\s?/\s?[^{_END}]+|www\.[^{_END}]+|\b10\.\d{{4,9}}/[^{_END}]+"
    rf"|\b[a-z0-9-]{{2,63}}(?:\.[a-z0-9-]{{1,63}}){{0,3}}\.(?:com|org|net|edu|gov|uk|int)\b(?:/[^{_END}]*)?)"
    r"|(?P<number>\d+(?:[.,]\d+)*)"
    rf"|(?P<sign>[{_CJK}])"
    rf"|(?P<word>[^\W\d_{_CJK}]+(?:['’ʼ`][^\W\d_{_CJK}]+)*)"
    r"|(?P<other>\S)",
    re.I,
)
_TERMS_ADDRESS: Final = re.compile(
    r"licen|lizenz|terms|rights|permission|tdm|copyright|gnu\.|gpl|opensource|polic|reuse|user|legal|agreement", re.I
)
_KNOWN_TERMS: Final = re.compile(
    r"dovepress\.com/terms|frontiersin\.org/licen|sagepub\.com/|karger\.com/Services/OpenAccessLicense|ivyspring\.com/terms|nature\.com/reprints|journals\.permissions|crossmark",
    re.I,
)
"""Addresses of publishers' pages that their statements name beside a Creative Commons licence."""

_CAMEL: Final = re.compile(r"(?<=[a-zà-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
_GLUED: Final = re.compile(r"(cc|creativecommons)?(by)?(nc|nd|sa|ncnd|ndnc|ncsa|sanc)?(licen[sc]es?)?")
_ELIDED: Final = frozenset({"l", "d", "qu", "dell", "all", "nell", "un", "sull", "dall"})
_COMMERCIAL: Final = (
    r"(?:commerc(?:ial(?:ly|s|es|e|ement)?|iaux)|commerical(?:ly)?|comercia(?:l|is|les|lmente|listas)?|kommerziell(?:e[mnrs]?)?"
    r"|commercieel|commerciele|commerciali?|komercyjn(?:e|y|a|ego)|kommersiell[at]?)"
)
_DERIVATIVE: Final = r"deriv(?:s|atives?|ations?|ad[ao]s?|acao|acoes|at[aei]|ees?|ar)?"
_STEMS: Final = (
    (re.compile(rf"(?:non|no|nao|nicht|niet|nie){_COMMERCIAL}"), ("non", "commercial")),
    (re.compile(_COMMERCIAL), ("commercial",)),
    (re.compile(rf"(?:non|no|nao){_DERIVATIVE}"), ("no", "derivative")),
    (re.compile(rf"(?:sin|sem){_DERIVATIVE}"), ("sin", "derivative")),
    (re.compile(_DERIVATIVE), ("derivative",)),
    (re.compile(r"share?aliked?"), ("share", "alike")),
    (re.compile(r"compartirigual|compartilhaigual"), ("compartir", "igual")),
    (re.compile(r"creativecommons"), ("creative", "commons")),
    (re.compile(r"attributi?ons?"), ("attribution",)),
)
_WHOLE: Final = frozenset({"odbl"})
"""Words with a capital inside that are not two."""


def _keys(word: str) -> tuple[str, ...]:
    """Return a word as phrases spell it: small, without accents, compounds taken apart."""
    small = folded(word)
    if "'" in small:
        first, _, rest = small.partition("'")
        if first in _ELIDED and rest:
            return (first, *_keys(rest))
        small = small.removesuffix("'s").replace("'", "")
    glued = _GLUED.fullmatch(small)
    if glued is not None and (glued[1] or glued[2] or glued[3]):
        pieces = [{"creativecommons": "cc"}.get(glued[1] or "", glued[1]), glued[2]]
        pieces += re.findall("nc|nd|sa", glued[3] or "") + (["license"] if glued[4] else [])
        return tuple(piece for piece in pieces if piece)
    return next((keys for stem, keys in _STEMS if stem.fullmatch(small)), (small,))


def deed_conditions(text: str) -> Meaning:
    """Return the attribution and conditions that a deed's path names: "by-nc-nd"."""
    short = re.sub("%2d|%20", "-", text.lower()).replace("byc", "by-nc")
    found = Meaning.ATTRIBUTION
    found |= Meaning.NON_COMMERCIAL if "nc" in short else found
    found |= Meaning.NO_DERIVATIVES if "nd" in short else found
    return found | (Meaning.SHARE_ALIKE if "sa" in short else found)


def _items(text: str) -> Iterator[_Item]:
    """The items of a normalised statement, in order."""
    text = re.sub(r"(?<=\w)\((?:s|es)\)", "", text)  # "author(s)"
    position, end = 0, -1
    while (match := _TOKEN.search(text, position)) is not None:
        position, joined = match.end(), match.start() == end
        kind, shown = match.lastgroup, match.group()
        if kind == "commons":
            item, position = _commons_address(text, position)
            yield item
        elif kind == "email":
            yield _Item("", shown, "harmless")
        elif kind == "picture":
            yield _picture(shown)
        elif kind == "link":
            is_terms = _TERMS_ADDRESS.search(shown) and not _KNOWN_TERMS.search(shown)
            yield _Item("", shown, "unread" if is_terms else "harmless")
        elif kind == "number":
            yield _Item(shown.rstrip(".,"), shown, "number", joined=joined)
        elif kind == "sign":
            yield _Item(shown, shown, "word", joined=joined)
        elif kind == "word":
            for part in [shown] if shown.lower() in _WHOLE else _CAMEL.split(shown):
                for key in _keys(part):
                    yield _Item(key, part, "word", joined=joined)
                    joined = True
        else:
            yield _Item("", shown, "sign", joined=joined)
        end = position


def _commons_address(text: str, position: int) -> tuple[_Item, int]:
    """The item of an address at Creative Commons, and where it ends."""
    for pattern in (_DEED, _WAIVER, _NO_DEED):
        if (path := pattern.match(text, position)) is None:
            continue
        tail = _TAIL.match(text, path.end())
        assert tail is not None  # it may be empty
        if tail.group():
            break
        if pattern is _NO_DEED:
            return _Item("", text[position : path.end()], "harmless"), path.end()
        meaning = deed_conditions(path.group(1)) if pattern is _DEED else Meaning.WAIVER
        return _Item("<cc>", path.group(), "licence", meaning), path.end()
    rest = re.compile(rf"[^{_END}]*").match(text, position)
    assert rest is not None  # it may be empty
    return _Item("", f"creativecommons.org{rest.group()}", "unread"), rest.end()


def _picture(name: str) -> _Item:
    """The item of a file's name: "cc-by-nc.png" shows conditions, "g001.jpg" nothing."""
    found = Meaning.HARMLESS
    for key in (key for part in re.split(r"[\W\d_]+", name) for key in _keys(part)):
        found |= {"nc": Meaning.NON_COMMERCIAL, "nd": Meaning.NO_DERIVATIVES, "sa": Meaning.SHARE_ALIKE}.get(key, found)
    return _Item("", name, "harmless", found)


# --- phrases ---------------------------------------------------------------------------------------------------------


class _Phrases:
    """Phrases with their meanings, by words: an automaton, so that a line's alternatives need not be multiplied.

    A state is the set of places in phrases that the words so far lead to; states are made when they are first met.
    """

    __slots__ = ("_ends", "_following", "_steps")

    def __init__(self, lists: Iterable[tuple[str, Meaning]]) -> None:
        self._following: list[dict[str, set[int]]] = [{}]
        self._ends: dict[int, Meaning] = {}
        self._steps: dict[tuple[frozenset[int], str], frozenset[int]] = {}
        for lines, meaning in lists:
            for line in lines.strip().splitlines():
                self._add([part.split("|") for part in re.split(r"[{}]", line)], meaning)

    def _add(self, parts: Sequence[Sequence[str]], meaning: Meaning) -> None:
        reached = {0}
        for alternatives in parts:
            behind = len(self._following)
            self._following.append({})
            spellings = [_phrase_keys(alternative) for alternative in alternatives]
            for words in filter(None, spellings):
                places = reached
                for word in words[:-1]:
                    place = len(self._following)
                    self._following.append({})
                    self._link(places, word, place)
                    places = {place}
                self._link(places, words[-1], behind)
            reached = {behind, *(reached if () in spellings else ())}
        for place in reached:
            if place:
                self._ends[place] = self._ends.get(place, Meaning.HARMLESS) | meaning

    def _link(self, places: Iterable[int], word: str, target: int) -> None:
        for place in places:
            self._following[place].setdefault(word, set()).add(target)

    def step(self, state: frozenset[int], word: str) -> frozenset[int]:
        """Return the state behind a word; empty when no phrase goes on with it."""
        key = (state, word)
        if key not in self._steps:
            if not any(word in self._following[place] for place in state):
                return frozenset()  # words of any statement are not kept
            found = [self._following[place].get(word, ()) for place in state]
            self._steps[key] = frozenset(itertools.chain.from_iterable(found))
        return self._steps[key]

    def meaning(self, state: frozenset[int]) -> Meaning | None:
        """Return the joint meaning of the phrases that end here; None when none does."""
        ends = [self._ends[place] for place in state if place in self._ends]
        return functools.reduce(lambda one, other: one | other, ends) if ends else None

    def knows(self, word: str) -> bool:
        """Say whether a phrase begins with a word."""
        return word in self._following[0]


_START: Final = frozenset({0})


def _phrase_keys(text: str) -> tuple[str, ...]:
    """The words of a phrase."""
    pieces = [[piece] if piece in ("<cc>", "<cc0>") else _words(piece) for piece in text.split()]
    return tuple(itertools.chain.from_iterable(pieces))


def _words(text: str) -> list[str]:
    return [item.key for item in _items(plain(text)) if item.key]


_LISTS: Final = (
    (licence_words.CREATIVE_COMMONS, Meaning.COMMONS),
    (licence_words.ATTRIBUTION, Meaning.ATTRIBUTION),
    (licence_words.NON_COMMERCIAL, Meaning.NON_COMMERCIAL),
    (licence_words.NO_DERIVATIVES, Meaning.NO_DERIVATIVES),
    (licence_words.SHARE_ALIKE, Meaning.SHARE_ALIKE),
    (licence_words.WAIVER, Meaning.WAIVER),
    (licence_words.TEXT_MINING_PERMISSION, Meaning.TEXT_MINING),
    (licence_words.LICENCE_NOUNS, Meaning.NOUN),
    (licence_words.LICENCE_FORMS, Meaning.FORM),
)
_PROSE: Final = (
    (licence_words.HARMLESS, Meaning.HARMLESS),
    (licence_words.UNDERSTOOD, Meaning.HARMLESS),
    (licence_words.NAMES, Meaning.HARMLESS),
    (licence_words.NAMING, Meaning.NAMING),
    (licence_words.ASIDE, Meaning.ASIDE),
)


@functools.cache
def _terms() -> _Phrases:
    """Return the compiled phrases of which licences are put together (`_LISTS`)."""
    return _Phrases(_LISTS)


@functools.cache
def _prose() -> _Phrases:
    """Return the compiled phrases of a statement's other words: `_PROSE`, and `_LISTS` without names or attribution."""
    names = (Meaning.COMMONS, Meaning.WAIVER, Meaning.FORM)
    lists = [(lines, meaning & ~Meaning.ATTRIBUTION) for lines, meaning in _LISTS if meaning not in names]
    return _Phrases([*lists, *_PROSE])


@functools.cache
def _particles() -> frozenset[str]:
    return frozenset(word for line in re.split(r"[{}|\s]", licence_words.PARTICLES) for word in _words(line))


@functools.cache
def _words_in_names() -> frozenset[str]:
    return frozenset(word for line in re.split(r"[{}|\s]", licence_words.IN_NAMES) for word in _words(line))


@functools.cache
def _suspicions() -> re.Pattern[str]:
    words = [re.escape(folded(word)).replace(r"\*", r"\w*") for word in licence_words.SUSPICIOUS.split()]
    return re.compile(f"(?:{'|'.join(words)})\\Z")


def is_suspicious(word: str) -> bool:
    """Say whether a word is known to restrict, to negate, or to add a licence."""
    if any(sign in licence_words.SUSPICIOUS_SIGNS for sign in word):
        return True
    return any(_suspicions().match(folded(piece)) for piece in re.split(r"[\W_]+", word.replace("'", "")) if piece)


def _longest(items: Sequence[_Item], start: int, phrases: _Phrases) -> tuple[int, Meaning | None]:
    """The end of the longest phrase that begins at an item, and its meaning; signs between its words do not count."""
    state, end, meaning = _START, start, None
    for place in range(start, len(items)):
        item = items[place]
        if place > start and (item.kind == "harmless" or (item.kind == "sign" and item.shown in _HARMLESS_SIGNS)):
            continue
        state = phrases.step(state, item.key) if item.key else frozenset()
        if not state:
            break
        found = phrases.meaning(state)
        if found is not None:
            end, meaning = place + 1, found
    return end, meaning


_HARMLESS_SIGNS: Final = frozenset(".,;:()[]{}<>/\\|-_&*\"'“”‘’«»‹›„®°§†‡·•，。；：（）《》「」、・…") | {
    "\N{TRADE MARK SIGN}"
}


# --- licences' names -------------------------------------------------------------------------------------------------

_VERSION: Final = re.compile(r"[1-4](?:\.[05])?|2\.1")
_FULL_VERSION: Final = re.compile(r"[1-4]\.[05]")
_DETERMINERS: Final = frozenset(
    {"the", "a", "an", "its", "our", "their", "these", "this", "those", "author", "authors"}
)


def _mentions(items: Sequence[_Item]) -> Iterator[_Item]:
    """The items with each name of a licence as one, conditions, version and address included."""
    place = 0
    while place < len(items):
        end, meaning = _mention(items, place)
        if meaning is None:
            yield items[place]
            place += 1
        else:
            shown = " ".join(item.shown for item in items[place:end])
            key = "<cc0>" if Meaning.WAIVER in meaning and Meaning.ATTRIBUTION not in meaning else "<cc>"
            versions = tuple(item.key for item in items[place:end] if _FULL_VERSION.fullmatch(item.key))
            yield _Item(key, shown, "licence", meaning, versions=versions)
            place = end


def _mention(items: Sequence[_Item], start: int) -> tuple[int, Meaning | None]:
    """Return the end of the licence's name that begins at an item, and its meaning; None where none begins."""
    item = items[start]
    found = item.meaning if item.kind == "licence" else Meaning.HARMLESS
    place = end = start + 1
    if item.kind != "licence":
        end, meaning = _longest(items, start, _terms())
        if meaning is None or not meaning & (Meaning.COMMONS | Meaning.WAIVER | Meaning.ATTRIBUTION):
            return start, None
        if Meaning.ATTRIBUTION in meaning and not _is_short_name(items, end):
            return start, None
        found |= meaning
        place = end
    while place < len(items):
        item = items[place]
        if item.kind == "sign" and item.shown in _HARMLESS_SIGNS:
            place += 1
            continue
        following, meaning = _part(items, place, end)
        if meaning is None:
            break
        found |= meaning
        place = end = following
    return end, found


def _is_short_name(items: Sequence[_Item], place: int) -> bool:
    """Say whether "Attribution" goes on as a licence's name does: "-NonCommercial"; a comma begins a condition."""
    if place >= len(items) or items[place].shown != "-":
        return False
    _, meaning = _longest(items, place + 1, _terms())
    return meaning is not None and bool(meaning & CONDITIONS)


def _part(items: Sequence[_Item], place: int, end: int) -> tuple[int, Meaning | None]:
    """The next part of a licence's name and where it ends; `end` is where the part before ended."""
    item = items[place]
    if item.kind == "licence":
        return place + 1, item.meaning
    if item.key == "0" and place == end and items[place - 1].key in ("cc", "commons"):
        return place + 1, Meaning.WAIVER
    if item.key == "0" and place == end + 1 and items[end].shown == "-" and items[end - 1].key == "cc":
        return place + 1, Meaning.WAIVER
    if item.kind == "number":
        return (place + 1, Meaning.FORM) if _VERSION.fullmatch(item.key) else (place, None)
    if item.key == "by":
        return (place + 1, Meaning.ATTRIBUTION) if _is_element(items, place) else (place, None)
    words = [other.key for other in items[place : place + 3]]
    if words == ["public", "domain", "dedication"]:
        return place + 3, Meaning.WAIVER
    following, meaning = _longest(items, place, _terms())
    return following, meaning


def _is_element(items: Sequence[_Item], place: int) -> bool:
    """Say whether "by" is the licence's: "CC-BY", "CC by licence", not "Creative Commons by the authors"."""
    following = place + 1
    while following < len(items) and items[following].kind == "sign":
        following += 1
    if following == len(items):
        return True
    if items[following].key in _DETERMINERS:
        return False
    if items[place].joined or items[place].shown == "BY" or items[following].kind in ("number", "licence"):
        return True
    meaning = _longest(items, following, _terms())[1] or Meaning.HARMLESS
    return items[following].key in ("nc", "nd", "sa") or bool(meaning & (Meaning.NOUN | Meaning.FORM))


# --- reading ---------------------------------------------------------------------------------------------------------


def read_statement(text: str | None) -> StatementReading:
    """Read a statement of a licence whole.

    Args:
        text: a code, an address, a sentence or several, in any language; untrusted, of any length.
    """
    items = list(_mentions(list(_rejoined(list(_items(plain(text)))))))
    named = Meaning.HARMLESS
    unread: list[str] = []
    speaks = naming = False
    place = 0
    while place < len(items):
        item = items[place]
        end, meaning = _longest(items, place, _prose())
        inside = items[place:end] or [item]
        for mention in inside:
            named |= (
                mention.meaning if Meaning.ASIDE not in (meaning or Meaning.HARMLESS) else mention.meaning & CONDITIONS
            )
            speaks = speaks or mention.kind == "licence"
        if naming and meaning is not None and meaning & CONDITIONS and not item.shown.isascii() and end == place + 1:
            meaning = Meaning.HARMLESS  # an author's name: "Sá"
        if meaning is not None and Meaning.NOUN in meaning and not _is_named_licence(items, place, end):
            meaning = None
        if meaning is not None:
            named |= meaning & (CONDITIONS | Meaning.TEXT_MINING)
            speaks = speaks or bool(meaning & (CONDITIONS | Meaning.TEXT_MINING | Meaning.NOUN))
            if Meaning.NAMING in meaning:
                naming = True
            elif any(
                part.kind == "licence" or (part.shown[:1].islower() and part.key not in _particles()) for part in inside
            ):
                naming = False
            place = end
            continue
        if item.kind == "sign":
            opens = item.shown == "©"
            naming = naming or opens
            if not opens and item.shown not in _HARMLESS_SIGNS:
                unread.append(item.shown)
        elif item.kind == "word" and _is_copyright_sign(items, place):
            naming = True
        elif not (item.kind in ("licence", "harmless") or _is_name(items, place, naming)):
            unread.append(item.shown)
            speaks = speaks or is_suspicious(item.shown)
        place += 1
    versions = tuple((item.meaning, item.versions) for item in items if Meaning.COMMONS in item.meaning)
    return StatementReading(named, tuple(unread), speaks, versions)


def _rejoined(items: Sequence[_Item]) -> Iterator[_Item]:
    """The items with words that a line's end divides ("distri- bution") whole again, where they are words only so."""
    place = 0
    while place < len(items):
        three = items[place : place + 3]
        if len(three) == 3 and three[1].shown == "-" and three[1].joined and not three[2].joined:
            first, _, last = three
            keys = _keys(first.shown + last.shown)
            known = _prose().knows
            are_words = {first.kind, last.kind} == {"word"} and not (known(first.key) and known(last.key))
            if are_words and all(known(key) for key in keys):
                for key in keys:
                    yield _Item(key, first.shown + last.shown, "word", joined=first.joined)
                place += 3
                continue
        yield items[place]
        place += 1


def _is_named_licence(items: Sequence[_Item], place: int, end: int) -> bool:
    """Say whether a licence that is spoken of is the one that is named: "Licence: CC BY", not "Elsevier licence"."""
    before = next((item for item in reversed(items[max(0, place - 3) : place]) if item.kind != "sign"), None)
    behind = next((item for item in items[end : end + 3] if item.kind != "sign"), None)
    if before is not None and before.kind == "licence":
        return True
    is_named_so = before is not None and before.shown[:1].isupper() and before.key not in _DETERMINERS | {"access"}
    return behind is not None and behind.kind == "licence" and not is_named_so


def _is_copyright_sign(items: Sequence[_Item], place: int) -> bool:
    around = [item.shown for item in items[max(0, place - 1) : place + 2]]
    return around in (["(", "c", ")"], ["(", "C", ")"])


def _is_name(items: Sequence[_Item], place: int, naming: bool) -> bool:
    """Say whether an unknown item is part of a name: behind "©", "published by" and the like, or before "et al."."""
    item = items[place]
    if item.kind == "number":
        return naming
    if item.kind != "word" or (is_suspicious(item.shown) and not (naming and _is_in_name(items, place))):
        return False
    if naming and item.key in _particles():
        return True
    if not item.shown[:1].isupper():
        return False
    if naming:
        return True
    following = [other.key for other in items[place + 1 : place + 8] if other.key]
    return any(pair == ("et", "al") for pair in itertools.pairwise(following))


def _is_in_name(items: Sequence[_Item], place: int) -> bool:
    """Say whether a word that restricts elsewhere is one of a name's: "Journal of Internet Research"."""
    if items[place].key not in _words_in_names() or not items[place].shown.istitle() or place == 0:
        return False
    before = items[place - 1]
    return before.kind == "word" and (
        before.key == "of" or (before.shown[:1].isupper() and before.key not in _particles())
    )
