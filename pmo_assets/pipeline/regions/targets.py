"""What a mark shows: the noun phrase before a bracket, the object of "indicate", the item of a legend.

Add here: where such a phrase begins and ends. Keep out: which of them belongs to a mark (`phrases`).

Captions are read without a parser: a phrase is bounded by closed classes of words (verbs that show, auxiliaries,
beginnings of clauses), by punctuation and by the marks beside it. Every walk is bounded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pmo_assets.pipeline.captions.identifier_lists import parsed_list
from pmo_assets.pipeline.captions.phrases import ARTICLES, is_adjectival
from pmo_assets.pipeline.captions.tokens import CLOSING, DASHES, OPENING, Tokens
from pmo_assets.pipeline.regions.mark_names import QUOTES, MarkName
from pmo_assets.pipeline.regions.vocabulary import (
    ACTIVE,
    AUXILIARIES,
    CLAUSE_WORDS,
    COURSE_STEMS,
    COURSES,
    EXTENDING,
    GROUP_ADVERBS,
    IRREGULAR,
    LOOKING,
    MEANING,
    MODALS,
    PREPOSITIONS,
    SEEN,
    SHOWS,
    SIDES,
    SPEAKERS,
    STYLES,
)

REACH: Final = 60
"""Tokens that are walked from a mark at most: a long sentence."""


_DEPTH: Final = 3
"""Subjects of subjects that are looked for."""

Range = tuple[int, int]
"""[first, end) of tokens; empty where nothing is there."""

_STOPS: Final = frozenset(";:")
CONJUNCTIONS: Final = frozenset({"and", "or", "&", "plus"})
"""Words between what is listed."""
_PRONOUNS: Final = frozenset(
    {"it", "which", "that", "there", "this", "these", "those", "they", "who", "he", "she", "we"}
)
_TRAILING: Final = (
    PREPOSITIONS | CONJUNCTIONS | frozenset({"the", "a", "an", "i", "e", "g", "also", "are", "is", "was", "were"})
)
_LEADING: Final = (
    PREPOSITIONS
    | CONJUNCTIONS
    | frozenset({"that", "well", "also", "both", "either", "including", "together", "even", "then", "so", "just"})
)
_DESCRIBING: Final = ("form", "ent", "ant", "oid", "dense", "intense", "ing", "like", "shaped", "able", "ible", "ile")
_BEFORE_ARTICLES: Final = frozenset({"all", "both", "half", "than", "as", "not", "per", "only", "that", "no", "twice"})
_ENDS_FORWARD: Final = frozenset({"while", "whereas", "whose", "respectively", "although", "however", "but"})
_HAVE: Final = frozenset({"has", "have", "had"})
_GONE: Final = frozenset({"missing", "lacking", "gone"})
_RELATIVE: Final = frozenset({"where", "which", "that"})
_BEFORE_SIDES: Final = frozenset({",", "mm", "cm", "µm", "μm", "um"})
_RELATIVES: Final = frozenset({"which", "who", "where", "when", "with", "in", "on", "as", "suggesting", "consistent"})


@dataclass(frozen=True, slots=True)
class Reading:
    """A text with its marks' names.

    Attributes:
        tokens: of the text.
        enclosing: for each token the opening bracket round it, -1 without one.
        names: of marks, in order.
        leads: first tokens, with articles, of those that end another mark's phrase.
    """

    tokens: Tokens
    enclosing: list[int]
    names: Sequence[MarkName]
    leads: frozenset[int]

    def word(self, index: int) -> str:
        """Return a token in lower case, "" outside the text."""
        return self.tokens.texts[index].lower() if 0 <= index < len(self.tokens.texts) else ""

    def sentence(self, index: int) -> Range:
        """Return the tokens of the sentence that a token stands in."""
        starts = self.tokens.sentence_starts
        number = bisect_right(starts, index)
        return starts[number - 1], starts[number] if number < len(starts) else len(self.tokens.texts)

    def is_decimal(self, index: int) -> bool:
        """Say whether a stop or comma stands within a number."""
        texts = self.tokens.texts
        inside = 0 < index < len(texts) - 1 and not self.tokens.gap(index) and not self.tokens.gap(index + 1)
        return inside and texts[index - 1].isdigit() and texts[index + 1].isdigit()

    def is_panel_bracket(self, opening: int) -> bool:
        """Say whether a bracket holds identifiers of panels alone: "(A, C)"."""
        closing = self.tokens.partners[opening]
        return parsed_list(self.tokens, opening + 1, closing)[1] == closing > opening + 1


def reading(tokens: Tokens, names: Sequence[MarkName]) -> Reading:
    """Return a text with its marks' names and the brackets round its tokens."""
    enclosing: list[int] = []
    stack: list[int] = []
    for index, partner in enumerate(tokens.partners):
        if 0 <= partner < index and stack and stack[-1] == partner:
            stack.pop()
        enclosing.append(stack[-1] if stack else -1)
        if partner > index:
            stack.append(index)
    return Reading(tokens, enclosing, names, frozenset(name.lead for name in names if name.stands_out))


