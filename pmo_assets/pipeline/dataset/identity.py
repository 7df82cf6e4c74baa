"""Which packages are the same article, and which of them is published.

An article comes under several names: once as PMC's package, once as a folder that somebody named, perhaps a third time
without its XML. Two packages are the same article if the strongest identifier that both have says so: the PMC number,
else the DOI, else the PDF's content. A weaker identifier never overrules a stronger one: abstracts of one conference
share a PDF and have DOIs of their own.

A DOI that XML or metadata state is the article's. One that was only read from a PDF may be another's: of the article
that a letter comments on, or that a template was made for. It shows nothing unless title or PDF agree as well.

Anybody can write another article's DOI or PMC number into a metadata file. Two packages whose titles and authors
contradict each other are never one article, whatever they claim: that is a conflict, and both stay. A retraction speaks
for other packages only from a source that is trusted for it, or where title and authors, or the PDF, are the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from pmo_assets.pipeline.articles.credit import different_articles, same_article, same_authors
from pmo_assets.pipeline.articles.dois import doi_key
from pmo_assets.records.packages import is_pmc_number

Kind = Literal["PMC number", "DOI", "PDF"]

KINDS: Final[tuple[Kind, ...]] = ("PMC number", "DOI", "PDF")
"""Identifiers, the strongest first."""


@dataclass(frozen=True, slots=True)
class ArticlePackage:
    """The current version of a package, as far as its identity matters.

    Attributes:
        article_id: number under which it is registered.
        name: of the package at its source.
        pmcid: PMC number, the package's own or the one its XML states.
        doi: digital object identifier.
        doi_is_stated: by XML or metadata; else it was read from the PDF.
        title: of the article.
        title_is_own: it stands in the XML or on the PDF's front page, or a trusted source states it; else the package's
            metadata alone say so, and may have been copied.
        authors: of XML or front page, in order; empty when not known.
        is_trusted: its source's word on retractions counts for other packages of the article.
        pdf_digest: SHA-256 of the PDF.
        version: of the article.
        batch: place of its batch in the order of registration.
        rows: dataset rows that it gave.
        has_xml: it has a readable XML.
        is_manuscript: it is the author's manuscript.
        is_retracted: it, or its source, says that the article is retracted.
    """

    article_id: int
    name: str
    pmcid: int | None = None
    doi: str | None = None
    doi_is_stated: bool = False
    title: str | None = None
    title_is_own: bool = True
    authors: tuple[str, ...] = ()
    is_trusted: bool = False
    pdf_digest: str | None = None
    version: int = 1
    batch: int = 0
    rows: int = 0
    has_xml: bool = False
    is_manuscript: bool = False
    is_retracted: bool = False

    def identifier(self, kind: Kind) -> str | None:
        """Return an identifier as it is compared; None when the package does not have it."""
        if kind == "PMC number":
            return f"PMC{self.pmcid}" if self.pmcid is not None else None
        if kind == "DOI":
            return doi_key(self.doi) if self.doi else None
        return self.pdf_digest


def shared_identifier(one: ArticlePackage, other: ArticlePackage) -> Kind | None:
    """Return the identifier by which two packages are the same article; None when they are not."""
    kind = claimed_identifier(one, other)
    return None if kind is None or contradict(one, other) else kind


def claimed_identifier(one: ArticlePackage, other: ArticlePackage) -> Kind | None:
    """Return the identifier by which two packages say that they are the same article, true or not."""
    for kind in KINDS:
        mine, others = one.identifier(kind), other.identifier(kind)
        if mine is not None and others is not None:
            return kind if mine == others and (kind != "DOI" or _doi_is_shown(one, other)) else None
    return None


def contradict(one: ArticlePackage, other: ArticlePackage) -> bool:
    """Say whether titles and authors show that two packages are not one article, whatever their identifiers say.

    Titles that differ are translations where the authors are the same; other authors are misread where the title is.
    What is not known contradicts nothing.
    """
    if _same_pdf(one, other):
        return False
    authors = same_authors(one.authors, other.authors)
    if different_articles(one.title, other.title):
        return authors is not True
    return authors is False and not _same_title(one, other)


def confirm(one: ArticlePackage, other: ArticlePackage) -> bool:
    """Say whether two packages are shown to be one article by what is in them: the PDF, or title and authors."""
    same = _same_title(one, other) and same_authors(one.authors, other.authors) is True
    return same or _same_pdf(one, other)


def _same_title(one: ArticlePackage, other: ArticlePackage) -> bool:
    return one.title_is_own and other.title_is_own and same_article(one.title, other.title)


def _same_pdf(one: ArticlePackage, other: ArticlePackage) -> bool:
    return one.pdf_digest is not None and one.pdf_digest == other.pdf_digest


def _doi_is_shown(one: ArticlePackage, other: ArticlePackage) -> bool:
    """Say whether a DOI that two packages share is certain to be that of both."""
    return (one.doi_is_stated and other.doi_is_stated) or _same_pdf(one, other) or same_article(one.title, other.title)


def preference(package: ArticlePackage) -> tuple[object, ...]:
    """Return a key by which packages of one article are ordered, the one to be published first.

    A retraction comes first, so that it speaks for the article: it has no rows, and the others are its duplicates.
    Then what gave rows before what gave none (no PDF, rejected); from a trusted source; with XML, which a number that
    is only claimed does not outdo; registered under its PMC number; the published version before the manuscript; the
    highest version; the latest batch; the smallest number.
    """
    return (
        not package.is_retracted,
        package.rows == 0,
        not package.is_trusted,
        not package.has_xml,
        not is_pmc_number(package.article_id),
        package.is_manuscript,
        -package.version,
        -package.batch,
        package.article_id,
    )


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A package that is not published, because another one is the same article.

    Attributes:
        package: the one that is not published.
        published: the one that stands for the article; of a retracted article the one that says so, without rows.
        identifier: what shows that they are the same.
        value: PMC number, DOI or SHA-256 of the PDF.
        shared_with: package that shares it, mostly the published one.
    """

    package: ArticlePackage
    published: ArticlePackage
    identifier: Kind
    value: str
    shared_with: ArticlePackage


