"""The standard set covers what it promises, and its hostile members really are hostile."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pymupdf
import pytest
from lxml import etree

from pmo_assets.samples import TypesetArticle, sample_specs
from pmo_assets.samples.hostile import PASSWORD
from pmo_assets.samples.spec import FIRST_ARTICLE_NUMBER

CAPTION_TERMS = re.compile(r"color fundus photography|\bCFP\b|optical coherence tomography|\bOCT\b|fundus", re.I)
KEY_TERMS = re.compile(r"color fundus photography|\bCFP\b|optical coherence tomography|\bOCT\b|retina", re.I)
TEXT_TERMS = re.compile(r"retina|ophthalmology", re.I)


def relevance(xml: bytes) -> tuple[bool, bool, bool]:
    """Return rules (i), (ii) and (iii) of the paper's relevance filter for one JATS file."""
    root = etree.fromstring(xml)
    captions = " ".join("".join(map(str, c.itertext())) for c in root.iter("caption"))
    keywords = " ".join(k.text or "" for k in root.iter("kwd"))
    texts = " ".join("".join(map(str, e.itertext())) for tag in ("abstract", "body") for e in root.iter(tag))
    return tuple(bool(p.search(t)) for p, t in ((CAPTION_TERMS, captions), (KEY_TERMS, keywords), (TEXT_TERMS, texts)))  # type: ignore[return-value]


def test_there_are_as_many_articles_as_the_readme_says_and_of_few_pages(articles: tuple[TypesetArticle, ...]) -> None:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"typesets {len(articles)} sample articles" in readme
    assert [a.article_id for a in articles] == list(range(FIRST_ARTICLE_NUMBER, FIRST_ARTICLE_NUMBER + len(articles)))
    for article in articles:
        if article.expected.pdf_readable:
            with pymupdf.open(stream=article.pdf) as document:
                assert 1 <= document.page_count <= 4


@pytest.mark.parametrize(
    "feature",
    [
        "two_columns", "one_column", "separate_bitmaps", "flat_bitmap", "vector_plots", "figure_over_two_pages",
        "single_panel", "caption_above", "caption_beside", "caption_number_only", "caption_without_label",
        "positional_identifiers", "identifiers_above", "identifiers_inside", "marks", "not_ophthalmic",
        "intracoronary_oct", "retracted", "retraction_notice", "no_figures", "table", "logo", "floats_group",
        "truncated_pdf", "encrypted_pdf", "malformed_xml", "entity_bomb", "no_pdf", "no_xml",
    ],
)  # fmt: skip
def test_every_feature_is_present(by_feature: Mapping[str, TypesetArticle], feature: str) -> None:
    assert feature in by_feature


def test_all_licences_image_types_and_mark_states_occur(articles: tuple[TypesetArticle, ...]) -> None:
    images = [i for a in articles for f in a.truth["figures"] for p in f["panels"] for i in p["images"]]
    assert {a.expected.license_code for a in articles} == {"CC BY", "CC BY-NC", "CC BY-ND", "CC0"}
    assert {i["type"] for i in images} == {"CFP", "OCT", "Retinal Imaging", "Other"}
    assert {i["marked"] for i in images if i["type"] != "Other"} == {True, False}


def test_licence_stands_in_metadata_and_xml(articles: tuple[TypesetArticle, ...]) -> None:
    paths = {"CC BY": "/by/", "CC BY-NC": "/by-nc/", "CC BY-ND": "/by-nd/", "CC0": "/zero/"}
    for article in articles:
        assert article.metadata["license_code"] == article.expected.license_code
        if article.expected.xml_readable:
            assert article.xml is not None
            licence = etree.fromstring(article.xml).find(".//license")
            assert licence is not None
            assert paths[article.expected.license_code] in str(licence.get("{http://www.w3.org/1999/xlink}href"))


def test_retinal_articles_meet_the_relevance_rules_and_others_do_not(articles: tuple[TypesetArticle, ...]) -> None:
    readable = [a for a in articles if a.expected.xml_readable]
    for article in readable:
        assert article.xml is not None
        assert all(relevance(article.xml)) == article.expected.relevant, article.name
    assert {a.expected.relevant for a in readable} == {True, False}


def test_cardiology_meets_no_rule_and_intracoronary_oct_all_but_the_last(
    by_feature: Mapping[str, TypesetArticle],
) -> None:
    assert relevance(by_feature["not_ophthalmic"].xml or b"") == (False, False, False)
    assert relevance(by_feature["intracoronary_oct"].xml or b"") == (True, True, False)


