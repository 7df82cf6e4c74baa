"""Word classes of captions, and where the phrases of a list begin and end.

The items of a list are alike: "of the right (A) and left eye (B)" names two eyes, "at baseline (A) and 6 months after
surgery (B)" two times, "fundus photograph (A) and OCT (B)" two examinations. The item that is written out in full
tells where the one beside it begins or what it lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pmo_assets.pipeline.captions.tokens import CLOSING, DASHES, Tokens, words

CONJUNCTIONS: Final = frozenset({"and", "or", "but", "while", "whereas", "&", "as", "however"})
# Words that bind to what follows, so that an identifier after them stands before its text.
BINDING: Final = words(
    "and or but while whereas & a an the of in on at by for from to with without both either neither showing "
    "shows show shown revealed demonstrating demonstrates demonstrated using is are was were between versus vs "
    "under via per than during after before following including include includes represents indicates into "
    "through also then"
)
STOPS: Final = frozenset({".", ";", ":", "!", "?"})
ARTICLES: Final = frozenset({"a", "an", "the"})
# A phrase of the last item that begins with one of these may concern all items: "(a) X and (b) Y of Z".
PREPOSITIONS: Final = words("of in from for at with versus vs under during after before on by among")
_SHARED_PREPOSITIONS: Final = PREPOSITIONS - {"with", "versus", "vs"}
_TIME_RELATED: Final = words("during throughout between")
# Words whose object may come after the next one's: "before (A) and after (B) treatment".
SUSPENDED: Final = words("before after with without during at in on under inside outside above below pre post")
VERBS: Final = words(
    "is are was were showed shows show revealed reveals reveal demonstrated demonstrates demonstrate had has have "
    "displays display depicts depict illustrates illustrate presents represents represent contains indicates indicate"
)
_PLURAL: Final = words("show demonstrate reveal depict display illustrate indicate are were have")
# After one of these stands what the picture shows.
SHOWING: Final = words(
    "showing demonstrating revealing depicting illustrating displaying indicating highlighting representing comparing "
    "shows show showed shown reveals reveal revealed demonstrates demonstrate demonstrated depicts depict illustrates"
)
_LINKS: Final = CONJUNCTIONS | {"also", "well", "then"}
_SIDES: Final = words("right left od os ou re le both fellow affected unaffected contralateral")
_TIMES: Final = words(
    "baseline presentation admission diagnosis initial first second third final last day days week weeks month months "
    "year years hour hours minute minutes min s sec seconds "
    "preoperative postoperative preoperatively postoperatively pretreatment "
    "posttreatment follow visit"
)
_TIME_RELATIONS: Final = words("after before later following post prior earlier since ago postoperatively")
_TIME_PREPOSITIONS: Final = words("at before on after during in following prior")
_ENLARGED: Final = words("magnification magnifications power")
# Nouns that name an examination or its picture.
_MODALITIES: Final = words(
    "oct octa pcr staining stain immunostaining fa ffa faf fag icga icg ga cfp uwf erg mferg eog "
    "vep mri ct ubm photograph photographs photo "
    "photos photography angiography angiogram angiograms angiographic autofluorescence tomography tomogram tomograms "
    "ultrasound ultrasonography ultrasonogram ultrasonographic echography perimetry field fields electroretinogram "
    "electroretinography infrared ophthalmoscopy biomicroscopy scan scans fundus slit multicolor retinography "
    "fluorescein indocyanine topography pachymetry microperimetry histology immunohistochemistry biopsy specimen plot "
    "plots heatmap heatmaps histogram histograms"
)
_MODALITY_ENDINGS: Final = ("graphy", "graph", "graphs", "gram", "grams", "scopy", "metry", "graphic")
_ADJECTIVE_ENDINGS: Final = ("al", "ous", "ic", "ive", "ed", "ar", "ary", "ior", "less", "atory")
_NO_ADJECTIVES: Final = words(
    "signal interval trial individual manual optic clinic topic mosaic hospital angular animal panel material seed "
    "bed need feed control april"
)
_ADJECTIVES: Final = words(
    "right left both upper lower inner outer deep early late mid middle first second third fourth normal healthy old "
    "young male female high low higher severe moderate mild wild treated same fellow thick thin dark light red green "
    "blue black white yellow bright color colour pre post pre- post- dry wet new small large anterior "
    "posterior superior inferior proximal distal short long poor good mutant control diseased adult aged "
    "intermediate"
)
# Pairs that "respectively" distributes over two panels.
PAIRS: Final = (
    frozenset({"right", "left"}), frozenset({"od", "os"}), frozenset({"before", "after"}), frozenset({"re", "le"}),
    frozenset({"preoperative", "postoperative"}), frozenset({"superficial", "deep"}), frozenset({"early", "late"}),
    frozenset({"upper", "lower"}), frozenset({"horizontal", "vertical"}), frozenset({"pre", "post"}),
    frozenset({"male", "female"}), frozenset({"superior", "inferior"}), frozenset({"nasal", "temporal"}),
    frozenset({"anterior", "posterior"}), frozenset({"inner", "outer"}),
)  # fmt: skip

# How long phrases are, in words or tokens; what is longer is no item beside the others but a text of its own.
_LONGEST_ITEM: Final = 12
"""Words of an item that a lead can be shared with."""
_MAGNIFYING: Final = 4
"""Tokens of a phrase within which it says how a picture is enlarged."""
_LONGEST_ALIKE: Final = 9
"""Words of an item that another one can be told by its likeness to alone, without a rule of meaning."""
_LEAD: Final = 24
"""Tokens back from the first identifier within which its item begins."""
_ALIKE_LEAD: Final = 14
"""The same where likeness alone tells."""
_EXAMINATION: Final = 6
"""Tokens of a phrase within which the name of its examination ends."""
_TIME: Final = 4
"""Tokens of a phrase within which a time ends: "6 months", "one and a half years"."""
_ADJECTIVE_PHRASE: Final = 4
"""Tokens of an item with its noun beside which an adjective alone is an item: "right (A) and left eye (B)"."""
_SAME_NOUN: Final = 4
"""Tokens of an item that ends with the noun of the one before it: "early phase (A) and late phase (B)"."""
_SHORT_WORD: Final = 2
"""Letters of a word that is no noun which two items could have in common."""
_ENDLESS_ITEM: Final = 8
"""Words of an item whose end may be shared with the last one."""
_WITHOUT_END: Final = 5
"""Words of an item whose end is looked for at a preposition of the last item."""
_END_LATER: Final = 4
"""Words by which the last item may be longer before that preposition, this one included."""
_VERB_LATER: Final = 8
"""The same before the verb of their clause."""
_COMPOUND: Final = 2
"""Words, hyphenated ones counted once, of an item without its noun: "wild-type", "treated diabetic"."""

# How unlike an item may be (`_alike_start`): words that it is longer or shorter than the others on average, plus
# prepositions that it has more or less, less a bonus where it begins as they do.
_ALIKE_BONUS: Final = 3
_MOST_UNLIKE: Final = 3


def is_adjectival(word: str) -> bool:
    """Say whether a word is likely to need a noun after it: "right", "choroidal", "treated"."""
    lowered = word.lower()
    if lowered in _ADJECTIVES:
        return True
    return len(lowered) > 4 and lowered.endswith(_ADJECTIVE_ENDINGS) and lowered not in _NO_ADJECTIVES


def _is_modality(lowered: str) -> bool:
    return lowered in _MODALITIES or lowered.endswith(_MODALITY_ENDINGS)


def lacks_noun(word: str) -> bool:
    """Say whether a word at the end of an item stands for a noun that follows later: an adjective, a number."""
    return word.isdigit() or is_adjectival(word)


def names_examination(tokens: Tokens, first: int, stop: int) -> bool:
    """Say whether the phrase in tokens [first, stop) begins with an examination's name: "late-phase FA of the eye"."""
    for index in range(first, min(stop, first + _EXAMINATION)):
        word = tokens.texts[index].lower()
        if _is_modality(word):
            return True
        if word in PREPOSITIONS or word in VERBS or word in SHOWING:
            return False
    return False


