"""The gallery of a release: which figures it shows, read from the tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.dataset.hub_rows import with_joined
from pmo_assets.pipeline.dataset.instruction_rows import kept_instructions
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.pipeline.dataset.splits import SplitOptions
from pmo_assets.records.context import PanelSummary, SourceSentence
from pmo_assets.records.figure import PageBox, PageSize
from pmo_assets.records.geometry import as_box
from pmo_assets.records.instructions import INSTRUCTION_KINDS
from pmo_assets.records.marked_words import TRANSCRIPT, shown_evidence
from pmo_assets.records.step_output import Row
from pmo_assets.records.units import VIDEO
from pmo_assets.records.videos import KEYFRAMES
from pmo_assets.release.deidentification import Masked
from pmo_assets.release.lectures import Lectures, lecture_instructions, release_lectures, rows_of_videos
from pmo_assets.release.masking import without_people
from pmo_assets.release.selection import Selection
from pmo_assets.release.writing import ReleaseOptions, joined_tables, released_rows, surplus_of_answers
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import Manifests
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.system.aside import place_aside, replace_folder
from pmo_assets.tables.context import panel_abbreviations, panel_entities, panel_mentions
from pmo_assets.tables.panels import panel_images
from pmo_assets.tables.regions import panel_regions
from pmo_assets.tables.release import filters, holdings
from pmo_assets.tables.released import FACTS
from pmo_assets.viewing.gallery import (
    GalleryContext,
    GalleryFigure,
    GalleryFilter,
    GalleryInstruction,
    GalleryLecture,
    GalleryPanel,
    GalleryWritten,
    write_gallery_folder,
)

PRIVATE_NOTE: Final = "PRIVATE.txt"
"""Beside the page of a private gallery: says what it is, and that the folder is one."""

_PRIVATE_WORDS: Final = (
    "This gallery shows pictures and texts whose licences do not let anyone pass them on.\nIt is for the eyes of "
    "those who have the articles. Do not publish, upload or send it.\n"
)

PMC_ARTICLE = "https://pmc.ncbi.nlm.nih.gov/articles/PMC"


def pdf_url(article_url: str | None) -> str | None:
    """Return the address of an article's PDF; PMC's articles have one, a DOI leads to the publisher's page only."""
    return f"{article_url}pdf/" if article_url is not None and article_url.startswith(PMC_ARTICLE) else None


def gallery_panel(
    row: Mapping[str, Any],
    forbidden: bool,
    filtered: Sequence[str] = (),
    *,
    private: bool = False,
    instructions: Sequence[Mapping[str, Any]] = (),
) -> GalleryPanel:
    """Return a dataset row as the gallery's record.

    Args:
        row: of `dataset_rows`.
        forbidden: its licence forbids to show text and pixels to others.
        filtered: columns that the page has a filter of.
        private: it is shown to nobody else.
        instructions: rows of that table about the panel, that the release has.
    """
    redistributable, forbidden = not forbidden, forbidden and not private
    hidden = {name for name in filtered if forbidden and holdings()[name] is not FACTS}
    shown = () if forbidden else tuple(_instruction(row, item) for item in instructions)
    return GalleryPanel(
        panel_id=row["panel_id"],
        name=row["panel_name"],
        box=as_box(row["panel_box"]),
        score=row["panel_score"],
        identifier_boxes=tuple(as_box(identifier["box"]) for identifier in row["identifiers"]),
        images=panel_images(row["images"]),
        subcaption=None if forbidden else row["subcaption_text"],
        segments=() if forbidden else tuple((start, end) for start, end in row["subcaption_segments"]),
        assembly=row["assembly"],
        redistributable=redistributable,
        confidence=row["assembly_confidence"],
        filtered=tuple(() if name in hidden else _values(row[name]) for name in filtered),
        context=None if forbidden else gallery_context(row),
        # Marks are facts; what phrases and regions say are the article's words.
        regions=panel_regions(
            row.get("marks"), *((), ()) if forbidden else (row.get("phrases") or (), row.get("regions"))
        ),
        instructions=shown,
    )