def trimmed(text: Reading, first: int, end: int) -> Range:
    """Return a phrase without what only ties it to its neighbours: conjunctions, prepositions, commas, quotes."""
    while first < end:
        word = text.word(first)
        if word == "well" and text.word(first + 1) in DASHES:
            break
        if not (word in _LEADING or word in ",.;:" or word in CLOSING or word in DASHES or word in QUOTES):
            break
        first += 1
    while end > first:
        word, texts = text.word(end - 1), text.tokens.partners
        if not (
            word in _TRAILING or word in ",.;:=" or word in DASHES or word in QUOTES or word in OPENING
            or (word in CLOSING and not first <= texts[end - 1] < end)
        ):  # fmt: skip
            break
        end -= 1
    return first, end


def before(text: Reading, end: int, left: int, *, is_plural: bool, after_mark: bool, depth: int = 0) -> Range:
    """Return the noun phrase before a token, which a mark behind it shows: "a mass" of "CT shows a mass (arrow)".

    Where a verb without an object stands there, it is the verb's subject: "drusen" of "drusen are seen (arrow)".

    Args:
        text: the text.
        end: token after the phrase.
        left: token that it cannot begin before: of the sentence, or after the mark before it.
        is_plural: the mark is several: a list before them is shown as a whole.
        after_mark: another mark's phrase ends at `left`.
        depth: how many verbs were passed.
    """
    limit = max(left, end - REACH)
    position = end
    in_list = False
    while position > limit:
        index = position - 1
        partner = text.tokens.partners[index]
        if text.word(index) in CLOSING and limit <= partner < index:
            is_panel = text.is_panel_bracket(partner)
            if is_panel and position < end:
                break
            position = partner
            end = partner if is_panel else end
            continue
        if _closes(text, position, end, limit, in_list) or (not is_plural and _begins_anew(text, index, end, limit)):
            break
        if _is_verb(text, index, end):
            return _by_verb(text, index, end, limit, is_plural, after_mark, depth)
        if position < end and _is_course(text, index, limit):
            if text.word(index - 1) in _RELATIVE and depth < _DEPTH:  # as "a lesion extending through the fissure"
                return before(text, index - 1, left, is_plural=is_plural, after_mark=after_mark, depth=depth + 1)
            return _stripped(text, position, end, is_after_mark=False)
        if text.word(index) in {"resulting", "leading"} and text.word(position) in {"in", "to"}:
            return trimmed(text, position, end)
        if _is_second_clause(text, index, limit) and position < end:
            return trimmed(text, position, end)
        in_list = in_list or (is_plural and text.word(index) in CONJUNCTIONS)
        position = index
    is_next = position <= left or (position == left + 1 and text.word(left) in CONJUNCTIONS)
    first, last = _stripped(text, position, end, after_mark and is_next)
    if depth < _DEPTH and last - first <= 2 and text.word(first) in _PRONOUNS and text.word(position - 1) in _RELATIVE:
        # "the macula where he fixates (arrow)"
        return before(text, position - 1, left, is_plural=is_plural, after_mark=after_mark, depth=depth + 1)
    return first, last


