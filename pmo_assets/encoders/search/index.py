"""An index of a release's panels by their embeddings: a folder that is mapped, not read.

`index.json` says whose embeddings they are and of which release; `panels.json` has the ids, `vectors.npy` the unit
rows, `graph.usearch` the graph of approximate search (HNSW), if there is one. Exact search needs NumPy alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable
from pmo_assets.encoders.evaluation.embeddings import BLOCK_ROWS, Embeddings
from pmo_assets.records.faults import raise_fault
from pmo_assets.records.stores import SystemicError
from pmo_assets.system.aside import folder_aside

CONNECTIVITY: Final = 16
"""Neighbours of a panel in the graph (M of Malkov & Yashunin 2018, who name 12 to 48 for high dimensions)."""

EXPANSION_ADD: Final = 128
EXPANSION_SEARCH: Final = 512
"""Candidates that are kept while the graph is made and searched (efConstruction and ef there); the second is by
`benchmarks/encoder_search.py`: recall@10 of at least 0.98 on 100,000 panels."""

RERANKED: Final = 50
"""Fewest candidates of the graph, whose vectors are of half precision, that are put in order by exact cosines."""

MOST_RESULTS: Final = 1_000
"""Panels that are told at once."""

_BLOCK: Final = 1 << 16
"""Rows that are compared at once: 128 MB of 512 numbers, as they lie in the file."""

INDEX_FILE: Final = "index.json"
_PANELS, _VECTORS, _GRAPH = "panels.json", "vectors.npy", "graph.usearch"
_MOST_JSON: Final = 1 << 30

Tell = Callable[[int, int], None]
"""Is told how many of how many panels are done."""


class SearchError(SystemicError):
    """An index cannot be made, read, or asked this; the message says what to do."""


class IndexFacts(BaseModel):
    """What an index is of.

    Attributes:
        encoder: digest of the encoder that made the embeddings; "" if their file does not say.
        encoder_name: its name, for people.
        release: digest of the release that the panels are of.
        version: of that release, for people.
        panels, dimensions: of the vectors.
        graph: bytes of the graph of approximate search; 0 if there is none.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    pmo_search_index: Literal[1] = 1
    encoder: str
    encoder_name: str
    release: str
    version: str
    panels: int = Field(ge=1)
    dimensions: int = Field(ge=1)
    graph: int = Field(ge=0)


@dataclass(frozen=True)
class Nearest:
    """The nearest panels of a query, nearest first.

    Attributes:
        rows: (k,) rows of the index.
        scores: (k,) cosines, −1 … 1.
        exact: whether all panels that were asked about were compared.
    """

    rows: NDArray[np.intp]
    scores: NDArray[np.float32]
    exact: bool


@dataclass(frozen=True)
class SearchIndex:
    """An opened index.

    Attributes:
        folder: where it lies.
        facts: what it is of.
        panel_ids: (n) ids of panels.
        vectors: (n, d) float32 unit rows, mapped.
        graph: of usearch, or None.
    """

    folder: Path
    facts: IndexFacts
    panel_ids: tuple[str, ...]
    vectors: NDArray[np.float32]
    graph: Any = None

    def row_of(self, panel_id: str) -> int:
        """Return the row of a panel.

        Raises:
            SearchError: if it has none.
        """
        try:
            return self.panel_ids.index(panel_id)
        except ValueError:
            raise SearchError(
                f"{self.folder} has no panel {panel_id!r}: the release has none, or its picture has no embedding"
            ) from None

    def nearest(
        self,
        query: NDArray[np.floating[Any]],
        count: int = 10,
        *,
        among: NDArray[np.intp] | None = None,
        exact: bool = False,
        without: int | None = None,
    ) -> Nearest:
        """Return the panels that are most similar to a query; of equally similar ones the earlier row stands first.

        Args:
            query: (d,) of any length.
            count: how many, at most 1,000; fewer if there are fewer panels.
            among: rows to compare, which is exact; None for all.
            exact: compare all, not only those that the graph leads to. Without a graph it is always so.
            without: a row that is left out.

        Raises:
            SearchError: if the query has another number of dimensions, or is zero or not finite; or for too many.
        """
        unit = self._unit(query)
        if not 1 <= count <= MOST_RESULTS:
            raise SearchError(f"{count} panels were asked for: 1 to {MOST_RESULTS:,}")
        wanted = count + (without is not None)
        approximate = among is None and not exact and self.graph is not None
        rows: NDArray[np.intp] | None = self._led_to(unit, wanted) if approximate else among
        if rows is None:
            scores = np.concatenate(
                [self.vectors[start : start + _BLOCK] @ unit for start in range(0, len(self.vectors), _BLOCK)]
            )
            best = _best(scores, wanted)
            rows, scores = best, scores[best]
        else:
            rows = np.unique(rows)
            scores = self.vectors[rows] @ unit
            best = _best(scores, wanted)
            rows, scores = rows[best], scores[best]
        keep = np.flatnonzero(rows != (-1 if without is None else without))[:count]
        return Nearest(rows[keep], np.clip(scores[keep], -1, 1), not approximate)

    def _unit(self, query: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        if query.shape != (self.facts.dimensions,):
            raise SearchError(
                f"the query has the shape {query.shape}, the index rows of {self.facts.dimensions}: not of one encoder"
            )
        return np.asarray(Embeddings(query[None], "the query").unit_rows()[0], dtype=np.float32)

    def _led_to(self, unit: NDArray[np.float32], count: int) -> NDArray[np.intp]:
        found = self.graph.search(unit, min(max(count, RERANKED), len(self.panel_ids)), threads=1)
        rows: NDArray[np.intp] = np.asarray(found.keys).astype(np.intp)
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(self.panel_ids)):
            raise SearchError(f"{self.folder} is damaged: its graph names panels that it has not; make it again")
        return rows


