"""Terms of the lexicon: their names, forms and hierarchy, and what lies within a term.

The data are TOML files (folder `data`), one for each group, in which a table names a wider term and its keys the
narrower ones with their other forms; `disease_ontology.toml` adds those of a public terminology; `ambiguous.toml` holds
the forms with several meanings.
"""

from __future__ import annotations

import difflib
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import permutations
from typing import Any, Final

from pmo_assets.lexicon.words import word_key, word_list, words_of
from pmo_assets.records.context import ENTITY_GROUPS, EntityGroup
from pmo_assets.records.stores import SystemicError

PACKAGE_DATA = ("lexicon/data",)
"""Files of the package that this module reads."""

ROOTS: Final = "roots"
"""The table of terms without a wider one."""

ADDED: Final[Mapping[EntityGroup, str]] = {"disease": "disease_ontology"}
"""Files with further terms of a group, and further forms of its terms."""

OTHER: Final = "other"
"""Stands for a group in a meaning that no term stands for: "other: restriction enzyme"."""

_OF_BODY: Final = frozenset({"systemic disease", "genetic syndrome", "infectious disease"})
_IN_ORDER: Final = frozenset(
    word_list(
        "of the a an in with without and or to due by from for on at as after before no not type grade stage , ( ) /"
    )
)
"""Words that keep those beside them where they are."""

_MOST_MOVED: Final = 4
"""Words of a name that may stand in another order."""

_WIDE_HEADS: Final = frozenset({"retinopathy", "maculopathy", "keratopathy"})
"""Synonyms that are heads of narrower names, as the names of terms are."""
_NO_HEADS: Final = frozenset({"hypertension", "hypotension", "ectropion", "entropion", "blindness", "eye disease"})
"""Names that end those of other things: "ocular hypertension", "iris ectropion"."""

Form = tuple[str, ...]
"""A name of a term as its words: keys, and acronyms as written with "=" before them."""


class LexiconError(ValueError):
    """The lexicon contradicts itself, or a word is none of its terms."""


@dataclass(frozen=True, slots=True)
class Term:
    """A thing with a name: its group, the names of the terms directly above it, and its other names as written."""

    group: EntityGroup
    name: str
    parents: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Meaning:
    """A meaning of an ambiguous form: the term (None for a thing outside the lexicon), and words that speak for it."""

    term: Term | None
    description: str
    words: frozenset[str]


@dataclass(frozen=True)
class Lexicon:
    """Terms by group and name, by form, and the forms that have several meanings."""

    terms: Mapping[tuple[EntityGroup, str], Term]
    forms: Mapping[Form, Term]
    ambiguous: Mapping[Form, tuple[Meaning, ...]]

    def broader(self, term: Term) -> tuple[str, ...]:
        """Return the names of all terms above a term, nearest first."""
        return _broader(self.terms, term)


def form_of(name: str) -> Form:
    """Return the words of a name as texts are compared with them."""
    words = words_of(name)
    return tuple(next(words.alternatives(index)) for index in range(len(words)))


def build_lexicon(
    groups: Mapping[EntityGroup, Mapping[str, Any]],
    ambiguous: Mapping[str, Any],
    same: Sequence[Sequence[str]] = (),
) -> Lexicon:
    """Return a lexicon of the contents of its files.

    Args:
        groups: tables of terms by group.
        ambiguous: meanings of forms with several.
        same: phrases that say the same within the names of diseases and findings.

    Raises:
        LexiconError: a form of two terms, an unknown wider term, a circle, a meaning of no term; a line for each.
    """
    faults: list[str] = []
    terms: dict[tuple[EntityGroup, str], Term] = {}
    for group, tables in groups.items():
        _read_group(group, tables, terms, faults)
    terms |= _within_heads(terms)
    faults.extend(_circles(terms))
    meanings = {form_of(form): tuple(_meanings(form, given, terms, faults)) for form, given in ambiguous.items()}
    forms: dict[Form, Term] = {}
    for term in terms.values():
        for name in (term.name, *term.synonyms):
            form = form_of(name)
            # Names of eyes are ambiguous short forms themselves ("OD").
            if form in meanings and name != term.name:
                faults.append(f"{name!r} ({term.group}: {term.name}) also stands in ambiguous.toml")
            other = forms.setdefault(form, term) if form not in meanings else term
            if other is not term:
                faults.append(f"{name!r} is {other.group}: {other.name} and {term.group}: {term.name}")
    if faults:
        raise LexiconError("\n".join(faults))
    for variants in (_variants(forms, same), _reordered(forms)):
        forms |= {form: term for form, term in variants.items() if form not in meanings}
    return Lexicon(terms, forms, meanings)


