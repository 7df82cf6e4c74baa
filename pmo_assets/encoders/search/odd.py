"""Panels that look wrong by their embeddings: near-duplicates, and those whose text is far from their picture.

Both are candidates for people to look at, no verdicts: an encoder that knows little ranks right texts low, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable
from pmo_assets.encoders.evaluation.pairs import Pair, paired
from pmo_assets.encoders.evaluation.ranks import best_ranks
from pmo_assets.encoders.search.panels import FoundPanel
from pmo_assets.loading.typed_rows import Panel
from pmo_assets.records.reports import REPORTS_FORMAT

NEAR: Final = 0.98
"""Least cosine of near-duplicates; what means the same differs from encoder to encoder, so look and choose."""

FAR: Final = 0.5
"""Least rank of a panel's own text as a share of all texts: one that was drawn at random stands there half the time."""

_ROWS: Final = 1024
_COLUMNS: Final = 8192

Tell = Callable[[int, int], None]
"""Is told how many of how many panels are done."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """A panel with the panel that is nearest to it.

    Attributes:
        panel_id, other_panel_id: in the order of the embeddings.
        score: cosine.
        known: whether the release has them in one duplicate group.
        same_article: whether both are of one article.
    """

    panel_id: str
    other_panel_id: str
    score: float
    known: bool
    same_article: bool


@dataclass(frozen=True, slots=True)
class FarText:
    """A panel whose text is far from its picture.

    Attributes:
        panel_id: of the panel.
        rank: of its best own text among all texts, from 1; texts that are right, too, take no place.
        texts: how many texts there are.
    """

    panel_id: str
    rank: int
    texts: int

    @property
    def share(self) -> float:
        """Rank as a share of all texts, 0 … 1."""
        return self.rank / self.texts


def nearest_others(table: EmbeddingTable, least: float, tell: Tell = lambda *_: None) -> list[tuple[int, int, float]]:
    """Return each panel's nearest other one, where it is near enough, each two once, nearest first.

    One neighbour a panel: an encoder that says the same of all panels gives as many lines as panels, not their square.

    Args:
        table: (n) embeddings of panels.
        least: cosine.
        tell: is told of the progress.

    Returns:
        (row, later row, cosine).
    """
    count = len(table.ids)
    unit = np.concatenate(
        [table.embeddings.unit_rows(slice(at, at + _ROWS)).astype(np.float32) for at in range(0, count, _ROWS)]
    )
    found: dict[tuple[int, int], float] = {}
    for start in range(0, count, _ROWS):
        rows = np.arange(start, min(start + _ROWS, count))
        best, nearest = np.full(len(rows), -np.inf, np.float32), np.zeros(len(rows), np.intp)
        for left in range(0, count, _COLUMNS):
            scores = unit[rows] @ unit[left : left + _COLUMNS].T
            own = (rows >= left) & (rows < left + _COLUMNS)
            scores[np.flatnonzero(own), rows[own] - left] = -np.inf
            places = scores.argmax(axis=1)
            highest = scores[np.arange(len(rows)), places]
            better = highest > best
            best[better], nearest[better] = highest[better], places[better] + left
        for row, other, score in zip(rows.tolist(), nearest.tolist(), best.tolist(), strict=True):
            if score >= least:
                found[min(row, other), max(row, other)] = min(score, 1.0)
        tell(int(rows[-1]) + 1, count)
    return sorted(((one, other, score) for (one, other), score in found.items()), key=lambda item: (-item[2], item[:2]))


def near_duplicates(
    table: EmbeddingTable, pairs: Sequence[tuple[int, int, float]], panels: dict[str, Panel]
) -> list[NearDuplicate]:
    """Return near-duplicates with what the release knows of them.

    Args:
        table: embeddings of panels.
        pairs: of `nearest_others`.
        panels: by id.
    """
    found = []
    for one, other, score in pairs:
        first, second = panels[table.ids[one]], panels[table.ids[other]]
        known = first.duplicate_group is not None and first.duplicate_group == second.duplicate_group
        same = first.article_id == second.article_id
        found.append(NearDuplicate(first.panel_id, second.panel_id, score, known, same))
    return found


def far_texts(
    images: EmbeddingTable,
    texts: EmbeddingTable,
    pairs: Sequence[Pair],
    least_share: float = FAR,
    tell: Tell | None = None,
) -> list[FarText]:
    """Return the panels whose own text ranks far down among all texts, the farthest first.

    Args:
        images: embeddings of panels.
        texts: embeddings of their texts.
        pairs: which text is whose; a text that other panels share, or a duplicate has, is right for all of them.
        least_share: of the rank.
        tell: is told of the progress.

    Raises:
        EmbeddingsError: if no pair has both embeddings.
    """
    task = paired(images, texts, pairs)
    ranks, _ = best_ranks(task.images.embeddings, task.texts.embeddings, task.right, tell)
    count = len(task.texts.ids)
    found = [
        FarText(panel_id, int(rank), count)
        for panel_id, rank in zip(task.images.ids, ranks, strict=True)
        if rank >= max(2, least_share * count)  # a text that stands first is far from none
    ]
    return sorted(found, key=lambda item: (-item.rank, item.panel_id))


def odd_lines(duplicates: Sequence[NearDuplicate], far: Sequence[FarText], panels: dict[str, Panel]) -> str:
    """Return JSON lines: kind `near_duplicate` or `far_text`, the numbers, and what may be told of the panel."""
    rows: list[dict[str, Any]] = []
    for kind, items in (("near_duplicate", duplicates), ("far_text", far)):
        for item in items:
            row = {"kind": kind, **asdict(FoundPanel.of(panels[item.panel_id])), **asdict(item)}
            if isinstance(item, FarText):
                row["share"] = round(item.share, 4)
            rows.append(row)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def far_reports(far: Sequence[FarText], panels: dict[str, Panel]) -> str:
    """Return far texts as reports of mistakes, in the form that `pmo annotate export --reports` takes."""
    reports = [
        {
            "article_id": panels[item.panel_id].article_id,
            "figure": panels[item.panel_id].image_cluster_id,
            "panel": panels[item.panel_id].panel_name,
            "mistake": "subcaption",
            "remark": f"by an encoder: text {item.rank:,} of {item.texts:,} for this picture ({item.panel_id})",
        }
        for item in far
    ]
    return json.dumps({"pmo_reports": REPORTS_FORMAT, "reports": reports}, ensure_ascii=False, indent=1) + "\n"
