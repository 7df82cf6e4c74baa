"""Withheld values of one article, made again from a copy of it by the pipeline's own steps; kept until needed.

Every value is held against the hash that the release states of it. A value that differs is not restored: another
version of the software, or other settings, may find other boxes or render other pixels.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pmo_assets.pictures import compact_bytes, decoded, pixels_digest, png_bytes
from pmo_assets.pipeline.article import find_figures
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.assembly.steps import cut_panel
from pmo_assets.pipeline.captions.segments import join_segments
from pmo_assets.pipeline.dataset.rows import BOX_DIGITS, mentioning_paragraphs
from pmo_assets.pipeline.figures.extraction import FigureOptions
from pmo_assets.records.figure import Figure
from pmo_assets.records.geometry import Box, crop_box
from pmo_assets.records.memory_stores import MemoryPixels
from pmo_assets.records.rejections import ArticleError, rejection_from
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.records.stores import Picture
from pmo_assets.release.filling.context import (
    NO_OTHERS,
    NOTHING_ELSE,
    ArticleWords,
    RestoredTexts,
    WantedTexts,
    article_words,
    restored_texts,
)
from pmo_assets.release.filling.copies import ArticleCopies, ArticleFiles, checked_copy
from pmo_assets.release.writing import list_digest, text_digest
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes
from pmo_assets.tables.rows import record_of

STAGE: Final = "fill-null"


class NotFoundAgain(ArticleError):
    """The figure is not found in the copy of the article."""


class NotTheSame(ArticleError):
    """The values made of the copy of the article are not those that the release withholds."""


@dataclass(frozen=True, slots=True)
class WantedFigure:
    """A figure whose picture and texts are to be restored.

    Attributes:
        image_cluster_id: of the figure.
        picture_sha256: of its picture's pixels; None where the release has no pictures of figures.
        text_sha256: of its caption.
        mentions_sha256: of the paragraphs that refer to it.
    """

    image_cluster_id: str
    picture_sha256: str | None
    text_sha256: str
    mentions_sha256: str


@dataclass(frozen=True, slots=True)
class WantedPanel(WantedFigure):
    """A panel whose picture and texts are to be restored: hashes of its own picture and subcaption.

    Attributes:
        panel_id: of the panel.
        content_box: normalised to the figure, with `BOX_DIGITS` decimal places.
        segments: [start, end) of the caption.
        others: texts of other tables.
    """

    panel_id: str
    content_box: tuple[float, ...]
    segments: tuple[tuple[int, ...], ...]
    others: WantedTexts = NO_OTHERS


@dataclass(frozen=True, slots=True)
class WantedArticle:
    """Panels and figures of an article that are to be restored.

    Attributes:
        files: PDF and XML of the copy that is wanted.
        panels: its panels to restore.
        figures: its figures to restore.
        as_png: panels' pictures are wanted as PNG, as the published form has them; else as the hub's has them.
    """

    files: ArticleFiles
    panels: tuple[WantedPanel, ...]
    figures: tuple[WantedFigure, ...]
    as_png: bool

    @property
    def keys(self) -> set[str]:
        """The keys of everything that is wanted."""
        return {panel.panel_id for panel in self.panels} | {
            restored_key(self.files.article_id, figure.image_cluster_id) for figure in self.figures
        }

    @property
    def digest(self) -> bytes:
        """SHA-256 of the article's wants, so that values kept of others are not taken for its own."""
        return hashlib.sha256(repr(self).encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class Restored:
    """Picture, text and paragraphs of a panel or a figure, and texts of other tables."""

    picture: bytes | None
    text: str
    mentions: Sequence[str]
    others: RestoredTexts = NOTHING_ELSE


def restored_key(article_id: int, image_cluster_id: str) -> str:
    """Return the key of a figure among restored panels and figures; no panel_id is like it."""
    return f"{article_id}/{image_cluster_id}"


def restore_article(
    article: WantedArticle,
    copies: ArticleCopies,
    places: Sequence[str],
    options: FigureOptions,
    kept: Kept,
) -> StepOutput:
    """Restore what is wanted of an article and keep it; what cannot be restored is rejected. Gives no rows.

    Args:
        article: what is wanted.
        copies: where a copy of it is.
        places: where in there.
        options: of figures, as the release was made with.
        kept: where it is kept.

    Raises:
        ArticleError: if there is no copy, or it is another one, or it cannot be processed.
        SystemicError: if copies or folder cannot be read or written.
    """
    number = article.files.article_id
    copy = checked_copy(copies, article.files, places)
    pixels = MemoryPixels({})
    found = find_figures(
        copy.package, copy.objects, specialty=load_specialty("everything"), pixels=pixels, figure_options=options
    )
    if found.figures is None:
        reasons = "; ".join(item.message for item in found.rejections)
        raise NotFoundAgain(f"{article.files.name} cannot be processed: {reasons}")
    figures = {row["image_cluster_id"]: row for row in found.figures}
    pictures = pixels.read(number)
    missing = f" (its copy lacks something: {'; '.join(copy.left_out)})" if copy.left_out else ""
    words = article_words(found.article)
    restored: dict[str, Restored] = {}
    output = StepOutput()
    for key, cluster, make in _makers(article, words):
        try:
            if cluster not in figures:
                raise NotFoundAgain(f"{key}: figure {cluster} is not found again in {article.files.name}{missing}")
            row = figures[cluster]
            restored[key] = make(row, pictures.get(row["pdf_figure_id"]))
        except NotTheSame as error:
            failure: ArticleError = NotTheSame(f"{key}: {error}{missing}")
        except ArticleError as error:
            failure = error
        else:
            continue
        output.rejections.append(rejection_from(failure, stage=STAGE, unit_id=number, part=cluster))
    kept.write(article, restored)
    return output


_Maker = Callable[[Row, Picture | None], Restored]


def _makers(article: WantedArticle, words: ArticleWords) -> Iterator[tuple[str, str, _Maker]]:
    """Yield key, figure, and what makes it of the figure's row and picture."""
    for panel in article.panels:
        yield panel.panel_id, panel.image_cluster_id, _panel_maker(panel, article.as_png, words)
    for figure in article.figures:
        cluster = figure.image_cluster_id
        yield restored_key(article.files.article_id, cluster), cluster, _figure_maker(figure)


def _panel_maker(panel: WantedPanel, as_png: bool, words: ArticleWords) -> _Maker:
    def make(row: Row, picture: Picture | None) -> Restored:
        text = join_segments(row["caption"], [(start, end) for start, end in panel.segments])
        mentions = mentioning_paragraphs(record_of(Figure, row))
        whole = decoded(picture, row["pdf_figure_id"])
        parts = (cut_panel(whole, box) for box in _unrounded(panel.content_box, whole))
        part = next((part for part in parts if pixels_digest(part) == panel.picture_sha256), None)
        _must_be_the_same(
            picture=part is not None,
            subcaption=text_digest(text) == panel.text_sha256,
            paragraphs=list_digest(mentions) == panel.mentions_sha256,
        )
        assert part is not None
        others = restored_texts(panel.others, words, text, row["caption"])
        return Restored(png_bytes(part) if as_png else compact_bytes(part), text, mentions, others)

    return make


def _figure_maker(figure: WantedFigure) -> _Maker:
    def make(row: Row, picture: Picture | None) -> Restored:
        mentions = mentioning_paragraphs(record_of(Figure, row))
        whole = decoded(picture, row["pdf_figure_id"])
        _must_be_the_same(
            picture=figure.picture_sha256 in (None, pixels_digest(whole)),
            caption=text_digest(row["caption"]) == figure.text_sha256,
            paragraphs=list_digest(mentions) == figure.mentions_sha256,
        )
        return Restored(picture.png if picture and figure.picture_sha256 else None, row["caption"], mentions)

    return make


def _must_be_the_same(**same: bool) -> None:
    """Raise NotTheSame with the names of what is not."""
    if differing := [name for name, value in same.items() if not value]:
        words = " and ".join(differing)
        raise NotTheSame(
            f"{words} made here {'is' if len(differing) == 1 else 'are'} not what the release withholds: another "
            "version of pmo-assets, other settings, or a person's own words"
        )


def _unrounded(box: Sequence[float], pixels: NDArray[np.uint8]) -> Iterator[Box]:
    """Yield the boxes that a rounded box may have been, one for each way to cut: as a rule there is one way.

    Raises:
        NotTheSame: if it is no box.
    """
    if len(box) != 4 or not np.isfinite(box).all():
        raise NotTheSame("the file's content_box is no box")
    half = 0.5 * 10**-BOX_DIGITS
    height, width = pixels.shape[:2]
    ways: dict[tuple[int, ...], Box] = {}
    for x0, y0, x1, y1 in itertools.product(*((value, value - half, value + half) for value in box)):
        ways.setdefault(crop_box((x0, y0, x1, y1), width, height), (x0, y0, x1, y1))
    yield from ways.values()


_COLUMNS: Final = pl.Schema(
    {
        "key": pl.String(),
        "picture": pl.Binary(),
        "text": pl.String(),
        "mentions": pl.List(pl.String),
        "others": pl.String(),
    }
)
"""`others`: JSON of `RestoredTexts`, whose values are of any type."""


@dataclass(frozen=True)
class Kept:
    """Restored values of articles, one file each, until all of them are put into the release's file.

    Attributes:
        folder: of the files.
    """

    folder: str

    @property
    def _root(self) -> DataRoot:
        return DataRoot(self.folder)

    @staticmethod
    def _key(article: WantedArticle) -> str:
        return f"articles/{article.files.article_id}"

    def write(self, article: WantedArticle, restored: Mapping[str, Restored]) -> None:
        """Keep what was restored of an article; a file is whole or not there."""
        rows = [
            {
                "key": key,
                "picture": item.picture,
                "text": item.text,
                "mentions": list(item.mentions),
                "others": json.dumps([item.others.values, item.others.left]),
            }
            for key, item in restored.items()
        ]
        content = parquet_bytes(pl.DataFrame(rows, schema=_COLUMNS), compress=False)
        self._root.write(self._key(article), _checksum(article, content) + content, durable=False)

    def read(self, article: WantedArticle) -> dict[str, Restored]:
        """Return the values kept of an article, by key; none of a file that is damaged or of another release."""
        key = self._key(article)
        if not self._root.exists(key):
            return {}
        stored = self._root.read(key)
        checksum, content = stored[:_CHECKSUM], stored[_CHECKSUM:]
        if checksum != _checksum(article, content):
            return {}
        table = pl.read_parquet(io.BytesIO(content))
        return {
            key: Restored(picture, text, mentions, RestoredTexts(*json.loads(others)))
            for key, picture, text, mentions, others in table.iter_rows()
        }

    def is_complete(self, article: WantedArticle) -> bool:
        """Say whether everything that is wanted of an article is kept."""
        return article.keys <= set(self.read(article))


_CHECKSUM: Final = hashlib.sha256().digest_size


def _checksum(article: WantedArticle, content: bytes) -> bytes:
    return hashlib.sha256(article.digest + content).digest()
