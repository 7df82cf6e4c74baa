"""The steps for one article, on the sample articles: the same functions that assets and `pmo article` call."""

from __future__ import annotations

import dataclasses
import io
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from PIL import Image

from pmo_assets.pictures import PictureUnreadable, decoded, png_bytes
from pmo_assets.pipeline.article import ArticleResult, annotation, process_article
from pmo_assets.pipeline.articles.licences import freedoms, license_code
from pmo_assets.pipeline.articles.mentions import MAX_PARAGRAPH, MAX_TEXT
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.articles.steps import read_article
from pmo_assets.pipeline.assembly.reading.text_readers import ReadingOptions
from pmo_assets.pipeline.detection.steps import DetectionOptions, detect_article_images, detect_article_panels
from pmo_assets.pipeline.figures.matched import matched_figures
from pmo_assets.records.figure_names import UNMATCHED_PREFIX
from pmo_assets.records.memory_stores import MemoryObjects, MemoryPixels
from pmo_assets.records.stores import Picture
from pmo_assets.samples import TypesetArticle, sample_articles
from pmo_assets_tests.pipeline.articles.pdf_pages import front_page

NO_READER = ReadingOptions("none")


@cache
def samples() -> tuple[TypesetArticle, ...]:
    """All articles of the standard set, typeset once."""
    return tuple(sample_articles())


def package_of(article: TypesetArticle, objects: MemoryObjects) -> dict[str, Any]:
    """Put a typeset article into an object store and return its row of `article_packages`."""
    return {
        "article_id": article.article_id,
        "name": article.name,
        "version": 1,
        "license_code": None,
        "is_retracted": False,
        "title": None,
        "citation": None,
        "doi": None,
        "is_manuscript": False,
        "license_unknown": False,
        "pdf": objects.put(article.pdf, ".pdf") if article.pdf is not None else None,
        "xml": objects.put(article.xml, ".xml") if article.xml is not None else None,
        "figure_files": [
            {"name": name, "key": objects.put(data, ".jpg")} for name, data in sorted(article.figures.items())
        ],
    }


def processed(article: TypesetArticle) -> ArticleResult:
    objects = MemoryObjects({})
    return process_article(package_of(article, objects), objects, specialty=load_specialty("ophthalmology"))


def test_the_xml_of_the_article_gives_its_facts() -> None:
    article = next(item for item in samples() if item.expected.relevant)
    facts = processed(article).article
    assert facts["title"] == article.metadata["title"]
    assert facts["license_code"] == article.expected.license_code, "read from the XML: the package row states none"
    assert facts["relevant"]
    assert facts["criteria"] == ["i", "ii", "iii"]


def test_metadata_that_cannot_be_read_leaves_the_licence_unknown_whatever_the_article_says() -> None:
    article = next(item for item in samples() if item.expected.relevant and item.expected.license_code)
    for typeset in (article, dataclasses.replace(article, xml=None)):
        objects = MemoryObjects({})
        package = {**package_of(typeset, objects), "license_unknown": True}
        (row,) = read_article(package, objects, load_specialty("ophthalmology")).rows
        assert row["license_code"] is None
        assert row["selected"], "it goes on, below the data root"


@pytest.mark.parametrize(
    ("metadata", "written", "expected", "said"),
    [
        ("CC BY", "licensed under CC BY 4.0", "CC BY", None),
        ("CC BY-NC", "licensed under CC BY 4.0", "CC BY-NC", None),
        ("CC BY", "licensed under CC BY-NC 4.0", "CC BY-NC", "the conditions of both hold, CC BY-NC"),
        ("CC BY-SA", "licensed under CC BY-NC 4.0", "CC BY-NC-SA", "the conditions of both hold, CC BY-NC-SA"),
        ("CC BY", "CC BY 4.0 ND", "CC BY-ND", "the conditions of both hold, CC BY-ND"),
        ("CC BY", "No derivatives.", "CC BY-ND", "the conditions of both hold, CC BY-ND"),
        ("CC BY", "This is not an open access article.", None, '("not")'),
        ("CC BY", "All rights reserved.", None, '("rights", "reserved")'),
        ("CC BY", "Elsevier user licence", None, '("user", "licence")'),
        ("CC BY", "Printed on nice paper under CC BY.", "CC BY", None),
        (None, "Printed on nice paper under CC BY.", None, '("Printed", "nice")'),
        (None, "© 2020 A Press. CC BY, sauf mention contraire.", None, '("sauf")'),
        (None, "Free to read.", None, None),
        ("not CC BY", "licensed under CC BY 4.0", None, None),
    ],
)
def test_of_metadata_and_xml_the_conditions_of_both_hold_and_a_contradiction_is_said(
    metadata: str | None, written: str, expected: str | None, said: str | None
) -> None:
    objects = MemoryObjects({})
    licence = f"<permissions><license><license-p>{written}</license-p></license></permissions>"
    article = next(item for item in samples() if item.expected.relevant)
    xml = re.sub(rb"<permissions>.*?</permissions>", licence.encode(), article.xml or b"", count=1, flags=re.DOTALL)
    article = dataclasses.replace(article, xml=xml)

    output = read_article(
        {**package_of(article, objects), "license_code": metadata}, objects, load_specialty("ophthalmology")
    )

    (row,) = output.rows
    messages = [item.message for item in output.rejections if item.error_class == "LicenceUnclear"]
    assert row["license_code"] == expected
    assert len(messages) == (said is not None)
    assert said is None or said in messages[0]
    assert row["license_url"] is None or license_code(row["license_url"]) == expected


