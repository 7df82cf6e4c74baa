"""What the whole room makes of a typeset manuscript: captions, regions, figures."""

from __future__ import annotations

import pymupdf
import pytest

from pmo_assets.pipeline.figures.caption_location.located_captions import LocatedCaptions, located_captions
from pmo_assets.pipeline.figures.extraction import Extraction, FigureOptions, extract_figures
from pmo_assets.pipeline.figures.page import PageContent, page_content
from pmo_assets.pipeline.figures.regions.figure_regions import LocatedRegions, figure_regions
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.geometry import Box
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, package_figure

BOXES_ONLY = FigureOptions(render=False)
MODES = pytest.mark.parametrize("with_xml", [True, False])


def contents_of(manuscript: Manuscript) -> list[PageContent]:
    """Return its pages as they are read."""
    return [page_content(page) for page in pymupdf.open(stream=manuscript.pdf())]


def captions_of(manuscript: Manuscript, *figures: PackageFigure) -> LocatedCaptions:
    """Return its captions, given what the XML lists."""
    return located_captions(contents_of(manuscript), figures)


def regions_of(manuscript: Manuscript, *numbers: int) -> LocatedRegions:
    """Return its regions when the XML lists figures of these numbers."""
    pages = contents_of(manuscript)
    return figure_regions(pages, located_captions(pages, [package_figure(number) for number in numbers]))


def extraction_of(manuscript: Manuscript, with_xml: bool, *numbers: int, render: bool = False) -> Extraction:
    """Return its figures, when an XML lists figures of these numbers or there is none."""
    figures = [package_figure(number) for number in numbers] if with_xml else []
    return extract_figures(manuscript.pdf(), figures, FigureOptions(render=render))


def box_of(extraction: Extraction, number: int) -> Box:
    """Return where the figure of this number lies on its first page; there must be exactly one."""
    found = [figure for figure in extraction.figures if figure.label in (f"Figure {number}", f"Fig. {number}")]
    assert len(found) == 1, [figure.label for figure in extraction.figures]
    return found[0].locations[0].bbox