def _within_heads(terms: Mapping[tuple[EntityGroup, str], Term]) -> dict[tuple[EntityGroup, str], Term]:
    """Return the diseases whose name ends with another one's, which lie within that: angular blepharitis, blepharitis.

    A disease of the eye does not become one of the body by it ("conjunctival melanoma", "melanoma"): by what is above
    a disease it is known to be of the eye.
    """
    heads = {form_of(term.name): term for term in terms.values() if term.group == "disease"}
    for term in list(heads.values()):
        heads |= {(key,): term for key in (word_key(name) for name in term.synonyms if name in _WIDE_HEADS)}
    found: dict[tuple[EntityGroup, str], Term] = {}
    for term in terms.values():
        form = form_of(term.name) if term.group == "disease" else ()
        head = next((heads[form[at:]] for at in range(1, len(form)) if form[at:] in heads), None)
        if head is None or head.name in _NO_HEADS:
            continue
        own, above = {term.name, *_broader(terms, term)}, {head.name, *_broader(terms, head)}
        if head.name not in own and term.name not in above and not (above & _OF_BODY) - own:
            found["disease", term.name] = replace(term, parents=(*term.parents, head.name))
    return found


def _variants(forms: Mapping[Form, Term], same: Sequence[Sequence[str]]) -> dict[Form, Term]:
    """Return further forms of terms: with a phrase in them as another one that says the same; none of several terms."""
    phrases: dict[str, list[tuple[Form, list[Form]]]] = {}
    for line in same:
        for text in line:
            form = form_of(text)
            phrases.setdefault(form[0], []).append((form, [form_of(other) for other in line if other != text]))
    found: dict[Form, Term] = {}
    several: set[Form] = set()
    for name, term in forms.items():
        if term.group not in {"disease", "finding"} or len(name) < 2:
            continue
        for at, word in enumerate(name):
            for phrase, others in phrases.get(word, ()):
                end = at + len(phrase)
                if len(phrase) == len(name) or name[at:end] != phrase:
                    continue
                for other in others:
                    variant = (*name[:at], *other, *name[end:])
                    if variant not in forms and found.setdefault(variant, term) is not term:
                        several.add(variant)
    return {form: term for form, term in found.items() if form not in several}


def _reordered(forms: Mapping[Form, Term]) -> dict[Form, Term]:
    """Return further forms of terms: with the words before the last in another order; none of several terms.

    "Macular cystoid edema" is "cystoid macular edema", "lacrimal gland adenoma" an "adenoma of the lacrimal gland".
    """
    found: dict[Form, Term] = {}
    several: set[Form] = set()
    for name, term in forms.items():
        if term.group not in {"disease", "finding"}:
            continue
        for variant in _orders(name):
            if variant not in forms and found.setdefault(variant, term) is not term:
                several.add(variant)
    return {form: term for form, term in found.items() if form not in several}


def _orders(name: Form) -> Iterator[Form]:
    if name.count("of") == 1 and 0 < (at := name.index("of")) < len(name) - 1:
        place = name[at + 1 :]
        name = (*(place[1:] if place[0] == "the" else place), *name[:at])
        if name and _IN_ORDER.isdisjoint(name):
            yield name
    elif 2 < len(name) <= _MOST_MOVED and _IN_ORDER.isdisjoint(name) and not any(word.isdigit() for word in name):
        yield from ((*before, name[-1]) for before in permutations(name[:-1]) if before != name[:-1])


def _read_group(
    group: EntityGroup, tables: Mapping[str, Any], terms: dict[tuple[EntityGroup, str], Term], faults: list[str]
) -> None:
    parents: dict[str, list[str]] = {}
    synonyms: dict[str, list[str]] = {}
    for wider, narrower in tables.items():
        for name, forms in narrower.items():
            parents.setdefault(name, []).extend([] if wider == ROOTS else [wider])
            synonyms.setdefault(name, []).extend(forms)
    faults.extend(f"{wider!r} ({group}) is no term" for wider in tables if wider != ROOTS and wider not in parents)
    for name, above in parents.items():
        terms[group, name] = Term(group, name, tuple(dict.fromkeys(above)), tuple(dict.fromkeys(synonyms[name])))


