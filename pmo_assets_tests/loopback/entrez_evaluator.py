"""Entrez's query language, as far as PMC's searches need it, evaluated over articles that are at hand.

    index = EntrezIndex([record_of(article, 10009416)])
    index.search(parse_query('"fundus"[Figure/Table Caption] AND open_access[Filter]'))      # {10009416}

As in Entrez, operators are in capitals and work from left to right, whatever they are; the case of letters, hyphens and
punctuation do not matter; a phrase is found as whole words, not in the plural, and as their beginning if it ends with
`*`; a MeSH heading also finds the headings below it.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from pmo_assets.records.article import Article

CAPTION: Final = "Figure/Table Caption"
KEY_TERMS: Final = "Body - Key Terms"
BODY: Final = "Body - All Words"
TITLE: Final = "Title"
MESH: Final = "MeSH Terms"
FILTER: Final = "Filter"
RELEASED: Final = "PMC Live Date"
ALL: Final = "All Fields"

_FIELDS: Final[Mapping[str, str]] = {
    name.casefold(): found
    for found, names in (
        (CAPTION, ("Figure/Table Caption",)),
        (KEY_TERMS, ("Body - Key Terms",)),
        (BODY, ("Body - All Words", "Body")),
        (TITLE, ("Title", "ti")),
        (MESH, ("MeSH Terms", "MeSH", "mh")),
        (FILTER, ("Filter", "filt", "sb")),
        (RELEASED, ("pmcrdat", "PMC Live Date")),
        (ALL, ("All Fields", "all", "")),
    )
    for name in names
}

_BELOW: Final[Mapping[str, frozenset[str]]] = {
    "retina": frozenset({
        "blood-retinal barrier", "fovea centralis", "macula lutea", "retinal cone photoreceptor cells",
        "retinal ganglion cells", "retinal pigment epithelium", "retinal rod photoreceptor cells", "retinal vessels",
    }),
    "tomography": frozenset({"tomography, optical coherence", "tomography, x-ray computed"}),
}  # fmt: skip
"""Headings below a heading of MeSH: enough to show that Entrez explodes, not the tree."""


class EntrezSyntaxError(ValueError):
    """The query cannot be read."""


class FieldNotFound(EntrezSyntaxError):
    """The query names a field that PMC does not have; `args[0]` is the field."""


# the query


@dataclass(frozen=True, slots=True)
class Term:
    """A phrase in a field, or a range of dates.

    Attributes:
        text: the phrase, or the first day of the range.
        field: full name of the field.
        end: the last day of a range; None for a phrase.
    """

    text: str
    field: str
    end: str | None = None

    def __str__(self) -> str:
        """The term as `QueryTranslation` writes it."""
        if self.end is not None:
            return f"{self.text}[{self.field}] : {self.end}[{self.field}]"
        return f'"{self.text}"[{self.field}]'


Operator = Literal["AND", "OR", "NOT"]


@dataclass(frozen=True, slots=True)
class Operation:
    """Two queries and the operator between them."""

    left: Query
    operator: Operator
    right: Query

    def __str__(self) -> str:
        """The query in parentheses."""
        return f"({self.left} {self.operator} {self.right})"


Query = Term | Operation

_TOKEN: Final = re.compile(
    r'\s*(?:(?P<mark>[():])|"(?P<phrase>[^"]*)"|\[(?P<field>[^\[\]]*)\]|(?P<word>[^\s()"\[\]:]+))'
)
_MAX_DEPTH: Final = 50


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    text = text.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None or found.lastgroup is None:
            raise EntrezSyntaxError(f"cannot read the query at {text[place : place + 30]!r}")
        kind = found.lastgroup
        value = found[kind]
        if kind == "word" and value in ("AND", "OR", "NOT"):
            kind = "operator"
        yield (value if kind == "mark" else kind), value
        place = found.end()
    yield "end", ""


class _Parser:
    """Reads tokens once; each method takes what it is named after."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.place = 0
        self.depth = 0

    @property
    def next(self) -> str:
        return self.tokens[self.place][0]

    def take(self, *kinds: str) -> str:
        kind, value = self.tokens[self.place]
        if kind not in kinds:
            raise EntrezSyntaxError(f"expected {' or '.join(kinds)}, found {value or 'the end of the query'!r}")
        self.place += 1
        return value

    def query(self) -> Query:
        found = self.operand()
        while self.next not in ("end", ")"):
            # Terms without an operator between them are joined by AND.
            name = self.take("operator") if self.next == "operator" else "AND"
            operator: Operator = "AND" if name == "AND" else "OR" if name == "OR" else "NOT"
            found = Operation(found, operator, self.operand())
        return found

    def operand(self) -> Query:
        if self.next != "(":
            return self.term()
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise EntrezSyntaxError(f"more than {_MAX_DEPTH} parentheses in each other")
        self.take("(")
        found = self.query()
        self.take(")")
        self.depth -= 1
        return found

    def term(self) -> Term:
        text = self.phrase()
        field_name = self.field()
        if self.next != ":":
            return Term(text, field_name or ALL)
        self.take(":")
        end = self.phrase()
        field_name = self.field() or field_name
        if field_name != RELEASED:
            raise EntrezSyntaxError(f"a range needs a field of dates, [pmcrdat], not [{field_name or ALL}]")
        return Term(text, field_name, end)

    def phrase(self) -> str:
        if self.next == "phrase":
            return self.take("phrase")
        words = [self.take("word", "phrase")]
        while self.next == "word":
            words.append(self.take("word"))
        return " ".join(words)

    def field(self) -> str | None:
        if self.next != "field":
            return None
        name = self.take("field").strip()
        if name.casefold() not in _FIELDS:
            raise FieldNotFound(name)
        return _FIELDS[name.casefold()]


