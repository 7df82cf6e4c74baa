"""`pmo article`: JSON and pictures of one package."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pmo_assets_tests.cli.command_line import Pmo
from pmo_assets_tests.models.chat_server import chat_server, looks_at_figures


def test_an_article_becomes_json_in_the_annotation_format(pmo: Pmo, sample_folder: Path, tmp_path: Path) -> None:
    truth_path = sorted((sample_folder / "truth").glob("*.json"))[0]
    out = tmp_path / "deep" / "out.json"
    result = pmo(
        "article", sample_folder / "articles" / truth_path.stem, "--out", out, "--overlays", tmp_path / "pictures"
    )
    assert result.returncode == 0, result.stderr
    found, truth = json.loads(out.read_text()), json.loads(truth_path.read_text())
    assert found["article_id"] == truth_path.stem
    assert len(found["figures"]) == len(truth["figures"])
    figure = found["figures"][0]
    assert set(figure) >= set(truth["figures"][0])
    assert 0 < figure["confidence"] <= 1
    assert all("score" in panel and "assembly" in panel for panel in figure["panels"])
    assert len(list((tmp_path / "pictures").glob("*.png"))) == len(found["figures"])


@pytest.mark.slow  # a whole article; the tests of viewing hold it
def test_pictures_show_marks_and_the_phrases_that_name_them(pmo: Pmo, few_articles: Path, tmp_path: Path) -> None:
    marked = few_articles / "PMC9000000003"  # drawn with an arrow, a circle and an arrowhead, which its caption names
    result = pmo("article", marked, "--out", tmp_path / "out.json", "--overlays", tmp_path / "pictures")
    assert result.returncode == 0, result.stderr
    page = tmp_path / "pictures" / "index.html"
    assert f"pictures of 2 figures: {page}" in result.stderr
    figures = json.loads((tmp_path / "out.json").read_text())["figures"]
    regions = [sum(len(panel["regions"]) for panel in figure["panels"]) for figure in figures]
    assert regions[0] >= 3
    assert regions[1] == 0
    text = page.read_text()
    assert f"6 panels, {regions[0]} regions" in text
    first, second = (re.search(rf'<img src="(p[0-9]+-1.png)".* alt="{name} with', text, re.IGNORECASE)
                     for name in ("Figure 1", "Figure 2"))  # fmt: skip
    assert first is not None
    assert second is not None
    pictures = [np.asarray(Image.open(page.parent / found[1])) for found in (first, second)]
    # The circle and the arrowhead are of this yellow, and so are the grounds of the words that name them.
    yellow = [(picture[-len(picture) // 8 :] == (255, 229, 26)).all(axis=2).sum() for picture in pictures]
    assert yellow[0] > 1000
    assert yellow[1] == 0


@pytest.mark.slow  # a whole article
def test_json_goes_to_standard_output_when_asked(pmo: Pmo, few_articles: Path) -> None:
    result = pmo("article", sorted(few_articles.iterdir())[0], "--out", "-")
    assert json.loads(result.stdout)["figures"]


def test_an_unknown_specialty_is_named(pmo: Pmo, few_articles: Path, tmp_path: Path) -> None:
    result = pmo("article", sorted(few_articles.iterdir())[0], "--out", tmp_path / "x.json", PMO_SPECIALTY="dentistry")
    assert result.returncode == 1
    assert "dentistry" in result.stderr
    assert "ophthalmology" in result.stderr, "the error lists what exists"


@pytest.mark.slow
def test_an_article_that_links_out_of_its_folder_reads_nothing_there(
    pmo: Pmo, few_articles: Path, tmp_path: Path
) -> None:
    package = tmp_path / "downloads" / "package"
    shutil.copytree(sorted(few_articles.iterdir())[0], package)
    (package / "article.xml").rename(tmp_path / "downloads" / "private.xml")
    (package / "article.xml").symlink_to("../private.xml")
    result = pmo("article", package, "--out", tmp_path / "out.json")
    assert result.returncode == 0, result.stderr
    assert "OutsideSource" in result.stderr
    assert json.loads((tmp_path / "out.json").read_text())["article_id"] == "package"


@pytest.mark.slow  # a whole article; the tests of vision hold it
def test_a_vision_model_is_asked_about_undecided_panels(pmo: Pmo, few_articles: Path, tmp_path: Path) -> None:
    package = sorted(few_articles.iterdir())[0]
    with chat_server(otherwise=looks_at_figures) as server:
        result = pmo(
            "article", package, "--out", tmp_path / "out.json", PMO_VLM_MODEL="sees", PMO_VLM_BASE_URL=server.base_url,
            PMO_MIN_ASSEMBLY_CONFIDENCE="1", PMO_DATA_ROOT=str(tmp_path),
        )  # fmt: skip
        asked = len(server.requests)
    assert result.returncode == 0, result.stderr
    assert asked > 0
    reasons = [
        panel["assembly_reason"]
        for figure in json.loads((tmp_path / "out.json").read_text())["figures"]
        for panel in figure["panels"]
    ]
    assert any("2 of 2 answers of the vision model" in reason for reason in reasons)
    assert len(list((tmp_path / "answers").rglob("*.json"))) == asked
