"""`pmo encode`: embeddings of anyone, evaluated."""

from __future__ import annotations

import json

import numpy as np
import PIL.Image
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import pmo_assets
from pmo_assets.cli.encode import encode_app
from pmo_assets.encoders.evaluation.embedding_files import write_embedding_table
from pmo_assets.encoders.evaluation.release_labels import image_type_of
from pmo_assets_tests.loading.small_release import write_release


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


def test_regions_are_compared_with_their_words_by_the_pairs_of_a_release(tmp_path) -> None:
    random = np.random.default_rng(0)
    vectors = random.standard_normal((6, 4))
    names = [f"r{number}" for number in range(6)]
    write_embedding_table(tmp_path / "e.parquet", names, "image", "region", vectors)
    write_embedding_table(tmp_path / "t.parquet", [f"{name}-t" for name in names], "text", "region", vectors)
    rows = [
        {"pair_id": f"{name}-t", "level": "region", "text_kind": "fragment", "text": name,
         "article_id": 1 + number // 2, "region_id": name, "split": "test"}
        for number, name in enumerate(names[:5])
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "pairs.parquet")
    options = [
        "--pairs",
        tmp_path / "pairs.parquet",
        "--level",
        "region",
        "--bootstrap",
        10,
        "--page",
        tmp_path / "p.html",
    ]
    done = run(
        "evaluate", "--images", tmp_path / "e.parquet", "--texts", tmp_path / "t.parquet", *options,
        "--json", tmp_path / "o.json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    result = json.loads((tmp_path / "o.json").read_text())
    assert (result["image_to_text"]["recall@1"], result["image_to_text"]["candidates"]) == (1, 5)
    assert "1 pictures stand in no pair" in " ".join(result["notes"])
    assert "median_rank" in (tmp_path / "p.html").read_text()


def test_arrays_and_tables_are_not_mixed(arrays, tmp_path) -> None:
    done = run("evaluate", "--images", arrays / "X.npy", "--texts", tmp_path / "t.parquet")
    assert "two arrays (.npy) or two Parquet files" in str(done.exception)
    done = run("evaluate", "--images", tmp_path / "e.parquet", "--texts", tmp_path / "t.parquet")
    assert "need --pairs" in str(done.exception)
    done = run("evaluate", "--images", arrays / "X.npy", "--texts", arrays / "Y.npy", "--split", "test")
    assert "are for Parquet files" in str(done.exception)


def test_encoders_are_compared_over_data_sets(arrays) -> None:
    np.save(arrays / "noise.npy", np.random.default_rng(1).standard_normal((300, 8)))
    files = []
    for encoder, texts in (("good", "Y.npy"), ("bad", "noise.npy")):
        for data in ("one", "two"):
            files.append(arrays / f"{encoder}-{data}.json")
            options = ["--encoder", encoder, "--data", data, "--json", files[-1]]
            run("evaluate", "--images", arrays / "X.npy", "--texts", arrays / texts, *options)
    done = run("compare", *files, "--k", 1)
    assert done.exit_code == 0, done.output
    good, bad = (line.split() for line in done.output.splitlines()[-2:])
    assert good == ["good", *["0.993"] * 4, "0.993", "1.000"]
    assert bad[-1] == "0.500"
    done = run("compare", *files[:3], "--k", 1)
    assert "bad has no result on two" in str(done.exception)
    done = run("compare", files[0], files[0])
    assert "two results of good on one" in str(done.exception)
    (arrays / "other.json").write_text('{"encoder": "x"}')
    done = run("compare", arrays / "other.json")
    assert "is no result of `pmo encode evaluate`: data: Field required" in str(done.exception)


def test_classes_are_told_by_prompts_probe_and_neighbours(tmp_path) -> None:
    done = run("prompts", "image_type", "--json", tmp_path / "prompts.json")
    sentences = json.loads((tmp_path / "prompts.json").read_text())
    assert len(done.output.splitlines()) == len(sentences)
    classes = ["CFP", "OCT", "Retinal Imaging", "Other"]
    random = np.random.default_rng(0)
    truth = np.arange(40) % 4
    np.save(tmp_path / "P.npy", np.eye(4)[[classes.index(row["class"]) for row in sentences]])
    for name in ("X", "T"):
        np.save(tmp_path / f"{name}.npy", np.eye(4)[truth] + 0.1 * random.standard_normal((40, 4)))
    np.save(tmp_path / "L.npy", np.array(classes)[truth])
    np.save(tmp_path / "numbers.npy", truth)
    options = [
        "--prompts",
        tmp_path / "P.npy",
        "--train-images",
        tmp_path / "T.npy",
        "--train-labels",
        tmp_path / "numbers.npy",
    ]
    done = run(
        "classify", "--images", tmp_path / "X.npy", "--labels", tmp_path / "L.npy", "--label-set", "image_type",
        *options, "--bootstrap", 10, "--json", tmp_path / "o.json", "--page", tmp_path / "o.html",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    found = {item["method"]: item for item in json.loads((tmp_path / "o.json").read_text())["classification"]}
    assert {method: item["macro_f1"] for method, item in found.items()} == {
        "zero-shot": 1.0,
        "linear probe": 1.0,
        "nearest neighbours": 1.0,
    }
    assert found["zero-shot"]["classes"] == dict.fromkeys(classes, 10)
    assert "balanced_accuracy" in (tmp_path / "o.html").read_text()
    np.save(tmp_path / "L.npy", np.array(["CFP"] * 39 + ["cfp"]))
    done = run(
        "classify",
        "--images",
        tmp_path / "X.npy",
        "--labels",
        tmp_path / "L.npy",
        "--label-set",
        "image_type",
        *options,
    )
    assert "label 'cfp', which is none of CFP" in str(done.exception)


def test_what_is_kept_under_perturbation_is_said(arrays) -> None:
    np.save(arrays / "noise.npy", np.random.default_rng(1).standard_normal((300, 8)))
    options = ["--perturbed", f"same={arrays / 'X.npy'}", "--perturbed", f"noise={arrays / 'noise.npy'}"]
    done = run(
        "robustness", "--images", arrays / "X.npy", "--texts", arrays / "Y.npy", *options, "--json", arrays / "o.json"
    )
    assert done.exit_code == 0, done.output
    same, noise = json.loads((arrays / "o.json").read_text())["robustness"]
    assert (same["perturbation"], same["image_to_text"]["recall@1"], same["image_to_text_p"]) == ("same", 1, 1)
    assert noise["text_to_image"]["recall@1"] < 0.1
    assert noise["text_to_image_p"] < 1e-10


def test_distance_between_sets(arrays) -> None:
    done = run("distance", arrays / "X.npy", arrays / "Y.npy", "--permutations", 99, "--json", arrays / "o.json")
    assert done.exit_code == 0, done.output
    (found,) = json.loads((arrays / "o.json").read_text())["distances"]
    assert found["p_value"] > 0.5
    assert (found["rows"], found["permutations"]) == ([300, 300], 99)


def test_perturbed_pictures_are_written_under_their_names(tmp_path) -> None:
    (tmp_path / "in" / "a").mkdir(parents=True)
    PIL.Image.fromarray(np.arange(12, dtype=np.uint8).reshape(3, 4)).save(tmp_path / "in" / "a" / "x.png")
    done = run("perturb", tmp_path / "in", tmp_path / "out", "--only", "flip", "--only", "zoom-0.8")
    assert done.exit_code == 0, done.output
    assert np.asarray(PIL.Image.open(tmp_path / "out/flip/a/x.png"))[0, :, 0].tolist() == [3, 2, 1, 0]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["flip", "zoom-0.8"]
    done = run("perturb", tmp_path / "in", tmp_path / "out", "--only", "melt")
    assert "there is no perturbation melt: brightness-0.6" in str(done.exception)


def test_a_map_is_drawn_as_picture_and_page(arrays) -> None:
    np.save(arrays / "L.npy", np.array(["CFP", "OCT"])[np.arange(300) % 2])
    options = ["--labels", arrays / "L.npy", "--method", "pca", "--most", 50]
    done = run("map", arrays / "X.npy", *options, "--page", arrays / "m.html", "--picture", arrays / "m.png")
    assert done.exit_code == 0, done.output
    assert PIL.Image.open(arrays / "m.png").width > 500
    assert (arrays / "m.html").read_text().count("data-label=") == 50
    assert "--page OUT.html" in str(run("map", arrays / "X.npy").exception)
    assert "needs --release" in str(run("map", arrays / "X.parquet", "--page", arrays / "m.html").exception)


@pytest.mark.slow
def test_a_releases_panels_are_told_by_its_own_classes(tmp_path) -> None:
    write_release(tmp_path / "data", articles=20)
    panels = list(pmo_assets.load(tmp_path / "data").panels)
    classes = ["CFP", "OCT", "Retinal Imaging", "Other"]
    rows = [np.eye(5)[classes.index(kind) if (kind := image_type_of(panel)) else 4] for panel in panels]
    random = np.random.default_rng(0).standard_normal((len(panels), 5))
    write_embedding_table(
        tmp_path / "e.parquet", [panel.panel_id for panel in panels], "image", "panel", np.array(rows) + 0.1 * random
    )
    done = run(
        "classify", "--images", tmp_path / "e.parquet", "--release", tmp_path / "data", "--label-set", "image_type",
        "--bootstrap", 10, "--json", tmp_path / "o.json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    result = json.loads((tmp_path / "o.json").read_text())
    assert {item["method"] for item in result["classification"]} == {"linear probe", "nearest neighbours"}
    assert all(item["accuracy"] > 0.9 for item in result["classification"])
    assert "not people's" in result["notes"][0]
    done = run("classify", "--images", tmp_path / "e.parquet")
    assert "needs --release" in str(done.exception)


def test_another_data_set_becomes_rows_that_can_be_embedded(tmp_path) -> None:
    root = tmp_path / "own"
    root.mkdir()
    for number, name in enumerate(("a.png", "b.png")):
        PIL.Image.new("L", (4, 3), 100 * number).save(root / name)
    (root / "metadata.csv").write_text("file_name,text\na.png,One\nb.png,Two\na.png,Three\nnone.png,Four\n")
    done = run("examples", "captioned-folder", root, tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "3 rows of 2 pictures" in done.output
    assert "1 without a picture" in done.output
    rows = [json.loads(line) for line in (tmp_path / "out" / "rows.jsonl").read_text().splitlines()]
    assert [(row["id"], row["text"]) for row in rows] == [("a.png", "One"), ("a.png", "Three"), ("b.png", "Two")]
    assert [np.asarray(PIL.Image.open(tmp_path / "out" / row["picture"])).max() for row in rows] == [0, 0, 100]
    assert np.load(tmp_path / "out" / "groups.npy").tolist() == ["a.png", "a.png", "b.png"]
    # a picture's other caption is no wrong answer
    np.save(tmp_path / "X.npy", np.eye(2)[[0, 0, 1]])
    options = ["--groups", tmp_path / "out" / "groups.npy", "--json", tmp_path / "o.json"]
    run("evaluate", "--images", tmp_path / "X.npy", "--texts", tmp_path / "X.npy", *options)
    assert json.loads((tmp_path / "o.json").read_text())["image_to_text"]["recall@1"] == 1
    assert "is there already" in str(run("examples", "captioned-folder", root, tmp_path / "out").exception)
    assert "no data set 'none': mimic-cxr" in str(run("examples", "none", root, tmp_path / "new").exception)


def test_labels_of_another_data_set_go_into_classify(tmp_path) -> None:
    labels = np.array([[3], [0], [1], [2]], np.uint8)
    np.savez(tmp_path / "octmnist.npz", test_images=np.zeros((4, 28, 28), np.uint8), test_labels=labels)
    done = run("examples", "octmnist", tmp_path, tmp_path / "out")
    assert done.exit_code == 0, done.output
    first = json.loads((tmp_path / "out" / "rows.jsonl").read_text().splitlines()[0])
    assert (first["class"], first["text"]) == ("normal", None)
    assert np.load(tmp_path / "out" / "labels.npy").tolist() == [3, 0, 1, 2]


def test_a_picture_that_cannot_be_read_leaves_no_folder(tmp_path) -> None:
    (tmp_path / "own" / "x").mkdir(parents=True)
    (tmp_path / "own" / "x" / "a.png").write_bytes(b"none")
    done = run("examples", "class-folders", tmp_path / "own", tmp_path / "out")
    assert "is no picture that can be read" in str(done.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own"]


def test_without_scikit_learn_the_extra_is_named(arrays, monkeypatch) -> None:
    monkeypatch.setattr("pmo_assets.cli.encode.find_spec", lambda name: None)
    done = run("map", arrays / "X.npy", "--page", arrays / "m.html")
    assert "pip install 'pmo-assets[encoders]'" in str(done.exception)
    assert run("evaluate", "--images", arrays / "X.npy", "--texts", arrays / "Y.npy").exit_code == 0
