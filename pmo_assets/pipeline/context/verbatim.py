"""Whether words of an article stand where rows of the group `context` say; the tables' checks ask it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pmo_assets.pipeline.articles.mentions import sentence_spans


def _words_at(texts: Sequence[str], place: Mapping[str, Any]) -> str | None:
    """Return the words of a place in an article; None where there is no such paragraph."""
    if not 0 <= place["paragraph"] < len(texts):
        return None
    start, end = place["start"], place["end"]
    words: str = texts[place["paragraph"]][start:end]
    return words


def _within_one(spans: Iterable[tuple[int, int]], place: Mapping[str, Any]) -> bool:
    """Say whether a place lies within one of the sentences of its paragraph: it is one, or a clause of one."""
    return any(start <= place["start"] < place["end"] <= end for start, end in spans)


def misplaced_mentions(rows: Iterable[Mapping[str, Any]], texts: Mapping[int, Sequence[str]]) -> list[str]:
    """Return the sentences that do not stand where their row says: article, figure, paragraph and offset of each.

    Args:
        rows: of `panel_mentions`.
        texts: texts of the paragraphs, by article.
    """
    return [
        f"{row['article_id']} {row['image_cluster_id']}: paragraph {row['paragraph']} at {row['start']}"
        for row in rows
        if not row["sentence"] or _words_at(texts.get(row["article_id"], ()), row) != row["sentence"]
    ]


def unfounded_summaries(rows: Iterable[Mapping[str, Any]], texts: Mapping[int, Sequence[str]]) -> list[str]:
    """Return the panels whose summary is anything else than sentences, or parts of them, at its places, in order.

    Args:
        rows: of `panel_summaries`.
        texts: texts of the paragraphs, by article.
    """
    wrong = []

    @functools.cache  # an article's panels rest on the same few paragraphs
    def sentences(article: int, paragraph: int) -> list[tuple[int, int]]:
        return sentence_spans(texts[article][paragraph])

    for row in rows:
        places = row["summary_places"]
        order = [(place["paragraph"], place["start"]) for place in places]
        own = texts.get(row["article_id"], ())
        words = [_words_at(own, place) for place in places]
        if (
            order != sorted(set(order))
            or row["summary"] != (" ".join(word or "" for word in words) or None)
            or None in words
            or not all(_within_one(sentences(row["article_id"], place["paragraph"]), place) for place in places)
        ):
            wrong.append(row["panel_id"])
    return wrong