def test_a_curated_licence_that_is_none_of_ours_is_not_replaced_by_what_the_article_says() -> None:
    article = next(item for item in samples() if item.expected.relevant and item.expected.license_code)
    for stated, expected in (("All rights reserved", None), ("NO-CC CODE", None), ("CC BY-NC", "CC BY-NC")):
        objects = MemoryObjects({})
        package = {**package_of(article, objects), "license_code": stated}
        (row,) = read_article(package, objects, load_specialty("ophthalmology")).rows
        assert row["license_code"] == expected


def broken_pictures() -> dict[str, tuple[bytes, str]]:
    """Contents that are no pictures, with a word of the reason."""
    whole = io.BytesIO()
    Image.effect_noise((300, 200), 60).convert("RGB").save(whole, "JPEG")
    bomb = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(bomb, "PNG")
    return {
        "truncated": (whole.getvalue()[:2000], "damaged"),
        "web page": (b"<!DOCTYPE html><html><body>404 Not Found</body></html>", "no JPEG"),
        "empty": (b"", "empty"),
        "bomb": (bomb.getvalue(), "pixels"),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["truncated", *(pytest.param(name, marks=pytest.mark.slow) for name in ("bomb", "web page", "empty"))]
)
def test_a_package_picture_that_cannot_be_decoded_is_one_rejection_and_its_figure_goes_on(kind: str) -> None:
    content, word = broken_pictures()[kind]
    article = next(item for item in samples() if item.expected.relevant and len(item.figures) > 1)
    name = sorted(article.figures)[0]
    whole = processed(article)
    broken = processed(dataclasses.replace(article, figures={**article.figures, name: content}))
    (rejection,) = broken.rejections
    assert (rejection.stage, rejection.error_class) == ("package_figures", "PictureUnreadable")
    assert rejection.part in {figure["image_cluster_id"] for figure in article.truth["figures"]}
    assert name in rejection.message
    assert word in rejection.message
    assert len(broken.figures) == len(whole.figures)


def test_a_picture_that_no_figure_names_is_rejected_under_its_own_name() -> None:
    article = next(item for item in samples() if item.expected.relevant)
    broken = processed(dataclasses.replace(article, figures={**article.figures, "supplement-7.png": b"GIF89a"}))
    assert [(item.part, item.error_class) for item in broken.rejections] == [("supplement-7", "PictureUnreadable")]


def test_an_article_without_xml_is_judged_by_its_pdf() -> None:
    article = next(item for item in samples() if item.expected.relevant)
    facts = processed(dataclasses.replace(article, xml=None)).article
    assert not facts["has_xml"]
    assert facts["relevant"]
    assert facts["relevance_reason"]


def credit_of(article: TypesetArticle, **stated: Any) -> dict[str, Any]:
    """Return the row of `articles` of a package whose metadata state something."""
    objects = MemoryObjects({})
    (row,) = read_article({**package_of(article, objects), **stated}, objects, load_specialty("everything")).rows
    return row


def test_whom_to_credit_is_read_from_the_pdf_where_there_is_no_xml() -> None:
    article = next(item for item in samples() if item.expected.relevant)
    with_xml, without = credit_of(article), credit_of(dataclasses.replace(article, xml=None))
    for fact in ("title", "authors", "doi", "year", "citation", "license_code"):
        assert without[fact] == with_xml[fact], fact
        assert with_xml[fact], fact
    assert with_xml["license_url"] == "https://creativecommons.org/licenses/by/4.0/"
    assert without["license_url"] is None, "the page names the licence without its version"
    assert {item["source"] for item in with_xml["stated_by"]} == {"XML"}
    assert {item["fact"] for item in without["stated_by"]} == {"title", "authors", "doi", "journal", "year"}
    assert "XML" not in {item["source"] for item in without["stated_by"]}


