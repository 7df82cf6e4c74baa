"""`pmo encode`: embeddings of anyone, evaluated."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from pmo_assets.cli.encode import encode_app


def run(*arguments):
    return CliRunner(env={"COLUMNS": "120"}).invoke(encode_app, list(map(str, arguments)))


@pytest.fixture
def arrays(tmp_path):
    images = np.random.default_rng(0).standard_normal((300, 8)).astype(np.float32)
    texts = images.copy()
    texts[[0, 1]] = texts[[1, 0]]
    np.save(tmp_path / "X.npy", images)
    np.save(tmp_path / "Y.npy", texts)
    return tmp_path


def test_arrays_are_evaluated_in_both_directions(arrays) -> None:
    done = run("evaluate", "--images", arrays / "X.npy", "--texts", arrays / "Y.npy", "--json", arrays / "out.json")
    assert done.exit_code == 0, done.output
    result = json.loads((arrays / "out.json").read_text())
    for direction in ("image_to_text", "text_to_image"):
        numbers = result[direction]
        assert numbers["recall@1"] == pytest.approx(298 / 300)
        assert numbers["recall@200"] >= numbers["recall@50"] >= numbers["recall@10"] >= numbers["recall@5"]
        assert numbers["mrr"] >= 298 / 300
        assert numbers["median_rank"] == 1
        assert (numbers["queries"], numbers["candidates"]) == (300, 300)
    assert "0.9933" in done.output


def test_groups_make_other_rows_right_answers_and_articles_are_drawn(arrays) -> None:
    np.save(arrays / "groups.npy", np.r_[0, 0, np.arange(1, 299)])
    np.save(arrays / "articles.npy", np.arange(300) // 3)
    options = ["--groups", arrays / "groups.npy", "--articles", arrays / "articles.npy", "--bootstrap", 20]
    done = run(
        "evaluate", "--images", arrays / "X.npy", "--texts", arrays / "Y.npy", *options, "--json", arrays / "o.json"
    )
    assert done.exit_code == 0, done.output
    found = json.loads((arrays / "o.json").read_text())["image_to_text"]
    assert found["recall@1"] == 1
    assert found["intervals"]["recall@1"] == [1, 1]


def test_arrays_that_do_not_fit_are_refused(arrays) -> None:
    np.save(arrays / "short.npy", np.ones((299, 8)))
    done = run("evaluate", "--images", arrays / "X.npy", "--texts", arrays / "short.npy", "--json", arrays / "o.json")
    assert done.exit_code == 1
    assert "300 rows" in str(done.exception)
    assert not (arrays / "o.json").exists()
