"""A release without people: pictures are masked as they are written, and what was masked is listed.

A picture is looked at once: what it showed is kept below the data root, by its content. Panels of a figure and the
figure itself are masked alike, so that nothing that is black in one is seen in the other. Belongs here: which parts of
which picture. Does not belong here: how faces and print are found (`deidentification`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import polars as pl

from pmo_assets.pictures import compact_bytes, decoded_bytes, png_bytes
from pmo_assets.records.geometry import UNIT_BOX, Box, area, as_box, box_in_picture, clip, crop_box
from pmo_assets.records.step_output import Row
from pmo_assets.records.stores import Picture
from pmo_assets.release.deidentification import Masked, Masker, blackened, covered_share, shows_no_people
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_metadata, read_parquet
from pmo_assets.tables.release import MaskedPictures
from pmo_assets.tables.schemas import checked

SEEN_KEY: Final = "selection/people.parquet"
"""Pictures that were looked at, by digest, with what they showed."""

_IDENTITY: Final = "pmo/identity"
"""Key of its metadata: code and networks that looked."""

_SEEN: Final[dict[str, pl.DataType]] = {
    "digest": pl.String(),
    "boxes": pl.List(pl.List(pl.Float64)),
    "what": pl.List(pl.String),
}


@dataclass
class PeopleMasking:
    """Masks the pictures of a release, article by article; from `people_masking`.

    Attributes:
        masker: the networks.
        identity: of the code and the networks.
        seen: what pictures showed, by digest.
        rows: what was masked so far, as `MaskedPictures` has it.
        figures: what is black of figures' pictures, by article and image_cluster_id.
    """

    masker: Masker
    identity: str
    seen: dict[str, tuple[Masked, ...]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    figures: dict[tuple[int, str], tuple[Masked, ...]] = field(default_factory=dict)

    def parts(self, picture: Picture, modality: str | None) -> tuple[Masked, ...]:
        """Return what of a picture tells who somebody is; one that was looked at before is not looked at again."""
        inner = shows_no_people(modality)
        digest = hashlib.sha256(picture.png + (b"inner" if inner else b"")).hexdigest()
        if digest not in self.seen:
            self.seen[digest] = self.masker.parts(decoded_bytes(picture.png), modality)
        return self.seen[digest]

    def clean(
        self,
        panels: Sequence[Mapping[str, Any]],
        pictures: Sequence[Picture],
        figures: Sequence[tuple[str, Picture]],
    ) -> tuple[list[Picture], list[Picture]]:
        """Return the pictures of an article's panels and of its figures without people, and note what was masked.

        Args:
            panels: of the article: panel_id, article_id, image_cluster_id, content_box, modality.
            pictures: of each.
            figures: image_cluster_id and picture of each.
        """
        own = [self.parts(picture, row["modality"]) for row, picture in zip(panels, pictures, strict=True)]
        whole: dict[str, tuple[Masked, ...]] = {}
        cleaned: list[Picture] = []
        for cluster, picture in figures:
            of_figure = [n for n, row in enumerate(panels) if row["image_cluster_id"] == cluster]
            inner = all(shows_no_people(panels[n]["modality"]) for n in of_figure)
            found = self.parts(picture, panels[of_figure[0]]["modality"] if of_figure and inner else None)
            size = picture.width, picture.height
            placed = (replace(item, box=_in_figure(item.box, panels[n]["content_box"], *size))
                      for n in of_figure for item in own[n])  # fmt: skip
            whole[cluster] = _distinct((*found, *placed))
            cleaned.append(_blackened(picture, whole[cluster]))
        sizes = {cluster: (picture.width, picture.height) for cluster, picture in figures}
        shown: list[Picture] = []
        for row, picture, found in zip(panels, pictures, own, strict=True):
            cluster = row["image_cluster_id"]
            of_figure_too = _in_panel(whole.get(cluster, ()), row["content_box"], *sizes.get(cluster, (1, 1)))
            parts = _distinct((*found, *of_figure_too))
            shown.append(_blackened(picture, parts))
            self._note(row["article_id"], cluster, row["panel_id"], parts, picture)
        for cluster, picture in figures:
            number = panels[0]["article_id"]
            self._note(number, cluster, None, whole[cluster], picture)
            if whole[cluster]:
                self.figures[number, cluster] = whole[cluster]
        return shown, cleaned

    def _note(
        self, article_id: int, cluster: str, panel_id: str | None, parts: Sequence[Masked], picture: Picture
    ) -> None:
        if parts:
            self.rows.append(
                {
                    "article_id": article_id,
                    "image_cluster_id": cluster,
                    "panel_id": panel_id,
                    "boxes": [[round(edge, 6) for edge in item.box] for item in parts],
                    "what": [item.what for item in parts],
                    "share": round(covered_share(parts, picture.width, picture.height), 4),
                }
            )

    def table(self) -> pl.DataFrame:
        """Return what was masked as `MaskedPictures`."""
        return checked(MaskedPictures, self.rows)

    def keep(self, root: DataRoot) -> None:
        """Keep what pictures showed, for the next release."""
        rows = [(name, [list(item.box) for item in found], [item.what for item in found])
                for name, found in sorted(self.seen.items())]  # fmt: skip
        table = pl.DataFrame(rows, schema=_SEEN, orient="row")
        root.write(SEEN_KEY, parquet_bytes(table, metadata={_IDENTITY: self.identity}))


def people_masking(root: DataRoot, masker: Masker, identity: str) -> PeopleMasking:
    """Return the masking of a release, with what is known of pictures that the same code and networks looked at.

    Args:
        root: the data root.
        masker: the networks.
        identity: of code and networks.
    """
    masking = PeopleMasking(masker, identity)
    if root.exists(SEEN_KEY) and read_metadata(root, {SEEN_KEY: SEEN_KEY})[SEEN_KEY].get(_IDENTITY) == identity:
        for name, boxes, what in read_parquet(root, SEEN_KEY).iter_rows():
            masking.seen[name] = tuple(Masked(as_box(box), kind) for box, kind in zip(boxes, what, strict=True))
    return masking


def without_people(content: bytes, parts: Sequence[Masked]) -> bytes:
    """Return a picture file with parts of it black; the same bytes where there are none."""
    return compact_bytes(blackened(decoded_bytes(content), parts)) if parts else content


def _blackened(picture: Picture, parts: Sequence[Masked]) -> Picture:
    if not parts:
        return picture
    pixels = blackened(decoded_bytes(picture.png), parts)
    png = png_bytes(pixels)
    return replace(picture, png=png, compact=None if picture.compact is None else compact_bytes(pixels, png))


def _distinct(parts: Iterable[Masked]) -> tuple[Masked, ...]:
    return tuple(dict.fromkeys(parts))


def _in_figure(box: Box, panel: Sequence[float], width: int, height: int) -> Box:
    """Return a box of a panel's picture in the figure: the panel shows whole pixels (`crop_box`)."""
    left, top, right, bottom = crop_box(as_box(panel), width, height)
    wide, tall = right - left, bottom - top
    return clip(
        ((left + box[0] * wide) / width, (top + box[1] * tall) / height,
         (left + box[2] * wide) / width, (top + box[3] * tall) / height),
        UNIT_BOX,
    )  # fmt: skip


def _in_panel(parts: Sequence[Masked], panel: Sequence[float], width: int, height: int) -> list[Masked]:
    """Return the parts of a figure that lie in a panel's picture, as far as they do."""
    boxes = (clip(box_in_picture(item.box, as_box(panel), width, height), UNIT_BOX) for item in parts)
    return [replace(item, box=box) for item, box in zip(parts, boxes, strict=True) if area(box) > 0]
