"""Facts of a release for the files beside its tables: counts, licences, files, splits (`ReleaseFacts`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.records.defaults import CREATOR, REPOSITORY
from pmo_assets.release.instruction_numbers import InstructionCounts
from pmo_assets.release.pair_numbers import PairCounts


@dataclass(frozen=True, slots=True)
class ReleaseFile:
    """A file of the hub's folder.

    Attributes:
        path: below the folder, e.g. "data/panels/train-00000.parquet".
        sha256: of its bytes, hexadecimal.
        size: in bytes.
        rows: of its table.
        arrow_bytes: of these rows in memory as Arrow holds them (`pyarrow.Table.nbytes`), which readers make room for.
    """

    path: str
    sha256: str
    size: int
    rows: int
    arrow_bytes: int


@dataclass(frozen=True)
class ConfigFacts:
    """A config of the hub's folder.

    Attributes:
        name: a config's, "panels" and so on (`tables.release.release_tables` has its schema).
        files: its shards by split, splits in the order train, validation, test; only splits that have rows.
    """

    name: str
    files: Mapping[str, Sequence[ReleaseFile]]

    @property
    def rows(self) -> dict[str, int]:
        """Rows by split."""
        return {split: sum(file.rows for file in files) for split, files in self.files.items()}

    @property
    def size(self) -> int:
        """Bytes of all shards."""
        return sum(file.size for files in self.files.values() for file in files)


@dataclass(frozen=True, slots=True)
class LicenceCount:
    """Number of panels under a licence.

    Attributes:
        code: as PMC writes it ("CC BY"); None where none is stated.
        deed: the licence's address; None where no version is stated.
        panels: how many.
    """

    code: str | None
    deed: str | None
    panels: int


@dataclass(frozen=True, slots=True)
class SplitFacts:
    """Facts of the division of the articles into splits.

    Attributes:
        shares: wanted share of articles by split.
        test_from_year: articles of that year or a later one are the test split; None where the number decides.
        articles: articles by split.
        panels: panels by split.
        groups: groups of panels that look the same.
        grouped_panels: panels in these groups.
        groups_across_articles: groups with panels of several articles.
        moved: articles that have another split than their number gives them, because they share a picture.
        groups_across_splits: groups with panels in several splits: 0, or the release is not made.
    """

    shares: Mapping[str, float]
    test_from_year: int | None
    articles: Mapping[str, int]
    panels: Mapping[str, int]
    groups: int
    grouped_panels: int
    groups_across_articles: int
    moved: int
    groups_across_splits: int


@dataclass(frozen=True, slots=True)
class AuditFacts:
    """Result of an audit by people.

    Attributes:
        judged: panels, or instructions, that they judged.
        shares: of all of these by verdict (`records.reviews`): each way of assigning subcaptions, each kind of
            instruction, counts as often as it occurs, not as often as it was drawn.
    """

    judged: int
    shares: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Audits:
    """What people judged; None of which nobody judged any.

    Attributes:
        panels: whether a subcaption is its panel's.
        instructions: whether an instruction is right.
    """

    panels: AuditFacts | None = None
    instructions: AuditFacts | None = None


@dataclass(frozen=True, slots=True)
class QualityFacts:
    """How good this very release is, as far as that is known.

    Attributes:
        expected: share of subcaptions that belong to their panel, by the calibrated confidence of each; None without
            panels.
        sure: panels whose subcaption belongs to them by a confidence of at least `SURE`.
        decided: panels of which people decided something.
        audits: what people judged.
    """

    expected: float | None = None
    sure: int = 0
    decided: int = 0
    audits: Audits = field(default_factory=Audits)


SURE: Final = 0.9
"""Confidence from which on a subcaption counts as sure."""


@dataclass(frozen=True, slots=True)
class ExampleFacts:
    """A panel that the card shows.

    Attributes:
        panel_id: of its row.
        subcaption: whole.
        attribution: whom to credit.
        article_url: page of its article; None if not known.
        license: code.
        license_url: deed; None when no version is stated.
    """

    panel_id: str
    subcaption: str
    attribution: str
    article_url: str | None
    license: str
    license_url: str | None


@dataclass(frozen=True)
class ReleaseFacts:
    """Facts of a release for its card and the files beside it; every number is counted, none typed.

    Attributes:
        version: of the release, "1.2.0".
        previous: the version before; None for the first.
        specialty: subject of the dataset.
        software: version of pmo-assets.
        configs: the hub's configs, the default one first.
        panels, figures, articles: in the release.
        withheld: panels whose picture and texts are null because of their licence.
        noncommercial_left_out: panels left out because their licence forbids commercial use; None where they are kept.
        licences: panels by licence and deed, most frequent first.
        contains: panels by what they contain (cfp, oct, retinal, other, marked).
        assembly: panels by who assigned the subcaption.
        splits: facts of the division of the articles.
        duplicate_articles: packages that are not published because another package is the same article.
        searched_on: day (UTC) on which PMC was searched last; None if its articles came from elsewhere.
        statistics: tables of numbers and losses, as Markdown (`release.statistics`).
        journals: number of journals that the articles are from.
        years: first and last year of publication; None when none is known.
        side_tables: the Parquet files beside the configs: duplicates, splits, withheld, …
        pairs: numbers of the pairs of regions and texts.
        instructions: numbers of the instructions, by kind and answer.
        quality: how good this release is, as far as that is known.
        examples: panels that the card shows, in the order of their picture (`hub.examples`).
        creator: who makes the release, as it is to be cited: a group's or a person's name.
        repository: its future name on the hub, "owner/name"; the card's examples read it by that name.
        masks_people: faces and printed names are black in its pictures.
    """

    version: str
    previous: str | None
    specialty: Specialty
    software: str
    configs: Sequence[ConfigFacts]
    panels: int
    figures: int
    articles: int
    withheld: int
    noncommercial_left_out: int | None
    licences: Sequence[LicenceCount]
    contains: Mapping[str, int]
    assembly: Mapping[str, int]
    splits: SplitFacts
    duplicate_articles: int
    searched_on: date | None
    statistics: str
    journals: int
    years: tuple[int, int] | None
    side_tables: Sequence[ReleaseFile] = ()
    pairs: PairCounts = field(default_factory=PairCounts)
    instructions: InstructionCounts = field(default_factory=InstructionCounts)
    quality: QualityFacts = field(default_factory=QualityFacts)
    examples: Sequence[ExampleFacts] = ()
    creator: str = CREATOR
    repository: str = REPOSITORY
    masks_people: bool = False