def is_eye_or_time(tokens: Tokens, first: int, stop: int) -> bool:
    """Say whether the phrase in tokens [first, stop) begins with an eye or a time: "the left eye", "OS", "3 months"."""
    body = _determiners(tokens, first, stop)
    return body < stop and (tokens.texts[body].lower() in _SIDES or _is_time(tokens, body, stop))


def item_start(tokens: Tokens, first: int, stop: int) -> int:
    """Index of the first word of the item in tokens [first, stop), behind separators and conjunctions."""
    index = first
    while index < stop and (not tokens.texts[index][0].isalnum() or tokens.texts[index].lower() in _LINKS):
        if tokens.texts[index] in {"(", "[", "“", '"', "‘", "'", "<", ">"}:
            break
        index += 1
    return index


def _determiners(tokens: Tokens, first: int, stop: int) -> int:
    """Index after the articles and prepositions at the start of tokens [first, stop)."""
    index = first
    while index < stop and tokens.texts[index].lower() in (ARTICLES | PREPOSITIONS):
        index += 1
    return index


def lead_end(tokens: Tokens, first: int, stop: int, items: Sequence[tuple[int, int]]) -> int | None:
    """Index of the token where the first item begins, in tokens [first, stop) that end before its identifier.

    The words before it are shared with the other `items`, given as token ranges: "Relationship of Q and | X (a), Y (b)
    and Z (c)". None when nothing is shared or it cannot be told.
    """
    texts = tokens.texts
    if not items or any(start >= end for start, end in items):
        return None
    spans = [[text.lower() for text in texts[start:end] if text[0].isalnum()] for start, end in items]
    if any(not span or len(span) > _LONGEST_ITEM or not VERBS.isdisjoint(span) for span in spans):
        return None  # clauses of their own
    lowest = max(stop - _LEAD, first)
    if SHOWING.isdisjoint(spans[0]):
        for index in range(stop - 1, lowest - 1, -1):
            if texts[index].lower() in SHOWING:
                lowest = index + 1  # what is shown is an item, the showing is shared
                break
    if stop <= lowest:
        return None
    start, end = items[0]
    for rule in _RULES:
        found = rule(tokens, lowest, stop, start, end)
        if found is not None:
            # an article alone is no lead
            alone = all(text.lower() in ARTICLES for text in texts[first:found])
            return None if alone else found
    if any(len(span) > _LONGEST_ALIKE for span in spans):
        return None
    return _alike_start(tokens, (first, lowest, stop), spans)