def _circles(terms: Mapping[tuple[EntityGroup, str], Term]) -> Iterator[str]:
    for term in terms.values():
        if term.name in _broader(terms, term):
            yield f"{term.name!r} ({term.group}) lies within itself"


def _broader(terms: Mapping[tuple[EntityGroup, str], Term], term: Term) -> tuple[str, ...]:
    found: dict[str, None] = {}
    waiting = deque(term.parents)
    while waiting:
        name = waiting.popleft()
        if name not in found:
            found[name] = None
            above = terms.get((term.group, name))
            waiting.extend(above.parents if above else ())
    return tuple(found)


def _meanings(
    form: str, given: Mapping[str, Sequence[str]], terms: Mapping[Any, Term], faults: list[str]
) -> Iterator[Meaning]:
    for description, words in given.items():
        group, _, name = description.partition(": ")
        term = terms.get((group, name))
        if term is None and group != OTHER:
            faults.append(f"{form!r} means {description!r}, which is no term")
        context = {word if word.startswith("@") else " ".join(form_of(word)) for word in words}
        yield Meaning(term, name, frozenset(context))


@cache
def shipped_lexicon() -> Lexicon:
    """Return the lexicon that comes with the package; it is read once.

    Raises:
        SystemicError: a file of it is missing or damaged, or it contradicts itself.
    """
    groups = {group: lexicon_data(group) for group in ENTITY_GROUPS}
    for group, name in ADDED.items():
        groups[group] = _together(groups[group], lexicon_data(name))
    try:
        return build_lexicon(groups, lexicon_data("ambiguous"), lexicon_data("variants")["same"])
    except LexiconError as error:
        raise SystemicError(f"the package's lexicon contradicts itself: {error}") from error


def _together(tables: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of two files as those of one; a term that both have has the forms of both."""
    together = {wider: {name: list(forms) for name, forms in narrower.items()} for wider, narrower in tables.items()}
    for wider, narrower in added.items():
        for name, forms in narrower.items():
            together.setdefault(wider, {}).setdefault(name, []).extend(forms)
    return together


def lexicon_data(name: str) -> dict[str, Any]:
    """Return the content of a file of the package's lexicon.

    Raises:
        SystemicError: the file is missing or damaged: no article's fault.
    """
    try:
        return tomllib.loads((resources.files("pmo_assets") / "lexicon" / "data" / f"{name}.toml").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SystemicError(
            f"the package's lexicon cannot be read ({name}.toml: {error}): install pmo-assets again"
        ) from error


def terms_within(word: str, group: EntityGroup | None = None) -> frozenset[str]:
    """Return the names of the terms that a word means, and of all terms within them.

    Args:
        word: a term's name, synonym or abbreviation, in any case and spelling.
        group: look in this group only; None for all.

    Raises:
        LexiconError: no term is called so; the message names similar ones.
    """
    names = _names(group)
    found = names.get(_any_case(word))
    if not found:
        close = difflib.get_close_matches(_any_case(word), names, n=5)
        similar = dict.fromkeys(term.name for form in close for term in names[form])
        hint = f"; similar are {', '.join(map(repr, similar))}" if similar else ""
        raise LexiconError(f"The lexicon has no {group or 'term'} {word!r}{hint}.")
    lexicon = shipped_lexicon()
    above = {(term.group, term.name) for term in found}
    return frozenset(
        term.name
        for term in lexicon.terms.values()
        if (term.group, term.name) in above or any((term.group, name) in above for name in lexicon.broader(term))
    )


def _any_case(name: str) -> str:
    return " ".join(form_of(name.lower()))


@cache
def _names(group: EntityGroup | None) -> Mapping[str, frozenset[Term]]:
    """Terms of a group by all their forms in lower case."""
    lexicon = shipped_lexicon()
    found: dict[str, set[Term]] = {}
    for term in lexicon.terms.values():
        for name in (term.name, *term.synonyms):
            found.setdefault(_any_case(name), set()).add(term)
    for form, meanings in lexicon.ambiguous.items():
        plain = _any_case(" ".join(word.lstrip("=") for word in form))
        found.setdefault(plain, set()).update(meaning.term for meaning in meanings if meaning.term)
    wanted = {name: {term for term in terms if group in {None, term.group}} for name, terms in found.items()}
    return {name: frozenset(terms) for name, terms in wanted.items() if terms}