def _best(scores: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Return the places of the highest scores, highest first, of equal ones the first."""
    if count < len(scores):
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        chosen = np.flatnonzero(scores >= least)
    else:
        chosen = np.arange(len(scores))
    order = np.argsort(-scores[chosen], kind="stable")[:count]
    return np.asarray(chosen[order], dtype=np.intp)


def write_index(
    folder: Path,
    table: EmbeddingTable,
    *,
    encoder: str,
    encoder_name: str,
    release: str,
    version: str,
    graph: bool = True,
    tell: Tell = lambda *_: None,
) -> IndexFacts:
    """Write an index of panels' embeddings, whole or not at all.

    Args:
        folder: where; nothing may be there.
        table: embeddings of pictures whose ids are panels'.
        encoder, encoder_name, release, version: see `IndexFacts`.
        graph: make the graph of approximate search, too.
        tell: is told of the progress.

    Raises:
        SearchError: if something is there, or usearch is missing.
        OSError: if it cannot be written.
    """
    if graph:
        need_usearch()
    if folder.exists():
        raise SearchError(f"{folder} is there already: name another folder, or remove it")
    count, dimensions = len(table.ids), table.embeddings.dimensions
    with folder_aside(folder) as aside:
        vectors = np.lib.format.open_memmap(aside / _VECTORS, mode="w+", dtype=np.float32, shape=(count, dimensions))
        for start in range(0, count, BLOCK_ROWS):
            part = slice(start, min(start + BLOCK_ROWS, count))
            vectors[part] = table.embeddings.unit_rows(part)
        vectors.flush()
        if graph:
            _write_graph(aside / _GRAPH, vectors, tell)
        facts = IndexFacts(
            encoder=encoder, encoder_name=encoder_name, release=release, version=version, panels=count,
            dimensions=dimensions, graph=(aside / _GRAPH).stat().st_size if graph else 0,
        )  # fmt: skip
        (aside / _PANELS).write_text(json.dumps(table.ids), encoding="utf-8")
        (aside / INDEX_FILE).write_text(facts.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return facts


def _write_graph(path: Path, vectors: NDArray[np.float32], tell: Tell) -> None:
    """Write the graph; one thread, so that the same vectors give the same graph."""
    from usearch.index import Index

    made = Index(
        ndim=vectors.shape[1], metric="ip", dtype="f16", connectivity=CONNECTIVITY, expansion_add=EXPANSION_ADD
    )
    for start in range(0, len(vectors), BLOCK_ROWS):
        part = np.asarray(vectors[start : start + BLOCK_ROWS])
        made.add(np.arange(start, start + len(part)), part, threads=1)
        tell(start + len(part), len(vectors))
    made.save(str(path))


def need_usearch() -> None:
    """Raise where usearch is not installed."""
    if find_spec("usearch") is None:
        raise SearchError("approximate search needs usearch: pip install 'pmo-assets[encoders]', or give --exact")


def open_index(folder: Path, *, exact: bool = False) -> SearchIndex:
    """Open an index.

    Args:
        folder: of `write_index`.
        exact: leave the graph closed.

    Raises:
        SearchError: if there is none, it is damaged, or it has a graph and usearch is missing.
    """
    if not (folder / INDEX_FILE).is_file():
        raise SearchError(f"{folder} holds no index ({INDEX_FILE}): `pmo encode index` makes one")
    try:
        facts = IndexFacts.model_validate_json(_bounded(folder / INDEX_FILE))
        panel_ids = json.loads(_bounded(folder / _PANELS))
        vectors = np.load(folder / _VECTORS, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, RecursionError) as error:
        raise_fault(error)
        raise SearchError(f"{folder} is damaged: {_line(error)}; make it again (`pmo encode index`)") from error
    shape = (facts.panels, facts.dimensions)
    whole = (
        isinstance(panel_ids, list)
        and len(panel_ids) == facts.panels
        and all(isinstance(item, str) for item in panel_ids)
        and isinstance(vectors, np.ndarray)
        and vectors.dtype == np.float32
        and vectors.shape == shape
    )
    if not whole:
        raise SearchError(f"{folder} is damaged: its panels and vectors are not {shape}; make it again")
    graph = _open_graph(folder, facts) if facts.graph and not exact else None
    return SearchIndex(folder, facts, tuple(panel_ids), vectors, graph)


def _open_graph(folder: Path, facts: IndexFacts) -> Any:
    need_usearch()
    from usearch.index import Index

    path = folder / _GRAPH
    # a mapped file that is too short ends the process
    if not path.is_file() or path.stat().st_size != facts.graph:
        raise SearchError(f"the graph of {folder} is not whole: make it again, or give --exact")
    try:
        found = Index.restore(str(path), view=True)
    except Exception as error:  # of usearch: whatever the bytes happen to look like
        raise_fault(error)
        raise SearchError(f"the graph of {folder} is damaged ({_line(error)}): make it again, or --exact") from error
    if found is None or (len(found), found.ndim) != (facts.panels, facts.dimensions):
        raise SearchError(f"the graph of {folder} is damaged or of another index: make it again, or give --exact")
    found.expansion_search = EXPANSION_SEARCH
    return found


def _bounded(path: Path) -> bytes:
    if path.stat().st_size > _MOST_JSON:
        raise ValueError(f"{path.name} has more than {_MOST_JSON:,} bytes")
    return path.read_bytes()


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
