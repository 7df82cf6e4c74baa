"""A release from beginning to end: both forms, the files beside them, its version; whole or not at all."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Final

import polars as pl

from pmo_assets import __version__
from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.dataset.published_annotations import annotation_entries, write_annotations
from pmo_assets.records.defaults import CREATOR, REPOSITORY
from pmo_assets.records.step_output import Row, rows_by_unit
from pmo_assets.records.stores import StorageError
from pmo_assets.release.differences import Changes, changes_file, differences, moved_articles
from pmo_assets.release.facts import Audits, ConfigFacts, LicenceCount, QualityFacts, ReleaseFacts, ReleaseFile
from pmo_assets.release.hub.card import dataset_card
from pmo_assets.release.hub.citation import citation_file
from pmo_assets.release.hub.croissant import croissant_file
from pmo_assets.release.hub.examples import EXAMPLES_FILE, card_examples
from pmo_assets.release.hub.features import feature_metadata
from pmo_assets.release.hub.licence_list import LICENSE_FILE, license_file
from pmo_assets.release.hub.sums import SUMS_FILE, sums_text
from pmo_assets.release.instruction_numbers import InstructionCounts
from pmo_assets.release.keys import ANNOTATION_KEY, FORMER_KEYS, GALLERY_FOLDER, HUB, MASKED, RELEASE_KEY
from pmo_assets.release.lectures import lectures_like_panels, release_lectures
from pmo_assets.release.masking import PeopleMasking
from pmo_assets.release.pair_numbers import PairCounts
from pmo_assets.release.panel_duplicates import PanelGroups, split_facts
from pmo_assets.release.retractions import REMOVED, RETRACTED, read_retractions
from pmo_assets.release.selection import Selection, articles_under
from pmo_assets.release.statistics.counting import ReleaseStatistics
from pmo_assets.release.statistics.outcomes import NONCOMMERCIAL
from pmo_assets.release.statistics.views import statistics_json, statistics_markdown
from pmo_assets.release.versions import (
    BatchOfRelease,
    FileOfRelease,
    Manifest,
    data_digest,
    next_version,
    read_history,
    read_manifest,
    read_version_table,
    released_versions,
    schema_digest,
    write_version,
)
from pmo_assets.release.writing import (
    ReleaseCounts,
    ReleaseOptions,
    WrittenTables,
    is_noncommercial,
    released_rows,
    write_tables,
)
from pmo_assets.storage.candidates import read_candidates
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_parquet
from pmo_assets.storage.tables import Tables

_STAGING: Final = ".making"
"""Beside the folder `release`, which one that is made there takes the place of."""


@dataclass(frozen=True)
class Origin:
    """Settings, code, models and creator of a release; its manifest has them, to understand and rebuild it later.

    Attributes:
        settings: digest of the settings that change an asset's result, by asset.
        code_versions: code version by asset.
        models: SHA-256 of the networks that come with the package, by file.
        figures: limits and resolution of figure extraction, by name: who restores withheld pictures renders alike.
        creator: of the release, for card and citation.
        repository: its future name on the hub, "owner/name", for the card's examples.
    """

    settings: Mapping[str, str] = field(default_factory=dict)
    code_versions: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
    creator: str = CREATOR
    repository: str = REPOSITORY


@dataclass(frozen=True)
class Release:
    """A release: its facts, its differences from the one before, its manifest, the ids of its panels."""

    facts: ReleaseFacts
    changes: Changes
    manifest: Manifest
    panel_ids: pl.Series = field(repr=False)
    expected: int


def make_release(
    data_root: DataRoot,
    tables: Tables,
    selection: Selection,
    *,
    groups: PanelGroups,
    specialty: Specialty,
    options: ReleaseOptions,
    origin: Origin,
    statistics: ReleaseStatistics,
    annotations: pl.DataFrame,
    say: Callable[[str], None],
    gallery: Callable[[str, str], None] | None = None,
    audits: Audits | None = None,
    masking: PeopleMasking | None = None,
    fence: Callable[[], None] = lambda: None,
) -> Release:
    """Write both forms of a release and what lies beside them; the same inputs give the same bytes.

    Everything is written aside and then put in the place of the release before, all of it at one instant (in a bucket:
    its checksums last), so that readers see the one or the other, and a release that is killed leaves the one before.

    Args:
        data_root: root of tables, pictures and the release.
        tables: the tables below it.
        selection: see `select_articles`.
        groups: groups of panels that look the same, and the split of every article.
        specialty: subject of the dataset.
        options: the rows, pictures and texts that the release takes.
        origin: what made the tables.
        statistics: counted of the same selection.
        annotations: the table `annotations`: what is published of it becomes `pubmed_ophtha_annotation.json`.
        say: told of progress, batch by batch.
        gallery: writes the gallery below a prefix, given the version; without, the one before stays.
        audits: what people judged of its panels and instructions, for the card.
        masking: makes faces and printed names black in pictures; None leaves them as they are published.
        fence: called first, and when all is ready, directly before the release is put in its place; an error of it
            leaves the one before.

    Raises:
        StorageError: if pictures or splits are missing, a picture would be in several splits, or something cannot be
            written.
    """
    if groups.facts.groups_across_splits:
        raise StorageError(
            f"{groups.facts.groups_across_splits} groups of panels that look the same lie in several splits: "
            "no release is made of that"
        )
    fence()
    data_root.delete_tree(_STAGING)
    # A place of its own: one that was stopped, and goes on beside its successor, does not write into that one's.
    staging = f"{_STAGING}/{uuid.uuid4().hex[:8]}"
    lectures = release_lectures(data_root, tables, noncommercial=options.noncommercial, splits=groups.split_options)
    written = write_tables(
        data_root,
        tables,
        selection,
        splits=groups.splits,
        groups=groups.duplicates,
        options=options,
        prefix=f"{staging}/",
        metadata=feature_metadata,
        say=say,
        lectures=lectures,
        masking=masking,
    )
    if masking is not None:
        masking.keep(data_root)
    with data_root.writing(f"{staging}/pubmed_ophtha_annotation.json") as stream:
        write_annotations(stream, _annotated(tables, selection, annotations, options))
    columns = ("panel_id", "article_id", "perceptual_hash")
    panels = (released_rows(tables, selection, batch, options, columns) for batch in selection.current)
    splits = dict(groups.splits.select("article_id", "split").iter_rows())
    alike = lectures_like_panels(lectures, panels, splits)
    files = [*_table_files(written), *_side_tables(data_root, selection, groups, alike, staging, masking)]
    index = read_parquet(data_root, written.index.key)
    absent = {
        **dict.fromkeys(written.counts.noncommercial_articles, NONCOMMERCIAL),
        **gone_articles(data_root, selection),
    }
    changes, manifest = _manifest(
        data_root, selection, written, groups, specialty, options, origin, files, index, absent
    )
    shown = [file.key for shards in written.configs["panels"].values() for file in shards]
    examples = card_examples(data_root, shown)
    facts = replace(
        _facts(data_root, written, selection, groups, specialty, options, manifest, statistics_markdown(statistics)),
        creator=origin.creator,
        repository=origin.repository,
        quality=_quality(written.counts, audits or Audits()),
        examples=examples.panels if examples is not None else (),
    )
    history = [item for item in read_history(data_root) if item[0] != manifest.version]
    beside: dict[str, bytes] = {
        "README.md": dataset_card(facts).encode(),
        LICENSE_FILE: license_file(facts).encode(),
        "CITATION.cff": citation_file(facts).encode(),
        "croissant.json": croissant_file(facts).encode(),
        "CHANGES.md": changes_file([(manifest.version, changes), *history]).encode(),
        "manifest.json": manifest.as_bytes(),
        **({EXAMPLES_FILE: examples.picture} if examples is not None else {}),
        "statistics.json": (json.dumps(statistics_json(statistics), indent=2, ensure_ascii=False) + "\n").encode(),
    }
    for name, content in beside.items():
        data_root.write(f"{staging}/hub/{name}", content)
        files.append(FileOfRelease(path=f"hub/{name}", sha256=hashlib.sha256(content).hexdigest(), size=len(content)))
    in_hub = {file.path.removeprefix("hub/"): file.sha256 for file in files if file.path.startswith("hub/")}
    data_root.write(f"{staging}/hub/{SUMS_FILE}", sums_text(in_hub).encode())
    kept = {"rows": data_root.read(written.index.key), "duplicates": parquet_bytes(groups.duplicates)}
    kept |= {"articles": parquet_bytes(_articles(selection, groups)), "absent": parquet_bytes(absent_table(absent))}
    if (narrowed := selection.licence_listing()).height:
        kept["licences"] = parquet_bytes(narrowed)
    parts = {PurePosixPath(key).name for key in (HUB, RELEASE_KEY, ANNOTATION_KEY)}
    if gallery is not None:
        gallery(f"{staging}/{PurePosixPath(GALLERY_FOLDER).name}", manifest.version)
        parts.add(PurePosixPath(GALLERY_FOLDER).name)
    fence()
    write_version(data_root, manifest, kept, changes)
    data_root.replace_parts(staging, str(PurePosixPath(HUB).parent), sorted(parts), last=f"hub/{SUMS_FILE}")
    for key in FORMER_KEYS:
        data_root.delete(key)
    data_root.delete_tree(_STAGING)
    return Release(facts, changes, manifest, index["panel_id"], groups.panels)


def _annotated(
    tables: Tables, selection: Selection, annotations: pl.DataFrame, options: ReleaseOptions
) -> Iterator[tuple[str, Row]]:
    """Yield the published entries of annotated articles that the release takes, batch by batch."""
    people = set(annotations["article_id"])
    for batch, numbers in selection.current.items():
        wanted = people.intersection(numbers)
        if not wanted:
            continue
        known = tables.read("articles", batch).filter(pl.col("article_id").is_in(list(wanted)), ~pl.col("is_retracted"))
        known = articles_under(known, selection)
        if not options.noncommercial:
            known = known.filter(~is_noncommercial("license_code"))
        articles = _rows(known)
        columns = ["article_id", "image_cluster_id", "locations", "caption_locations", "rights_statement"]
        figures = tables.read("figures", batch, columns)
        entries = annotation_entries(
            annotations.filter(pl.col("article_id").is_in(list(articles))).iter_rows(named=True),
            {number: rows[0] for number, rows in articles.items()},
            _rows(figures.filter(pl.col("article_id").is_in(list(articles)))),
            withhold=options.withhold,
        )
        # a figure's own licence may forbid what its article's does not
        yield from (entry for entry in entries if options.noncommercial or "NC" not in (entry[1]["license"] or ""))


def _rows(table: pl.DataFrame) -> dict[int, list[Row]]:
    return rows_by_unit(table.to_dicts())


def _path(key: str) -> str:
    return key.removeprefix(f"{_STAGING}/").partition("/")[2]


def _table_files(written: WrittenTables) -> list[FileOfRelease]:
    shards = [file for splits in written.configs.values() for files in splits.values() for file in files]
    return [
        FileOfRelease(path=_path(file.key), sha256=file.sha256, size=file.size, rows=file.rows)
        for file in (written.published, *shards, written.withheld)
    ]


def _side_tables(
    data_root: DataRoot,
    selection: Selection,
    groups: PanelGroups,
    alike: pl.DataFrame,
    staging: str,
    masking: PeopleMasking | None,
) -> list[FileOfRelease]:
    files = []
    # The last ones only where there is anything to say: most releases have nothing of it.
    said = {"conflicts": selection.conflict_listing(), "narrowed_licences": selection.licence_listing()}
    said |= {"lecture_panels": alike, **({MASKED: masking.table()} if masking is not None else {})}
    for name, table in {
        "duplicates": groups.duplicates,
        "splits": groups.splits,
        "duplicate_articles": selection.listing(),
        "retractions": read_retractions(data_root),
        **{name: table for name, table in said.items() if table.height},
    }.items():
        content = parquet_bytes(table)
        path = f"hub/{name}.parquet"
        data_root.write(f"{staging}/{path}", content)
        digest = hashlib.sha256(content).hexdigest()
        files.append(FileOfRelease(path=path, sha256=digest, size=len(content), rows=table.height))
    content = data_root.read(f"{staging}/pubmed_ophtha_annotation.json")
    digest = hashlib.sha256(content).hexdigest()
    files.append(FileOfRelease(path="pubmed_ophtha_annotation.json", sha256=digest, size=len(content)))
    return files


def _articles(selection: Selection, groups: PanelGroups) -> pl.DataFrame:
    """Return the articles that a release took of each batch, with their split where they have rows."""
    taken = pl.DataFrame(
        [(batch, number) for batch, numbers in selection.current.items() for number in numbers],
        schema={"batch": pl.String, "article_id": pl.Int64},
        orient="row",
    )
    return taken.join(groups.splits, on="article_id", how="left", maintain_order="left")


def gone_articles(data_root: DataRoot, selection: Selection) -> dict[int, str]:
    """Return the reasons why articles are out of the release, by number."""
    reasons = {
        item.package.article_id: "the same article as another package" for item in selection.duplicates
    }  # fmt: skip
    out = read_retractions(data_root).filter(pl.col("returned_on").is_null())
    words = {RETRACTED: "the article was retracted", REMOVED: "PubMed Central removed the article"}
    reasons |= {number: words[reason] for number, reason in out.select("article_id", "reason").iter_rows()}
    reasons |= dict.fromkeys(selection.taken_out, "people took the article out")
    said = {number: f"{words[RETRACTED]}: {item.why}" for number, item in selection.retracted.items()}
    return reasons | {number: why for number, why in said.items() if number in reasons}


def absent_table(absent: Mapping[int, str]) -> pl.DataFrame:
    """Return articles that are out of a release, and why, as it is kept of a version."""
    schema = {"article_id": pl.Int64, "why": pl.String}
    return pl.DataFrame(sorted(absent.items()), schema=schema, orient="row")


def _manifest(
    data_root: DataRoot,
    selection: Selection,
    written: WrittenTables,
    groups: PanelGroups,
    specialty: Specialty,
    options: ReleaseOptions,
    origin: Origin,
    files: Sequence[FileOfRelease],
    index: pl.DataFrame,
    absent: Mapping[int, str],
) -> tuple[Changes, Manifest]:
    """Return the differences of this release from the newest one, and its manifest with its version."""
    counts, digest = written.counts, data_digest(files)
    versions = released_versions(data_root)
    previous = read_manifest(data_root, versions[-1]) if versions else None
    if previous is not None and previous.digest == digest:
        changes = dict(read_history(data_root))[previous.version]
        before = previous.previous
    elif previous is not None:
        before = previous.version
        changes = differences(
            before,
            read_version_table(data_root, before, "rows"),
            index,
            absent,
            columns=previous.schema_digest != schema_digest(),
        )
        articles = read_version_table(data_root, before, "articles")
        changes = replace(changes, moved=moved_articles(articles, groups.splits))
    else:
        before, changes = None, Changes(None, 0, index.height)
    figures = {"figures": dict(origin.figures)} if origin.figures else {}
    manifest = Manifest(
        version=next_version(previous, digest, changes),
        previous=before,
        digest=digest,
        schema_digest=schema_digest(),
        software=__version__,
        specialty=specialty.name,
        options={**asdict(options), **split_facts(groups.split_options), **figures},
        settings=dict(origin.settings),
        code_versions=dict(origin.code_versions),
        models=dict(origin.models),
        batches=[BatchOfRelease(batch=batch, articles=len(ids)) for batch, ids in selection.current.items()],
        counts={
            "panels": counts.panels,
            "figures": counts.figures,
            "articles": counts.articles,
            "withheld": counts.withheld,
            "noncommercial_left_out": counts.noncommercial_left_out,
            **{f"{split}_articles": count for split, count in groups.facts.articles.items()},
            **{f"{split}_panels": count for split, count in groups.facts.panels.items()},
            **PairCounts(counts.pairs, counts.paired).as_counts(),
            **_instruction_counts(counts).as_counts(),
            "videos": counts.lecture_pairs,
            "lectures": counts.lectures,
            "lectures_withheld": counts.lectures_withheld,
        },
        files=list(files),
    )
    return changes, manifest


def _quality(counts: ReleaseCounts, audits: Audits) -> QualityFacts:
    expected = counts.confidence / counts.panels if counts.panels else None
    return QualityFacts(expected, counts.sure, counts.decided, audits)


def _instruction_counts(counts: ReleaseCounts) -> InstructionCounts:
    return InstructionCounts(
        counts.instructions,
        counts.answers,
        counts.instructions_left_out,
        counts.instructed_panels,
        counts.instructed_lectures,
    )


def _facts(
    data_root: DataRoot,
    written: WrittenTables,
    selection: Selection,
    groups: PanelGroups,
    specialty: Specialty,
    options: ReleaseOptions,
    manifest: Manifest,
    statistics: str,
) -> ReleaseFacts:
    counts = written.counts

    def release_file(file: Any) -> ReleaseFile:
        path = _path(file.key).removeprefix("hub/")
        return ReleaseFile(path, file.sha256, file.size, file.rows, file.arrow_bytes)

    return ReleaseFacts(
        version=manifest.version,
        previous=manifest.previous,
        specialty=specialty,
        software=__version__,
        configs=[
            ConfigFacts(name, {split: [release_file(file) for file in files] for split, files in splits.items()})
            for name, splits in written.configs.items()
            if splits or name != "videos"  # most releases have none
        ],
        panels=counts.panels,
        figures=counts.figures,
        articles=counts.articles,
        withheld=counts.withheld if options.withhold else 0,
        noncommercial_left_out=None if options.noncommercial else counts.noncommercial_left_out,
        licences=[
            LicenceCount(code, deed, count)
            for (code, deed), count in sorted(
                counts.licences.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1] or "")
            )
        ],
        contains=dict(counts.contains),
        assembly=dict(sorted(counts.assembly.items(), key=lambda item: (-item[1], item[0]))),
        splits=groups.facts,
        duplicate_articles=len(selection.duplicates),
        searched_on=read_candidates(data_root).searched_on,
        statistics=statistics,
        journals=len(counts.journals),
        years=(min(counts.years), max(counts.years)) if counts.years else None,
        pairs=PairCounts(counts.pairs, counts.paired),
        instructions=_instruction_counts(counts),
        masks_people=options.mask_people,
        side_tables=[
            ReleaseFile(file.path.removeprefix("hub/"), file.sha256, file.size, file.rows or 0, arrow_bytes=0)
            for file in manifest.files
            if re.fullmatch(r"hub/[^/]+\.parquet", file.path)
        ],
    )
