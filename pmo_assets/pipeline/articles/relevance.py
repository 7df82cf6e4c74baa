"""The three-level relevance filter for a specialty's articles, locally and as an Entrez query."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pmo_assets.records.article import Article
from pmo_assets.records.image_types import ImageType

RECURRING: Final = 3
"""A term that the running text uses this often counts as a key term of the article. PMC's field "Body - Key Terms" is
made from the body, and most articles list no keyword for their imaging method; a single use is a passing mention."""

BIOMEDICA: Final = "biomedica"
"""Name of the criterion that stands in for (i) and (iii): a figure's label."""


PACKAGE_DATA = ("specialties",)
"""Files of the package that this module reads."""


class SpecialtyError(ValueError):
    """A specialty file is missing or wrong."""


class Terms(BaseModel):
    """Terms of one criterion.

    Attributes:
        terms: words and phrases; in capitals they are acronyms and match as written, otherwise case does not matter.
        mesh: MeSH headings, matched as a whole.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    terms: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()


class Specialty(BaseModel):
    """Rules for the wanted articles and panels; a TOML file.

    Attributes:
        name: short name.
        title: title of the dataset for the dataset card.
        description: one sentence for the dataset card.
        filter: whether articles are filtered at all.
        require_all: all three criteria must be met; otherwise one is enough.
        image_types: a panel enters the dataset with at least one image of these types.
        captions: criterion (i), looked for in captions of figures and tables.
        key_terms: criterion (ii), looked for in key terms and MeSH headings.
        text: criterion (iii), looked for in the text and MeSH headings.
        figure_labels: labels of figures (BIOMEDICA) that, with criterion (ii), stand in for the others.
        lectures: looked for in title, tags and description of a lecture video; one is enough. Without any, those of the
            three criteria are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    title: str = Field(min_length=1)
    description: str
    filter: bool
    require_all: bool = True
    image_types: list[ImageType] = Field(min_length=1)
    captions: Terms = Terms()
    key_terms: Terms = Terms()
    text: Terms = Terms()
    figure_labels: Terms = Terms()
    lectures: Terms = Terms()

    @model_validator(mode="after")
    def _has_terms(self) -> Specialty:
        if self.captions.mesh or self.figure_labels.mesh:
            raise ValueError("captions and figure_labels have no MeSH headings")
        if self.filter and not all(part.terms or part.mesh for part in (self.captions, self.key_terms, self.text)):
            raise ValueError("a specialty that filters needs terms in [captions], [key_terms] and [text]")
        return self


def specialty_names() -> tuple[str, ...]:
    """Return the names of the specialties that come with the package, sorted."""
    folder = resources.files("pmo_assets") / "specialties"
    return tuple(sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")))


def load_specialty(name_or_path: str) -> Specialty:
    """Return a specialty by its name, or from a TOML file where the argument is a path (with "/" or ".toml").

    Raises:
        SpecialtyError: no such name (the message lists the names there are) or file, or the file is not valid.
    """
    names = specialty_names()
    if name_or_path in names:
        source = (resources.files("pmo_assets") / "specialties" / f"{name_or_path}.toml").read_text("utf-8")
    elif re.search(r"[/\\]|\.toml\Z", name_or_path):
        try:
            source = Path(name_or_path).read_text("utf-8")
        except (OSError, ValueError) as error:
            raise SpecialtyError(f"The specialty file {name_or_path!r} cannot be read: {error}") from error
    else:
        raise SpecialtyError(
            f"There is no specialty {name_or_path!r}; there are {', '.join(names)}, or give the path of a TOML file."
        )
    try:
        return Specialty.model_validate(tomllib.loads(source))
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, item['loc'])) or 'file'}: {item['msg']}" for item in error.errors())
        raise SpecialtyError(f"The specialty {name_or_path!r} is not valid: {faults}") from error
    except tomllib.TOMLDecodeError as error:
        raise SpecialtyError(f"The specialty {name_or_path!r} is no TOML file: {error}") from error


# matching


def _is_acronym(term: str) -> bool:
    return term.isupper()


@lru_cache(maxsize=64)
def _pattern(terms: tuple[str, ...]) -> re.Pattern[str]:
    """Whole words, hyphen or blank between them, the last one in singular or plural."""
    alternatives = []
    for term in terms:
        *head, last = term.split()
        ending = f"{re.escape(last[:-1])}(?:y|ies)" if last.endswith("y") else f"{re.escape(last)}(?:s|es)?"
        phrase = r"[\s\-‐-–]+".join([*map(re.escape, head), ending])
        alternatives.append(phrase if _is_acronym(term) else f"(?i:{phrase})")
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(alternatives) or '(?!)'})(?![^\W_])")