def _aligned(tokens: Tokens, at: int, lowest: int, start: int) -> int:
    """`at` moved back over an article or preposition that the other item, from token `start`, has as well."""
    texts = tokens.texts
    body = _determiners(tokens, start, start + 3)
    for offset in range(1, body - start + 1):
        word, other = texts[body - offset].lower(), texts[at - 1].lower()
        both_articles = word in ARTICLES and other in ARTICLES
        both_prepositions = word in PREPOSITIONS and other in PREPOSITIONS
        if at - 1 < lowest or not (both_articles or both_prepositions):
            break
        at -= 1
    return at


def _number_start(tokens: Tokens, lowest: int, stop: int, start: int, end: int) -> int | None:
    """ "patients | 1 (A) and 2 (B)": a number stands beside a number."""
    texts = tokens.texts
    return stop - 1 if end - start == 1 and texts[start].isdigit() and texts[stop - 1].isdigit() else None


def _adjective_start(tokens: Tokens, lowest: int, stop: int, start: int, end: int) -> int | None:
    """ "of the | right (A) and left eye (B)": an adjective without its noun is the whole item."""
    texts = tokens.texts
    body = _determiners(tokens, start, end)
    if (
        body >= end
        or not is_adjectival(texts[stop - 1])
        or not is_adjectival(texts[body])
        or end - body > _ADJECTIVE_PHRASE
    ):
        return None
    if texts[stop - 1].endswith("ed") and end - body > 1 and not texts[body].endswith("ed"):
        return None  # "the area outlined (A), the same area (B)"
    return _aligned(tokens, stop - 1, lowest, start)


def _side_start(tokens: Tokens, lowest: int, stop: int, start: int, end: int) -> int | None:
    """ "of the | right eye at baseline (A) and left eye (B)": an eye stands beside an eye."""
    texts = tokens.texts
    body = _determiners(tokens, start, end)
    if body >= end or texts[body].lower() not in _SIDES:
        return None
    for index in range(stop - 1, lowest - 1, -1):
        if texts[index].lower() in _SIDES:
            return _aligned(tokens, index, lowest, start)
    return None