def _is_course(text: Reading, index: int, limit: int) -> bool:
    """Say whether a word is a verb that says where its subject goes: "inserts on", "the axons project across"."""
    word, previous = text.word(index), text.word(index - 1)
    if index <= limit or previous in ARTICLES | PREPOSITIONS or not previous[-1:].isalpha() or is_adjectival(previous):
        return False
    following = index + 1 + text.word(index + 1).endswith("ly") + (text.word(index + 1) == "both")
    if text.word(following) not in PREPOSITIONS or (text.word(following) == "of" and not word.startswith("consist")):
        return False
    return word in COURSES or (word in COURSE_STEMS and previous.endswith("s"))


def _is_second_clause(text: Reading, index: int, limit: int) -> bool:
    """Say whether a participle opens the second of two clauses: "adjacent to the pole and compressing the duct"."""
    previous = index - 1 - text.word(index - 1).endswith("ly")
    is_second = previous >= limit and text.word(previous) in CONJUNCTIONS
    return is_second and text.word(index) in EXTENDING and text.word(index + 1) in ARTICLES


def _closes(text: Reading, position: int, end: int, limit: int, in_list: bool) -> bool:
    """Say whether a phrase that goes from a token to `end` cannot begin before it: the token before it ends another."""
    index = position - 1
    word = text.word(index)
    if word in DASHES:
        return text.tokens.gap(index) and (position >= len(text.tokens.texts) or text.tokens.gap(position))
    if word == ",":
        return not in_list and not text.is_decimal(index) and not _joins(text, position, end, limit)
    if word in CONJUNCTIONS:
        return text.word(position) in {",", ""}
    if word == "with":
        if text.word(index - 1) in MEANING or text.word(index - 1) == "keeping":
            return False
        return position < end and not any(text.word(inside).isdigit() for inside in range(position, end))
    if word == "to":
        return text.word(index - 1) in SIDES and text.word(index - 2) in _BEFORE_SIDES
    if word == "as" and text.word(index - 1) in LOOKING:
        return False
    return word in OPENING or word in CLOSING or word in _STOPS or word in CLAUSE_WORDS


def _stripped(text: Reading, first: int, end: int, is_after_mark: bool) -> Range:
    """The phrase without its tie to the mark before it: "extending into" of "X (arrow) extending into Y (star)"."""
    first, end = trimmed(text, first, end)
    if text.word(first).endswith("ly") and text.word(first + 1) in PREPOSITIONS:
        first, end = trimmed(text, first + 1, end)
    if first == text.sentence(first)[0] and end - first > 1 and _is_panel_letter(text, first):
        first += 1
    if not is_after_mark or not text.word(first).endswith(("ing", "ed")) or end - first <= 2:
        return first, end
    if text.word(first).endswith("ing") and text.word(first + 1) in ARTICLES:
        return first + 1, end
    for index in range(first + 1, min(end - 1, first + 3)):
        if index > first + 1 and text.word(index - 1) not in SIDES and not text.word(index - 1).endswith("ly"):
            break  # "kissing stents in the vein"
        if text.word(index) in PREPOSITIONS and text.word(index) != "of":
            return trimmed(text, index, end)
    return first, end


def _is_panel_letter(text: Reading, index: int) -> bool:
    """Say whether a sentence begins with a panel's name without brackets: "a Serous detachment"."""
    word, following = text.tokens.texts[index : index + 2]
    return len(word) == 1 and word.isalpha() and following[:1].isupper()


