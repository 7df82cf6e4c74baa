"""A specification turned into a finished article package with its ground truth."""

from __future__ import annotations

from typing import Any

from pmo_assets.records.geometry import Box
from pmo_assets.samples import content as article_contents
from pmo_assets.samples import hostile, scene
from pmo_assets.samples.caption_text import caption_text, subcaption
from pmo_assets.samples.content import Content, article_content, figure_label, printed_label
from pmo_assets.samples.figure_layout import package_jpeg
from pmo_assets.samples.jats import image_cluster_id, jats_xml
from pmo_assets.samples.pages import PageExtent, PlacedFigure, typeset_pages
from pmo_assets.samples.spec import (
    IMAGE_TYPES_OF_KINDS,
    ArticleSpec,
    Damage,
    Expected,
    TypesetArticle,
)

_NO_PDF = ("no_pdf", "truncated_pdf", "encrypted_pdf")
_NO_XML = ("no_xml", "malformed_xml", "entity_bomb")


def _location(extent: PageExtent) -> dict[str, Any]:
    return {"page": extent.page, "bbox": [round(v, 3) for v in extent.box]}


def _figure_truth(spec: ArticleSpec, placed: PlacedFigure, has_xml: bool) -> dict[str, Any]:
    """Return a figure's annotation; panels of later parts lie below those of earlier ones in the common frame."""
    figure = spec.figures[placed.index]
    number = placed.index + 1
    frame = (max(part.width for part in placed.parts), sum(part.height for part in placed.parts))

    def fraction(box: Box, top: float) -> list[float]:
        moved = scene.shifted_box(box, 0.0, top)
        values = (moved[0] / frame[0], moved[1] / frame[1], moved[2] / frame[0], moved[3] / frame[1])
        return [round(min(1.0, max(0.0, v)), 6) for v in values]

    panels = []
    top = 0.0
    for part in placed.parts:
        for panel in part.panels:
            panels.append(
                {
                    "identifier": panel.identifier,
                    "identifier_box": fraction(panel.identifier_box, top) if panel.identifier_box else None,
                    "box": fraction(panel.box, top),
                    # Where nothing decides, there is no subcaption: leaving the panel undecided is right.
                    "subcaption": None if panel.evidence == "none" else subcaption(figure.caption, panel.identifier),
                    "images": [
                        {
                            "box": fraction(image.box, top),
                            "type": IMAGE_TYPES_OF_KINDS[image.spec.kind],
                            "marked": image.spec.mark is not None or image.spec.lettering == "arrows",
                        }
                        for image in panel.images
                    ],
                }
            )
        top += part.height
    return {
        "label": printed_label(figure, number) or figure_label(figure, number),
        "image_cluster_id": image_cluster_id(spec, placed.index) if has_xml else None,
        "figure_locations": [_location(extent) for extent in placed.locations],
        "caption_locations": [_location(extent) for extent in placed.caption_locations],
        "caption": caption_text(figure.caption),
        "panels": panels,
    }


def _metadata(spec: ArticleSpec, content: Content) -> dict[str, Any]:
    """Return the content of PMC's metadata JSON, without URLs."""
    return {
        "pmcid": spec.name,
        "version": 1,
        "pmid": None,
        "doi": content.doi,
        "title": spec.title,
        "citation": content.citation,
        "is_pmc_openaccess": True,
        "is_manuscript": False,
        "is_historical_ocr": False,
        "is_retracted": spec.retracted,
        "license_code": spec.license_code,
    }


def _damaged_xml(xml: bytes, damage: Damage | None) -> bytes | None:
    if damage == "malformed_xml":
        return hostile.malformed_xml(xml)
    if damage == "entity_bomb":
        return hostile.entity_bomb(xml)
    return None if damage == "no_xml" else xml


def typeset(spec: ArticleSpec) -> TypesetArticle:
    """Write the article's package.

    The same specification gives the same bytes with the same versions of PyMuPDF, Pillow, OpenCV and NumPy.

    Raises:
        UnicodeEncodeError: if a text has a character outside Windows code page 1252.
        KeyError: if a caption has entries but none for some panel, or the licence is unknown.
    """
    content = article_content(spec)
    pages = typeset_pages(spec, content)
    has_xml = spec.damage not in _NO_XML
    pdf: bytes | None
    with pages.document as document:
        pdf = hostile.encrypted_pdf(document) if spec.damage == "encrypted_pdf" else hostile.pdf_bytes(document)
    if spec.damage == "truncated_pdf":
        pdf = hostile.truncated_pdf(pdf)
    elif spec.damage == "no_pdf":
        pdf = None
    xml = _damaged_xml(jats_xml(spec, content), spec.damage)
    figures = {}
    if xml is not None:
        figures = {f"{image_cluster_id(spec, p.index)}.jpg": package_jpeg(p.parts) for p in pages.figures}
    pdf_readable = spec.damage not in _NO_PDF
    return TypesetArticle(
        name=spec.name,
        article_id=spec.number,
        pdf=pdf,
        xml=xml,
        text=article_contents.article_text(spec, content),
        figures=figures,
        metadata=_metadata(spec, content),
        truth={
            "article_id": spec.name,
            "figures": [_figure_truth(spec, placed, has_xml) for placed in pages.figures] if pdf_readable else [],
        },
        expected=Expected(
            relevant=spec.relevant and has_xml,
            license_code=spec.license_code,
            is_retracted=spec.retracted or spec.article_type == "retraction",
            pdf_readable=pdf_readable,
            xml_readable=has_xml,
            features=spec.features,
        ),
        references=content.named,
    )