def test_under_which_words_an_article_is_filed_is_read_from_its_xml() -> None:
    article = next(item for item in samples() if item.expected.relevant)
    row, without = credit_of(article), credit_of(dataclasses.replace(article, xml=None))
    assert row["mesh_terms"] == ["Humans", "Tomography, Optical Coherence", "Retina"]
    assert row["keywords"] == ["optical coherence tomography", "retina", "macula"]
    assert (without["mesh_terms"], without["keywords"]) == ([], [])


def test_the_metadata_of_the_package_go_first() -> None:
    article = next(item for item in samples() if item.expected.relevant)
    doi = article.metadata["doi"].upper()  # the same
    stated = {"title": "The curated title", "doi": doi, "citation": "J. 2020; 1: 2"}
    row = credit_of(article, **stated)
    assert {fact: row[fact] for fact in stated} == stated
    assert {item["fact"] for item in row["stated_by"] if item["source"] == "metadata"} == {"title", "doi"}


def test_a_pdf_whose_title_says_so_is_retracted() -> None:
    article = next(item for item in samples() if item.expected.relevant)
    lines = [(40.0, 8.0, "doi:10.1000/1"), (120.0, 18.0, "RETRACTED: Cure of a viral infection by antibodies")]
    row = credit_of(dataclasses.replace(article, xml=None, pdf=front_page(lines)))
    assert (row["is_retracted"], row["selected"], row["doi"]) == (True, False, "10.1000/1")


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (b'xlink:href="https://creativecommons.org/licenses/by-nc-nd/4.0/"><license-p>Open access.', "CC BY-NC-ND"),
        (b"><license-p>Licensed under CC BY, no derivatives.", "CC BY-ND"),
        (b"><license-p>All rights reserved.", None),
        (b'xlink:href="https://creativecommons.org/licenses/by/4.0/"><license-p>CC BY.', "CC BY"),
        (b'xlink:href="https://creativecommons.org/publicdomain/zero/1.0/"><license-p>CC0.', "CC BY"),
    ],
)
@pytest.mark.parametrize("curated", ["CC BY", pytest.param(None, marks=pytest.mark.slow)])
def test_what_a_broken_xml_says_of_its_licence_can_only_restrict(
    said: bytes, code: str | None, curated: str | None
) -> None:
    article = next(item for item in samples() if item.expected.relevant and item.expected.license_code == "CC BY")
    xml = b"<article><permissions><license " + said + b"</license-p></license></permissions><p>Q & A</article>"
    objects = MemoryObjects({})
    package = {**package_of(dataclasses.replace(article, xml=xml), objects), "license_code": curated}
    result = process_article(package, objects, specialty=load_specialty("ophthalmology"))
    assert "MalformedXml" in {item.error_class for item in result.rejections}
    assert result.article["license_code"] == code or result.article["license_code"] is None
    assert freedoms(result.article["license_code"]) <= freedoms(code)


def test_a_broken_xml_is_recorded_and_the_figures_are_still_found() -> None:
    article = next(item for item in samples() if item.expected.relevant)
    whole = processed(article)
    broken = processed(dataclasses.replace(article, xml=b"<article><unclosed>"))
    assert [item.error_class for item in broken.rejections] == ["MalformedXml"]
    assert len(broken.figures) == len(whole.figures)
    assert not any(figure["matched"] for figure in broken.figures)


def test_an_encrypted_pdf_is_a_decision_about_the_article() -> None:
    article = next(item for item in samples() if item.pdf is not None and not item.expected.pdf_readable)
    result = processed(article)
    assert result.figures == []
    assert [item.stage for item in result.rejections] == ["pdf_figures"]


def test_an_article_without_pdf_ends_with_a_rejection() -> None:
    article = next(item for item in samples() if item.pdf is None)
    result = processed(article)
    assert result.figures == []
    assert "NoPdf" in [item.error_class for item in result.rejections]


