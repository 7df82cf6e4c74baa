"""Qualifiers of a text: what is said of its words by sides, negation, doubt, times, amounts.

Add here: words that exclude each other of one thing. Keep out: how two texts are compared (`summary_checks`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from pmo_assets.pipeline.articles.mentions import sentence_spans
from pmo_assets.pipeline.context.stated_numbers import number_values
from pmo_assets.pipeline.context.terms import PLAIN_WORDS, stem, words_of

# Signs that end a statement; "and" too where sides and times are told apart: "20/40 right and 20/20 left".
BREAK: Final = re.compile(
    r"[;:()\[\]]|,(?!\d)|(?<!\d)\.(?!\d)|\b(?:but|while|whereas|although|however|except|which)\b", re.IGNORECASE
)
LOOSE_BREAK: Final = re.compile(BREAK.pattern.replace("()", ""), re.IGNORECASE)
_FINE_BREAK: Final = re.compile(BREAK.pattern + r"|\b(?:and|with)\b|\bthan\b", re.IGNORECASE)

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
        (r"increas\w+|higher|greater|thicker|elevat\w+|larger|rais\w+|rise|rising|rose|longer|more|heavier"
         r"|faster", "more"),
        (r"decreas\w+|lower|less|thinner|reduc\w+|smaller|declin\w+|fell|drop\w*|shorter|fewer|lighter|slower"
         r"|loss", "less"),
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
    "degree": ((r"mild(?:ly)?|slight(?:ly)?|minimal(?:ly)?", "mild"), (r"severe(?:ly)?|marked(?:ly)?"
                                                                       r"|massive(?:ly)?", "severe")),
    "sight": ((r"hyper\w+", "hyper"), (r"hypo\w+", "hypo")),
    "normality": ((r"normal(?:ly)?|unremarkable|healthy", "normal"), (r"abnormal\w*|patholog\w+", "abnormal")),
}  # fmt: skip
"""Words that exclude each other of one thing, by what they say."""
_ADJECTIVES: Final = frozenset(("sight", "speed", "degree", "kind", "phase"))
"""Groups of words that stand before what they are said of, and are said of nothing else."""
_NEXT_WORDS: Final = 60
"""Characters behind a qualifier in which its next words are."""
_NEAR: Final = 2
"""Words behind a qualifier that are in any case what it is said of: "left eye 20/20"."""
QUALIFIERS: Final[Mapping[str, Sequence[tuple[re.Pattern[str], frozenset[str]]]]] = {
    group: [
        (re.compile(rf"(?<![\w-])(?:{pattern})(?!\w)", re.IGNORECASE), frozenset(value.split()))
        for pattern, value in values
    ]
    for group, values in _GROUPS.items()
}

_NOT: Final = (
    r"no|not|n't|without|absence of|lack of|lacked|lacks|lacking|free of|denied|denies|neither|nor|never|none"
    r"|negative for|cannot"
    r"|failed to|ruled out|excluded|absent|rather than|no longer"
)
NEGATED: Final = re.compile(rf"(?<![\w-])(?:{_NOT})\b|n't\b", re.IGNORECASE)
_NEGATES_BEFORE: Final = re.compile(
    r"\b(?:is|are|was|were|been|be|being|could|can)\s(?:not|never|no longer)\b|\bcannot be\b|\bnot be\b"
    r"|\babsent\b|\bruled out\b"
    r"|\bexcluded\b|\b(?:isn't|aren't|wasn't|weren't)\b",
    re.IGNORECASE,
)
DOUBTED: Final = re.compile(
    r"\b(?:suspect\w*|possibl[ey]|probabl[ey]|likely|presum\w+|may|might|suggest\w*|consistent with"
    r"|compatible with|suspicious"
    r"|questionable|putative|potential(?:ly)?|seem\w*|could be|apparent(?:ly)?|cannot be excluded|indicative of"
    r"|rule out|thought to)\b",
    re.IGNORECASE,
)
_DOUBTS_BEFORE: Final = re.compile(
    r"\b(?:is|are|was|were|been|be)\s(?:suspect\w*|possible|probable|likely|presumed|suspicious|questionable)|\bmay\b|\bmight\b"
    r"|\bseem\w*|\bcannot be excluded|\bcould be\b",
    re.IGNORECASE,
)
_QUALIFIER_STEMS: Final = frozenset(
    map(
        stem,
        [
            "right", "left", "both", "bilateral", "od", "os", "ou", "before", "after", "prior", "following", "later",
            "higher", "lower", "greater", "less", "more", "improved", "worse", "better", "superior", "inferior",
            "upper", "nasal", "temporal", "anterior", "posterior", "inner", "outer", "central", "peripheral",
            "proximal", "distal", "positive", "negative", "no", "not", "without", "absence", "lack", "free",
            "neither", "nor", "never", "none", "early", "late", "mild", "severe", "normal", "abnormal", "suspected",
            "possible", "probable", "likely", "may", "might", "suggests", "suggesting", "suggested", "suggestive",
            "consistent", "compatible", "was", "be", "is", "were",
        ],
    )
)  # fmt: skip


def _next(group: str) -> str:
    """Return the name of a group as far as the next word is concerned."""
    return f"{group} of the next word"


_NEXT: Final = tuple(map(_next, _GROUPS))


def is_qualifier(word: str) -> bool:
    """Say whether a word is one whose sense is checked, so that another word of this sense may stand for it."""
    if NEGATED.fullmatch(word) or DOUBTED.fullmatch(word) or word.casefold() in ("absence", "lack", "free"):
        return True
    return any(
        pattern.fullmatch(word) for group, words in QUALIFIERS.items() if group != "sight" for pattern, _ in words
    )


def statements(text: str, breaks: re.Pattern[str]) -> Iterator[str]:
    """Yield the parts of a sentence between what ends a statement; a word that does stands before its part."""
    start = 0
    for match in breaks.finditer(text):
        if match.start() > start:
            yield text[start : match.start()]
        start = match.start() if match.group()[0].isalpha() else match.end()
    if start < len(text):
        yield text[start:]


def said_terms(text: str) -> frozenset[str]:
    """Return the stems of a text's words that something can be said of; numbers too."""
    found = {stem(word) for word in words_of(text)} | number_values(text)
    return frozenset(found - PLAIN_WORDS - _QUALIFIER_STEMS)


