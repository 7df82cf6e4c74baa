"""Tasks for people: what the machine found of a figure or page, as Label Studio takes it.

A task's `data.pmo` says what it is about, so that an answer finds its way back; predictions stand in it as regions that
people correct.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from pmo_assets.annotation.cases import CasePanel, FigureCase, stratum
from pmo_assets.annotation.interfaces import (
    ANNOTATED,
    CAPTION,
    FIGURE,
    IDENTIFIER,
    LABEL,
    MARK,
    MODEL_VERSION,
    PANEL,
    PANEL_NAME,
    PLAIN,
    READ,
    SUBCAPTION,
    TRANSCRIPTION,
)
from pmo_assets.annotation.label_studio import chosen, link, part, rectangle, written
from pmo_assets.records.figure_names import page_number
from pmo_assets.records.geometry import Box, normalise
from pmo_assets.records.reviews import Fingerprint

TASK_FORMAT: Final = 1
"""Version of `data.pmo`."""

Region = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A task's picture: the address under which Label Studio gets it, and its pixels."""

    url: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page that people see.

    Attributes:
        number: from 0.
        frame: what of the page the picture shows, PDF points.
        count: pages of the article.
    """

    number: int
    frame: Box
    count: int


def title(case: FigureCase) -> str:
    """Return the heading of a figure for people: article, label, reported mistakes."""
    return " · ".join((case.article.package, _label(case), *_reported(case)))


def panel_title(case: FigureCase, panel: CasePanel) -> str:
    """Return the heading of a panel for people: of its figure, and its name."""
    return title(case) + (f", panel {panel.identifier}" if panel.identifier else "")


def _label(case: FigureCase) -> str:
    return str(case.figure.label or case.figure.image_cluster_id)


def _reported(case: FigureCase) -> list[str]:
    return [f"reported: {remark}" for remark in case.remarks]


def labelled_task(data: Mapping[str, Any], about: Mapping[str, Any], regions: Sequence[Region]) -> dict[str, Any]:
    """Return a task of its data, of what it is about (`data.pmo`) and of the regions that people correct."""
    return {
        "data": {**data, "pmo": {"format": TASK_FORMAT, **about}},
        "predictions": [{"model_version": MODEL_VERSION, "result": list(regions)}],
    }


def figure_about(case: FigureCase, interface: str, seen: Fingerprint) -> dict[str, Any]:
    """Return what a task about a figure says of it; `seen` is its look when people see it."""
    figure = case.figure
    return {
        "interface": interface,
        "purpose": case.purpose,
        "article": case.article.package,
        "figure": figure.image_cluster_id,
        "fingerprint": asdict(seen),
    }


def figure_data(case: FigureCase, picture: ShownPicture) -> dict[str, Any]:
    """Return what people see of a figure, whatever they are asked: picture, heading, caption."""
    return {"image": picture.url, "title": title(case), "caption": case.figure.caption or "(no caption)"}


def boxes_task(case: FigureCase, picture: ShownPicture, seen: Fingerprint) -> dict[str, Any]:
    """Return the task of a figure's panels, identifiers and images."""
    size = picture.width, picture.height
    regions: list[Region] = []
    for panel in case.panels:
        regions.append(rectangle(f"panel-{panel.ordinal}", panel.content_box, PANEL, *size))
        for item in panel.printed_identifiers:
            name, box = f"identifier-{panel.ordinal}-{item.id}", item.box
            regions.append(rectangle(name, box, IDENTIFIER, *size))
            if item.text:
                regions.append(written(name, box, READ, item.text, *size))
        for image in panel.images:
            name, box = f"image-{panel.ordinal}-{image.id}", image.box
            regions.append(rectangle(name, box, image.image_type or "Other", *size))
            if image.marked is not None:
                regions.append(chosen(name, box, MARK, ANNOTATED if image.marked else PLAIN, *size))
    return labelled_task(figure_data(case, picture), figure_about(case, "boxes", seen), regions)


def captions_task(case: FigureCase, picture: ShownPicture, seen: Fingerprint) -> dict[str, Any]:
    """Return the task of a figure's caption parts and the panels that they describe."""
    size, caption = (picture.width, picture.height), case.figure.caption
    regions: list[Region] = []
    links: list[Region] = []
    parts: dict[tuple[int, int], str] = {}
    for panel in case.panels:
        name, box = f"panel-{panel.ordinal}", panel.content_box
        regions.append(rectangle(name, box, PANEL, *size))
        if panel.identifier:
            regions.append(written(name, box, PANEL_NAME, panel.identifier, *size))
        if panel.subcaption is not None:
            regions.append(written(name, box, TRANSCRIPTION, panel.subcaption, *size))
        for start, end in panel.segments or ():
            if 0 <= start < end <= len(caption):
                links.append(link(parts.setdefault((start, end), f"part-{start}-{end}"), name))
    regions += [part(name, caption, start, end, SUBCAPTION) for (start, end), name in sorted(parts.items())]
    about = {
        **figure_about(case, "captions", seen),
        "panels": [
            {"box": list(panel.content_box), "identifier": panel.identifier, "subcaption": panel.subcaption}
            for panel in case.panels
        ],
    }
    return labelled_task(figure_data(case, picture), about, [*regions, *links])


def audit_tasks(case: FigureCase, picture: ShownPicture, seen: Fingerprint) -> Iterator[dict[str, Any]]:
    """Yield a task for each panel of a figure that an audit judges."""
    for panel in case.panels:
        if panel.ordinal not in case.asked:
            continue
        box = panel.content_box
        data = {**figure_data(case, picture), "title": panel_title(case, panel), "subcaption": panel.subcaption}
        judged = {
            "box": list(panel.content_box),
            "identifier": panel.identifier,
            "subcaption": panel.subcaption,
            "assembly": stratum(panel.assembly),
        }
        region = rectangle(f"panel-{panel.ordinal}", box, PANEL, picture.width, picture.height)
        yield labelled_task(data, {**figure_about(case, "audit", seen), "panels": [judged]}, [region])


def page_task(cases: Sequence[FigureCase], article: str, page: ShownPage, picture: ShownPicture) -> dict[str, Any]:
    """Return the task of the figures and captions on a page of an article.

    Args:
        cases: the article's figures.
        article: name of its package.
        page: which page.
        picture: of the page.
    """
    size = picture.width, picture.height
    regions: list[Region] = []
    remarks: list[str] = []
    for case in cases:
        figure = case.figure
        if any(place.page == page.number for place in figure.locations):
            remarks += [f"{_label(case)}, {remark}" for remark in _reported(case)]
        for kind, places in ((FIGURE, figure.locations), (CAPTION, figure.caption_locations)):
            here = [place for place in places if place.page == page.number]
            for number, place in enumerate(here):
                name = f"{kind.lower()}-{figure.image_cluster_id}-{number}"
                box = normalise(place.bbox, page.frame)
                regions.append(rectangle(name, box, kind, *size))
                if figure.label:
                    regions.append(written(name, box, LABEL, figure.label, *size))
    about = {
        "interface": "pages",
        "purpose": "full",
        "article": article,
        "page": page.number,
        "pages": page.count,
        "frame": list(page.frame),
    }
    shown = " · ".join((article, f"page {page_number(page.number)}", *remarks))
    return labelled_task({"image": picture.url, "title": shown}, about, regions)
