"""What PMC holds on two days, and what of it belongs into a release: decided here, from what was typeset, alone.

Every version of an article bears its name in its title ("…, Report 9000000017.2a"; "b" is the second edition of a
version that was changed), so that a release shows which version its rows are of.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pmo_assets.samples.samples import sample_specs
from pmo_assets.samples.spec import ArticleSpec
from pmo_assets.samples.typesetter import typeset
from pmo_assets_tests.loopback import CloudArticle, LoopbackPmc, article_from_package, article_from_sample

REAL: Final = {"acm2_2022_semisup_fundus": 9_100_000_001, "scidata2024_fundus_dataset_orlando": 9_100_000_002}
"""Articles of the corpus that take part where it is at hand, and the numbers that they get: of the specialty, and
annotated, so that each is known to have panels."""

ON_FIRST_DAY: Final = 30
"""Articles that the first day's batches hold."""

_SAMPLES: Final = 11
"""So many of the sample articles are of the specialty, have a PDF and are not retracted."""

_SOUND: Final = 6
"""So many specifications at the beginning of the sample articles are relevant, whole and not retracted."""


@dataclass(frozen=True)
class Version:
    """A version of an article as PMC holds it.

    Attributes:
        article: what PMC holds.
        edition: "a", or "b" when PMC changed it.
        is_good: its rows belong into a release, as long as nothing of it is damaged or retracted.
    """

    article: CloudArticle
    edition: str = "a"
    is_good: bool = True

    @property
    def name(self) -> str:
        """E.g. `9000000017.2a`."""
        return f"{self.article.number}.{self.article.version}{self.edition}"


@dataclass(frozen=True)
class Plan:
    """Two days of PMC.

    Attributes:
        first: what it holds on the first day.
        second: what it holds on the second day.
        changed: versions that are the same on both days by number, and have other files on the second.
        retracted: number of the article that is retracted on the second day.
        removed: number of the article that is gone on the second day.
        damaged: number of the new article whose PDF is not what its MD5 says.
        superseded: numbers of the manuscripts of which the second day has the published version.
        new: numbers of the new articles that are sound.
    """

    first: Sequence[Version]
    second: Sequence[Version]
    changed: frozenset[int]
    retracted: int
    removed: int
    damaged: int
    superseded: frozenset[int]
    new: frozenset[int]


def _version(spec: ArticleSpec, number: int, version: int = 1, edition: str = "a", **changes: object) -> Version:
    title = f"{spec.title}, Report {number}.{version}{edition}"
    sample = typeset(replace(spec, number=number, title=title))
    expected = sample.expected
    # Samples whose XML cannot be read are of the specialty as well: their pages show it.
    relevant = expected.relevant or not expected.xml_readable
    good = relevant and expected.pdf_readable and not expected.is_retracted
    return Version(article_from_sample(sample, version=version, **changes), edition, good)


def two_days(corpus: Path | None, today: datetime.date) -> Plan:
    """Return the plan.

    Args:
        corpus: folder of the real articles, if there is one.
        today: on which the articles of the second day appear.
    """
    specs = sample_specs()
    samples = [_version(spec, spec.number) for spec in specs]
    real = [
        Version(article_from_package(corpus / name, version=1, otherwise=otherwise))
        for name, otherwise in REAL.items()
        if corpus is not None
    ]
    number = specs[-1].number + 1
    # The other articles are sound ones with other pictures and texts.
    supply = (replace(spec, seed=spec.seed + 1) for seed in range(1, 9) for spec in sample_specs(seed)[:_SOUND])
    plain: list[Version] = []
    kinds: dict[int, ArticleSpec] = {}
    while _SAMPLES + len(real) + len(plain) < ON_FIRST_DAY:
        kinds[number] = next(supply)
        is_manuscript = len(plain) < 2
        plain.append(_version(kinds[number], number, 1 + (len(plain) == 1), is_manuscript=is_manuscript))
        number += 1
    upward, downward, one, other, retracted, removed = (version.article for version in plain[:6])
    second = {version.article.stem: version for version in [*samples, *real, *plain]}
    for article in (one, other):
        spec = replace(kinds[article.number], seed=kinds[article.number].seed + 5000)
        second[article.stem] = _version(spec, article.number, edition="b")
    second[retracted.stem] = Version(replace(retracted, is_retracted=True), is_good=False)
    del second[removed.stem]
    for article, place in ((upward, 2), (downward, 1)):
        published = _version(kinds[article.number], article.number, place, released=today)
        second[published.article.stem] = published
    new = range(number, number + 5)
    for added in (*new, new.stop):
        version = _version(next(supply), added, released=today)
        second[version.article.stem] = replace(version, is_good=added in new)
    return Plan(
        first=[*samples, *real, *plain],
        second=list(second.values()),
        changed=frozenset({one.number, other.number}),
        retracted=retracted.number,
        removed=removed.number,
        damaged=new.stop,
        superseded=frozenset({upward.number, downward.number}),
        new=frozenset(new),
    )


def belongs_into_release(versions: Iterable[Version]) -> set[str]:
    """Return the names of the versions whose rows belong into a release: published first, then the highest number."""
    by_number: dict[int, list[Version]] = {}
    for version in versions:
        by_number.setdefault(version.article.number, []).append(version)
    best = {
        number: max(held, key=lambda version: (not version.article.is_manuscript, version.article.version))
        for number, held in by_number.items()
        if not any(version.article.is_retracted for version in held)
    }
    return {version.name for version in best.values() if version.is_good}


def name_of(number: int, title: str) -> str:
    """Return the name of the version that rows of a release are of, by their title; a real article has one version."""
    found = re.search(r"Report ([0-9]+\.[0-9]+[ab])$", title)
    return found[1] if found else f"{number}.1a"


def put(pmc: LoopbackPmc, versions: Iterable[Version], at: datetime.datetime) -> None:
    """Let PMC hold these versions and no others; what is new or changed bears a time."""
    versions = list(versions)
    before = {key: pmc.object(key) for key in pmc.object_keys()}
    for number, version in set(pmc.articles) - {(each.article.number, each.article.version) for each in versions}:
        pmc.delete(number, version)
    pmc.put(*(version.article for version in versions))
    for key in pmc.object_keys():
        if before.get(key) != pmc.object(key):
            pmc.put_object(key, pmc.object(key), at)


def begin_first_day(pmc: LoopbackPmc, plan: Plan, now: datetime.datetime) -> None:
    """Bring PMC into the state of the first day, with yesterday's inventory."""
    put(pmc, plan.first, now - datetime.timedelta(days=2))
    pmc.write_inventory(now - datetime.timedelta(days=1))


def begin_second_day(pmc: LoopbackPmc, plan: Plan, now: datetime.datetime) -> None:
    """Bring PMC into the state of the second day, with a new inventory."""
    put(pmc, plan.second, now - datetime.timedelta(hours=3))
    (damaged,) = (version.article for version in plan.second if version.article.number == plan.damaged)
    pmc.answer_other_bytes(damaged.key("pdf"))
    pmc.write_inventory(now)
