"""Group `figures`: figures found in the PDF, matched to the package's."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from pmo_assets.defs import checks
from pmo_assets.defs.made import Made
from pmo_assets.defs.previews import figure_sheet, match_sheet, preview
from pmo_assets.defs.stage_table import stage_table
from pmo_assets.pipeline.figures.registration import SAME_PICTURE


def _located_summary(made: Made) -> Mapping[str, Any]:
    compared = [row["picture_correlation"] for row in made.rows if row["picture_correlation"] is not None]
    return {
        "figures": len(made.rows),
        "listed_in_xml": made.tables["package_figures"].height,
        "compared_with_package_picture": len(compared),
        "agree_with_package_picture": sum(value >= SAME_PICTURE for value in compared),
        "found_by_package_picture": sum(row["located_by"] == "package_image" for row in made.rows),
        "not_located": sum(item.error_class == "FigureNotLocated" for item in made.rejections),
        "preview": preview(
            made.context, "figures found in the PDFs", lambda: figure_sheet(made.rows, made.input("figure_pixels"))
        ),
    }


pdf_figures = stage_table(
    "pdf_figures",
    kinds=["pdf"],
    checks=[checks.rejected_share()],
    summary=_located_summary,
)


def _match_summary(made: Made) -> Mapping[str, Any]:
    located, packages = made.tables["pdf_figures"], made.tables["package_figures"]
    return {
        "pairs": len(made.rows),
        "accepted": sum(row["accepted"] for row in made.rows),
        "preview": preview(
            made.context,
            "figures of the PDFs, each beside the package picture it was matched to, the least sure first",
            lambda: match_sheet(made.rows, located, packages, made.input("figure_pixels"), made.input("objects")),
        ),
    }


figure_matches = stage_table(
    "figure_matches",
    summary=_match_summary,
    pixels=True,
)


def _accounted(made: Made) -> Mapping[str, int]:
    located = made.tables["pdf_figures"]
    lost = {item.unit_id for item in made.rejections if item.part is None}
    unconfirmed = sum(item.part is not None for item in made.rejections)
    return {
        "located": located.height,
        "figures": len(made.rows),
        "rejected": located.filter(pl.col("article_id").is_in(list(lost))).height + unconfirmed,
    }


figures = stage_table(
    "figures",
    checks=[checks.row_count(_accounted)],
    pixels=True,
    summary=lambda made: {
        "matched": sum(row["matched"] for row in made.rows),
        "multi_page": sum(row["is_multi_page"] for row in made.rows),
        "preview": preview(
            made.context, "figures of the batch", lambda: figure_sheet(made.rows, made.input("figure_pixels"))
        ),
    },
)
