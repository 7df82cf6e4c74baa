"""A search that stays open, for a page: index, release and encoder are opened once, many ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from pmo_assets.encoders.examples.units import BrokenPicture, decoded
from pmo_assets.encoders.search.index import SearchError, open_index
from pmo_assets.encoders.search.panels import FILTERS, Hit, check_release, hits, rows_among
from pmo_assets.loading.release import Release

MOST_CHARACTERS: Final = 2_000
"""Of a text: more than any encoder's context."""

MOST_PICTURE_BYTES: Final = 32 * 2**20
"""Of a picture that is looked for."""

Query = Callable[[], NDArray[np.floating[Any]]]


class PanelSearch:
    """An index with its release, and the encoder that made it; threads may share it, one embeds at a time.

    Attributes:
        release: whose panels are found.
        index: of their embeddings.
    """

    def __init__(self, folder: Path, release: Release, model: Path | None = None) -> None:
        """Open an index.

        Args:
            folder: of `pmo encode index`.
            release: that it is of.
            model: the encoder that it is by, which loads PyTorch; None: only panels are asked by.

        Raises:
            SearchError: if the index is damaged, or of another release or encoder.
            EncoderError: if there is no such encoder.
        """
        self.release, self.index = release, open_index(folder)
        check_release(self.index, release)
        self._model: Any = None
        if model is not None:
            from pmo_assets.encoders.search.queries import encoder_of_index

            self._model = encoder_of_index(self.index, model)
        self._lock = Lock()
        names = release.panels.to_arrow(["panel_id"]).column(0).to_pylist()
        self._place = {name: place for place, name in enumerate(names)}

    @property
    def embeds(self) -> bool:
        """True if texts and pictures can be looked for."""
        return self._model is not None

    def choices(self) -> dict[str, tuple[str, ...]]:
        """Return the words of each filter (modality, disease, eye) that a panel of the index has, in their order."""
        found: dict[str, tuple[str, ...]] = {}
        for name, column in FILTERS.items():
            if column not in self.release.panels.columns:
                continue
            values = self.release.panels.to_arrow([column]).column(0).to_pylist()
            told = [values[self._place[panel]] for panel in self.index.panel_ids]
            flat = {word for value in told for word in (value if isinstance(value, list) else [value]) if word}
            if flat:
                found[name] = tuple(sorted(flat, key=str.casefold))
        return found

    def picture(self, panel_id: str) -> bytes | None:
        """Return a panel's picture (PNG or WebP); None if there is no such panel, or its licence withholds it."""
        place = self._place.get(panel_id)
        return None if place is None else self.release.panels[place].picture()

    def by_text(self, text: str, filters: Mapping[str, Sequence[str]], count: int) -> list[Hit]:
        """Return the panels that are nearest to a text.

        Raises:
            SearchError: if it is empty or too long, or nothing fulfils the filters.
            ValueError: if a filter's word is unknown.
        """
        if not text.strip():
            raise SearchError("the text is empty")
        if len(text) > MOST_CHARACTERS:
            raise SearchError(f"the text has {len(text):,} characters, more than {MOST_CHARACTERS:,}")
        encoder = self._encoder()

        def query() -> NDArray[np.floating[Any]]:
            from pmo_assets.encoders.search.queries import embedded_text

            return embedded_text(encoder, text)

        return self._nearest(query, filters, count)

    def by_picture(self, content: bytes, filters: Mapping[str, Sequence[str]], count: int) -> list[Hit]:
        """Return the panels that are nearest to a picture file.

        Raises:
            SearchError: if it is no picture or too large, or nothing fulfils the filters.
            ValueError: if a filter's word is unknown.
        """
        if len(content) > MOST_PICTURE_BYTES:
            raise SearchError(f"the picture has more than {MOST_PICTURE_BYTES // 2**20} MiB")
        encoder = self._encoder()
        try:
            picture: PIL.Image.Image = decoded(content)
        except BrokenPicture as error:
            raise SearchError(f"this is no picture that can be read: {error}") from error

        def query() -> NDArray[np.floating[Any]]:
            from pmo_assets.encoders.search.queries import embedded_picture

            return embedded_picture(encoder, picture)

        return self._nearest(query, filters, count)

    def by_panel(self, panel_id: str, filters: Mapping[str, Sequence[str]], count: int) -> list[Hit]:
        """Return the panels that are nearest to another one, without it.

        Raises:
            SearchError: if the index has it not, or nothing fulfils the filters.
            ValueError: if a filter's word is unknown.
        """
        row = self.index.row_of(panel_id)
        return self._nearest(lambda: self.index.vectors[row], filters, count, without=row)

    def _encoder(self) -> Any:
        if self._model is None:
            raise SearchError("texts and pictures need the encoder of the index: pmo pages --search INDEX --model RUN")
        return self._model

    def _nearest(
        self, query: Query, filters: Mapping[str, Sequence[str]], count: int, without: int | None = None
    ) -> list[Hit]:
        among = rows_among(self.index, self.release, filters)
        with self._lock:  # neither an encoder nor usearch's graph promises to be asked by two at once
            found = self.index.nearest(query(), count, among=among, without=without)
        return hits(self.index, self.release, found)
