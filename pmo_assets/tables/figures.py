"""Tables of the group `figures`: what was located in the PDF, and the records that the pipeline makes of its rows."""

from __future__ import annotations

import dataframely as dy

from pmo_assets.tables.columns import FigureKey, page_boxes_column, page_sizes_column, rights_column
from pmo_assets.tables.released import FACTS, released


class PdfFigures(dy.Schema):
    """Figures located in the PDF; their pixels lie in the pixel store `figures`."""

    article_id = dy.Int64(primary_key=True, min=1, description='PMC number without "PMC"')
    pdf_figure_id = dy.String(primary_key=True, description="p<page>-<n>, page from 0; unique in the PDF")
    ordinal = dy.Int64(min=0, description="Position in reading order")
    label = dy.String(nullable=True, description="Label as printed")
    caption = dy.String(description="Caption without the label")
    locations = page_boxes_column("Where the figure lies: page (from 0) and [l, t, r, b] in PDF points")
    caption_locations = page_boxes_column("Where its caption lies, label included; pages from 0")
    page_sizes = page_sizes_column("Width and height, in PDF points as displayed, of the pages (from 0) above")
    image_cluster_id = dy.String(
        nullable=True, description="Package figure that located it: its caption, number or picture"
    )
    located_by = dy.Enum(
        ["xml_caption", "layout", "package_image"],
        description="What led to the figure: the caption in the XML, page layout alone, or its package picture",
    )
    picture_correlation = dy.Float64(
        nullable=True, min=-1, max=1, description="Between rendering and package picture; null when not compared"
    )
    confidence = dy.Float64(min=0, max=1, description="How certain the location is")
    width = dy.Int64(min=1, description="Pixels of the rendering")
    height = dy.Int64(min=1, description="Pixels of the rendering")
    dpi = dy.Float64(min=1, description="Resolution of the rendering")
    bitmaps = dy.List(
        dy.Struct({"box": dy.List(dy.Float64()), "native_width": dy.Int64(), "native_height": dy.Int64()}),
        description="Embedded bitmaps: normalised box and native pixels",
    )
    texts = dy.List(
        dy.Struct({"text": dy.String(), "box": dy.List(dy.Float64()), "size": dy.Float64(), "bold": dy.Bool()}),
        description="Live text inside the figure: normalised box, size in points",
    )
    shapes = dy.List(
        dy.Struct(
            {
                "kind": dy.String(),
                "box": dy.List(dy.Float64()),
                "colour": dy.String(),
                "filled": dy.Bool(),
                "tip": dy.List(dy.Float64(), nullable=True),
                "tail": dy.List(dy.Float64(), nullable=True),
            }
        ),
        description="Vector shapes drawn over bitmaps: what they look like, normalised box, #rrggbb, where they point",
    )


class FigureMatches(dy.Schema):
    """Candidate pairs of a PDF figure and a package figure, with the evidence for each."""

    article_id = dy.Int64(primary_key=True, min=1, description='PMC number without "PMC"')
    pdf_figure_id = dy.String(primary_key=True, description="Figure in the PDF")
    image_cluster_id = dy.String(primary_key=True, description="Package figure")
    hash_distance = dy.Int64(nullable=True, description="Perceptual hash distance in bits; null without a picture")
    number_matches = dy.Bool(nullable=True, description="Same figure number; null when a number is missing")
    aspect_ratio_error = dy.Float64(nullable=True, description="Relative difference of the aspect ratios")
    caption_distance = dy.Float64(nullable=True, description="Normalised edit distance of the captions")
    picture_correlation = dy.Float64(
        nullable=True, min=-1, max=1, description="Between rendering and package picture; evidence beside the criteria"
    )
    criteria_passed = dy.Int64(min=0, max=4, description="How many of the four criteria pass")
    accepted = dy.Bool(description="This pair is the match")


class Figures(FigureKey):
    """Figures that go on: located in the PDF and, where there is an XML, matched to their package figure."""

    pdf_figure_id = dy.String(description="Figure in the PDF; key of its pixels in the store `figures`")
    ordinal = dy.Int64(min=0, description="Position in the article")
    label = dy.String(nullable=True, description="Label")
    caption = dy.String(description="Caption without the label; from the XML when matched")
    matched = dy.Bool(
        description="Matched to a package figure; false when the article has no XML or none fits",
        metadata=released(FACTS, "figures"),
    )
    match_criteria = dy.Int64(nullable=True, description="Matching criteria passed, of four; null when unmatched")
    confidence = dy.Float64(min=0, max=1, description="How certain the location is")
    is_multi_page = dy.Bool(description="The figure runs over several pages")
    locations = page_boxes_column("Page (from 0) and [l, t, r, b] in PDF points")
    caption_locations = page_boxes_column("Where its caption lies, label included; pages from 0")
    page_sizes = page_sizes_column(
        "Width and height, in PDF points as displayed, of the pages (from 0) above", metadata=released(FACTS, "figures")
    )
    mentions = dy.List(
        dy.Struct({"sentence": dy.String(), "paragraph": dy.String()}), description="In-text mentions of the figure"
    )
    width = dy.Int64(min=1, description="Pixels")
    height = dy.Int64(min=1, description="Pixels")
    dpi = dy.Float64(min=1, description="Resolution of the rendering", metadata=released(FACTS, "figures"))
    bitmaps = PdfFigures.columns()["bitmaps"]
    texts = PdfFigures.columns()["texts"]
    shapes = PdfFigures.columns()["shapes"]
    rights_statement = rights_column()


SCHEMAS: dict[str, type[dy.Schema]] = {"pdf_figures": PdfFigures, "figure_matches": FigureMatches, "figures": Figures}
"""The schema of each asset of the group that is a table."""