def _heading(term: str) -> str:
    """A MeSH heading without major-topic star and qualifier, in lower case: "*Retina/pathology" is "retina"."""
    return re.split(r"\s*(?:/|--)\s*", term.strip().lstrip("*"))[0].casefold()


def _shared_heading(headings: Iterable[str], wanted: Iterable[str]) -> str | None:
    names = {_heading(term) for term in wanted}
    return next((heading for heading in headings if _heading(heading) in names), None)


@dataclass(frozen=True, slots=True)
class Relevance:
    """Judgement whether an article is wanted, with reasons.

    Attributes:
        relevant: the article is wanted.
        criteria: the criteria that are met: "i", "ii", "iii", "biomedica".
        reason: a sentence that names the term per criterion, or the criteria that were missed.
    """

    relevant: bool
    criteria: tuple[str, ...]
    reason: str


def _caption_reason(captions: Iterable[tuple[str, str]], wanted: Terms) -> str | None:
    """Criterion (i) for (where, caption) pairs."""
    pattern = _pattern(wanted.terms)
    for where, caption in captions:
        found = pattern.search(caption)
        if found:
            return f'{where} has "{found.group()}"'
    return None


def _text_reason(text: str, captions: Iterable[tuple[str, str]], headings: Sequence[str], wanted: Terms) -> str | None:
    """Criterion (iii); captions count as text, since PMC searches them as part of the body."""
    pattern = _pattern(wanted.terms)
    found = pattern.search(text) or next(filter(None, (pattern.search(caption) for _, caption in captions)), None)
    if found:
        return f'the text has "{found.group()}"'
    heading = _shared_heading(headings, wanted.mesh)
    return f'MeSH heading "{heading}"' if heading else None


def _key_term_reason(article: Article, wanted: Terms) -> str | None:
    """Criterion (ii); see `RECURRING` for what counts as a key term."""
    pattern = _pattern(wanted.terms)
    for keyword in article.keywords:
        if pattern.search(keyword):
            return f'key term "{keyword}"'
    heading = _shared_heading(article.mesh_terms, wanted.mesh)
    if heading:
        return f'MeSH heading "{heading}"'
    found = pattern.search(article.title)
    if found:
        return f'the title has "{found.group()}"'
    uses = [match.group() for match in pattern.finditer(article.text)]
    if len(uses) >= RECURRING:
        return f'the text has key terms such as "{uses[0]}" {len(uses)} times'
    if uses and not article.keywords and not article.mesh_terms:
        return f'the text has "{uses[0]}" (the article lists no keywords)'
    return None


def _label_reason(labels: Iterable[str], wanted: Terms) -> str | None:
    """The criterion `BIOMEDICA`."""
    pattern = _pattern(wanted.terms)
    return next((f'a figure is labelled "{label}"' for label in labels if pattern.search(label)), None)


def _verdict(specialty: Specialty, reasons: dict[str, str | None], label_reason: str | None) -> Relevance:
    met = {name: reason for name, reason in reasons.items() if reason}
    enough = len(met) == len(reasons) if specialty.require_all else bool(met)
    if label_reason and "ii" in met:
        met[BIOMEDICA] = label_reason
        enough = True
    told = "; ".join(f"({name}) {reason}" for name, reason in met.items())
    missing = {
        "i": "(i) no caption has one of the terms",
        "ii": "(ii) no key term or MeSH heading is one of the terms",
        "iii": "(iii) the text has none of the terms",
    }
    if enough:
        return Relevance(True, tuple(met), f"Relevant: {told}.")
    missed = "; ".join(text for name, text in missing.items() if name not in met)
    return Relevance(False, tuple(met), f"Not relevant: {missed}" + (f"; met: {told}." if told else "."))


def _unfiltered(specialty: Specialty) -> Relevance:
    return Relevance(True, (), f"Relevant: the specialty {specialty.name} takes every article.")


