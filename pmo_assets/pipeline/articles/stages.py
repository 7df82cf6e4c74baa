"""Stages of the group `articles`: from a package's files to the facts of the article and the figures its XML lists."""

from __future__ import annotations

from typing import Final

import polars as pl

from pmo_assets.pipeline.articles.steps import (
    fetch_article,
    match_article_biomedica,
    read_article,
    read_package_figures,
)
from pmo_assets.records.stages import Stage

GROUP: Final = "articles"

STAGES: Final = (
    Stage("article_packages", GROUP, fetch_article, reads=["article_batch"], loses="units"),
    Stage("articles", GROUP, read_article, reads=["article_packages", "biomedica_figures"], loses="units"),
    Stage(
        "package_figures",
        GROUP,
        read_package_figures,
        reads=["articles", "article_packages"],
        where=pl.col("selected") & pl.col("xml").is_not_null(),
        goes_on=True,
    ),
    Stage("biomedica_matches", GROUP, match_article_biomedica, reads=["biomedica_figures", "package_figures"]),
)