Claim = Literal["retraction", "same article"]

RETRACTION: Final[Claim] = "retraction"
SAME_ARTICLE: Final[Claim] = "same article"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Statement of a package about another one that is not believed.

    Attributes:
        package: the one that says it.
        other: the one of which it is said; it stays as it is.
        identifier: kind of identifier that both have.
        value: PMC number, DOI or SHA-256 of the PDF.
        claim: that the other one is retracted, or that both are the same article.
    """

    package: ArticlePackage
    other: ArticlePackage
    identifier: Kind
    value: str
    claim: Claim


class _Group:
    """Packages that are one article, the preferred one first, with their identifiers."""

    def __init__(self, members: Sequence[ArticlePackage]) -> None:
        self.members = sorted(members, key=_stable)
        self.identifiers = {
            kind: {value for member in members if (value := member.identifier(kind)) is not None} for kind in KINDS
        }

    def absorb(self, other: _Group) -> None:
        """Take another group's packages in."""
        joined = _Group([*self.members, *other.members])
        self.members, self.identifiers = joined.members, joined.identifiers

    def agrees(self, other: _Group) -> bool:
        """Say whether the strongest identifier that both have is the same, and no two of their packages contradict.

        True when they have no identifier in common.
        """
        for kind in KINDS:
            mine, others = self.identifiers[kind], other.identifiers[kind]
            if mine and others:
                return bool(mine & others) and not self.contradicts(other)
        return True

    def contradicts(self, other: _Group) -> bool:
        """Say whether a package of each shows that they are two articles."""
        return any(contradict(mine, others) for mine in self.faces() for others in other.faces())

    def faces(self) -> list[ArticlePackage]:
        """Return a package for each title, authors and identifiers that occur: copies by the thousand look the same."""
        return list({_face(item): item for item in reversed(self.members)}.values())

    def shares(self, kind: Kind, other: _Group) -> bool:
        """Say whether a package of each shows by this identifier that they are one, and no stronger one parts them."""
        return self.agrees(other) and any(
            shared_identifier(mine, others) == kind for mine in self.members for others in other.members
        )


