"""Negated and uncertain findings: what words like "no", "resolved" or "suspected" reach to.

Method: NegEx (Chapman et al., J Biomed Inform 2001;34:301) and ConText (Harkema et al., J Biomed Inform 2009;42:839):
triggers before or after what they speak of, triggers that only look like one ("no change"), and scopes that end with
the clause. Phrases and ends of scopes are our own, for captions and sentences about pictures of eyes. One pass over the
words: a trigger opens a scope, the next end closes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from pmo_assets.lexicon.terms import Form, form_of, lexicon_data
from pmo_assets.lexicon.words import Words
from pmo_assets.pipeline.context.lexicon import Span, Trie, matches, trie_of
from pmo_assets.pipeline.context.quantities import keys_of
from pmo_assets.records.context import EntityGroup

Status = Literal["negated", "uncertain"]
_STATUSES: Final[tuple[Status, ...]] = ("negated", "uncertain")
Place = Literal["before", "next", "after", "either", "list", "through", "none"]
"""Where a trigger stands: before what it speaks of, directly before, after it, before it if a term follows and else
after, or before the list that its clause goes on to ("list"). "through": what a negation of signs reaches through;
"none": phrases that look like triggers and are none."""

PACKAGE_DATA = ("lexicon/data",)
"""Files of the package that this module reads."""

_ENDS: Final = keys_of(
    "but however although though except whereas while which who that yet nevertheless because since with despite "
    "due well until aside apart besides then still when where whether if how than"
)
_VERBS: Final = keys_of(
    "is was are were has had have shows showed showing reveals revealed revealing demonstrates demonstrated "
    "demonstrating exhibits exhibited displays displayed remained remains persisted persists improved worsened "
    "increased decreased developed occurred appeared appears became indicates indicated confirms confirmed illustrates "
    "depicts depicting confirming presented underwent received can could may might will would did does do be been "
    "progressed regressed noted reveal demonstrate disclose disclosed corresponds corresponding represents representing"
)
_OF_VERBS: Final = keys_of("not longer never")
_PREPOSITIONS: Final = keys_of(
    "in at on within around near under over from during after before between along through beneath above below "
    "behind by to into for throughout inside outside"
)
_OF_SUBJECTS: Final = _PREPOSITIONS | keys_of("of with without")
_RELATIVES: Final = keys_of("which who")
_STOPS: Final = frozenset(";:")
_LISTS: Final = keys_of("or and nor versus vs")
_SIGNS: Final = keys_of(
    "evidence sign presence history finding suspicion symptom area development recurrence formation feature source "
    "type form trace indication amount kind progression appearance occurrence proof any case degree pattern diagnosis "
    "possibility suggestion impression focus change criterion characteristic stigma presentation variant "
    "manifestation"
)
"""Words whose "of" leads to what they are signs of."""

_LINKS: Final = keys_of(
    "due to secondary caused by related because of from represent represents represented representing reflect reflects "
    "reflecting indicate indicates indicating correspond be been is are was were consistent compatible resulting "
    "attributable attributed explained result suffering having have for a an the"
)
"""Words between a doubt and what it speaks of: "likely due to", "may be secondary to", "possibly represents"."""
_WITH: Final = keys_of("consistent compatible associated")
"""Words whose "with" is such a link, too."""
_PRONOUNS: Final = keys_of("this it that there they these")
"""Words for what was named, and links as well: "to confirm that this was not a metastasis"."""
_MOST_LINKS: Final = 6

_OF_ORIGIN: Final = keys_of("metastasis metastatic spread")
"""Words whose "from" leads on to where they come from: "no metastasis from a lung cancer"."""

_INCLUDES: Final = keys_of("include includes included including comprise comprises comprised contains contained :")
_COPULAS: Final = keys_of("is are was were between")
"""Words that lead from "differential diagnosis" to the list of its diseases."""

_NEW_PHRASES: Final = keys_of(
    "a an the its his her their this these those normal intact some persistent residual new increased decreased only "
    "good stable preserved well well-defined marked complete is are was were flat attached there"
)
"""Words after "and" that begin another thing: "no fluid and an intact ellipsoid zone"."""

DENIABLE: Final[frozenset[EntityGroup]] = frozenset({"disease", "finding", "treatment", "stage"})
"""Groups that can be absent or in doubt; a method, a time or an eye that is named is not."""

MEASURED: Final = "ocular measurement"
"""The term of findings that are numbers (visual acuity, thickness): they are not absent."""

NORMAL: Final = "normal appearance"
"""The term whose name negates what follows: "no abnormality or leakage"."""

_REACH: Final = 30
"""Words that a trigger reaches backwards, and that are looked through after a comma."""

_SHORT_BRACKET: Final = 4
"""Words of a bracket that gives another name of what stands before it: "subretinal fluid (SRF)"."""


@dataclass(frozen=True, slots=True)
class _Trigger:
    first: int
    end: int
    status: Status
    place: Place
    lists: bool = False


@cache
def _phrases() -> tuple[Trie, Mapping[Form, tuple[Status, Place]]]:
    read = lexicon_data("negation")
    kinds: dict[Form, tuple[Status, Place]] = {
        form_of(phrase): (status, place)
        for status in _STATUSES
        for place, phrases in read[status].items()
        for phrase in phrases
    }
    return trie_of(kinds), kinds


def load_negation() -> None:
    """Read the phrases that negate and doubt, so that this counts against no article.

    Raises:
        SystemicError: they cannot be read.
    """
    _phrases()


def statuses(words: Words, spans: Sequence[Span]) -> list[frozenset[Status]]:
    """Return for each span whether the text negates it, doubts it, or both, in time near linear in the words.

    Args:
        words: of the text.
        spans: disjoint, in the text's order.
    """
    starting = {span.first: number for number, span in enumerate(spans) if _can_be_absent(span)}
    named = {index for span in spans if span.term != NORMAL for index in range(span.first, span.end)}
    stops = _stops(words)
    found: list[set[Status]] = [set() for _ in spans]
    triggers = _triggers(words, starting, stops, named)
    _look_forward(words, triggers, starting, stops, found)
    for trigger in triggers.values():
        if trigger.place == "after":
            for number in _subject(words, trigger, starting, stops):
                found[number].add(trigger.status)
    for number, span in enumerate(spans):
        asked = ["?"] in (words.keys[span.end : span.end + 1], words.keys[max(0, span.first - 1) : span.first])
        if asked and _can_be_absent(span):
            found[number].add("uncertain")
        _copy_to_short_name(words, spans, number, found)
    return [frozenset(status) for status in found]


def _can_be_absent(span: Span) -> bool:
    return span.group in DENIABLE and MEASURED not in span.broader


def _stops(words: Words) -> bytearray:
    """Say for each word whether a clause ends there: full stops of sentences, colons, semicolons."""
    stops = bytearray(len(words))
    for index, key in enumerate(words.keys):
        if key in _STOPS:
            stops[index] = 1
        elif key in ".!?" and not (key == "." and index and words.keys[index - 1] == "vs"):
            end = words.ends[index]
            following = words.text[end : end + 2].lstrip(" )\"'”’")
            stops[index] = end >= len(words.text.rstrip()) or (
                words.text[end : end + 1].isspace() and not following[:1].islower()
            )
    return stops


def _triggers(words: Words, starting: Mapping[int, int], stops: bytearray, named: Set[int]) -> dict[int, _Trigger]:
    """The longest trigger at each word that no other trigger covers, by its first word.

    A word of a term's name is none: "presumed ocular histoplasmosis syndrome", "no light perception".
    """
    trie, kinds = _phrases()
    longest: dict[int, tuple[int, Form]] = {}
    for first, end, form in matches(words, trie):
        longest[first] = max(longest.get(first, (0, form)), (end, form))
    triggers: dict[int, _Trigger] = {}
    covered = 0
    for first, (end, form) in longest.items():
        if first < covered or first in named:
            continue
        status, place = kinds[form]
        if place == "list":
            triggers[first] = _list_trigger(words, first, end, status, starting, stops)
            covered = triggers[first].end
            continue
        if status == "uncertain" and place != "after":
            end = _past_links(words, end, starting)
        if place in {"either", "next"}:
            otherwise: Place = "after" if place == "either" else "none"
            if not _term_follows(words, end, starting, stops):
                place = otherwise if _phrase_ends(words, end, stops) else "none"
            else:
                place = "before"
        triggers[first] = _Trigger(first, end, status, place)
        covered = end
    return triggers


def _list_trigger(
    words: Words, first: int, end: int, status: Status, starting: Mapping[int, int], stops: bytearray
) -> _Trigger:
    """The trigger of a differential diagnosis, up to where its list begins: "(at that point) included", ":", "of"."""
    for index in range(end, min(end + _REACH, len(words))):
        key = words.keys[index]
        if key in _INCLUDES or (key in _COPULAS and _term_follows(words, index + 1, starting, stops)):
            begin = index + 1 + (words.keys[index + 1 : index + 2] == [":"])
            return _Trigger(first, begin, status, "before", lists=True)
        if stops[index] or key == ",":
            break
    end += words.keys[end : end + 1] == ["of"]
    follows = _term_follows(words, end, starting, stops)
    return _Trigger(first, end, status, "before" if follows else "none", lists=True)


def _past_links(words: Words, end: int, starting: Mapping[int, int]) -> int:
    """Index after the words that link a doubt to what it speaks of, as far as no term begins."""
    for index in range(end, min(end + _MOST_LINKS, len(words))):
        key = words.keys[index]
        linked = (
            key in _LINKS
            or key in _PRONOUNS
            or (key == "with" and words.keys[index - 1] in _WITH)
            or (key == "not" and index > end + 1 and words.keys[index - 2] in _PRONOUNS)
        )
        if index in starting or not linked:
            return index
    return min(end + _MOST_LINKS, len(words))


def _phrase_ends(words: Words, end: int, stops: bytearray) -> bool:
    """Whether a trigger ends its phrase: "was absent in", not "the absent epithelium"."""
    if end >= len(words) or stops[end] or not words.keys[end].isalpha():
        return True
    return words.keys[end] in _PREPOSITIONS | _LISTS | _ENDS | _VERBS or words.keys[end - 1] in _OF_VERBS


def _term_follows(words: Words, end: int, starting: Mapping[int, int], stops: bytearray) -> bool:
    for index in range(end, min(end + 3, len(words))):
        if stops[index] or words.keys[index] in _PREPOSITIONS:
            return False
        if index in starting:
            return True
    return False


def _look_forward(
    words: Words,
    triggers: Mapping[int, _Trigger],
    starting: Mapping[int, int],
    stops: bytearray,
    found: list[set[Status]],
) -> None:
    """Mark the spans that stand in the scope of a trigger before them."""
    active: set[Status] = set()
    lists = False
    depth = index = 0
    while index < len(words):
        key = words.keys[index]
        trigger = triggers.get(index)
        if trigger is not None:
            index = trigger.end
            if trigger.place == "through":
                active = active if words.keys[trigger.first - 1] in _SIGNS else set()
            elif trigger.place == "before":
                active, depth, lists = _joined(words, trigger, active), 0, trigger.lists
                # "did not show": the verb of a negation does not end it.
                if words.keys[index - 1] in _OF_VERBS and index < len(words) and words.keys[index] in _VERBS:
                    index += 1
            elif trigger.place == "after":
                active = set()
            continue
        if key in ")]" and not depth:
            # A scope that a bracket opens ends with it: "a mass (possible melanoma)".
            active = set()
        depth = max(0, depth + (key in "([") - (key in ")]"))
        if stops[index] and not depth:
            active = set()
        elif index in starting:
            if not depth:
                found[starting[index]] |= active
        elif not depth and active and _ends_scope(words, index, starting, stops, lists=lists):
            active = set()
        index += 1


def _joined(words: Words, trigger: _Trigger, active: Set[Status]) -> set[Status]:
    """What a trigger and the scope in which it stands say together.

    A negated doubt is a negation ("no evidence suggestive of"); "no fluid and possible leakage" are two statements.
    """
    if trigger.status == "uncertain" and "negated" in active:
        before = words.keys[trigger.first - 1]
        # "Lack of flow suggests nonperfusion": what is absent suggests it.
        separate = before in {"and", ","} or (words.keys[trigger.first] == "suggest" and before not in _OF_VERBS)
        return {"uncertain"} if separate else set(active)
    if words.keys[trigger.first] == "without":  # what stands with it is something else than what was doubted
        return {trigger.status}
    return {*active, trigger.status}


def _ends_scope(words: Words, index: int, starting: Mapping[int, int], stops: bytearray, *, lists: bool) -> bool:
    key = words.keys[index]
    if lists and (key == "," or (key == "and" and index + 1 in starting)):
        return False
    if key == "of":
        # "no enhancement of the lesion" is no word about the lesion; "no evidence of a lesion" is.
        return words.keys[index - 1] not in _SIGNS and index - 1 not in starting
    if key == "from" and words.keys[index - 1] in _OF_ORIGIN:
        return False
    if key in _ENDS or key in _VERBS or key in _PREPOSITIONS:
        return True
    if key == "and":
        return index + 1 >= len(words) or words.keys[index + 1] in _NEW_PHRASES
    return key == "," and not _goes_on(words, index, stops)


def _goes_on(words: Words, comma: int, stops: bytearray) -> bool:
    """Whether a list goes on after a comma: "or", "and" or "etc." comes before a verb or the end of the clause."""
    for index in range(comma + 1, min(comma + 1 + _REACH, len(words))):
        key = words.keys[index]
        if stops[index] or key in _VERBS or key in _ENDS:
            return False
        if key == "etc":
            return True
        if key in _LISTS:
            return index + 1 < len(words) and (key != "and" or words.keys[index + 1] not in _NEW_PHRASES)
    return False


def _subject(words: Words, trigger: _Trigger, starting: Mapping[int, int], stops: bytearray) -> list[int]:
    """Spans that a trigger after them speaks of: heads of its clause's subject, not what their prepositions add."""
    first = trigger.first
    if words.keys[first - 1 : first] == ["("] and words.keys[trigger.end : trigger.end + 1] == [")"]:
        first -= 1  # "macular hole (suspected)"
    listed = named = False
    depth = 0
    aside: set[int] = set()
    while first > 0 and trigger.first - first < _REACH:
        key = words.keys[first - 1]
        if key == "," and (clause := _relative_clause(words, first - 1, stops)):
            aside |= {*range(clause, first)}
            first = clause
            continue
        depth += (key in ")]") - (key in "([")
        verb = key in _VERBS and named
        named = named or not (key in _VERBS or key.endswith("ly"))
        if depth < 0 or stops[first - 1] or (key in _ENDS and key != "with") or verb or (key == "," and not listed):
            break
        listed = listed or key in _LISTS
        first -= 1
    heads: list[int] = []
    every: list[int] = []
    added = False
    for index in range(first, trigger.first):
        key = words.keys[index]
        if index in aside:
            added = False
        elif index in starting:
            every.append(starting[index])
            heads.extend([] if added else [starting[index]])
        elif key in _OF_SUBJECTS:
            added = True
        elif key == "," or key in _LISTS:
            added = False
    return heads or every[:1]


def _relative_clause(words: Words, comma: int, stops: bytearray) -> int:
    """Index of the comma that opens the clause which another one closes (", which suggests NPDR,"); 0 without one."""
    for index in range(comma - 1, max(0, comma - _REACH), -1):
        if stops[index] or words.keys[index] == ",":
            return 0
        if words.keys[index] in _RELATIVES and words.keys[index - 1] == ",":
            return index - 1
    return 0


def _copy_to_short_name(words: Words, spans: Sequence[Span], number: int, found: list[set[Status]]) -> None:
    """Give the other name in brackets after a term the term's status: "no subretinal fluid (SRF)"."""
    span = spans[number]
    before = spans[number - 1] if number else None
    if before is None or before.group != span.group or words.keys[before.end : before.end + 1] != ["("]:
        return
    if span.first == before.end + 1 and ")" in words.keys[span.end : span.end + _SHORT_BRACKET]:
        found[number] |= found[number - 1]