def qualified_terms(texts: Iterable[str]) -> dict[str, dict[str, frozenset[str]]]:
    """Return by group of qualifiers, and by term, all that qualifies the term.

    A word that tells sides (or times, …) apart qualifies the terms of its statement, and those of its sentence that
    have none in their own statement; and, apart from that, the very next word ("left atrium"). Negation and doubt
    qualify what follows them in their statement, in some forms ("was not seen") what goes before, too.
    """
    found: dict[str, dict[str, frozenset[str]]] = {group: {} for group in (*QUALIFIERS, *_NEXT, "denied", "doubted")}
    for text in texts:
        for start, end in sentence_spans(text):
            for group, terms, values in (*_told_apart(text[start:end]), *_denied(text[start:end])):
                for term in terms:
                    found[group][term] = found[group].get(term, frozenset()) | values
    return found


_Said = tuple[str, frozenset[str], frozenset[str]]
"""Group of qualifiers, terms, and what is said of them."""


def _told_apart(sentence: str) -> Iterator[_Said]:
    parts = [(part, said_terms(part)) for part in statements(sentence, _FINE_BREAK)]
    for group, words in QUALIFIERS.items():
        whole = qualifier_values(sentence, words)
        if not whole:
            continue
        for pattern, value in words:
            for match in pattern.finditer(sentence):
                following = words_of(sentence[match.end() : match.end() + _NEXT_WORDS])
                yield _next(group), said_terms(" ".join(following[:1])), value
                if group in _ADJECTIVES:
                    yield group, said_terms(" ".join(following[:_NEAR])), value
        if group not in _ADJECTIVES:
            for part, terms in parts:
                own = qualifier_values(part, words)
                behind = said_terms(part[_reach(part, words) :]) if own else frozenset()
                yield group, terms - behind, own or whole
                yield group, behind, whole


def _denied(sentence: str) -> Iterator[_Said]:
    for part in statements(sentence, BREAK):
        terms = said_terms(part)
        for group, pattern, before in (("denied", NEGATED, _NEGATES_BEFORE), ("doubted", DOUBTED, _DOUBTS_BEFORE)):
            inside = _scope(part, pattern, before)
            yield group, terms - inside, frozenset(["no"])
            yield group, inside, frozenset(["yes"])


def qualifier_values(text: str, words: Sequence[tuple[re.Pattern[str], frozenset[str]]]) -> frozenset[str]:
    """Return what the words of a group say in a text; empty when none stands there."""
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
        return said_terms(part)
    return said_terms(part[match.end() :])