def _is_verb(text: Reading, index: int, end: int) -> bool:
    word = text.word(index)
    if _is_spoken(text, index):
        return True
    if word in AUXILIARIES or word in SEEN:
        return not _is_attribute(text, index, end)
    return word in SHOWS or _governs(text, index, end)


def _is_spoken(text: Reading, index: int) -> bool:
    """Say whether a form of the past is active, as behind "we": "we (also) found small haemorrhages"."""
    word, subject = text.word(index), index - 1
    while text.word(subject) in GROUP_ADVERBS or text.word(subject).endswith("ly"):
        subject -= 1
    return text.word(subject) in SPEAKERS and (word.endswith("ed") or word in IRREGULAR or word in SHOWS)


def _governs(text: Reading, index: int, end: int) -> bool:
    """Say whether a word is a verb with its object: only verbs, prepositions and the like stand before an article."""
    word = text.word(index)
    return (
        index + 2 < end
        and text.word(index + 1) in ARTICLES
        and word.isalpha()
        and len(word) > 2
        and not word.endswith(("ing", "ly"))
        and word not in PREPOSITIONS | CONJUNCTIONS | ARTICLES | _BEFORE_ARTICLES
    )


def _is_attribute(text: Reading, index: int, end: int) -> bool:
    """Say whether a participle describes a noun: "a marked oedema", "the visible vessels"."""
    word = text.word(index)
    return (
        word not in AUXILIARIES
        and word not in SHOWS
        and index + 1 < end
        and text.word(index + 1) not in PREPOSITIONS
        and text.word(index - 1) not in AUXILIARIES
    )


def _by_verb(text: Reading, index: int, end: int, limit: int, is_plural: bool, after_mark: bool, depth: int) -> Range:
    """The phrase at a verb: its object, or its subject where nothing, a place, a state or a size follows."""
    word = text.word(index)
    is_be = word in AUXILIARIES and word not in _HAVE
    rest = _behind_verb(text, index, end, is_be)
    behind_tie = _behind_tie(text, index, rest, end, is_be)
    if behind_tie is not None:
        return trimmed(text, behind_tie, end)
    following = text.word(rest) if rest < end else ""
    if (is_be or word in SEEN) and _is_predicate(following) and text.word(rest + 1) in PREPOSITIONS and rest + 1 < end:
        rest += 1
        following = text.word(rest)
    is_place = following in PREPOSITIONS or (word in SEEN and following.endswith("ing"))
    is_perfect = word in _HAVE and rest + 1 == end and _is_participle(following)  # "the follicles have expanded"
    if following and not is_place and not is_perfect and not (is_be and _is_state(text, rest, end)):
        is_adverb = rest - 1 > index and text.word(rest - 1).endswith("ly")
        is_adverb = is_adverb and (is_adjectival(following) or _is_participle(following))
        return trimmed(text, rest - is_adverb, end)
    if following and word in ACTIVE:
        return rest, trimmed(text, rest, end)[1]
    group = _before_verb(text, index, limit)
    if group > limit and depth < _DEPTH:
        first, last = before(text, group, limit, is_plural=is_plural, after_mark=after_mark, depth=depth + 1)
        if first < last and not (last - first == 1 and text.word(first) in _PRONOUNS):
            return first, last
    return trimmed(text, rest, end)


def _behind_verb(text: Reading, index: int, end: int, is_be: bool) -> int:
    """The token behind a verb with its adverbs, and with the participle behind which nothing or only a place stands."""
    rest = index + 1
    while rest < end and (text.word(rest) in GROUP_ADVERBS or text.word(rest).endswith("ly")):
        if text.word(rest + 1) in DASHES:
            break  # "well-defined"
        rest += 1
    if (
        is_be
        and rest < end
        and _is_participle(text.word(rest))
        and not (rest + 1 < end and text.word(rest + 1) not in PREPOSITIONS)
    ):
        rest += 1
        while rest < end and text.word(rest).endswith("ly"):
            rest += 1
    return rest