def _instruction(row: Mapping[str, Any], item: Mapping[str, Any]) -> GalleryInstruction:
    texts = [row["subcaption_text"] or "", *(cell["text"] for cell in row.get("mentions") or ())]
    return GalleryInstruction(
        item["kind"],
        tuple((turn["role"], turn["content"]) for turn in item["messages"]),
        shown_evidence(item["evidence"], texts),
        tuple(as_box(box) for box in item["boxes"]),
    )


def gallery_filters() -> list[GalleryFilter]:
    """Return the page's filters of columns, and last that of the kinds of instructions (`_with_kinds`)."""
    return [
        *(GalleryFilter(name, said.filter or name, said.names) for name, said in filters().items()),
        GalleryFilter("instructions", "Instructions", {kind: kind.replace("_", " or ") for kind in INSTRUCTION_KINDS}),
    ]


def _values(cell: Any) -> tuple[str, ...]:
    """Return what a cell holds, for a filter: each value of a list."""
    return tuple(map(str, cell)) if isinstance(cell, list) else () if cell is None else (str(cell),)


def gallery_context(row: Mapping[str, Any]) -> GalleryContext | None:
    """Return what the article says of a panel, of a dataset row with the columns of the group `context` or without."""
    if row.get("mentions") is None or row.get("entities") is None:
        return None
    summary = PanelSummary(
        row["summary"] or "",
        _sentences(row["summary"] or "", row["summary_places"]),
        panel_abbreviations(row["abbreviations"]),
        row["generated_summary"],
    )
    return GalleryContext(panel_mentions(row["mentions"]), panel_entities(row["entities"]), summary)


def _sentences(summary: str, places: Sequence[Mapping[str, int]]) -> tuple[SourceSentence, ...]:
    """Return the sentences of a summary: as long as their places say, a blank between two."""
    found, at = [], 0
    for place in places:
        end = at + place["end"] - place["start"]
        found.append(SourceSentence(place["paragraph"], place["start"], place["end"], summary[at:end]))
        at = end + 1
    return tuple(found)


def _page_boxes(places: Sequence[Mapping[str, Any]]) -> tuple[PageBox, ...]:
    return tuple(PageBox(place["page"], as_box(place["bbox"])) for place in places)


