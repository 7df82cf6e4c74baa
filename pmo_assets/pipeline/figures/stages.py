"""Stages of the group `figures`: figures found in the PDF, matched to the package's."""

from __future__ import annotations

from typing import Final

import polars as pl

from pmo_assets.pipeline.figures.steps import join_article_figures, locate_pdf_figures, match_article_figures
from pmo_assets.records.stages import Stage

GROUP: Final = "figures"

STAGES: Final = (
    Stage(
        "pdf_figures",
        GROUP,
        locate_pdf_figures,
        reads=["articles", "package_figures"],
        where=pl.col("selected"),
        loses="units",
    ),
    Stage("figure_matches", GROUP, match_article_figures, reads=["pdf_figures", "package_figures", "articles"]),
    Stage(
        "figures",
        GROUP,
        join_article_figures,
        reads=["pdf_figures", "figure_matches", "package_figures", "articles"],
        loses="units",
    ),
)