def _face(package: ArticlePackage) -> tuple[object, ...]:
    known = tuple(package.identifier(kind) for kind in KINDS)
    return package.title, package.title_is_own, package.authors, package.doi_is_stated, *known


def _stable(package: ArticlePackage) -> tuple[object, ...]:
    # Which packages are one article must not depend on a retraction or on rows: by identifiers known, then number.
    # A DOI that was read joins the group of those that are stated, whichever of them has its title. Where two groups
    # contradict each other, who has no title joins the one that is trusted, or has an XML.
    was_read = package.doi is not None and not package.doi_is_stated
    known = tuple(package.identifier(kind) is None for kind in KINDS)
    sure = (not package.is_trusted, not package.has_xml)
    return (was_read, *known, *sure, not is_pmc_number(package.article_id), package.article_id)


def _groups(packages: Iterable[ArticlePackage]) -> list[_Group]:
    """Group packages into articles.

    Identifiers are taken one kind after the other, the strongest first. Packages that share one become a group, and
    groups that share one are joined, unless a stronger identifier tells them apart; so A and C are one article if A
    shares its DOI with B and B its PDF with C. A package without any identifier of its own that could belong to two
    articles (its PDF is that of both) counts as a duplicate of the first by number: it must not be published again.
    """
    groups = [_Group([package]) for package in packages]
    groups.sort(key=lambda group: _stable(group.members[0]))
    for kind in KINDS:
        by_value: dict[str, list[_Group]] = {}
        merged: list[_Group] = []
        for group in groups:
            rivals = [known for value in sorted(group.identifiers[kind]) for known in by_value.get(value, ())]
            target = group
            for known in dict.fromkeys(rivals):
                if not known.shares(kind, target):
                    continue
                if target is group:
                    target = known
                    target.absorb(group)
                else:  # the new package shows that two groups are one article
                    target.absorb(known)
                    merged.remove(known)
                    for value in known.identifiers[kind]:
                        by_value[value].remove(known)
            if target is group:
                merged.append(group)
            for value in target.identifiers[kind]:
                sharing = by_value.setdefault(value, [])
                if target not in sharing:
                    sharing.append(target)
        groups = merged
    return groups


def same_articles(packages: Iterable[ArticlePackage]) -> list[list[ArticlePackage]]:
    """Group packages into articles; each group in order of preference, groups by the number of their first package.

    A package that says that it is retracted is in the group of others only where that counts for them (`_reached`).
    """
    items = list(packages)
    reached = _reached(items)
    groups = [group.members for group in _groups(_staying(items, reached))]
    gone = [group.members for group in _groups(item for item in items if item.is_retracted)]
    for item in items:
        if (reach := reached.get(item.article_id)) is not None:
            next(members for members in gone if reach.retracted in members).append(item)
    groups += gone
    found = [sorted(group, key=preference) for group in groups]
    return sorted(found, key=lambda group: group[0].article_id)


@dataclass(frozen=True, slots=True)
class _Reach:
    """Which retraction counts for a package, and the package through which it does."""

    retracted: ArticlePackage
    speaker: ArticlePackage


def _parted(one: ArticlePackage, other: ArticlePackage) -> bool:
    """Say whether the strongest identifier that both have, or what is in them, tells two packages apart."""
    both = ((one.identifier(kind), other.identifier(kind)) for kind in KINDS)
    mine, others = next((pair for pair in both if None not in pair), (None, None))
    return mine != others or contradict(one, other)


def _is_nameless(package: ArticlePackage) -> bool:
    return package.pmcid is None and package.doi is None