def _behind_tie(text: Reading, index: int, rest: int, end: int, is_be: bool) -> int | None:
    """The token behind a verb that ties what follows to a mark, whatever it begins with; None of other verbs."""
    word, following = text.word(index), text.word(rest) if rest < end else ""
    if word == "is" and text.word(index - 1) == "note" and text.word(index + 1) == "made":
        return index + 2  # "note is made of fluid"
    if word in MODALS and index + 2 < end and text.word(index + 2) in PREPOSITIONS:
        return index + 2  # "lines that may radiate from the disc"
    if following == "by" or (is_be and following == "of"):
        return rest + 1
    if _is_spoken(text, index) and following not in PREPOSITIONS:
        return rest
    is_meant = is_be and following in MEANING and text.word(rest + 1) in PREPOSITIONS and rest + 2 < end
    return rest + 2 if is_meant else None


def _before_verb(text: Reading, index: int, limit: int) -> int:
    """The token behind a verb's subject, before its auxiliaries and adverbs."""
    group = index
    while group > limit and (
        text.word(group - 1) in AUXILIARIES
        or text.word(group - 1) in GROUP_ADVERBS
        or text.word(group - 1).endswith("ly")
        or (text.word(group - 1) == "to" and text.word(group - 2) in AUXILIARIES)
    ):
        group -= 1
    return group - (group > limit and text.word(group - 1) == ",")


def _is_predicate(word: str) -> bool:
    """Say whether a word behind "is" says how a thing is ("adherent", "visible"), rather than what it is."""
    return is_adjectival(word) or (_describes(word) and not word.endswith("ing"))


def _is_state(text: Reading, first: int, end: int) -> bool:
    """Say whether what follows "is" tells a state or a size: "thin and pale", "missing", "hard to see", "3 mm"."""
    if text.word(first).isdigit() or text.word(first + 1) == "to":
        return True
    words = [text.word(index) for index in range(first, end)]
    is_last = words[-1] in _GONE or _is_predicate(words[-1])
    states = [is_adjectival(word) or _is_participle(word) or word in CONJUNCTIONS or word in STYLES for word in words]
    return len(words) <= 3 and all(states[:-1]) and (states[-1] or is_last)


def _is_participle(word: str) -> bool:
    return word in SEEN or word in IRREGULAR or (len(word) > 3 and word.endswith("ed"))


def _joins(text: Reading, right: int, end: int, limit: int) -> bool:
    """Say whether the comma before `right` stands between adjectives."""
    comma = right - 1
    if comma <= limit or right >= end:
        return False
    if text.word(right) in CONJUNCTIONS:
        return False
    return _describes(text.word(comma - 1)) and _describes(text.word(right)) and end - right > 1


def _describes(word: str) -> bool:
    """Say whether a word is an adjective, by more endings than are safe beside panels' names ("lentiform", "dense")."""
    return is_adjectival(word) or (word.endswith(_DESCRIBING) and not word.endswith("ment")) or word in {"less", "more"}


def _begins_anew(text: Reading, conjunction: int, end: int, limit: int) -> bool:
    """Say whether a phrase begins after a conjunction, rather than going on: "A and B (arrow)" shows B."""
    if text.word(conjunction) not in CONJUNCTIONS or text.word(conjunction) == "or":
        return False
    position = conjunction - 1
    if is_adjectival(text.word(position)) and text.word(position + 2) not in PREPOSITIONS:
        return False
    is_definite = text.word(conjunction + 1) in ARTICLES
    while position >= limit and conjunction - position <= 8:
        word = text.word(position)
        if word in {",", ")"} or word in SHOWS or word in AUXILIARIES:
            return True
        if word == "between" or (word in PREPOSITIONS and not is_definite):
            return False
        position -= 1
    return True


