"""Cases written out for people: a folder per interface with what a Label Studio project is made of.

<folder>/<interface>/config.xml, project.json, tasks.json     and <folder>/pictures/ unless pictures are embedded
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TextIO
from urllib.parse import quote

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.annotation.cases import FigureCase
from pmo_assets.annotation.instruction_tasks import instruction_tasks
from pmo_assets.annotation.interfaces import MODEL_VERSION, TITLES, Interface, configuration
from pmo_assets.annotation.region_tasks import regions_task
from pmo_assets.annotation.tasks import (
    ShownPage,
    ShownPicture,
    audit_tasks,
    boxes_task,
    captions_task,
    page_task,
)
from pmo_assets.pictures import PictureUnreadable, decoded
from pmo_assets.pipeline.figures.fingerprint import fingerprint
from pmo_assets.records.faults import raise_fault
from pmo_assets.records.figure_names import page_number
from pmo_assets.records.stores import ObjectStore, Picture, SystemicError
from pmo_assets.system.aside import text_aside, write_bytes, write_text

LONGEST_SIDE: Final = 2400
"""Pixels of a picture's longer side, at most: boxes are kept as fractions, and a screen has no more."""

JPEG_QUALITY: Final = 92
PAGE_DPI: Final = 130

EMBEDDED: Final = "embedded"
FOLDER: Final = "folder"
PICTURES: Final = "pictures"

TITLE_PREFIX: Final = "pmo · "
"""Titles of projects begin with it: by it they are found again."""


class NothingToExport(SystemicError):
    """No case was found, or the folder is not empty."""


@dataclass(frozen=True)
class Served:
    """Way in which people's browsers get the pictures.

    Attributes:
        how: `EMBEDDED` in the tasks, `FOLDER` by Label Studio from its local files, or the address at which the folder
            `pictures` is served.
        folder: of the export.
    """

    how: str
    folder: Path

    def address(self, name: str, content: bytes) -> str:
        """Keep a picture and return its address."""
        if self.how == EMBEDDED:
            return "data:image/jpeg;base64," + base64.b64encode(content).decode("ascii")
        place = self.folder / PICTURES / name
        write_bytes(place, content)
        if self.how == FOLDER:
            return f"/data/local-files/?d={quote(f'{self.folder.name}/{PICTURES}/{name}')}"
        return f"{self.how.rstrip('/')}/{quote(name)}"


@dataclass
class Exported:
    """Number of tasks by interface, and the cases that could not be exported, with the reason."""

    tasks: Counter[str] = field(default_factory=Counter)
    left_out: list[str] = field(default_factory=list)


def picture_name(*parts: str) -> str:
    """Return a file name for a picture that no other has: what people can read, and a digest."""
    whole = "/".join(parts)
    readable = re.sub(r"[^A-Za-z0-9.-]+", "_", "_".join(parts))[:80].strip("_.")
    return f"{readable}_{hashlib.sha256(whole.encode()).hexdigest()[:8]}.jpg"


def shown_picture(pixels: NDArray[np.uint8], name: str, served: Served) -> ShownPicture:
    """Return a picture as people see it; large ones are scaled down."""
    tall, wide = pixels.shape[:2]
    scale = min(1.0, LONGEST_SIDE / max(tall, wide))
    if scale < 1:
        size = max(1, round(wide * scale)), max(1, round(tall * scale))
        pixels = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        tall, wide = pixels.shape[:2]
    done, content = cv2.imencode(
        ".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
    )
    if not done:
        raise PictureUnreadable(f"{name} cannot be encoded")
    return ShownPicture(served.address(name, bytes(content)), wide, tall)


def _figure_tasks(
    case: FigureCase, pixels: NDArray[np.uint8], interfaces: Sequence[Interface], served: Served
) -> Iterator[tuple[str, dict[str, Any]]]:
    seen = fingerprint(pixels)
    picture = shown_picture(pixels, picture_name(case.article.package, case.figure.image_cluster_id), served)
    if "boxes" in interfaces:
        yield "boxes", boxes_task(case, picture, seen)
    if "captions" in interfaces:
        yield "captions", captions_task(case, picture, seen)
    if "audit" in interfaces:
        for task in audit_tasks(case, picture, seen):
            yield "audit", task
    if "regions" in interfaces:
        yield "regions", regions_task(case, picture, seen)
    if "instructions" in interfaces:
        for task in instruction_tasks(case, picture, seen):
            yield "instructions", task


