"""Checks of a summary that a language model wrote: nothing in it that its sources do not say.

The sources are the panel's subcaption, the sentences that speak of it, and the long forms of its abbreviations. A
check gives the reason, in words that the model can act on, why an answer does not fit. Every word must be a source's or
one of the few that say nothing of their own (`PLAIN_WORDS`); every number a source's with its unit and its sign of
comparison; and what qualifies a word (side, negation, doubt, before and after, more and less, …) must be what qualifies
it in some source. What these checks cannot see: who did what to whom, where both stand in one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from pmo_assets.pipeline.articles.mentions import figure_references, label_key, sentence_spans
from pmo_assets.pipeline.context.summaries import MAX_WORDS, word_count
from pmo_assets.pipeline.context.terms import stem, words_of
from pmo_assets.pipeline.prompting.asking import MisfittingAnswer
from pmo_assets.records.context import Abbreviation

MAX_SOURCE: Final = 40_000
"""Characters of sources that are compared."""

_MAX_ANSWER: Final = 4_000
_QUOTED: Final = 8
_FEWEST_TERMS: Final = 3
_SUPPORTED: Final = 0.5
"""Share of the words of a statement that one source sentence has, or it is put together from several."""

PLAIN_WORDS: Final = frozenset(
    map(
        stem,
        """a about also although among an and any appear appearance appears are area areas as at be been being between but
        by can captured case cases characteristic clearly consisting contain containing contains corresponding data
        demonstrate demonstrated demonstrates demonstrating depict depicted depicts describe described detail detailed
        detected display displayed displaying displays during each evidence evident examination examined example exhibit
        exhibited exhibiting exhibits eye eyes feature features featured features figure finding findings for found from
        had has have having here highlight highlighted highlighting highlights identified illustrate illustrated
        illustrates image imaged images imaging in include included includes including indicate indicated indicates
        indicating into involving is it its itself location located note noted observation observations observe observed
        obtained of on or panel participant participants patient patients performed picture present presence present
        presented presenting presents provide provided provides record recorded reflecting region regions represent
        represented representing represents result resulting results reveal revealed revealing reveals scan see seen show
        showed showing shown shows sign signs site so specifically taken than that the their there these they this those
        through thus to upon use used using view viewed views visible visualized visualised was were where which while who
        whose within yielded acquired assessed compared comparison concerning he her his she him when then also whereas
        measured measurement measurements measuring respectively""".split(),
    )
)
"""Words that say nothing which a source would have to say."""

_META: Final = re.compile(
    r"target (?:sub)?figure|\bthe (?:sub)?caption\b|\bcontext\b.{0,20}\b(?:states|says|mentions|describes|does not)|not (?:explicitly )?"
    r"(?:mentioned|specified|provided|stated|described) in|no (?:further |additional |other )?(?:information|details?) "
    r"|as an ai|language model|here is|\bsummary\b|based on the (?:text|context|provided)|the provided|caption:|\bI (?:cannot|can't)\b"
    r"|according to the text|the text (?:states|says|mentions|does not)",
    re.IGNORECASE,
)
_PANEL: Final = re.compile(
    r"(?<!\w)(?:(?i:sub-?figures?|sub-?panels?|panels?)\s?[-:]?\s?\(?([A-Za-z]\d?|\d{1,2}[a-z]?|[ivx]{1,4})"
    r"|(?i:images?|parts?)\s\(?([A-Z]\d?|[b-hj-z]\d?))\)?(?![\w-])"
)
_BRACKETED: Final = re.compile(r"\(([A-Za-z]\d?)\)")
_PLACED_PANEL: Final = re.compile(
    r"\b(left|right|top|bottom|upper|lower|middle|cent(?:er|re|ral)|first|second|third|fourth|last|other|next|previous)"
    r"(?:[- ](?:left|right|most|hand))?\s(?:sub-?)?(?:panels?|figures?|columns?|rows?)\b", re.IGNORECASE
)

# Signs that end a statement; "and" too where sides and times are told apart ("20/40 in the right and 20/20 in the left").
_BREAK: Final = re.compile(r"[;:()\[\]]|,(?!\d)|(?<!\d)\.(?!\d)|\b(?:but|while|whereas|although|however|except|which)\b", re.IGNORECASE)
_LOOSE_BREAK: Final = re.compile(_BREAK.pattern.replace("()", ""), re.IGNORECASE)
_FINE_BREAK: Final = re.compile(_BREAK.pattern + r"|\b(?:and|with)\b|\bthan\b", re.IGNORECASE)

_NUMBER_WORDS: Final = {
    word: str(number)
    for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), start=2)
}
_NUMBER: Final = re.compile(
    r"(?P<sign>[<>≤≥~±≈]|(?<![\w.)])[-−–](?=\d))?\s?(?<![\w.])(?P<value>\d+(?:[.,·/]\d+)*)(?P<tail>\s?(?:[%°×]|[-‐]?[^\W\d_]+(?:/[^\W\d_]+)?)?)"
)
_UNITS: Final = {
    **dict.fromkeys(("μm", "µm", "um", "micron", "microns", "micrometer", "micrometers", "micrometre", "micrometres"), "µm"),
    **dict.fromkeys(("%", "percent"), "%"),
    **dict.fromkeys(("d", "day", "days"), "day"),
    **dict.fromkeys(("week", "weeks", "wk", "wks", "w"), "week"),
    **dict.fromkeys(("month", "months", "mo", "mos"), "month"),
    **dict.fromkeys(("year", "years", "yr", "yrs", "y"), "year"),
    **dict.fromkeys(("h", "hour", "hours", "hr", "hrs"), "hour"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "minute"),
    **dict.fromkeys(("s", "sec", "second", "seconds"), "second"),
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), "mm"),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), "cm"),
    **dict.fromkeys(("°", "degree", "degrees", "deg"), "°"),
    **dict.fromkeys(("diopter", "diopters", "dioptre", "dioptres"), "diopter"),
    **dict.fromkeys(("t", "tesla"), "tesla"),
    **dict.fromkeys(("ml", "milliliter", "milliliters"), "ml"),
    **dict.fromkeys(("mg", "milligram", "milligrams"), "mg"),
    **{unit: unit for unit in "nm m mmhg kg g μg µg μl µl l hz khz mhz db iu pa kpa mm/s mg/ml mg/kg logmar × fold letters".split()},
}  # fmt: skip
"""Units as written, lower case, to one form of each."""
_LINK: Final = re.compile(r"\s?(?:,\s?(?:and\s|or\s)?|and\s|or\s|to\s|[–—-]|±|×|x\s)\s?(?=\d)")

_SIDES: Final = (
    (r"right|o\.?d\.?|oculus dexter|re", "right"), (r"left|o\.?s\.?|oculus sinister|le", "left"),
    (r"both|o\.?u\.?|bilateral(?:ly)?", "both right left"),
)  # fmt: skip
_GROUPS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "side": _SIDES,
    "time": (
        (r"before|pre\w*operative(?:ly)?|pre-?treatment|prior", "before"),
        (r"after|post\w*operative(?:ly)?|post-?treatment|following|later|subsequent(?:ly)?", "after"),
    ),
    "amount": (
        (r"increas\w+|higher|greater|thicker|elevat\w+|larger|rais\w+|rise|rising|rose|longer|more|heavier|faster", "more"),
        (r"decreas\w+|lower|less|thinner|reduc\w+|smaller|declin\w+|fell|drop\w*|shorter|fewer|lighter|slower|loss", "less"),
    ),
    "course": (
        (r"improv\w+|better|resol\w+|regress\w+|recover\w+|disappear\w+", "better"),
        (r"wors\w+|deteriorat\w+|progress\w+|recur\w+", "worse"),
    ),
    "height": ((r"superior(?:ly)?|upper", "superior"), (r"inferior(?:ly)?", "inferior")),
    "nose": ((r"nasal(?:ly)?", "nasal"), (r"temporal(?:ly)?", "temporal")),
    "front": ((r"anterior(?:ly)?", "anterior"), (r"posterior(?:ly)?", "posterior")),
    "depth": ((r"inner(?:most)?", "inner"), (r"outer(?:most)?", "outer")),
    "middle": ((r"central(?:ly)?|centre|center", "central"), (r"peripher\w+", "peripheral")),
    "reach": ((r"proximal(?:ly)?", "proximal"), (r"distal(?:ly)?", "distal")),
    "result": ((r"positiv\w+", "positive"), (r"negativ\w+", "negative")),
    "kind": ((r"benign", "benign"), (r"malignan\w+", "malignant")),
    "sex": ((r"man|men|male|males|boy|boys", "male"), (r"woman|women|female|females|girl|girls", "female")),
    "speed": ((r"acute(?:ly)?", "acute"), (r"chronic(?:ally)?", "chronic")),
    "phase": ((r"early|earlier", "early"), (r"late", "late")),
    "degree": ((r"mild(?:ly)?|slight(?:ly)?|minimal(?:ly)?", "mild"), (r"severe(?:ly)?|marked(?:ly)?|massive(?:ly)?", "severe")),
    "sight": ((r"hyper\w+", "hyper"), (r"hypo\w+", "hypo")),
    "normality": ((r"normal(?:ly)?|unremarkable|healthy", "normal"), (r"abnormal\w*|patholog\w+", "abnormal")),
}  # fmt: skip
"""Words that exclude each other of one thing, by what they say."""
_ADJECTIVES: Final = frozenset(("sight", "speed", "degree", "kind", "phase"))
"""Groups of words that stand before what they are said of, and are said of nothing else."""
_NEAR: Final = 2
"""Words behind a qualifier that are in any case what it is said of: "left eye 20/20"."""
_WORD_OF: Final[Mapping[str, Sequence[tuple[re.Pattern[str], frozenset[str]]]]] = {
    group: [
        (re.compile(rf"(?<![\w-])(?:{pattern})(?!\w)", re.IGNORECASE), frozenset(value.split()))
        for pattern, value in values
    ]
    for group, values in _GROUPS.items()
}



def _next(group: str) -> str:
    """Return the name of a group as far as the next word is concerned."""
    return f"{group} of the next word"


_NEXT: Final = tuple(map(_next, _GROUPS))

_NOT: Final = (
    r"no|not|n't|without|absence of|lack of|lacked|lacks|lacking|free of|denied|denies|neither|nor|never|none|negative for|cannot"
    r"|failed to|ruled out|excluded|absent|rather than|no longer"
)
_NEGATED: Final = re.compile(rf"(?<![\w-])(?:{_NOT})\b|n't\b", re.IGNORECASE)
_NEGATES_BEFORE: Final = re.compile(
    r"\b(?:is|are|was|were|been|be|being|could|can)\s(?:not|never|no longer)\b|\bcannot be\b|\bnot be\b|\babsent\b|\bruled out\b"
    r"|\bexcluded\b|\b(?:isn't|aren't|wasn't|weren't)\b", re.IGNORECASE
)
_DOUBTED: Final = re.compile(
    r"\b(?:suspect\w*|possibl[ey]|probabl[ey]|likely|presum\w+|may|might|suggest\w*|consistent with|compatible with|suspicious"
    r"|questionable|putative|potential(?:ly)?|seem\w*|could be|apparent(?:ly)?|cannot be excluded|indicative of|rule out|thought to)\b",
    re.IGNORECASE,
)
_DOUBTS_BEFORE: Final = re.compile(
    r"\b(?:is|are|was|were|been|be)\s(?:suspect\w*|possible|probable|likely|presumed|suspicious|questionable)|\bmay\b|\bmight\b"
    r"|\bseem\w*|\bcannot be excluded|\bcould be\b", re.IGNORECASE
)
_SAME: Final = 0.8
"""Share of their words that two sentences have in common that say the same."""

_OWN_WORDS: Final = frozenset(map(stem, "eye eyes both".split()))


@dataclass(frozen=True)
class SummarySources:
    """Sources of a panel's summary.

    Attributes:
        label: of its figure, as printed; None without one.
        identifier: of the panel; None for the only one.
        others: identifiers of the figure's other panels.
        subcaption: of the panel.
        sentences: that speak of it, and those of its extractive summary.
        abbreviations: with the article's long forms.
    """

    label: str | None
    identifier: str | None
    others: tuple[str, ...]
    subcaption: str
    sentences: tuple[str, ...]
    abbreviations: tuple[Abbreviation, ...] = ()

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """All sentences that may be said again, abbreviations replaced by their long forms."""
        kept: list[str] = []
        left = MAX_SOURCE
        for text in (self.subcaption, *self.sentences):
            for start, end in sentence_spans(text[:left]):
                kept.append(self.expanded(text[start:end]))
            left -= len(text)
            if left <= 0:
                break
        return tuple(kept)

    def expanded(self, text: str) -> str:
        """Return a text with long forms in place of its abbreviations, so that both are the same words."""
        for item in self.abbreviations:
            # "optical coherence tomography (OCT)" says it once.
            text = text.replace(f"{item.long} ({item.short})", item.long)
            text = re.sub(rf"(?<![^\W_]){re.escape(item.short)}s?(?![^\W_])", lambda _, long=item.long: long, text)
        return text

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of all words of the sources."""
        written = [self.subcaption, *self.sentences, *(item.short for item in self.abbreviations)]
        return frozenset(stem(word) for text in (*written, *self.texts) for word in words_of(text[:MAX_SOURCE]))

    @cached_property
    def numbers(self) -> Mapping[str, frozenset[tuple[str, str]]]:
        """Signs of comparison and units of each number."""
        return _numbers_of(self.texts)

    @cached_property
    def qualified(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """By group of qualifiers and by term, what qualifies the term in some sentence."""
        return _qualified(self.texts)

    @cached_property
    def values(self) -> Mapping[str, frozenset[str]]:
        """Values of each group of qualifiers that the sources name at all."""
        return {
            group: frozenset[str]().union(*(value for pattern, value in words if any(map(pattern.search, self.texts))))
            for group, words in _WORD_OF.items()
        }


def fitting_summary(answer: str, sources: SummarySources) -> str:
    """Return a model's summary with single blanks, when it says nothing that its sources do not say.

    Raises:
        MisfittingAnswer: with the first reason why it does not fit.
    """
    text = " ".join(answer.split())
    if len(text) > _MAX_ANSWER or word_count(text) > MAX_WORDS:
        raise MisfittingAnswer(f"the summary has {word_count(text)} words; at most {MAX_WORDS} are allowed.")
    for check in (
        _says_something, _names_its_panel, _has_known_words, _has_known_numbers, _qualifies_alike, _denies_alike,
        _is_supported, _has_numbers_together,
    ):  # fmt: skip
        reason = check(text, sources)
        if reason is not None:
            raise MisfittingAnswer(reason)
    return text


def _says_something(text: str, sources: SummarySources) -> str | None:
    meta = _META.search(text)
    if meta is not None:
        return f'the summary speaks of itself or of its task ("{meta.group()}"); say only what the sources say of the panel.'
    if len({stem(word) for word in words_of(text)} - PLAIN_WORDS) < _FEWEST_TERMS:
        return "the summary says nothing of the panel."
    return None


def _names_its_panel(text: str, sources: SummarySources) -> str | None:
    """Return why a text names another panel or figure."""
    own = (sources.identifier or "").casefold()
    key = label_key(sources.label) if sources.label else None
    for _, named in figure_references(text):
        if named != key:
            return f"the summary names figure {named}, which is another one."
    if key is not None:
        behind = re.search(rf"(?i)fig(?:ure|\.)?s?\.?\s?{re.escape(key)}\s?\(?([a-z])\)?(?![a-z])", text)
        if behind is not None and behind.group(1).casefold() != own:
            return f'the summary names panel "{behind.group(1)}", which is another one.'
    others = {other.casefold() for other in sources.others}
    named_panels = [match.group(1) or match.group(2) for match in _PANEL.finditer(text)]
    named_panels += [match.group(1) for match in _BRACKETED.finditer(text) if match.group(1).casefold() in others]
    named_panels += [
        match.group()
        for match in re.finditer(r"(?<![\w.'’-])[A-Z](?![\w.'’-])", text)
        if match.group().casefold() in others and not re.search(rf"(?<![\w-]){match.group()}(?![\w-])", sources.subcaption)
    ]
    for panel in named_panels:
        if panel.casefold() != own:
            return f'the summary names panel "{panel}", which is another one.'
    placed = _PLACED_PANEL.search(text)
    if placed is not None and placed.group(1).casefold() not in own.split():
        return f'the summary speaks of another panel ("{placed.group()}").'
    return None


def _has_known_words(text: str, sources: SummarySources) -> str | None:
    """Return which words a text has that no source has."""
    shown = sources.expanded(text)
    allowed = frozenset(words_of(shown)) - _unsourced_qualifiers(shown, sources)
    units = {word for match in _NUMBER.finditer(shown) if _is_unit(match["tail"]) for word in words_of(match["tail"])}
    unknown = [
        word
        for word in dict.fromkeys([*words_of(text), *words_of(shown)])
        if not word[0].isdigit()
        and stem(word) not in sources.stems
        and stem(word) not in PLAIN_WORDS
        and word not in units
        and word.casefold() not in _NUMBER_WORDS
        and not (word in allowed and _is_qualifier(word))
    ]
    if unknown:
        return f"these words are in none of the sources: {', '.join(unknown[:_QUOTED])}. Use the sources' own words."
    return None


def _is_qualifier(word: str) -> bool:
    """Say whether a word is one whose sense is checked, so that another word of this sense may stand for it."""
    if _NEGATED.fullmatch(word) or _DOUBTED.fullmatch(word) or word.casefold() in ("absence", "lack", "free"):
        return True
    return any(pattern.fullmatch(word) for group, words in _WORD_OF.items() if group != "sight" for pattern, _ in words)


def _unsourced_qualifiers(text: str, sources: SummarySources) -> frozenset[str]:
    """Return the words of a text that say more of something, or doubt it, where no source says or doubts it."""
    found: set[str] = set()
    for group, words in _WORD_OF.items():
        for pattern, value in words:
            if not value <= sources.values[group]:
                found |= {word for match in pattern.finditer(text) for word in words_of(match.group())}
    for pattern in (_NEGATED, _DOUBTED):
        if not any(map(pattern.search, sources.texts)):
            found |= {word for match in pattern.finditer(text) for word in words_of(match.group())}
    return frozenset(found)


def _has_known_numbers(text: str, sources: SummarySources) -> str | None:
    """Return which number of a text no source has, or has with another unit or sign."""
    for value, said in _numbers_of([sources.expanded(text)]).items():
        known = sources.numbers.get(value)
        if known is None:
            return f"the number {value} is in none of the sources."
        for sign, unit in sorted(said):
            if unit not in {unit for _, unit in known}:
                there = ", ".join(sorted(f"{value} {unit}".strip() for _, unit in known))
                return f'"{value} {unit}'.rstrip() + f'" is in none of the sources; they have {there}.'
            if sign not in {sign for sign, _ in known}:
                return f'"{sign} {value}'.strip() + f'" is in none of the sources: the sign before {value} is another one.'
    return None


def _numbers_of(texts: Iterable[str]) -> dict[str, frozenset[tuple[str, str]]]:
    """Return each number of texts with its signs of comparison and its units; "" for none.

    A number whose unit stands behind a later one of its list ("500, 1,000 and 1,500 µm") has that unit. What is no unit
    but counted ("4 eyes") is one.
    """
    found: dict[str, set[tuple[str, str]]] = {}
    for text in texts:
        plain = re.sub(r"[^\W\d_]+", lambda word: _NUMBER_WORDS.get(word.group().casefold(), word.group()), text)
        matches = list(_NUMBER.finditer(plain))
        units = [_unit(match["tail"]) for match in matches]
        for n in range(len(matches) - 2, -1, -1):
            if not units[n] and _LINK.fullmatch(plain, matches[n].end("value"), matches[n + 1].start("value")):
                units[n] = units[n + 1]
        for match, unit in zip(matches, units, strict=True):
            value = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", match["value"]).replace("·", ".")
            sign = (match["sign"] or "").replace("−", "-").replace("–", "-").replace("≈", "~")
            found.setdefault(value, set()).add((sign, unit))
    return {value: frozenset(said) for value, said in found.items()}


def _is_unit(tail: str) -> bool:
    return tail.strip().lstrip("-‐").casefold() in _UNITS


def _unit(tail: str) -> str:
    word = tail.strip().lstrip("-‐").casefold()
    if not word:
        return ""
    if word in _UNITS:
        return _UNITS[word]
    small = word in _LINKS or stem(word) in PLAIN_WORDS - _OWN_WORDS
    return "" if small else stem(word)


_LINKS: Final = frozenset("and or to by with in at for after before vs versus not but x".split())


def _statements(text: str, breaks: re.Pattern[str]) -> Iterator[str]:
    """Yield the parts of a sentence between what ends a statement; a word that does stands before its part."""
    start = 0
    for match in breaks.finditer(text):
        if match.start() > start:
            yield text[start : match.start()]
        start = match.start() if match.group()[0].isalpha() else match.end()
    if start < len(text):
        yield text[start:]


def _terms(text: str) -> frozenset[str]:
    """Return the stems of a text's words that something can be said of; numbers too."""
    found = {stem(word) for word in words_of(text)} | {match["value"] for match in _NUMBER.finditer(text)}
    return frozenset(found - PLAIN_WORDS - _QUALIFIER_STEMS)


_QUALIFIER_STEMS: Final = frozenset(
    map(
        stem,
        """right left both bilateral od os ou before after prior following later higher lower
        greater less more improved worse better superior inferior upper nasal temporal anterior posterior inner outer
        central peripheral proximal distal positive negative no not without absence lack free neither nor never none early
        late mild severe normal abnormal suspected possible probable likely may might suggests suggesting suggested
        suggestive consistent compatible was be is were""".split(),
    )
)


def _qualified(texts: Iterable[str]) -> dict[str, dict[str, frozenset[str]]]:
    """Return by group of qualifiers, and by term, all that qualifies the term.

    A word that tells sides (or times, …) apart qualifies the terms of its statement, and those of its sentence that have
    none in their own statement; and, apart from that, the very next word ("left atrium"). Negation and doubt qualify what follows them in their statement, in some forms ("was not
    seen") what goes before, too.
    """
    found: dict[str, dict[str, frozenset[str]]] = {group: {} for group in (*_WORD_OF, *_NEXT, "denied", "doubted")}

    def add(group: str, terms: Iterable[str], values: frozenset[str]) -> None:
        for term in terms:
            found[group][term] = found[group].get(term, frozenset()) | values

    for text in texts:
        for start, end in sentence_spans(text):
            sentence = text[start:end]
            parts = [(part, _terms(part)) for part in _statements(sentence, _FINE_BREAK)]
            for group, words in _WORD_OF.items():
                whole = _values(sentence, words)
                if not whole:
                    continue
                for pattern, value in words:
                    for match in pattern.finditer(sentence):
                        following = words_of(sentence[match.end() : match.end() + 60])
                        add(_next(group), _terms(" ".join(following[:1])), value)
                        if group in _ADJECTIVES:
                            add(group, _terms(" ".join(following[:_NEAR])), value)
                if group not in _ADJECTIVES:
                    for part, terms in parts:
                        own = _values(part, words)
                        behind = _terms(part[_reach(part, words) :]) if own else frozenset()
                        add(group, terms - behind, own or whole)
                        add(group, behind, whole)
            for part in _statements(sentence, _BREAK):
                for group, pattern, before in (
                    ("denied", _NEGATED, _NEGATES_BEFORE), ("doubted", _DOUBTED, _DOUBTS_BEFORE),
                ):  # fmt: skip
                    inside = _scope(part, pattern, before)
                    add(group, _terms(part) - inside, frozenset(["no"]))
                    add(group, inside, frozenset(["yes"]))
    return found


def _values(text: str, words: Sequence[tuple[re.Pattern[str], frozenset[str]]]) -> frozenset[str]:
    return frozenset[str]().union(*(value for pattern, value in words if pattern.search(text)))


def _reach(part: str, words: Sequence[tuple[re.Pattern[str], frozenset[str]]]) -> int:
    """Return where the terms begin that stand too far behind the last qualifier of a part to be its alone."""
    last = max(match.end() for pattern, _ in words for match in pattern.finditer(part))
    following = list(islice(re.finditer(r"\S+", part[last:]), _NEAR))
    return last + following[-1].end() if following else len(part)


def _scope(part: str, pattern: re.Pattern[str], before: re.Pattern[str]) -> frozenset[str]:
    match = pattern.search(part)
    if match is None:
        return frozenset()
    if before.search(part):
        return _terms(part)
    return _terms(part[match.end() :])


_SAID: Final = {"denied": ("denied", "not denied"), "doubted": ("in doubt", "certain")}


def _qualifies_alike(text: str, sources: SummarySources) -> str | None:
    """Return what a text says of a word that its sources say otherwise."""
    for group, terms in _qualified([sources.expanded(text)]).items():
        known = sources.qualified[group]
        for term, values in sorted(terms.items()):
            there = known.get(term)
            values = values & {"both"} or values  # "both eyes" is not said of what the sources say of one
            if there and not values & there:
                if group in _SAID:
                    yes, no = _SAID[group]
                    said, meant = (yes, no) if "yes" in values else (no, yes)
                    return f'"{term}…" is {said} in the summary, but {meant} in the sources.'
                return (
                    f'the summary says "{", ".join(sorted(values))}" of "{term}…", '
                    f'the sources say "{", ".join(sorted(there))}".'
                )
    return None


def _denies_alike(text: str, sources: SummarySources) -> str | None:
    """Return which statement denies twice, and which sentence denies or doubts what a source says in the same words."""
    shown = sources.expanded(text)
    for start, end in sentence_spans(shown):
        sentence = shown[start:end]
        if any(sentence in source for source in sources.texts):
            continue
        for part in _statements(sentence, _BREAK):
            if len(_NEGATED.findall(part)) > 1 and not re.search(r"\b(?:neither|nor|not only)\b", part, re.IGNORECASE):
                return f'"{part.strip()}" denies twice; say it plainly.'
        terms = _terms(sentence)
        for source in sources.texts:
            known = _terms(source)
            if len(terms & known) < _SAME * len(terms | known):
                continue
            if bool(_NEGATED.search(sentence)) != bool(_NEGATED.search(source)):
                return f'of "{sentence}" and its source only one denies.'
            if _DOUBTED.search(source) and not _DOUBTED.search(sentence):
                return f'"{sentence}" leaves out the doubt of its source.'
    return None


def _is_supported(text: str, sources: SummarySources) -> str | None:
    """Return which statement is put together from words of several sentences that no one of them makes."""
    shown = sources.expanded(text)
    known = [_terms(source) for source in sources.texts]
    for start, end in sentence_spans(shown):
        for part in _statements(shown[start:end], _BREAK):
            terms = _terms(part)
            if len(terms) < _FEWEST_TERMS:
                continue
            if max((len(terms & source) for source in known), default=0) < _SUPPORTED * len(terms):
                return f'no source says "{part.strip()}": its words come from different sentences.'
    return None


def _has_numbers_together(text: str, sources: SummarySources) -> str | None:
    """Return which numbers of a statement stand in no source sentence together, with some of its words."""
    shown = sources.expanded(text)
    known = [(_numbers_of([source]), _terms(source)) for source in sources.texts]
    for start, end in sentence_spans(shown):
        for part in _statements(shown[start:end], _LOOSE_BREAK):
            numbers = _numbers_of([part])
            terms = _terms(part)
            if numbers and not any(
                all(said <= there.get(value, frozenset()) for value, said in numbers.items())
                and len(terms & words) >= min(_SUPPORTED * len(terms), len(numbers) + 1)
                for there, words in known
            ):
                return f'no source says "{part.strip()}" with {" and ".join(numbers)} together.'
    return None