def gallery_figures(
    data_root: DataRoot,
    tables: Tables,
    selection: Selection,
    options: ReleaseOptions,
    splits: Mapping[int, str],
    *,
    private: bool = False,
    masked: Mapping[tuple[int, str], Sequence[Masked]] = MappingProxyType({}),
    left_out: Collection[str] | None = None,
) -> Iterator[GalleryFigure]:
    """Yield every figure of the release with its panels, those of an article in a row.

    Args:
        data_root: root of the pictures.
        tables: the tables below it.
        selection: see `select_articles`.
        options: the rows, pictures and texts that the release takes.
        splits: of the articles, by number.
        private: also pictures and words that licences do not let anyone pass on.
        masked: what of figures is black, by article and image_cluster_id.
        left_out: instructions that balance leaves out; None for those of the articles alone.
    """
    shown = list(filters())
    surplus = surplus_of_answers(tables, selection, _as_table(splits), options) if left_out is None else left_out
    for batch in selection.current:
        rows = with_joined(released_rows(tables, selection, batch, options), "panels", joined_tables(tables, batch))
        figures = {
            (r["article_id"], r["image_cluster_id"]): r for r in tables.read("figures", batch).iter_rows(named=True)
        }
        columns = ("article_id", "title", "package")
        articles = {row[0]: row[1:] for row in tables.read("articles", batch, columns).iter_rows()}
        asked = _kept_by_panel(tables, batch, surplus)
        pixels = ParquetPixels(data_root, "figures", batch)
        read: tuple[int, Mapping[str, Any]] = (0, {})
        for key, part in rows.group_by("article_id", "image_cluster_id", maintain_order=True):
            article_id, cluster = int(str(key[0])), str(key[1])
            figure = figures[article_id, cluster]
            first = part.row(0, named=True)
            forbidden = withheld(first["license"])
            title, package = articles[article_id]
            if read[0] != article_id:
                read = article_id, pixels.read(article_id)
            hidden = forbidden and not private
            picture = None if hidden else read[1].get(figure["pdf_figure_id"])
            yield GalleryFigure(
                article_id=article_id,
                article_title=title or package,
                package=package,
                article_url=first["article_url"],
                image_cluster_id=cluster,
                label=figure["label"] or "",
                caption="" if hidden else figure["caption"],
                license=first["license"],
                commercial_use=first["commercial_use"],
                attribution=" | ".join(filter(None, (first["attribution"], first["rights_statement"]))),
                is_multi_page=figure["is_multi_page"],
                image=b"" if picture is None else without_people(picture.png, masked.get((article_id, cluster), ())),
                width=figure["width"],
                height=figure["height"],
                panels=tuple(
                    _with_kinds(gallery_panel(row, forbidden, shown, private=private, instructions=own))
                    for row in part.iter_rows(named=True)
                    for own in (asked.get(row["panel_id"], ()),)
                ),
                doi=first["doi"],
                journal=first["journal"],
                year=first["year"],
                caption_confidence=first["caption_confidence"],
                split=splits.get(article_id),
                page_boxes=_page_boxes(figure["locations"]),
                caption_boxes=_page_boxes(figure["caption_locations"]),
                page_sizes=tuple(
                    PageSize(size["page"], size["width"], size["height"]) for size in figure["page_sizes"]
                ),
                pdf_url=pdf_url(first["article_url"]),
            )


def _as_table(splits: Mapping[int, str]) -> pl.DataFrame:
    return pl.DataFrame(list(splits.items()), schema={"article_id": pl.Int64, "split": pl.String}, orient="row")


def _with_kinds(panel: GalleryPanel) -> GalleryPanel:
    """Return a panel with the kinds of its instructions as the last of its filters."""
    kinds = tuple(dict.fromkeys(item.kind for item in panel.instructions))
    return replace(panel, filtered=(*panel.filtered, kinds))


def _kept_by_panel(tables: Tables, batch: str, left_out: Collection[str]) -> dict[str, list[Row]]:
    """Return the instructions of a batch that the release has, by panel."""
    kept = kept_instructions(tables.read("instructions", batch), tables.read("verdicts", batch))
    found: dict[str, list[Row]] = {}
    for row in kept.iter_rows(named=True):
        if row["instruction_id"] not in left_out:
            found.setdefault(row["panel_id"], []).append(row)
    return found


def gallery_lectures(
    data_root: DataRoot, tables: Tables, lectures: Lectures, left_out: Collection[str]
) -> Iterator[GalleryLecture]:
    """Yield every picture of a lecture video that the release passes on, by video and time; of others nothing.

    Args:
        data_root: root of manifests and pictures.
        tables: the tables below it.
        lectures: of the release.
        left_out: instructions that balance leaves out.
    """
    manifests = Manifests(data_root, VIDEO)
    asked: dict[str, list[Row]] = {}
    for item in lecture_instructions(tables, lectures)[0].iter_rows(named=True):
        if item["instruction_id"] not in left_out:
            asked.setdefault(item["pair_id"], []).append(item)
    for batch, number, _, rows in rows_of_videos(lectures):
        ((channel, url),) = manifests.manifest(batch).filter(video_id=number).select("channel", "url").rows()
        pictures = ParquetPixels(data_root, KEYFRAMES, batch).read(number)
        for row in rows.iter_rows(named=True):
            yield GalleryLecture(
                pair_id=row["pair_id"], video=row["video"], channel=channel, url=url, start=row["start"],
                end=row["end"], keyframe=row["keyframe"], text=row["text"], picture=pictures[str(row["episode"])].png,
                license=row["license"], license_url=row["license_url"], attribution=row["attribution"],
                instructions=tuple(_spoken_instruction(row["text"], item) for item in asked.get(row["pair_id"], ())),
            )  # fmt: skip


