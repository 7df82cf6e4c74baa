"""Record type of each config of a release."""

from __future__ import annotations

from typing import Final

from pmo_assets.loading.lecture_rows import VideoPair
from pmo_assets.loading.typed_rows import Article, Figure, Instruction, Pair, Panel

RowType = type[Panel] | type[Figure] | type[Article] | type[Pair] | type[Instruction] | type[VideoPair]

ROW_TYPES: Final[dict[str, RowType]] = {
    row_type.CONFIG: row_type for row_type in (Panel, Figure, Article, Pair, Instruction, VideoPair)
}
"""Record type of each config."""
