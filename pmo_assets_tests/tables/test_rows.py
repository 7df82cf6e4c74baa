"""The border between tables and records."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from pmo_assets.records.article import InTextMention, PackageFigure
from pmo_assets.records.figure import PageBox, PageSize, PdfFigure
from pmo_assets.tables.rows import record_of

ROW = {
    "article_id": 7,
    "image_cluster_id": "g1",
    "label": "Figure 1",
    "caption": "A scan.",
    "graphics": ["g1.jpg"],
    "mentions": [{"sentence": "See Figure 1.", "paragraph": "Well. See Figure 1."}],
    "file": None,
}


def test_a_record_takes_the_columns_of_its_fields_nested_ones_as_well() -> None:
    mention = InTextMention("See Figure 1.", "Well. See Figure 1.")
    assert record_of(PackageFigure, ROW) == PackageFigure("g1", "Figure 1", "A scan.", ("g1.jpg",), (mention,))


def test_boxes_become_tuples_that_can_be_compared() -> None:
    row = {
        **dict.fromkeys(("label", "image_cluster_id")), "pdf_figure_id": "p0-1", "caption": "", "caption_locations": [],
        "page_sizes": [{"page": 0, "width": 612.0, "height": 792.0}],
        "locations": [{"page": 0, "bbox": [1.0, 2.0, 3.0, 4.0]}], "located_by": "layout", "confidence": 0.5, "width": 1,
        "height": 1, "dpi": 72.0, "bitmaps": [], "texts": [],
    }  # fmt: skip
    figure = record_of(PdfFigure, row)
    assert figure.locations == (PageBox(0, (1.0, 2.0, 3.0, 4.0)),)
    assert figure.page_sizes == (PageSize(0, 612.0, 792.0),)
    assert figure.picture_correlation is None, "a field with a default need not be a column"


def test_a_row_that_lacks_a_column_or_holds_something_else_is_refused() -> None:
    with pytest.raises(ValidationError, match="caption"):
        record_of(PackageFigure, {name: value for name, value in ROW.items() if name != "caption"})
    with pytest.raises(ValidationError, match="mentions"):
        record_of(PackageFigure, {**ROW, "mentions": "none"})
