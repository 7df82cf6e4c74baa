"""`pmo encode train` and `embed`, and `evaluate` with what they write."""

from __future__ import annotations

import json
import shutil
import tarfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from pmo_assets.cli.console import CommandError
from pmo_assets.cli.main import app
from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError
from pmo_assets.encoders.examples.units import ExamplesError
from pmo_assets.encoders.networks.choice import EncoderError
from pmo_assets.release.hub.webdataset import write_webdataset
from pmo_assets_tests.encoders.tiny import recipe_toml
from pmo_assets_tests.loading.small_release import write_release, write_sums


def encode(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["encode", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed here")
@pytest.mark.parametrize("command", [("train", "run", "data"), ("embed", "run", "data", "--out", "E.parquet")])
def test_without_pytorch_it_says_what_is_missing(command: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="pmo-assets\\[models\\]"):
        encode(*command)


needs_packages = pytest.mark.skipif(
    find_spec("open_clip") is None, reason="the extra `encoders` is not installed: make test-models"
)


@needs_packages
def test_from_pairs_to_a_result(tiny_encoder: Path, pairs_release: Path, tmp_path: Path) -> None:
    recipe, tars = tmp_path / "recipe.toml", tmp_path / "tars"
    recipe.write_text(recipe_toml(tiny_encoder))
    write_webdataset(pairs_release / "release" / "hub", tars, config="pairs", shard_size=10**6)
    told = encode("train", tmp_path / "run", tars, "--recipe", recipe, "--set", "optimiser.steps=3", "--threads", 1)
    assert "step 3: loss" in told
    assert "#   optimiser.steps=3" in (tmp_path / "run" / "model" / "recipe.toml").read_text()
    out = tmp_path / "E.parquet"
    told = encode("embed", tmp_path / "run", pairs_release, "--out", out, "--level", "panel")
    assert "pictures and" in told
    result = tmp_path / "result.json"
    encode(
        "evaluate", "--images", out, "--texts", out, "--pairs", pairs_release, "--split", "test", "--json", result
    )  # fmt: skip
    assert json.loads(result.read_text())["image_to_text"]["queries"] > 0
    other = tmp_path / "other.parquet"
    encode("embed", tiny_encoder, pairs_release, "--out", other, "--level", "panel")
    with pytest.raises(EmbeddingsError, match="one encoder"):
        encode("evaluate", "--images", out, "--texts", other, "--pairs", pairs_release)


@needs_packages
def test_bad_input_is_one_error_and_leaves_nothing(tiny_encoder: Path, pairs_release: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(recipe_toml(tiny_encoder))
    cases: list[tuple[Path, type[Exception], str]] = []
    one = tmp_path / "one"
    write_release(one, articles=1)
    cases.append((one, ExamplesError, "one article"))
    without = tmp_path / "without"
    write_release(without, articles=3)
    for file in (without / "release" / "hub" / "data" / "pairs").iterdir():
        file.unlink()
    write_sums(without / "release" / "hub")
    cases.append((without, ExamplesError, "no pairs to train on"))
    broken = tmp_path / "broken"
    write_webdataset(pairs_release / "release" / "hub", broken, config="pairs", shard_size=10**6)
    _break_pictures(broken / "train-000000.tar")
    cases.append((broken, ExamplesError, "is broken"))
    for place, error, words in cases:
        with pytest.raises(error, match=words):
            encode("train", tmp_path / "run" / place.name, place, "--recipe", recipe)
        assert not (tmp_path / "run" / place.name / "model").exists()
    with pytest.raises(ExamplesError, match="is broken"):
        encode("embed", tiny_encoder, broken, "--out", tmp_path / "E.parquet")
    assert not list(tmp_path.glob("*E.parquet*"))
    with pytest.raises(EncoderError, match="holds no encoder"):
        encode("embed", tmp_path, pairs_release, "--out", tmp_path / "E.parquet")
    with pytest.raises(CommandError, match="there is no level"):
        encode("embed", tiny_encoder, pairs_release, "--out", tmp_path / "E.parquet", "--level", "pixel")


@needs_packages
def test_pictures_lines_and_rows_become_arrays_in_their_order(tiny_encoder: Path, tmp_path: Path) -> None:
    folder, rows = tmp_path / "pictures", tmp_path / "rows"
    for name, colour in (("b.png", (200, 40, 40)), ("a.png", (10, 90, 200))):
        folder.mkdir(exist_ok=True)
        Image.new("RGB", (40, 30), colour).save(folder / name)
    (folder / "metadata.csv").write_text("file_name,text\na.png,OCT scan\nb.png,fundus\n")
    encode("vectors", tiny_encoder, folder, "--out", tmp_path / "X.npy")
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(folder / "b.png", alone)
    encode("vectors", tiny_encoder, alone, "--out", tmp_path / "B.npy")
    found = np.load(tmp_path / "X.npy")
    assert found.shape == (2, 16)
    np.testing.assert_allclose(found[1], np.load(tmp_path / "B.npy")[0], atol=1e-5)
    assert np.abs(found[0] - found[1]).max() > 1e-3
    (tmp_path / "lines.txt").write_text("OCT scan\nfundus\n")
    encode("vectors", tiny_encoder, tmp_path / "lines.txt", "--out", tmp_path / "P.npy")
    encode("examples", "captioned-folder", folder, rows)
    encode("vectors", tiny_encoder, rows / "rows.jsonl", "--out", tmp_path / "both")
    np.testing.assert_allclose(np.load(tmp_path / "both" / "images.npy"), found, atol=1e-5)
    np.testing.assert_allclose(np.load(tmp_path / "both" / "texts.npy"), np.load(tmp_path / "P.npy"), atol=1e-5)
    (folder / "c.png").write_bytes(b"no picture")
    with pytest.raises(EmbeddingsError, match=r"c\.png"):
        encode("vectors", tiny_encoder, folder, "--out", tmp_path / "broken.npy")
    assert not list(tmp_path.glob("*broken*"))


def _break_pictures(tar: Path) -> None:
    """Overwrite the middle of every picture in a tar."""
    with tarfile.open(tar) as members:
        places: list[Any] = [(item.offset_data, item.size) for item in members if item.name.endswith((".png", ".webp"))]
    with tar.open("r+b") as stream:
        for offset, size in places:
            stream.seek(offset + 20)
            stream.write(b"\0" * (size // 2))