def _is_volume(packages: Iterable[ArticlePackage]) -> bool:
    """Say whether packages with one PDF are several articles, by PMC number or DOI."""
    found = [package for package in packages if not _is_nameless(package)]
    return any(_parted(found[0], other) for other in found[1:])


def _sharing(packages: Iterable[ArticlePackage]) -> dict[tuple[Kind, str], list[ArticlePackage]]:
    """Return the packages by their identifiers."""
    found: dict[tuple[Kind, str], list[ArticlePackage]] = {}
    for item in sorted(packages, key=_stable):
        for kind in KINDS:
            if (value := item.identifier(kind)) is not None:
                found.setdefault((kind, value), []).append(item)
    return found


def _reached(packages: Sequence[ArticlePackage]) -> dict[int, _Reach]:
    """Return the packages that are out because another one is retracted, by number.

    A trusted source's retraction counts for whatever has the article's identifier; another one for what is shown to be
    the same article. From these it goes on to what is shown to be the same as they are. A PDF that several articles
    share (a volume of abstracts) says of a package without another identifier which of them it is no more than of any.
    """
    speaking = sorted((item for item in packages if item.is_retracted), key=preference)
    sharing = _sharing(packages) if speaking else {}
    roots = {item.article_id: item for item in speaking}
    articles = {item.article_id: _Group([item]) for item in speaking}
    found: dict[int, _Reach] = {}
    waiting: dict[Kind, list[ArticlePackage]] = {kind: list(speaking) for kind in KINDS}
    while (kind := next((kind for kind in KINDS if waiting[kind]), None)) is not None:
        speaker = waiting[kind].pop(0)
        root = roots[speaker.article_id]
        sharers = sharing.get((kind, speaker.identifier(kind) or ""), ())
        if kind == "PDF" and _is_nameless(root) and _is_volume(sharers):
            continue
        article = articles[root.article_id]
        for item in sharers:
            if item.article_id in roots or shared_identifier(speaker, item) != kind:
                continue
            is_heard = speaker.is_retracted and speaker.is_trusted
            # A copy of a volume without a name of its own leads from one abstract to all others: they are parted.
            if (is_heard or confirm(speaker, item)) and article.agrees(own := _Group([item])):
                article.absorb(own)
                roots[item.article_id] = root
                found[item.article_id] = _Reach(root, speaker)
                for each in KINDS:
                    waiting[each].append(item)
    return found


def _staying(packages: Iterable[ArticlePackage], reached: Mapping[int, _Reach]) -> list[ArticlePackage]:
    return [item for item in packages if not item.is_retracted and item.article_id not in reached]


def duplicates(packages: Iterable[ArticlePackage]) -> list[Duplicate]:
    """Return every package that is not published because another package is the same article, by number."""
    return judged(packages)[0]


def judged(packages: Iterable[ArticlePackage]) -> tuple[list[Duplicate], list[Conflict]]:
    """Return the packages that are not published because another one is the same article, and what is not believed."""
    items = list(packages)
    reached = _reached(items)
    gone = [sorted(group.members, key=preference) for group in _groups(item for item in items if item.is_retracted)]
    first = {item.article_id: group[0] for group in gone for item in group}
    found = [
        Duplicate(item, first[reach.retracted.article_id], kind, item.identifier(kind) or "", reach.speaker)
        for item in items
        if (reach := reached.get(item.article_id)) and (kind := shared_identifier(item, reach.speaker))
    ]
    living = _groups(_staying(items, reached))
    for published, *others in [*gone, *(sorted(group.members, key=preference) for group in living)]:
        for package in others:
            # The published one if it shares an identifier directly; else the package through which they are one.
            known = [published, *(other for other in others if other is not package)]
            shared_with, kind = next((other, kind) for other in known if (kind := shared_identifier(package, other)))
            found.append(Duplicate(package, published, kind, package.identifier(kind) or "", shared_with))
    conflicts = [*_unheard_retractions(items, reached), *_contradictions(living)]
    return sorted(found, key=lambda item: item.package.article_id), sorted(conflicts, key=_conflict_order)


