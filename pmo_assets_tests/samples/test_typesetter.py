"""What typeset() promises: exact truth, the guide's format, the same bytes every time."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import pymupdf
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from lxml import etree
from PIL import Image

from pmo_assets.records.geometry import contains
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.samples import ArticleSpec, TypesetArticle, sample_specs, typeset
from pmo_assets_tests.examples import examples
from pmo_assets_tests.samples.page_ink import assert_exact, stacked_panels
from pmo_assets_tests.samples.random_specs import random_spec

SPECS = sample_specs()


def digest(article: TypesetArticle) -> str:
    """Hash everything that ends up in files."""
    total = hashlib.sha256()
    for data in (article.pdf or b"", article.xml or b"", article.text.encode(), *article.figures.values()):
        total.update(hashlib.sha256(data).digest())
    total.update(json.dumps([article.truth, article.metadata]).encode())
    return total.hexdigest()


@pytest.mark.parametrize("index", range(len(SPECS)), ids=lambda i: (SPECS[i].features or ("plain",))[-1])
def test_truth_agrees_with_the_rendered_pages(articles: tuple[TypesetArticle, ...], index: int) -> None:
    article = articles[index]
    if article.expected.pdf_readable:
        assert article.pdf is not None
        assert len(article.truth["figures"]) == len(SPECS[index].figures)
        assert_exact(article.pdf, article.truth)
    else:
        assert article.truth["figures"] == []


@pytest.mark.slow  # many pages
@examples(6, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10_000))
def test_truth_of_random_layouts_agrees_with_the_rendered_pages(seed: int) -> None:
    spec = random_spec(seed)
    article = typeset(spec)
    assert article.pdf is not None
    assert len(article.truth["figures"]) == len(spec.figures)
    assert_exact(article.pdf, article.truth)
    assert_guide_format(article)


@pytest.mark.parametrize("shift", [(-2, 0, 0, 0), (0, 2, 0, 0), (0, 0, 2, 0), (0, 0, 0, -2)])
def test_a_box_that_is_off_by_two_points_would_be_noticed(
    articles: tuple[TypesetArticle, ...], shift: tuple[float, ...]
) -> None:
    article = articles[4]
    truth = json.loads(json.dumps(article.truth))
    location = truth["figures"][1]["figure_locations"][0]
    location["bbox"] = [value + moved for value, moved in zip(location["bbox"], shift, strict=True)]
    assert article.pdf is not None
    with pytest.raises(AssertionError):
        assert_exact(article.pdf, truth)


def assert_guide_format(article: TypesetArticle) -> None:
    """Check names, types and ranges of the annotation guide after a trip through JSON."""
    truth = json.loads(json.dumps(article.truth))
    assert set(truth) == {"article_id", "figures"}
    assert truth["article_id"] == article.name == f"PMC{article.article_id}"
    for figure in truth["figures"]:
        assert set(figure) == {
            "label", "image_cluster_id", "figure_locations", "caption_locations", "caption", "panels"
        }  # fmt: skip
        assert (f"{figure['image_cluster_id']}.jpg" in article.figures) == article.expected.xml_readable
        for location in [*figure["figure_locations"], *figure["caption_locations"]]:
            assert set(location) == {"page", "bbox"}
            assert location["page"] >= 0
            assert location["bbox"][0] < location["bbox"][2]
            assert location["bbox"][1] < location["bbox"][3]
        assert figure["panels"]
        names = [panel["identifier"] for panel in figure["panels"]]
        assert len(set(names)) == len(names)
        assert (None in names) == (len(names) == 1)
        for panel in figure["panels"]:
            assert set(panel) == {"identifier", "identifier_box", "box", "subcaption", "images"}
            boxes = [panel["box"], *(image["box"] for image in panel["images"])]
            boxes += [panel["identifier_box"]] if panel["identifier_box"] else []
            for box in boxes:
                assert 0 <= box[0] < box[2] <= 1
                assert 0 <= box[1] < box[3] <= 1
            assert panel["subcaption"]
            assert panel["images"]
            for image in panel["images"]:
                assert set(image) == {"box", "type", "marked"}
                assert image["type"] in IMAGE_TYPES
                assert isinstance(image["marked"], bool)
                assert contains(tuple(panel["box"]), tuple(image["box"]), 1e-5)


def test_annotations_have_the_guides_format(articles: tuple[TypesetArticle, ...]) -> None:
    for article in articles:
        assert_guide_format(article)


@pytest.mark.parametrize("feature", ["separate_bitmaps", "figure_over_two_pages", "identifiers_inside"])
def test_live_identifiers_and_bitmaps_lie_where_text_and_image_extraction_finds_them(
    by_feature: Mapping[str, TypesetArticle], feature: str
) -> None:
    article = by_feature[feature]
    with pymupdf.open(stream=article.pdf) as document:
        checked = 0
        for figure in article.truth["figures"]:
            for panel, part, _ in stacked_panels(figure):
                location = figure["figure_locations"][part]
                page, origin = document[location["page"]], location["bbox"]
                top = sum(other["bbox"][3] - other["bbox"][1] for other in figure["figure_locations"][:part])
                width = max(o["bbox"][2] - o["bbox"][0] for o in figure["figure_locations"])
                height = sum(o["bbox"][3] - o["bbox"][1] for o in figure["figure_locations"])
                box = panel["identifier_box"]
                placed = [origin[0] + box[0] * width, origin[1] + box[1] * height - top,
                          origin[0] + box[2] * width, origin[1] + box[3] * height - top]  # fmt: skip
                spans = [
                    span["bbox"]
                    for block in page.get_text("dict")["blocks"]
                    for line in block.get("lines", [])
                    for span in line["spans"]
                    if span["text"].strip("() ") == panel["identifier"]
                ]
                clipped = [np.clip(s, [*origin[:2]] * 2, [*origin[2:]] * 2) for s in spans]
                assert any(np.allclose(placed, c, atol=0.1) for c in clipped), (panel["identifier"], placed, spans)
                for image in panel["images"]:
                    if image["type"] == "Other":
                        continue
                    b = image["box"]
                    placed = [origin[0] + b[0] * width, origin[1] + b[1] * height - top,
                              origin[0] + b[2] * width, origin[1] + b[3] * height - top]  # fmt: skip
                    bitmaps = [info["bbox"] for info in page.get_image_info()]
                    assert any(np.allclose(placed, c, atol=0.05) for c in bitmaps)
                    checked += 1
        assert checked


def test_the_flat_figure_is_one_bitmap_and_has_no_live_text(by_feature: Mapping[str, TypesetArticle]) -> None:
    article = by_feature["flat_bitmap"]
    figure = article.truth["figures"][0]
    location = figure["figure_locations"][0]
    assert len(figure["panels"]) == 4
    with pymupdf.open(stream=article.pdf) as document:
        page = document[location["page"]]
        assert page.get_text("text", clip=pymupdf.Rect(location["bbox"])).strip() == ""
        assert len([i for i in page.get_image_info() if np.allclose(i["bbox"], location["bbox"], atol=0.05)]) == 1


def test_flat_and_separate_figures_show_the_same_panels(by_feature: Mapping[str, TypesetArticle]) -> None:
    separate = by_feature["separate_bitmaps"].truth["figures"][0]
    flat = by_feature["flat_bitmap"].truth["figures"][0]
    assert separate["caption"] == flat["caption"]
    assert [p["subcaption"] for p in separate["panels"]] == [p["subcaption"] for p in flat["panels"]]


def test_captions_are_the_same_in_xml_and_truth(articles: tuple[TypesetArticle, ...]) -> None:
    compared = 0
    for article in articles:
        if not (article.expected.xml_readable and article.expected.pdf_readable):
            continue
        assert article.xml is not None
        root = etree.fromstring(article.xml)
        captions = {}
        for figure in root.iter("fig"):
            graphic = figure.find("graphic")
            caption = figure.find("caption")
            assert graphic is not None
            assert caption is not None
            captions[graphic.get("{http://www.w3.org/1999/xlink}href")] = "".join(map(str, caption.itertext()))
        assert captions == {f["image_cluster_id"]: f["caption"] for f in article.truth["figures"]}
        compared += len(captions)
    assert compared >= 15


def test_every_figure_is_mentioned_in_the_text(articles: tuple[TypesetArticle, ...]) -> None:
    for article in articles:
        if article.expected.xml_readable:
            assert article.xml is not None
            root = etree.fromstring(article.xml)
            mentioned = {x.get("rid") for x in root.iter("xref") if x.get("ref-type") == "fig"}
            assert mentioned == {f.get("id") for f in root.iter("fig")}


def test_package_jpegs_are_small_and_have_the_figures_shape(articles: tuple[TypesetArticle, ...]) -> None:
    for article in articles:
        for figure in article.truth["figures"]:
            jpeg = article.figures.get(f"{figure['image_cluster_id']}.jpg")
            if jpeg is None:
                continue
            with Image.open(io.BytesIO(jpeg)) as picture:
                assert picture.format == "JPEG"
                assert picture.width == 700
                boxes = [location["bbox"] for location in figure["figure_locations"]]
                aspect = max(b[2] - b[0] for b in boxes) / sum(b[3] - b[1] for b in boxes)
                assert picture.width / picture.height == pytest.approx(aspect, rel=0.01)


@pytest.mark.parametrize("spec", [SPECS[0], SPECS[6], SPECS[11], random_spec(5)], ids=lambda s: s.name)
def test_the_same_specification_gives_the_same_bytes(spec: ArticleSpec) -> None:
    assert digest(typeset(spec)) == digest(typeset(spec))


@pytest.mark.slow  # a process
def test_another_process_with_another_hash_seed_gives_the_same_bytes(articles: tuple[TypesetArticle, ...]) -> None:
    code = (
        "from pmo_assets_tests.samples.test_typesetter import digest, SPECS, typeset;print(digest(typeset(SPECS[3])))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": "12345"}, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == digest(articles[3])


def test_another_seed_gives_other_pictures_and_text() -> None:
    first, second = typeset(SPECS[4]), typeset(sample_specs(1)[4])
    assert first.name == second.name
    assert first.text != second.text
    assert list(first.figures) == list(second.figures)
    assert all(first.figures[name] != second.figures[name] for name in first.figures)
