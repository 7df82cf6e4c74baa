"""Figures that go on: PDF figures joined with the package figures they were matched to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pmo_assets.records.credit_lines import credit_line, joined_statements
from pmo_assets.records.figure_names import UNMATCHED_PREFIX


def matched_figures(
    pdf_figures: Sequence[Mapping[str, Any]],
    matches: Sequence[Mapping[str, Any]],
    package_figures: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return rows of `figures`: every PDF figure, with the facts of its package figure where one was accepted.

    Args:
        pdf_figures: rows of `pdf_figures`.
        matches: rows of `figure_matches`.
        package_figures: rows of `package_figures`.
    """
    accepted = {(row["article_id"], row["pdf_figure_id"]): row for row in matches if row["accepted"]}
    packaged = {(row["article_id"], row["image_cluster_id"]): row for row in package_figures}
    rows = []
    for figure in pdf_figures:
        match = accepted.get((figure["article_id"], figure["pdf_figure_id"]))
        package = packaged[figure["article_id"], match["image_cluster_id"]] if match else None
        rows.append(
            {
                **{
                    name: figure[name]
                    for name in (
                        "article_id", "pdf_figure_id", "ordinal", "confidence", "locations", "caption_locations",
                        "page_sizes", "width", "height", "dpi", "bitmaps", "texts", "shapes",
                    )
                },
                "image_cluster_id": (
                    package["image_cluster_id"] if package else UNMATCHED_PREFIX + figure["pdf_figure_id"]
                ),
                "label": (package["label"] if package else None) or figure["label"],
                "caption": package["caption"] if package else figure["caption"],
                "matched": package is not None,
                "match_criteria": match["criteria_passed"] if match else None,
                "is_multi_page": len({place["page"] for place in figure["locations"]}) > 1,
                "mentions": package["mentions"] if package else [],
                "rights_statement": _rights_statement(figure, package),
            }
        )  # fmt: skip
    return rows


def _rights_statement(figure: Mapping[str, Any], package: Mapping[str, Any] | None) -> str | None:
    """Return the statements of XML, caption and print in a figure on rights that are not the article's; else None."""
    printed = " ".join(text["text"] for text in figure["texts"])
    stated = package["rights_statement"] if package else None
    return joined_statements([stated, credit_line(figure["caption"]), credit_line(printed)])