def after(text: Reading, start: int, right: int, *, is_item: bool = False) -> Range:
    """Return the phrase after a verb or sign that says what a mark shows, up to the end of the clause.

    Args:
        text: the text.
        start: first token behind verb or sign.
        right: token that it ends before at the latest.
        is_item: of a legend, in which the next item may follow a comma.
    """
    position = start
    right = min(right, start + REACH)
    while position < right:
        word = text.word(position)
        partner = text.tokens.partners[position]
        if word in OPENING and partner > position:
            if any(index in text.leads for index in range(position + 1, min(partner, position + REACH))):
                break
            if text.is_panel_bracket(position) or text.word(position + 1) in _RELATIVES:
                break
            position = min(partner + 1, right)
            continue
        if word in CLOSING or word in _STOPS or word in _ENDS_FORWARD or (position in text.leads and position > start):
            break
        if word in "!?" or (word == "." and position + 1 >= right):
            break
        if word == "," and not text.is_decimal(position) and not _goes_on(text, start, position, right):
            break
        if word in CONJUNCTIONS and _leads_on(text, position + 1, right):
            break
        if word in AUXILIARIES and any(text.word(k) in SEEN for k in range(position + 1, position + 4)):
            break
        if word in {"in", "on"} and position > start and text.word(position + 1) in {"panel", "panels"}:
            break
        position += 1
    return trimmed(text, start, position)


def _leads_on(text: Reading, position: int, right: int) -> bool:
    """Say whether after a conjunction another mark or another verb follows."""
    while position < right and text.word(position) in {"the", "a", "an", "by"}:
        position += 1
    return (
        position in text.leads
        or text.word(position) in AUXILIARIES
        or text.word(position) in ACTIVE
        or any(lead in text.leads for lead in range(position - 2, position + 1))
    )


def _goes_on(text: Reading, start: int, comma: int, right: int) -> bool:
    """Say whether the phrase goes on after a comma: between adjectives, or in a list that "and" closes."""
    following = text.word(comma + 1)
    if following in CONJUNCTIONS:
        return not _leads_on(text, comma + 2, right) and any(text.word(k) == "," for k in range(start, comma))
    if comma + 1 in text.leads or following in _RELATIVES or following in _ENDS_FORWARD or following.endswith("ing"):
        return False
    if is_adjectival(text.word(comma - 1)) and is_adjectival(following) and comma - start <= 4:
        return True
    if comma > start and all(is_adjectival(text.word(k)) or text.word(k) in ARTICLES for k in range(start, comma)):
        return True  # no noun yet: "the abnormal, tiny foci"
    for position in range(comma + 1, min(right, comma + 24)):
        word = text.word(position)
        if word in _STOPS or word in AUXILIARIES or word in SHOWS or position in text.leads or word in OPENING:
            return False
        if word in CONJUNCTIONS and text.word(position - 1) == ",":
            return not _leads_on(text, position + 1, right)
        if word in CONJUNCTIONS:
            return position - comma <= 8 and not _leads_on(text, position + 1, right)
    return False


def items_of(text: Reading, first: int, end: int, count: int) -> list[Range] | None:
    """Return the items of a list of so many, for "respectively"; None when it cannot be taken apart into them.

    A list with more items than that, whose beginning is unsure, is read from its end.
    """
    commas: list[int] = []
    ands: list[int] = []
    position = first
    while position < end:
        word, partner = text.word(position), text.tokens.partners[position]
        if word in OPENING and partner > position:
            position = partner + 1
            continue
        if word in {",", ";"} and not text.is_decimal(position):
            commas.append(position)
        elif word in {"and", "&"}:
            ands.append(position)
        position += 1
    for cuts in (sorted([*commas, *ands]), ands):
        pieces = [trimmed(text, a + 1, b) for a, b in zip([first - 1, *cuts], [*cuts, end], strict=True)]
        pieces = [piece for piece in pieces if piece[0] < piece[1]]
        if len(pieces) == count:
            return pieces
    pieces = [trimmed(text, a + 1, b) for a, b in zip([first - 1, *ands], [*ands, end], strict=True)]
    return pieces[-count:] if len(pieces) > count and not commas else None