def _is_time(tokens: Tokens, start: int, end: int) -> bool:
    """Say whether the phrase in tokens [start, end), one at least, begins with a time: "baseline", "6 months"."""
    texts = tokens.texts
    head = [text.lower() for text in texts[start : min(start + _TIME, end)]]
    numbered = head[0][0].isdigit() or head[0] in {"one", "two", "three", "four", "five", "six", "several", "twelve"}
    return head[0] in _TIMES or (numbered and not _TIMES.isdisjoint(head[1:]))


def _time_start(tokens: Tokens, lowest: int, stop: int, start: int, end: int) -> int | None:
    """ "of the eye | at the first visit (A) and 6 months after (B)", "at | baseline (A), 3 months (B)"."""
    texts = tokens.texts
    opening = texts[start].lower()
    if opening in _TIME_PREPOSITIONS - {"in", "on"}:
        for index in range(stop - 1, lowest - 1, -1):
            word = texts[index].lower()
            if word == opening or word in _TIME_PREPOSITIONS - {"in", "on"}:
                # "3 months before", "immediately after": the preposition's measure is the item's, too
                while index - 1 >= lowest and (texts[index - 1].lower() in _TIMES or texts[index - 1].isdigit()):
                    index -= 1
                return index
        return None
    if not _is_time(tokens, start, end):
        return None
    related = not _TIME_RELATIONS.isdisjoint(text.lower() for text in texts[start:end])
    for index in range(stop - 1, lowest - 1, -1):
        if texts[index].lower() in _TIME_PREPOSITIONS:
            if related or texts[index].lower() in {"before", "after"}:
                return index
            body = index + 1
            return body + 1 if body + 1 < stop and texts[body].lower() in ARTICLES else body
    for index in range(stop - 1, lowest - 1, -1):
        if _is_time(tokens, index, stop) and (index == lowest or not _is_time(tokens, index - 1, stop)):
            return index
    return None


def _examination_start(tokens: Tokens, lowest: int, stop: int, start: int, end: int) -> int | None:
    """ "the lesion on | fundus photographs of the eye (A) and OCT (B)": an examination stands beside another one."""
    texts = tokens.texts
    body = _determiners(tokens, start, end)
    if body > start + 1 or not names_examination(tokens, body, end):
        return None
    for index in range(stop - 1, lowest - 1, -1):
        if _is_modality(texts[index].lower()):
            while index > lowest and not _bounds(texts[index - 1]):
                index -= 1
            return index
    return lowest


def _same_preposition_start(tokens: Tokens, lowest: int, stop: int, start: int, end: int) -> int | None:
    """ "OCT | of a patient (A) and of a control subject (B)": a phrase stands beside one with the same preposition."""
    opening = tokens.texts[start].lower()
    if opening not in PREPOSITIONS:
        return None
    return next((at for at in range(stop - 1, lowest - 1, -1) if tokens.texts[at].lower() == opening), None)


def _same_opening_start(tokens: Tokens, lowest: int, stop: int, start: int, end: int) -> int | None:
    """ "the sheath | fully bent (A) and fully straight (B)": an item stands beside one with the same first word."""
    opening = tokens.texts[start].lower()
    if opening in ARTICLES or not opening.isalpha() or len(opening) <= _SHORT_WORD or opening in BINDING:
        return None
    return next((at for at in range(stop - 1, lowest - 1, -1) if tokens.texts[at].lower() == opening), None)


def _same_noun_start(tokens: Tokens, lowest: int, stop: int, start: int, end: int) -> int | None:
    """ "FA, | early phase (A) and late phase (B)": a noun stands beside itself."""
    texts = tokens.texts
    at = stop - (end - start)
    if end - start > _SAME_NOUN or at <= lowest or texts[stop - 1].lower() != texts[end - 1].lower():
        return None
    if any(0 <= tokens.partners[inner] < at for inner in range(at, stop)):
        return None  # within a bracket
    return at if _bounds(texts[at - 1]) else None


