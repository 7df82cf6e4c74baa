"""Pairs of a picture region and a text, at three levels: what trainers of vision-language models stream.

Add here: the words that tables, releases and readers share for pairs. Keep out: how pairs are made
(`pipeline.dataset.pair_rows`).
"""

from __future__ import annotations

from typing import Final, Literal

PairLevel = Literal["figure", "panel", "region"]
"""Part of a figure that a text is of: the levels M, P and R of Panel2Patch (section 3.1)."""

PAIR_LEVELS: Final[tuple[PairLevel, ...]] = ("figure", "panel", "region")

TextKind = Literal["caption", "subcaption", "summary", "mention", "fragment", "description"]
"""Kind of text: a figure's caption; a panel's part of it; a summary of what the article says of a panel; a sentence of
the running text; the authors' words for what marks show; a model's words for it."""

TEXT_KINDS: Final[tuple[TextKind, ...]] = ("caption", "subcaption", "summary", "mention", "fragment", "description")

KINDS_OF_LEVEL: Final[dict[PairLevel, tuple[TextKind, ...]]] = {
    "figure": ("caption", "mention"),
    "panel": ("subcaption", "summary", "mention"),
    "region": ("fragment", "description"),
}
"""Kinds of text that each level has, in the order of its rows."""

PictureConfig = Literal["figures", "panels"]
"""The hub's table that holds the picture of a pair."""

PICTURE_CONFIGS: Final[tuple[PictureConfig, ...]] = ("figures", "panels")