def assess_relevance(article: Article, specialty: Specialty, *, figure_labels: Sequence[str] = ()) -> Relevance:
    """Return whether an article is relevant by the paper's three criteria (Methods, "Relevance").

    (i) a caption of a figure or table has one of the terms; (ii) a key term has one, or a MeSH heading is one; (iii)
    the text has one, or a MeSH heading is one. All three (or one, by the specialty), or: a figure's label is one of
    the specialty's and (ii).

    Key terms are keywords, publisher's subjects, words of the title, and terms that recur in the text (`RECURRING`);
    where the XML lists neither keywords nor MeSH headings, one use in the text is enough, and the reason says so.

    Args:
        article: from its JATS XML.
        specialty: rules for wanted articles and panels.
        figure_labels: labels that another dataset (BIOMEDICA) gives the article's figures.
    """
    if not specialty.filter:
        return _unfiltered(specialty)
    captions = [(f"the caption of {figure.label or 'a figure'}", figure.caption) for figure in article.figures]
    captions += [("the caption of a table", caption) for caption in article.table_captions]
    reasons = {
        "i": _caption_reason(captions, specialty.captions),
        "ii": _key_term_reason(article, specialty.key_terms),
        "iii": _text_reason(article.text, captions, article.mesh_terms, specialty.text),
    }
    return _verdict(specialty, reasons, _label_reason(figure_labels, specialty.figure_labels))


def assess_relevance_of_text(
    captions: Sequence[str], text: str, specialty: Specialty, *, figure_labels: Sequence[str] = ()
) -> Relevance:
    """Return whether an article of which only captions and text are known (a PDF) is relevant.

    Key terms cannot be told from a PDF, so criterion (ii) asks for one of its terms anywhere in text or captions; its
    reason says so.

    Args:
        captions: captions of figures and tables as far as they were found.
        text: the text, title included.
        specialty: rules for wanted articles and panels.
        figure_labels: as in `assess_relevance`.
    """
    if not specialty.filter:
        return _unfiltered(specialty)
    placed = [("a caption", caption) for caption in captions]
    found = _pattern(specialty.key_terms.terms).search("\n".join([text, *captions]))
    reasons = {
        "i": _caption_reason(placed, specialty.captions),
        "ii": f'the text has "{found.group()}" (key terms are unknown without XML)' if found else None,
        "iii": _text_reason(text, placed, (), specialty.text),
    }
    return _verdict(specialty, reasons, _label_reason(figure_labels, specialty.figure_labels))


def lecture_term(texts: Iterable[tuple[str, str]], specialty: Specialty) -> str | None:
    """Return in words where a lecture's description has one of a specialty's terms; None where it has none.

    A lecture is described in a few words: there one term says what three criteria say of an article.

    Args:
        texts: (where, text) pairs, the most telling first.
        specialty: rules.
    """
    every = (specialty.captions, specialty.key_terms, specialty.text)
    parts = (specialty.lectures,) if specialty.lectures.terms else every
    pattern = _pattern(tuple(dict.fromkeys(term for part in parts for term in (*part.terms, *part.mesh))))
    found = ((where, pattern.search(text)) for where, text in texts)
    return next((f'{where} has "{match.group()}"' for where, match in found if match), None)


def _searched(term: str) -> tuple[str, str]:
    """A term in singular and plural: Entrez finds a phrase as it is written only, `_pattern` finds both."""
    if _is_acronym(term) or not re.search(r"(?:[sxyz]|[cs]h)\Z", term):
        return term, f"{term}s"
    return term, f"{term[:-1]}ies" if term.endswith("y") else f"{term}es"


def entrez_query(specialty: Specialty) -> str:
    """Return the same rules as a query of PMC (Entrez, `db=pmc`); "" where the specialty does not filter.

    The fields are written by their full names, which Entrez takes beside the abbreviations: `Figure/Table Caption`
    (i), `Body - Key Terms` (ii), `Body - All Words` (iii) and `MeSH Terms`; terms in singular and plural.

    The query is there to find articles, `assess_relevance` to decide about them. What Entrez finds beyond it costs a
    download:

    * case: "OCT" also finds "Oct";
    * MeSH: a heading also finds those below it, "Retina" also "Macula Lutea";
    * key terms: one use in the body or a caption is enough, where the filter asks for a keyword or a term that recurs;
    * punctuation: "optical coherence tomography" also finds "optical coherence, tomography".

    Articles that the filter would take and Entrez does not find never arrive:

    * keywords and title count as key terms, but are in no field of the body: of an article whose body has none of them;
    * figure labels (BIOMEDICA) have no field.
    """
    if not specialty.filter:
        return ""

    def clause(part: Terms, field: str) -> str:
        searched = [(form, field) for term in part.terms for form in _searched(term)]
        searched += [(heading, "MeSH Terms") for heading in part.mesh]
        return "(" + " OR ".join(f'"{term}"[{name}]'.replace('""', '"') for term, name in searched) + ")"

    clauses = [
        clause(specialty.captions, "Figure/Table Caption"),
        clause(specialty.key_terms, "Body - Key Terms"),
        clause(specialty.text, "Body - All Words"),
    ]
    return (" AND " if specialty.require_all else " OR ").join(clauses)
