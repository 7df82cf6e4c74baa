"""Renders parts of articles' pages, in the worker processes: the ground on which annotated and found are drawn."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from pmo_assets.quality.page_views import PageView, rendered_views
from pmo_assets.records.geometry import Box
from pmo_assets.storage.objects import ContentStore
from pmo_assets.viewing.overlays import Pixels
from pmo_assets.workers.pool import WorkerPool


@dataclass(frozen=True)
class PageRenderer:
    """Renders parts of articles' pages in the worker processes, all at once."""

    workers: WorkerPool
    objects: ContentStore

    def rendered(
        self, pdfs: Mapping[int, str | None], views: Sequence[tuple[int, PageView]]
    ) -> list[tuple[Pixels, Box] | None]:
        """Return (pixels, part of the page in PDF points) per (article, view); None where it cannot be rendered."""
        wanted: dict[int, list[int]] = {}
        for place, (number, _) in enumerate(views):
            if pdfs.get(number):
                wanted.setdefault(number, []).append(place)
        tasks = [
            (number, (pdfs[number], self.objects, [views[place][1] for place in places]))
            for number, places in wanted.items()
        ]
        result: list[tuple[Pixels, Box] | None] = [None] * len(views)
        for places, output in zip(
            wanted.values(), self.workers.map_units("page views", rendered_views, tasks), strict=True
        ):
            for row in output.rows:
                with Image.open(io.BytesIO(row["png"])) as picture:
                    pixels = np.asarray(picture.convert("RGB"), dtype=np.uint8).copy()
                left, top, right, bottom = row["frame"]
                result[places[row["view"]]] = pixels, (left, top, right, bottom)
        return result
