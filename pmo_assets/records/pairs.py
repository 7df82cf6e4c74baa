"""Pairs of a picture region and a text, at four levels: what trainers of vision-language models stream.

Add here: the words that tables, releases and readers share for pairs. Keep out: how pairs are made
(`pipeline.dataset.pair_rows`).
"""

from __future__ import annotations

from typing import Final, Literal

PairLevel = Literal["figure", "panel", "region", "video"]
"""Part of a figure that a text is of: the levels M, P and R of Panel2Patch (section 3.1); or V, a picture of a lecture
video (OphIn-Engine, section 3.1), which belongs to no figure."""

PAIR_LEVELS: Final[tuple[PairLevel, ...]] = ("figure", "panel", "region", "video")

TextKind = Literal["caption", "subcaption", "summary", "mention", "fragment", "description", "transcript"]
"""Kind of text: a figure's caption; a panel's part of it; a summary of what the article says of a panel; a sentence of
the running text; the authors' words for what marks show; a model's words for it; what is said in a lecture."""

TEXT_KINDS: Final[tuple[TextKind, ...]] = (
    "caption", "subcaption", "summary", "mention", "fragment", "description", "transcript",
)  # fmt: skip

KINDS_OF_LEVEL: Final[dict[PairLevel, tuple[TextKind, ...]]] = {
    "figure": ("caption", "mention"),
    "panel": ("subcaption", "summary", "mention"),
    "region": ("fragment", "description"),
    "video": ("transcript",),
}
"""Kinds of text that each level has, in the order of its rows."""

PictureConfig = Literal["figures", "panels", "videos"]
"""The hub's table that holds the picture of a pair."""

PICTURE_CONFIGS: Final[tuple[PictureConfig, ...]] = ("figures", "panels", "videos")


def source_name(article_id: int | None, video_id: int | None) -> str:
    """Return the name of what a pair is from: its article's number, or "video 7". Whole sources are split and sampled.

    Raises:
        ValueError: if it is from nothing.
    """
    if article_id is not None:
        return str(article_id)
    if video_id is None:
        raise ValueError("a pair names neither an article nor a lecture video")
    return f"video {video_id}"