def parse_query(text: str) -> Query:
    """Return a query that is written in Entrez's syntax.

    Raises:
        EntrezSyntaxError: if it cannot be read; `FieldNotFound` if a field is none of those this module knows.
    """
    parser = _Parser(text)
    found = parser.query()
    parser.take("end")
    return found


def terms_of(query: Query) -> Iterator[Term]:
    """Yield the terms from left to right."""
    if isinstance(query, Term):
        yield query
    else:
        yield from terms_of(query.left)
        yield from terms_of(query.right)


# dates


def first_day(text: str) -> datetime.date:
    """Return the first day of a date that Entrez takes: "2026/01/14", "2026/1", "2026".

    Raises:
        EntrezSyntaxError: if it is none.
    """
    found = re.fullmatch(r"(\d{4})(?:[/-](\d{1,2})(?:[/-](\d{1,2}))?)?", text.strip())
    try:
        if found is None:
            raise ValueError
        return datetime.date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
    except ValueError as error:
        raise EntrezSyntaxError(f"{text!r} is no date of the form YYYY/MM/DD") from error


def last_day(text: str) -> datetime.date:
    """Return the last day of such a date.

    Raises:
        EntrezSyntaxError: if it is none.
    """
    first = first_day(text)
    parts = len(re.split(r"[/-]", text.strip()))
    if parts == 1:
        return first.replace(month=12, day=31)
    if parts == 2:
        following = (first.replace(day=28) + datetime.timedelta(days=4)).replace(day=1)
        return following - datetime.timedelta(days=1)
    return first


# records

_WORD: Final = re.compile(r"[^\W_]+")


def _words(*texts: str) -> str:
    """Return texts as words in lower case, with one space around each word, two between texts: no phrase spans them."""
    plain = (unicodedata.normalize("NFKC", text).casefold() for text in texts)
    return "".join(f" {' '.join(_WORD.findall(text))} " for text in plain)


@dataclass(frozen=True)
class EntrezRecord:
    """What Entrez has of an article.

    Attributes:
        number: PMC number.
        texts: words of each field, as `_words` gives them.
        headings: MeSH headings in lower case, without qualifiers.
        filters: those that it passes.
        released: the day on which PMC released it.
    """

    number: int
    texts: Mapping[str, str] = field(repr=False)
    headings: frozenset[str] = frozenset()
    filters: frozenset[str] = frozenset({"open_access"})
    released: datetime.date = datetime.date(2026, 1, 14)


def record_of(
    article: Article,
    number: int,
    *,
    filters: Iterable[str] = ("open_access",),
    released: datetime.date = datetime.date(2026, 1, 14),
) -> EntrezRecord:
    """Return what Entrez has of an article.

    Captions are part of the body, and so is the abstract, which `Article` does not tell from it. NLM does not say which
    terms of the body are its key terms: here, all.
    """
    captions = [*(figure.caption for figure in article.figures), *article.table_captions]
    body = _words(article.text, *captions)
    headings = frozenset(_heading(term) for term in article.mesh_terms)
    texts = {
        CAPTION: _words(*captions),
        BODY: body,
        KEY_TERMS: body,
        TITLE: _words(article.title),
        ALL: _words(article.title, *article.keywords, *article.mesh_terms) + body,
    }
    return EntrezRecord(number, texts, headings, frozenset(filters), released)


def _heading(term: str) -> str:
    """A heading in lower case without the star of a major topic and without qualifiers."""
    return term.strip().lstrip("*").split("/")[0].strip().casefold()


class EntrezIndex:
    """Records that are searched.

    Args:
        records: what there is; a later one of the same number replaces an earlier one.
    """

    def __init__(self, records: Sequence[EntrezRecord]) -> None:
        self.records = {record.number: record for record in records}
        self._found: dict[Term, frozenset[int]] = {}

    def search(self, query: Query) -> frozenset[int]:
        """Return the numbers of the records that the query finds.

        Raises:
            EntrezSyntaxError: if a date in it is none.
        """
        if isinstance(query, Term):
            if query not in self._found:
                matches = _matcher(query)
                self._found[query] = frozenset(n for n, record in self.records.items() if matches(record))
            return self._found[query]
        left, right = self.search(query.left), self.search(query.right)
        if query.operator == "AND":
            return left & right
        return left | right if query.operator == "OR" else left - right


def _matcher(term: Term) -> Callable[[EntrezRecord], bool]:
    """Return whether a record has a term."""
    if term.field == RELEASED:
        first, last = first_day(term.text), last_day(term.end or term.text)
        return lambda record: first <= record.released <= last
    if term.field == FILTER:
        name = term.text.casefold().replace(" ", "_")
        return lambda record: name in record.filters
    if term.field == MESH:
        heading = _heading(term.text)
        wanted = {heading} | _BELOW.get(heading, frozenset())
        return lambda record: not wanted.isdisjoint(record.headings)
    phrase = _words(term.text)
    if not phrase.strip():
        return lambda record: False
    if term.text.endswith("*"):
        phrase = phrase.rstrip()
    return lambda record: phrase in record.texts[term.field]