def _same_head_start(tokens: Tokens, lowest: int, stop: int, start: int, end: int) -> int | None:
    """ "from | young wild-type (WT) mouse eyes (A) and knockout mouse eyes (B)": phrases with one head noun."""
    texts = tokens.texts
    head = texts[stop - 1]
    if end - start < 2 or head != texts[end - 1] or not head.isalpha() or len(head) <= _SHORT_WORD:
        return None
    listing = any(text == "," or text.lower() in {"and", "or"} for text in texts[start:end])
    at = stop - 1
    while at > lowest:
        word = texts[at - 1].lower()
        if word in PREPOSITIONS or word in SHOWING or word in VERBS:
            # "time of plasma (A) and second time of plasma (B)": the preposition is the item's own
            own = at == stop - 1 or any(text.lower() == word for text in texts[start:end])
            return None if own else at
        if texts[at - 1] in CLOSING and tokens.partners[at - 1] >= lowest:
            at = tokens.partners[at - 1]
            continue
        if _bounds(texts[at - 1]) and not (listing and (word == "," or word in {"and", "or"})):
            return None
        at -= 1
    return None


def _bounds(word: str) -> bool:
    lowered = word.lower()
    return (
        lowered in BINDING
        or lowered in SHOWING
        or (not word[0].isalnum() and word not in DASHES and word not in "/&'’")
    )


_RULES: Final = (
    _number_start, _adjective_start, _side_start, _time_start, _same_preposition_start, _examination_start,
    _same_noun_start, _same_opening_start, _same_head_start,
)  # fmt: skip


def _alike_start(tokens: Tokens, span: tuple[int, int, int], items: list[list[str]]) -> int | None:
    """The boundary that makes the first item most like the others, by length and by its first word."""
    first, lowest, stop = span
    texts = tokens.texts
    opening = items[0][0]
    sizes = [len(item) for item in items]
    mean = sum(sizes) / len(sizes)
    bound = sum(sum(word in PREPOSITIONS for word in item) for item in items) / len(items)
    best: tuple[float, int] | None = None
    inside = 0
    for index in range(stop - 1, max(stop - _ALIKE_LEAD, lowest, first + 1) - 1, -1):
        inside += texts[index].lower() in PREPOSITIONS
        if not tokens.gap(index):
            continue  # "H&E": one word
        word = texts[index - 1].lower()
        alike = opening in BINDING and texts[index].lower() in (
            ARTICLES if opening in ARTICLES else BINDING - ARTICLES - {"of", "and"}
        )
        if word == "and" and len(items) < 2:
            continue
        if not alike and word not in BINDING and word != ":" and not word.endswith("ing") and word not in SHOWING:
            continue
        distance = abs((stop - index) - mean) + abs(inside - bound) - (_ALIKE_BONUS if alike else 0)
        if best is None or distance < best[0]:
            best = (distance, index)
    if best is None or best[0] > _MOST_UNLIKE:
        return None
    cut = best[1]
    if texts[cut].lower() in ARTICLES and opening not in ARTICLES and cut + 1 < stop:
        cut += 1  # "in the cornea (A) and lens (B)"
    return cut


def shared_end(tokens: Tokens, items: Sequence[tuple[int, int]], last: int, stop: int) -> int | None:
    """Index of the token where the end that all items of a list share begins, in the last item's tokens [last, stop).

    Args:
        items: token ranges of the items before the last one.
    """
    texts = tokens.texts
    spans: list[list[str]] = []
    for start, end in items:
        span = [text for text in texts[start:end] if text != ","]
        while span and span[-1].lower() in {"and", "or", "&"}:
            span.pop()
        if span[-1:] == [";"] and all(map(lacks_noun, span[:-1])):
            span.pop()  # "A, dorsal; and B, ventral views of the skull"
        if not span or len(span) > _ENDLESS_ITEM or ";" in span:
            return None
        spans.append(span)
    if stop > last and texts[stop - 1] in STOPS:
        stop -= 1
    if all(span[-1] in DASHES for span in spans):
        return next((index + 1 for index in range(last, stop - 1) if texts[index] in DASHES), None)
    if all(span[-1] in "\"'’”" and span[0] in "\"'‘’“" for span in spans):
        return next((index + 1 for index in range(last + 1, stop - 1) if texts[index] in "\"'’”"), None)
    if all(span[-1].lower() in SUSPENDED for span in spans):
        # "(A) before and (B) 3 months after surgery"
        return next((index + 1 for index in range(last, stop - 1) if texts[index].lower() in SUSPENDED), None)
    return _phrase_end(tokens, spans, last, stop)