@pytest.mark.slow  # every sample article
def test_every_readable_sample_article_goes_through_and_agrees_with_the_ground_truth() -> None:
    right = wrong = 0
    for article in samples():
        if article.pdf is None or not article.expected.pdf_readable:
            continue
        result = processed(article)
        assert [item for item in result.rejections if item.traceback_tail] == [], article.name
        if not article.expected.relevant:
            continue
        found = {figure["image_cluster_id"]: figure for figure in annotation(article.name, result)["figures"]}
        for figure in article.truth["figures"]:
            answers = {
                p["identifier"]: p["subcaption"]
                for p in found.get(figure["image_cluster_id"], {"panels": []})["panels"]
            }
            for panel in figure["panels"]:
                hit = answers.get(panel["identifier"]) == panel["subcaption"]
                right, wrong = right + hit, wrong + (not hit)
    assert right / (right + wrong) > 0.8, (right, wrong)


@pytest.mark.slow
def test_the_same_article_gives_the_same_answer() -> None:
    article = next(item for item in samples() if item.expected.relevant)
    assert annotation("x", processed(article)) == annotation("x", processed(article))


def test_figures_in_groups_for_a_gpu_get_what_they_get_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Structure needs no GPU, but takes the same way there as the networks. Images need no split of the caption."""
    article = max(samples(), key=lambda item: len(item.truth["figures"]) if item.expected.pdf_readable else 0)
    objects, pixels = MemoryObjects({}), MemoryPixels({})
    found = process_article(
        package_of(article, objects), objects, specialty=load_specialty("ophthalmology"), pixels=pixels
    )
    one, many = (DetectionOptions(source="structure", provider=provider) for provider in ("cpu", "cuda"))
    number, figures = article.article_id, found.figures
    assert len(figures) > 1
    panels = detect_article_panels(number, figures, [], pixels, many, NO_READER)
    assert panels == detect_article_panels(number, figures, [], pixels, one, NO_READER)
    assert panels.rows
    with monkeypatch.context() as without:
        without.delattr("pmo_assets.pipeline.detection.steps.alternative_splits")
        images = detect_article_images(number, figures, panels.rows, [], pixels, many)
        assert images == detect_article_images(number, figures, panels.rows, [], pixels, one)
    assert images.rows

    key = figures[0]["pdf_figure_id"]
    pixels.pictures[number][key] = Picture(key, 1, 1, b"no png")
    damaged = detect_article_panels(number, figures, [], pixels, many, NO_READER)
    cluster = figures[0]["image_cluster_id"]
    assert [(item.part, item.error_class) for item in damaged.rejections] == [(cluster, "PictureUnreadable")]
    assert damaged.rows == [row for row in panels.rows if row["image_cluster_id"] != cluster]


def test_pictures_are_decoded_as_rgb() -> None:
    pixels = np.zeros((4, 6, 3), dtype=np.uint8)
    pixels[..., 0] = 200
    assert np.array_equal(decoded(Picture("k", 6, 4, png_bytes(pixels)), "k"), pixels)


def test_a_missing_or_damaged_picture_says_what_to_do() -> None:
    with pytest.raises(PictureUnreadable, match="materialise"):
        decoded(None, "k")
    with pytest.raises(PictureUnreadable, match="damaged"):
        decoded(Picture("k", 1, 1, b"no png"), "k")


def test_figures_take_the_facts_of_the_package_figure_they_match() -> None:
    shared = {
        "article_id": 1,
        "confidence": 0.9,
        "caption_locations": [],
        "page_sizes": [{"page": 0, "width": 612.0, "height": 792.0}],
        "width": 1,
        "height": 1,
        "dpi": 72.0,
        "bitmaps": [],
        "texts": [],
        "shapes": [],
    }
    one_page, two_pages = (
        [{"page": 0, "bbox": [0, 0, 1, 1]}],
        [{"page": 0, "bbox": [0, 0, 1, 1]}, {"page": 1, "bbox": [0, 0, 1, 1]}],
    )
    located = [
        {**shared, "pdf_figure_id": "p0-1", "ordinal": 0, "label": "Fig. 1", "caption": "pdf", "locations": two_pages},
        {**shared, "pdf_figure_id": "p2-1", "ordinal": 1, "label": "Fig. 2", "caption": "pdf", "locations": one_page},
    ]
    matches = [
        {"article_id": 1, "pdf_figure_id": "p0-1", "image_cluster_id": "g1", "criteria_passed": 3, "accepted": True},
        {"article_id": 1, "pdf_figure_id": "p2-1", "image_cluster_id": "g1", "criteria_passed": 1, "accepted": False},
    ]
    packaged = [
        {
            "article_id": 1,
            "image_cluster_id": "g1",
            "label": "Figure 1",
            "caption": "xml",
            "rights_statement": None,
            "mentions": [{"m": 1}],
        }
    ]
    first, second = matched_figures(located, matches, packaged)
    assert (first["image_cluster_id"], first["caption"], first["label"]) == ("g1", "xml", "Figure 1")
    assert (first["is_multi_page"], first["matched"], first["match_criteria"], first["mentions"]) == (
        True,
        True,
        3,
        [{"m": 1}],
    )
    assert (second["image_cluster_id"], second["caption"], second["label"]) == (
        UNMATCHED_PREFIX + "p2-1",
        "pdf",
        "Fig. 2",
    )
    assert (second["is_multi_page"], second["matched"], second["match_criteria"]) == (False, False, None)


def test_labels_of_the_figures_own_row_are_evidence_for_the_type_of_its_images() -> None:
    article = next(item for item in samples() if item.expected.relevant)
    objects, pixels = MemoryObjects({}), MemoryPixels({})
    package = package_of(article, objects)
    result = process_article(package, objects, specialty=load_specialty("ophthalmology"), pixels=pixels)
    number, figures, options = article.article_id, result.figures, DetectionOptions(source="structure")
    panels = detect_article_panels(number, figures, [], pixels, options, NO_READER).rows
    first, second = (figure["image_cluster_id"] for figure in figures[:2])
    match = {"secondary_labels": ["optical coherence tomography"], "primary_labels": [], "panel_subtype": ""}
    matches = [
        {**match, "image_cluster_id": first, "accepted": True},
        {**match, "image_cluster_id": second, "accepted": False, "panel_subtype": None, "secondary_labels": []},
    ]
    images = detect_article_images(number, figures, panels, [], pixels, options, matches).rows
    labelled = {row["image_cluster_id"] for row in images if "labelled OCT" in row["type_reason"]}
    assert labelled == {first}
    assert {row["image_cluster_id"] for row in images} >= {first, second}


def running_text(article: TypesetArticle, **changes: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the column `paragraphs` of a package, and the classes of its rejections."""
    objects = MemoryObjects({})
    package = {**package_of(article, objects), **changes}
    output = read_article(package, objects, load_specialty("ophthalmology"))
    return output.rows[0]["paragraphs"], [item.error_class for item in output.rejections]