def _spoken_instruction(text: str, item: Mapping[str, Any]) -> GalleryInstruction:
    """Return an instruction about a picture of a lecture, whose only text is its transcript."""
    evidence = [{**own, "mention": None} for own in item["evidence"]]
    return GalleryInstruction(
        item["kind"],
        tuple((turn["role"], turn["content"]) for turn in item["messages"]),
        shown_evidence(evidence, [text], TRANSCRIPT),
    )


def write_gallery(
    data_root: DataRoot,
    tables: Tables,
    selection: Selection,
    options: ReleaseOptions,
    splits: Mapping[int, str],
    *,
    specialty: Specialty,
    folder: str,
    facts: Mapping[str, str],
    masked: Mapping[tuple[int, str], Sequence[Masked]] = MappingProxyType({}),
    split_options: SplitOptions | None = None,
) -> None:
    """Write the gallery of a release.

    Args:
        data_root: root of tables, pictures and the release.
        tables: the tables below it.
        selection: see `select_articles`.
        options: the rows, pictures and texts that the release takes.
        splits: of the articles, by number.
        specialty: subject of the dataset, for the header.
        folder: below which it is written; nothing is there.
        facts: release and software, for the header (`release.versions.version_facts`).
        masked: what of figures is black, by article and image_cluster_id.
        split_options: by which lectures are split.
    """
    lectures = release_lectures(data_root, tables, noncommercial=options.noncommercial, splits=split_options)
    surplus = surplus_of_answers(tables, selection, _as_table(splits), options, lectures)
    write_gallery_folder(
        gallery_figures(data_root, tables, selection, options, splits, masked=masked, left_out=surplus),
        lambda name, content: data_root.write(f"{folder}/{name}", content),
        title=f"{specialty.title} gallery",
        facts=facts,
        filters=gallery_filters(),
        lectures=gallery_lectures(data_root, tables, lectures, surplus),
    )


def write_private_gallery(
    folder: Path,
    tables: Tables,
    selection: Selection,
    options: ReleaseOptions,
    splits: Mapping[int, str],
    *,
    specialty: Specialty,
    facts: Mapping[str, str],
    split_options: SplitOptions | None = None,
) -> GalleryWritten:
    """Write a gallery with all pictures and words, also those that licences do not let anyone pass on.

    It is for the eyes of who has the articles; each page says so. It appears whole or not at all.

    Args:
        folder: local; what is there is replaced. The caller sees to it that it is served to nobody.
        tables: the tables and pictures below a data root.
        selection: see `select_articles`.
        options: the rows that the release takes.
        splits: of the articles, by number.
        specialty: subject of the dataset, for the header.
        facts: release and software, for the header.
        split_options: by which lectures are split.
    """
    lectures = release_lectures(tables.data_root, tables, noncommercial=options.noncommercial, splits=split_options)
    surplus = surplus_of_answers(tables, selection, _as_table(splits), options, lectures)
    with place_aside(folder) as aside:
        aside.mkdir()

        def write(name: str, content: bytes) -> None:
            path = aside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

        write(".gitignore", b"*\n")
        write(PRIVATE_NOTE, _PRIVATE_WORDS.encode())
        written = write_gallery_folder(
            gallery_figures(tables.data_root, tables, selection, options, splits, private=True, left_out=surplus),
            write,
            title=f"{specialty.title} gallery, private",
            facts=facts,
            filters=gallery_filters(),
            lectures=gallery_lectures(tables.data_root, tables, lectures, surplus),
            private=True,
        )
        replace_folder(aside, folder)
        return written