def _phrase_end(tokens: Tokens, spans: Sequence[list[str]], last: int, stop: int) -> int | None:
    """Index where a phrase begins that the items leave out: a time, a noun, their common subject, "of the left eye".

    Args:
        spans: the words of the items before the last one, which stands in tokens [last, stop).
    """
    texts = tokens.texts
    longest = max(map(len, spans))
    used = {word.lower() for span in spans for word in span}
    brief = range(last + 1, min(stop, last + longest + _END_LATER))
    if used.isdisjoint(_TIME_RELATED | VERBS):
        # "(A) mean pressure and (B) number of drugs | during follow-up": no item says this of itself
        during = next((at for at in range(last + 1, stop) if texts[at].lower() in _TIME_RELATED), None)
        if during is not None:
            return during
    if longest > _WITHOUT_END or not PREPOSITIONS.isdisjoint(used):
        return None
    noun = _noun_start(tokens, [_compounds(span) for span in spans], last, stop)
    if noun is None:
        noun = _measure_end(tokens, spans, last, stop)
    if noun is None and len(spans) == 1 and used.isdisjoint(VERBS):
        # "(A) T1- and (B) T2-weighted images | show a mass"
        clause = range(last + 1, min(stop, last + longest + _VERB_LATER))
        noun = next((at for at in clause if texts[at] in _PLURAL), None)
    if noun is not None:
        return noun
    return next((at for at in brief if texts[at].lower() in _SHARED_PREPOSITIONS and not _enlarges(texts, at)), None)


def _enlarges(texts: Sequence[str], at: int) -> bool:
    """Say whether a phrase tells how one picture is enlarged: "(A) nucleus and (B) nucleus at higher magnification"."""
    return not _ENLARGED.isdisjoint(text.lower() for text in texts[at : at + _MAGNIFYING])


def _measure_end(tokens: Tokens, spans: Sequence[list[str]], last: int, stop: int) -> int | None:
    """Index behind the unit of "(a) 60 µm, (b) 100 µm and (c) 150 µm | below the surface"; None for other items."""
    units = {tuple(text.lower() for text in span if not _is_number(text)) for span in spans}
    unit = units.pop()
    if units or len(unit) != 1 or not all(_is_number(span[0]) for span in spans):
        return None
    at = last
    while at < stop and _is_number(tokens.texts[at]):
        at += 1
    ends = last < at < stop - 1 and tokens.texts[at].lower() == unit[0]
    return at + 1 if ends and tokens.texts[at + 1][0].isalpha() else None


def _is_number(text: str) -> bool:
    return text.isdigit() or text in {".", "±", "~", "∼"} or text in DASHES


def _compounds(texts: Sequence[str]) -> list[str]:
    """The words of a phrase, hyphenated ones joined: ["wild-type"]."""
    joined: list[str] = []
    for at, text in enumerate(texts):
        if joined and (text in DASHES or texts[at - 1] in DASHES):
            joined[-1] += text
        else:
            joined.append(text)
    return joined


def _modifies(word: str) -> bool:
    """Say whether a word may stand before a noun that is left out: an adjective, a compound, an abbreviation."""
    return is_adjectival(word) or not DASHES.isdisjoint(word) or (word.isupper() and len(word) > 1)


def _noun_start(tokens: Tokens, spans: Sequence[list[str]], last: int, stop: int) -> int | None:
    """Index where the noun begins that "(a) healthy and (b) glaucomatous eyes" leaves out of the first item."""
    texts = tokens.texts
    length = len(spans[0])
    for at in range(stop - 2, last - 1, -1):
        if any(span[-1] == texts[at] for span in spans) and is_adjectival(texts[at]):
            return at + 1  # "(a) control, (b) diabetic and (c) treated diabetic rats"
    if length > _COMPOUND or any(len(span) != length or not _modifies(span[-1]) for span in spans):
        return None
    at = last
    for _ in range(length):
        first = at
        at += 1
        while at < stop and (texts[at] in DASHES or texts[at - 1] in DASHES):
            at += 1
        if first >= stop:
            return None
        if first > last and texts[first].lower() in PREPOSITIONS:
            return first
    if at >= stop or not _modifies("".join(texts[first:at])):
        return None
    return at