def test_the_running_text_is_that_of_the_xml_with_its_sections() -> None:
    article = next(item for item in samples() if item.expected.relevant)

    paragraphs, _ = running_text(article)

    assert {item["source"] for item in paragraphs} == {"xml"}
    assert list(dict.fromkeys(item["section"] for item in paragraphs)) == [
        "abstract", "introduction", "methods", "results", "discussion",
    ]  # fmt: skip
    assert any(item["references"] for item in paragraphs)


@pytest.mark.parametrize("with_front", [False, True])
def test_without_a_body_in_the_xml_the_running_text_is_that_of_the_pdf(with_front: bool) -> None:
    article = next(item for item in samples() if item.expected.relevant)
    assert article.xml is not None
    bodiless = re.sub(rb"<body>.*</body>", b"", article.xml, flags=re.DOTALL) if with_front else None

    paragraphs, rejections = running_text(dataclasses.replace(article, xml=bodiless))

    printed = {"".join(item["text"].split()) for item in paragraphs}
    listed = ["".join(item["text"].split()) for item in running_text(article)[0]]
    assert {item["source"] for item in paragraphs} == {"pdf"}
    assert {"introduction", "methods", "results", "discussion"} <= {item["section"] for item in paragraphs}
    found = sum(any(text[:80] in other for other in printed) for text in listed)
    assert found >= 0.9 * len(listed)
    assert rejections == []


def test_an_article_that_cannot_go_on_has_no_running_text() -> None:
    article = next(item for item in samples() if item.expected.relevant)

    assert running_text(article, is_retracted=True)[0] == []
    assert running_text(article, pdf=None) == ([], ["NoPdf"])


def test_running_text_without_end_is_cut_and_says_so() -> None:
    article = next(item for item in samples() if item.expected.relevant)
    assert article.xml is not None
    endless = article.xml.replace(b"</body>", b"<p>" + b"A sentence (Figure 1). " * 100_000 + b"</p></body>")

    paragraphs, rejections = running_text(dataclasses.replace(article, xml=endless))

    assert rejections == ["RunningTextCut"]
    assert max(len(item["text"]) for item in paragraphs) <= MAX_PARAGRAPH
    assert sum(len(item["text"]) for item in paragraphs) <= MAX_TEXT
