"""`pmo encode index | search | odd` on a small release."""

from __future__ import annotations

import json
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from pmo_assets.cli.console import CommandError
from pmo_assets.cli.main import app
from pmo_assets.encoders.encoder_mark import ENCODER_KEY, NAME_KEY, RELEASE_KEY, release_of
from pmo_assets.encoders.evaluation.embedding_files import write_embedding_table
from pmo_assets.encoders.search.index import SearchError
from pmo_assets.loading import load
from pmo_assets_tests.loading.small_release import write_release

needs_packages = pytest.mark.skipif(
    find_spec("open_clip") is None or find_spec("usearch") is None,
    reason="the extra `encoders` is not installed: make test-models",
)


def encode(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["encode", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def found(*arguments: object) -> list[dict[str, Any]]:
    read = json.loads(encode("search", *arguments, "--json"))
    assert isinstance(read, list)
    return read


@pytest.fixture(scope="module")
def embedded(pairs_release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Embeddings of all panels, also of those whose picture is withheld: random ones, each text that of its picture."""
    names = load(pairs_release).panels.to_arrow(["panel_id"]).column(0).to_pylist()
    values = np.random.default_rng(1).standard_normal((len(names), 8)).astype(np.float32)
    folder = tmp_path_factory.mktemp("embedded")
    write_embedding_table(folder / "images.parquet", names, "image", "panel", values)
    write_embedding_table(folder / "texts.parquet", [f"s-{name}" for name in names], "text", "panel", values)
    both = pa.concat_tables([pq.read_table(folder / f"{kind}.parquet") for kind in ("images", "texts")])
    pq.write_table(both.replace_schema_metadata({ENCODER_KEY: b"abc", NAME_KEY: b"Some encoder"}), folder / "E.parquet")
    return folder / "E.parquet"


@pytest.fixture(scope="module")
def index(embedded: Path, pairs_release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("index") / "I"
    encode("index", embedded, pairs_release, place, "--exact")
    return place


def test_a_panel_finds_others_with_text_licence_and_credit(index: Path, pairs_release: Path) -> None:
    release = load(pairs_release)
    panels = {panel.panel_id: panel for panel in release.panels}
    name = release.panels[0].panel_id
    told = found(index, pairs_release, "--panel", name, "-k", len(panels))
    assert {row["panel_id"] for row in told} == set(panels) - {name}
    assert [row["score"] for row in told] == sorted((row["score"] for row in told), reverse=True)
    for row in told:
        panel = panels[row["panel_id"]]
        assert row["subcaption"] == ("withheld" if panel.subcaption is None else panel.subcaption)
        assert (row["license"], row["attribution"], row["article_url"]) == (
            panel.license, panel.attribution, panel.article_url,
        )  # fmt: skip
    assert {row["subcaption"] == "withheld" for row in told} == {True, False}
    shown = encode("search", index, pairs_release, "--panel", name, "-k", 1)
    assert told[0]["panel_id"] in shown
    assert told[0]["attribution"] in shown
    assert told[0]["article_url"] in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "values"),
    [
        (("--modality", "OCT"), {"modality": "OCT"}),
        (("--eye", "right"), {"eye": "right"}),
        (("--disease", "AMD"), {"disease": "AMD"}),
        (("--modality", "OCT", "--modality", "CFP", "--eye", "OS"), {"modality": ["OCT", "CFP"], "eye": "OS"}),
    ],
)
def test_filters_are_those_of_a_release(index: Path, pairs_release: Path, options, values) -> None:
    release = load(pairs_release)
    name = release.panels[0].panel_id
    expected = {panel.panel_id for panel in release.panels.filter(**values)} - {name}
    told = found(index, pairs_release, "--panel", name, "-k", 100, *options)
    assert expected
    assert {row["panel_id"] for row in told} == expected


@pytest.mark.slow
def test_what_cannot_be_asked_is_one_error(index: Path, embedded: Path, pairs_release: Path, tmp_path: Path) -> None:
    name = load(pairs_release).panels[0].panel_id
    asked = (index, pairs_release)
    for more, words in (
        ((), "one thing"),
        (("a text", "--panel", name), "one thing"),
        (("a text",), "needs --model"),
        (("--panel", name, "--model", tmp_path), "needs no --model"),
        ((" ", "--model", tmp_path), "text is empty"),
    ):
        with pytest.raises(CommandError, match=words):
            found(*asked, *more)
    with pytest.raises(SearchError, match="no panel 'p_0'"):
        found(*asked, "--panel", "p_0")
    with pytest.raises(ValueError, match="there is no modality 'OTC'"):
        found(*asked, "--panel", name, "--modality", "OTC")
    with pytest.raises(SearchError, match="no panel with an embedding has disease 'uveitis'"):
        found(*asked, "--panel", name, "--disease", "uveitis")
    with pytest.raises(SearchError, match="is there already"):
        encode("index", embedded, pairs_release, index, "--exact")


@pytest.mark.slow
def test_another_release_is_refused(index: Path, embedded: Path, pairs_release: Path, tmp_path: Path) -> None:
    """Even one with the same panels and version: a byte is enough."""
    write_release(tmp_path / "same", articles=10)
    name = load(pairs_release).panels[0].panel_id
    assert found(index, tmp_path / "same", "--panel", name)
    write_release(tmp_path / "other", articles=10, seed=1)
    with pytest.raises(SearchError, match=r"is of release 2026\.11 .*, and .* is 2026\.11"):
        found(index, tmp_path / "other", "--panel", name)
    write_release(tmp_path / "fewer", articles=3)
    with pytest.raises(SearchError, match="of another release"):
        encode("index", embedded, tmp_path / "fewer", tmp_path / "I", "--exact")
    assert not (tmp_path / "I").exists()
    digest = load(pairs_release).digest.encode()
    marked = pq.read_table(embedded).replace_schema_metadata({ENCODER_KEY: b"abc", RELEASE_KEY: digest})
    pq.write_table(marked, tmp_path / "M.parquet")
    encode("index", tmp_path / "M.parquet", pairs_release, tmp_path / "own", "--exact")
    with pytest.raises(SearchError, match="of another release"):  # with the same panels
        encode("index", tmp_path / "M.parquet", tmp_path / "other", tmp_path / "I", "--exact")
    assert not (tmp_path / "I").exists()


def test_odd_panels_of_a_release(embedded: Path, pairs_release: Path, tmp_path: Path) -> None:
    """A text that no other panel has is turned round; every other text is its picture's own."""
    table = pq.read_table(embedded)
    rows = table.to_pylist()
    pairs = list(load(pairs_release).pairs.filter(level="panel"))
    wordings = Counter(pair.text for pair in pairs)
    turned = [pair.pair_id for pair in pairs if wordings[pair.text] == 1][:1]
    assert turned
    for row in rows:
        if row["kind"] == "text" and row["id"] in turned:
            row["embedding"] = [-number for number in row["embedding"]]
    changed = tmp_path / "E.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), changed)
    out, reports = tmp_path / "odd.jsonl", tmp_path / "reports.json"
    told = encode("odd", changed, pairs_release, "--out", out, "--reports", reports, "--far", 0.6, "--near", 1)
    assert "1 panel with a text far from the picture" in told
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    expected = {name.removeprefix("s-") for name in turned}
    assert {line["panel_id"] for line in lines if line["kind"] == "far_text"} == expected
    assert all(line["rank"] == line["texts"] for line in lines if line["kind"] == "far_text")
    assert len(json.loads(reports.read_text())["reports"]) == 1


@needs_packages
def test_a_text_and_a_picture_ask_by_the_encoder_of_the_index(
    tiny_encoder: Path, pairs_release: Path, index: Path, tmp_path: Path
) -> None:
    out, place = tmp_path / "E.parquet", tmp_path / "I"
    encode("embed", tiny_encoder, pairs_release, "--out", out, "--level", "panel")
    assert release_of(out) == load(pairs_release).digest
    assert "have no embedding" in encode("index", out, pairs_release, place)  # withheld pictures
    panel = next(panel for panel in load(pairs_release).panels if panel.picture())
    picture = tmp_path / "panel.png"
    picture.write_bytes(panel.picture() or b"")
    nearest = found(place, pairs_release, "--picture", picture, "--model", tiny_encoder)[0]
    assert (nearest["panel_id"], nearest["score"]) == (panel.panel_id, pytest.approx(1, abs=1e-4))
    asked = (place, pairs_release, "an OCT scan of the retina", "--model", tiny_encoder, "-k", 5)
    assert found(*asked) == found(*asked, "--exact")
    with pytest.raises(SearchError, match=r"is by Some encoder, and .* is another encoder"):
        found(index, pairs_release, "a text", "--model", tiny_encoder)