def test_a_figure_over_two_pages_is_one_figure(by_feature: Mapping[str, TypesetArticle]) -> None:
    article = by_feature["figure_over_two_pages"]
    figure = article.truth["figures"][0]
    pages = [location["page"] for location in figure["figure_locations"]]
    assert pages == [pages[0], pages[0] + 1]
    assert len(figure["panels"]) == 8
    assert article.xml is not None
    assert [f.get("id") for f in etree.fromstring(article.xml).iter("fig")] == ["fig1", "fig2"]


def test_positional_panels_have_names_but_no_identifier_box(by_feature: Mapping[str, TypesetArticle]) -> None:
    panels = by_feature["positional_identifiers"].truth["figures"][0]["panels"]
    assert [(p["identifier"], p["identifier_box"]) for p in panels] == [("left", None), ("right", None)]
    assert panels[0]["subcaption"] == (
        "Eye of a patient with retinitis pigmentosa. Color fundus photography of the posterior pole."
    )


def test_captions_above_and_beside_stand_there(by_feature: Mapping[str, TypesetArticle]) -> None:
    def boxes(feature: str, index: int) -> tuple[list[float], list[float]]:
        figure = by_feature[feature].truth["figures"][index]
        return figure["figure_locations"][0]["bbox"], figure["caption_locations"][0]["bbox"]

    figure, caption = boxes("caption_above", 0)
    assert caption[3] < figure[1]
    figure, caption = boxes("caption_beside", 1)
    assert figure[2] < caption[0]
    figure, caption = boxes("separate_bitmaps", 0)
    assert figure[3] < caption[1]


def test_labels_are_as_printed(by_feature: Mapping[str, TypesetArticle]) -> None:
    assert [f["label"] for f in by_feature["caption_number_only"].truth["figures"]] == ["Figure 1", "2", "Figure 3"]


def test_retraction_is_marked_in_xml_and_metadata(by_feature: Mapping[str, TypesetArticle]) -> None:
    retracted, notice = by_feature["retracted"], by_feature["retraction_notice"]
    assert retracted.metadata["is_retracted"] is True
    related = etree.fromstring(retracted.xml or b"").find(".//related-article")
    assert related is not None
    assert related.get("related-article-type") == "retraction-forward"
    root = etree.fromstring(notice.xml or b"")
    assert root.get("article-type") == "retraction"
    related = root.find(".//related-article")
    assert related is not None
    assert related.get("related-article-type") == "retracted-article"
    assert retracted.expected.is_retracted
    assert notice.expected.is_retracted


def test_the_truncated_pdf_cannot_be_opened(by_feature: Mapping[str, TypesetArticle]) -> None:
    article = by_feature["truncated_pdf"]
    assert article.pdf is not None
    assert article.pdf.startswith(b"%PDF-")
    with pytest.raises(pymupdf.FileDataError):
        pymupdf.open(stream=article.pdf)


def test_the_encrypted_pdf_needs_its_password(by_feature: Mapping[str, TypesetArticle]) -> None:
    with pymupdf.open(stream=by_feature["encrypted_pdf"].pdf) as document:
        assert document.needs_pass
        with pytest.raises(ValueError, match=r"closed or encrypted"):
            document[0].get_text()
        assert document.authenticate(PASSWORD)
        assert "Introduction" in document[0].get_text()


def test_malformed_xml_is_not_well_formed(by_feature: Mapping[str, TypesetArticle]) -> None:
    with pytest.raises(etree.XMLSyntaxError):
        etree.fromstring(by_feature["malformed_xml"].xml or b"")


def test_the_entity_bomb_would_expand_to_gigabytes(by_feature: Mapping[str, TypesetArticle]) -> None:
    xml = (by_feature["entity_bomb"].xml or b"").decode()
    entities = dict(re.findall(r'<!ENTITY (\w+) "([^"]*)">', xml))
    sizes: dict[str, int] = {}
    for name, value in entities.items():  # declared from the inside out
        references = re.findall(r"&(\w+);", value)
        sizes[name] = sum(sizes[r] for r in references) or len(value)
    used = re.findall(r"&(lol\d+);", xml.split("]>", 1)[1])
    assert [sizes[name] > 10**10 for name in used] == [True]
    with pytest.raises(etree.XMLSyntaxError):
        etree.fromstring(xml.encode())


def test_missing_files_are_missing(by_feature: Mapping[str, TypesetArticle]) -> None:
    assert by_feature["no_pdf"].pdf is None
    assert by_feature["no_xml"].xml is None
    assert by_feature["no_xml"].figures == {}
    assert by_feature["no_xml"].truth["figures"][0]["image_cluster_id"] is None


def test_another_seed_keeps_numbers_and_features() -> None:
    assert [(s.number, s.features) for s in sample_specs(3)] == [(s.number, s.features) for s in sample_specs()]