def _page_tasks(
    cases: Sequence[FigureCase], name: str, pdf: bytes, served: Served
) -> Iterator[tuple[str, dict[str, Any]]]:
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        for number, page in enumerate(document):
            zoom = min(PAGE_DPI / 72, LONGEST_SIDE / max(page.rect.width, page.rect.height, 1.0))
            pixmap = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False, colorspace=pymupdf.csRGB)
            pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
            left, top, right, bottom = (float(edge) / zoom for edge in pixmap.irect)
            shown = ShownPage(number, (left, top, right, bottom), document.page_count)
            picture = shown_picture(pixels.copy(), picture_name(name, f"page_{page_number(number)}"), served)
            yield "pages", page_task(cases, name, shown, picture)


def export_tasks(
    cases: Iterable[FigureCase],
    interfaces: Sequence[Interface],
    served: Served,
    pictures_of: Callable[[str, int], dict[str, Picture]],
    objects: ObjectStore,
    exported: Exported,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (interface, task) of every case, article by article.

    Args:
        cases: figures, those of an article in a row.
        interfaces: which tasks are made of each.
        served: way in which pictures are served.
        pictures_of: gives the renderings of an article of a batch, by pdf_figure_id.
        objects: store of the PDFs.
        exported: told what cannot be exported.
    """
    for (batch, number), group in groupby(cases, key=lambda case: (case.batch, case.article.article_id)):
        of_article = list(group)
        name = of_article[0].article.package
        pictures = pictures_of(batch, number) if set(interfaces) - {"pages"} else {}
        for case in of_article if set(interfaces) - {"pages"} else ():
            key = case.figure.pdf_figure_id
            try:
                yield from _figure_tasks(case, decoded(pictures.get(key), key), interfaces, served)
            except PictureUnreadable as error:
                exported.left_out.append(f"{name} {case.figure.label or key}: {error}")
        if "pages" in interfaces and of_article[0].article.pdf:
            try:
                yield from _page_tasks(of_article, name, objects.get(of_article[0].article.pdf), served)
            except Exception as error:  # MuPDF raises classes of its own on damaged files
                raise_fault(error)
                exported.left_out.append(f"{name}: its pages cannot be rendered: {error}")


def project(interface: Interface, purpose: str) -> dict[str, Any]:
    """Return the settings of a project for Label Studio."""
    return {
        "title": f"{TITLE_PREFIX}{purpose} · {TITLES[interface]}"[:50],
        "description": "Made by pmo annotate export. Rules: docs/annotation_guide.md",
        "label_config": configuration(interface),
        "show_collab_predictions": True,
        "model_version": MODEL_VERSION,
    }


def write_export(
    folder: Path, tasks: Iterable[tuple[str, dict[str, Any]]], purpose: str, exported: Exported
) -> Exported:
    """Write a folder per interface, task by task, and return how many there are.

    Raises:
        NothingToExport: if there is no task, or the folder holds another export.
    """
    if any(folder.glob("*/tasks.json")):
        raise NothingToExport(f"{folder} holds an export already: give another folder, or remove it")
    with contextlib.ExitStack() as files:  # the tasks appear when it ends: after what they are shown with
        streams: dict[str, TextIO] = {}
        for interface, task in tasks:
            if interface not in streams:
                streams[interface] = files.enter_context(text_aside(folder / interface / "tasks.json"))
            streams[interface].write("[\n" if not exported.tasks[interface] else ",\n")
            json.dump(task, streams[interface], ensure_ascii=False)
            exported.tasks[interface] += 1
        if not exported.tasks:
            raise NothingToExport(
                "there is nothing to ask people: no figure is a case of this kind "
                "(--undecided: all panels are sure or decided; --regions: all marks and their words are)"
            )
        for interface, stream in streams.items():
            stream.write("\n]\n")
            made = project(interface, purpose)  # type: ignore[arg-type]
            write_text(folder / interface / "config.xml", made["label_config"] + "\n")
            write_text(folder / interface / "project.json", json.dumps(made, ensure_ascii=False, indent=1) + "\n")
    return exported