def _unheard_retractions(packages: Sequence[ArticlePackage], reached: Mapping[int, _Reach]) -> list[Conflict]:
    """Return the retractions that do not count for a package with the same identifier; each once.

    Where a trusted source's article is retracted, it is the other, contradicting package that claims to be it.
    """
    found = []
    staying = _sharing(_staying(packages, reached))
    for item in (item for item in packages if item.is_retracted):
        sharing = ((kind, other) for kind in KINDS for other in staying.get((kind, item.identifier(kind) or ""), ()))
        claimed = next(((kind, other) for kind, other in sharing if claimed_identifier(item, other) == kind), None)
        if claimed is not None:
            kind, other = claimed
            value = item.identifier(kind) or ""
            said = (
                (other, item, kind, value, SAME_ARTICLE)
                if item.is_trusted and contradict(item, other)
                else (item, other, kind, value, RETRACTION)
            )
            found.append(Conflict(*said))
    return found


def _contradictions(groups: Sequence[_Group]) -> list[Conflict]:
    """Return which groups share an identifier and are two articles all the same; each pair once, by its strongest."""
    sharing: dict[tuple[Kind, str], list[_Group]] = {}
    for group in groups:
        for kind in KINDS:
            for value in sorted(group.identifiers[kind]):
                sharing.setdefault((kind, value), []).append(group)
    found: dict[frozenset[int], Conflict] = {}
    for (kind, value), rivals in sharing.items():
        best, *others = sorted(rivals, key=lambda group: claim_order(group.members[0]))
        for group in others:
            pair = _contradicting(group, best, kind)
            if pair is not None:
                found.setdefault(
                    frozenset(item.article_id for item in pair), Conflict(*pair, kind, value, SAME_ARTICLE)
                )
    return list(found.values())


def _contradicting(group: _Group, other: _Group, kind: Kind) -> tuple[ArticlePackage, ArticlePackage] | None:
    """Return a package of each group that say by an identifier that they are one article, and are not."""
    for mine in group.faces():
        for others in other.faces():
            if claimed_identifier(mine, others) == kind and contradict(mine, others):
                return mine, others
    return None


def claim_order(package: ArticlePackage) -> tuple[object, ...]:
    """Return a key by which packages that contradict each other are ordered, the one that is believed first."""
    return (not package.is_trusted, package.is_retracted, not package.has_xml, package.batch, package.article_id)


def _conflict_order(conflict: Conflict) -> tuple[object, ...]:
    return conflict.package.article_id, conflict.other.article_id, conflict.claim


class KnownIdentifiers:
    """The identifiers of any number of packages, in 32 bytes each: says which packages could be the same as another."""

    def __init__(self) -> None:
        self._articles = array("q")
        self._hashes = {kind: array("q") for kind in KINDS}

    def add(self, package: ArticlePackage) -> None:
        """Take a package's identifiers down."""
        self._articles.append(package.article_id)
        for kind, hashes in self._hashes.items():
            identifier = package.identifier(kind)
            hashes.append(_ABSENT if identifier is None else hash(identifier))

    def shared(self) -> set[int]:
        """Return the numbers of the packages that have an identifier in common with another one.

        Without the others `duplicates` finds the same. Identifiers are told apart by 64 bits: a package too many may
        be among them.
        """
        articles = np.frombuffer(self._articles, dtype=np.int64)
        found: set[int] = set()
        for kind in KINDS:
            hashes = np.frombuffer(self._hashes[kind], dtype=np.int64)
            values, counts = np.unique(hashes, return_counts=True)
            several = values[(counts > 1) & (values != _ABSENT)]
            found.update(articles[np.isin(hashes, several)].tolist())
        return found


_ABSENT: Final = -1
"""Python gives no text this hash."""
