"""A run: resumed to the bit, chosen by retrieval, stopped by nonsense; the same in two processes."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is in the extra `models` (make test-models)")
pytest.importorskip("open_clip", reason="open_clip is in the extra `encoders` (make test-models)")

from pmo_assets.encoders.embedding import embed_examples  # noqa: E402
from pmo_assets.encoders.evaluation.embedding_files import read_embedding_table  # noqa: E402
from pmo_assets.encoders.evaluation.evaluate import evaluate_retrieval  # noqa: E402
from pmo_assets.encoders.evaluation.pairs import paired, read_pairs  # noqa: E402
from pmo_assets.encoders.examples.example_sets import Examples  # noqa: E402
from pmo_assets.encoders.examples.reading import read_examples  # noqa: E402
from pmo_assets.encoders.examples.units import ExamplesError  # noqa: E402
from pmo_assets.encoders.networks.building import build_encoder, load_encoder  # noqa: E402
from pmo_assets.encoders.training import run as run_module  # noqa: E402
from pmo_assets.encoders.training.recipes import read_recipe  # noqa: E402
from pmo_assets.encoders.training.run import RunOptions, TrainingFault, rate_factor, train_encoder  # noqa: E402
from pmo_assets_tests.encoders.tiny import recipe_toml, write_tiny_bert  # noqa: E402


@pytest.fixture(scope="module")
def examples(pairs_release: Path) -> tuple[Examples, Examples]:
    return read_examples([pairs_release], "train"), read_examples([pairs_release], "validation")


def train(
    folder: Path, encoder: Path, examples: tuple[Examples, Examples], options: RunOptions | None = None, **changes: str
) -> list[dict[str, Any]]:
    folder.mkdir(parents=True, exist_ok=True)
    text = recipe_toml(encoder, **changes)
    (folder / "given.toml").write_text(text)
    recipe = read_recipe(str(folder / "given.toml"))
    return list(train_encoder(folder, *examples, recipe, text, options or RunOptions()))


def weights(folder: Path) -> dict[str, Any]:
    saved: dict[str, Any] = torch.load(folder / "last.pt", weights_only=True)["model"]
    return saved


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


class Killed(Exception):
    """Stands for a kill in the middle of a step."""


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kind": '"mixed"', "trained_image_blocks": "0", "trained_text_blocks": "0", "views": "3"},
        {
            "name": "convolutions",
            "trained_text_blocks": "0",
            "views": "2",
            "heads_first": "0.33",
            "tuned_share": "0.5",
            "more": "pretrained = false\nimage_size = 64",
        },
    ],
    ids=["pixels", "features", "maps"],
)
def test_a_run_that_is_killed_goes_on_to_the_same_weights(
    tiny_encoder: Path,
    examples: tuple[Examples, Examples],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, str],
) -> None:
    if "name" in changes:
        bert = write_tiny_bert(tmp_path / "bert")
        changes = {**changes, "name": f'"test_efficientnet + {bert.as_posix()}"'}
    options = RunOptions(save_every=2)
    whole = train(tmp_path / "whole", tiny_encoder, examples, options, **changes)
    for kill_at in (1, 4, 8):  # before the first checkpoint, between two, at one
        calls = 0
        original = run_module._Run._step

        def step(self: Any, original: Any = original, kill_at: int = kill_at) -> Any:
            nonlocal calls
            calls += 1
            if calls == kill_at:
                raise Killed
            return original(self)

        with monkeypatch.context() as patch:
            patch.setattr(run_module._Run, "_step", step)
            with pytest.raises(Killed):
                train(tmp_path / f"killed{kill_at}", tiny_encoder, examples, options, **changes)
        again = train(tmp_path / f"killed{kill_at}", tiny_encoder, examples, options, **changes)
        assert same(weights(tmp_path / f"killed{kill_at}"), weights(tmp_path / "whole"))
        assert {**again[-1], "per_second": 0} == {**whole[-1], "per_second": 0}
        rows = list(csv.DictReader((tmp_path / f"killed{kill_at}" / "curves.csv").open()))
        assert [row["step"] for row in rows] == ["3", "6", "9"]


def test_parts_of_a_batch_teach_the_same(
    tiny_encoder: Path, examples: tuple[Examples, Examples], tmp_path: Path
) -> None:
    changes = {"accumulate": "2", "kind": '"mixed"'}
    whole = train(tmp_path / "whole", tiny_encoder, examples, None, **changes)
    parts = train(tmp_path / "parts", tiny_encoder, examples, RunOptions(at_once=3), **changes)
    assert [record["loss"] for record in parts] == pytest.approx([record["loss"] for record in whole], abs=1e-4)


def test_a_run_learns_and_its_best_weights_are_what_others_load(
    tiny_encoder: Path, examples: tuple[Examples, Examples], pairs_release: Path, tmp_path: Path
) -> None:
    """On the training articles themselves: that it can learn, not how well."""
    both = (examples[0], examples[1])
    records = train(
        tmp_path, tiny_encoder, both, steps="60", evaluate_every="20", batch_size="24", learning_rate="3e-3",
        trained_image_blocks='"all"', kind='"mixed"',
    )  # fmt: skip
    assert records[-1]["loss"] < 0.8 * records[0]["loss"]
    assert {item.name for item in (tmp_path / "model").iterdir()} >= {
        "open_clip_config.json", "open_clip_model.safetensors", "README.md", "recipe.toml",
    }  # fmt: skip
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["step"] in {20, 40, 60}
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert list((tmp_path / "events").iterdir())
    encoder = load_encoder(tmp_path)
    counts = embed_examples(encoder, examples[0], tmp_path / "E.parquet")
    assert counts == {"image": len(examples[0]), "text": sum(len(t) for t in texts_of(examples[0]))}
    task = paired(
        read_embedding_table(tmp_path / "E.parquet", "image", "region"),
        read_embedding_table(tmp_path / "E.parquet", "text", "region"),
        read_pairs(pairs_release, "region", split="train"),
    )
    assert not task.left_out
    forth, _ = evaluate_retrieval(task.images.embeddings, task.texts.embeddings, task.right)
    assert forth.recall_at_10 > 10 / len(task.images.ids)


def texts_of(examples: Examples) -> list[Any]:
    return [own for units in examples.units.values() for unit in units for own in unit.texts.values()]


def test_a_finished_run_has_nothing_left_to_do(
    tiny_encoder: Path, examples: tuple[Examples, Examples], tmp_path: Path
) -> None:
    train(tmp_path, tiny_encoder, examples, steps="3")
    before = (tmp_path / "last.pt").read_bytes()
    assert train(tmp_path, tiny_encoder, examples, steps="3") == []
    assert (tmp_path / "last.pt").read_bytes() == before


def test_another_recipe_does_not_go_on_in_a_folder(
    tiny_encoder: Path, examples: tuple[Examples, Examples], tmp_path: Path
) -> None:
    train(tmp_path, tiny_encoder, examples, steps="3")
    with pytest.raises(TrainingFault, match="another recipe"):
        train(tmp_path, tiny_encoder, examples, steps="4")


def test_it_stops_when_nothing_gets_better(
    tiny_encoder: Path, examples: tuple[Examples, Examples], tmp_path: Path
) -> None:
    records = train(
        tmp_path, tiny_encoder, examples, steps="60", evaluate_every="1", patience="2", learning_rate="1e-12"
    )
    assert len(records) == 3
    assert json.loads((tmp_path / "result.json").read_text())["step"] == 1


def test_nonsense_stops_the_run_loudly(
    tiny_encoder: Path, examples: tuple[Examples, Examples], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pmo_assets.encoders.training.losses import training_loss as original

    calls = 0

    def poisoned(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        loss, terms = original(*given)
        return (loss * float("nan") if calls == 5 else loss), terms

    with monkeypatch.context() as patch:
        patch.setattr(run_module, "training_loss", poisoned)
        with pytest.raises(TrainingFault, match="the loss is nan at step 5"):
            train(tmp_path, tiny_encoder, examples)
    assert torch.load(tmp_path / "last.pt", weights_only=True)["state"]["step"] == 3
    assert not (tmp_path / "model").exists()


def test_training_and_validation_share_no_article(
    tiny_encoder: Path, examples: tuple[Examples, Examples], tmp_path: Path
) -> None:
    with pytest.raises(ExamplesError, match="in training and validation"):
        train(tmp_path, tiny_encoder, (examples[0], examples[0]))


def test_a_full_disk_leaves_nothing_half_written(
    tiny_encoder: Path, examples: tuple[Examples, Examples], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("safetensors.torch.save_file", full)
        with pytest.raises(OSError, match="No space left"):
            train(tmp_path, tiny_encoder, examples, steps="3")
    assert not (tmp_path / "model").exists()
    assert not list(tmp_path.glob(".model*"))
    train(tmp_path, tiny_encoder, examples, steps="3")
    assert (tmp_path / "model" / "open_clip_model.safetensors").exists()


def bodies_after_heads(tmp_path: Path) -> dict[str, str]:
    """Return changes of a recipe: bodies of random weights, taught after their heads, in three steps."""
    bert = write_tiny_bert(tmp_path / "bert")
    return {
        "name": f'"test_efficientnet + {bert.as_posix()}"', "more": "pretrained = false\nimage_size = 64",
        "trained_text_blocks": "0", "heads_first": "0.34", "steps": "3", "evaluate_every": "3",
    }  # fmt: skip


def test_runs_of_two_seeds_start_alike_where_the_recipe_says_so(
    tiny_encoder: Path, examples: tuple[Examples, Examples], tmp_path: Path
) -> None:
    changes = bodies_after_heads(tmp_path)
    (tmp_path / "given.toml").write_text(recipe_toml(tiny_encoder, **changes))
    bodies = {}
    for seed, weights in ((0, 5), (1, 5), (1, None)):
        change = {"run.seed": seed, "run.weights_seed": weights}
        recipe = read_recipe(str(tmp_path / "given.toml"), change)
        folder = tmp_path / f"{seed}-{weights}"
        list(train_encoder(folder, *examples, recipe, "", RunOptions()))
        saved = torch.load(folder / "last.pt", weights_only=True)
        trunk = next(name for name in saved["start"] if name.startswith("visual.trunk"))
        bodies[seed, weights] = saved["start"][trunk], saved["model"][trunk]
    assert torch.equal(bodies[0, 5][0], bodies[1, 5][0])
    assert not torch.equal(bodies[0, 5][1], bodies[1, 5][1])  # other order, other end
    assert not torch.equal(bodies[1, 5][0], bodies[1, None][0])


def test_bodies_wait_for_their_heads_and_what_is_kept_lies_between(
    tiny_encoder: Path, examples: tuple[Examples, Examples], tmp_path: Path
) -> None:
    changes = bodies_after_heads(tmp_path)
    (tmp_path / "given.toml").write_text(recipe_toml(tiny_encoder, **changes))
    torch.manual_seed(0)
    untaught = build_encoder(read_recipe(str(tmp_path / "given.toml")).encoder).model.state_dict()
    kept = {}
    for share in ("0.25", "1"):
        train(tmp_path / share, tiny_encoder, examples, None, **changes, tuned_share=share)
        saved = torch.load(tmp_path / share / "last.pt", weights_only=True)
        kept[share] = torch.load(tmp_path / share / "best.pt", weights_only=True)["model"]
        for name, value in saved["start"].items():  # after the first of three steps
            if name != "logit_scale":
                assert torch.equal(value, untaught[name]) == name.startswith("visual.trunk"), name
            assert not torch.equal(value, saved["model"][name]), name
            between = torch.lerp(value, saved["model"][name], float(share))
            assert torch.equal(kept[share][name], between), name
    assert same(weights(tmp_path / "0.25"), weights(tmp_path / "1"))  # what is measured does not change what is learned


def test_the_rate_warms_up_and_falls_to_nothing() -> None:
    rates = [rate_factor(step, 100, 10) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == rates[10] == 1
    assert rates[55] == pytest.approx(0.5)
    assert rates[99] < 0.001
    assert rates[10:] == sorted(rates[10:], reverse=True)


def command(folder: Path, recipe: Path, release: Path, *more: str) -> list[str]:
    return ["-m", "pmo_assets.cli", "encode", "train", str(folder), str(release), "--recipe", str(recipe), *more]


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).resolve().parents[3])}


@pytest.mark.slow
def test_a_run_that_is_really_killed_goes_on(tiny_encoder: Path, pairs_release: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(recipe_toml(tiny_encoder, steps="120", evaluate_every="60"))
    first = subprocess.Popen(
        [sys.executable, *command(tmp_path / "killed", recipe, pairs_release, "--save-every", "5", "--threads", "1")],
        env=environment(),
    )
    while not (tmp_path / "killed" / "last.pt").exists() and first.poll() is None:
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert not (tmp_path / "killed" / "model").exists()
    for folder in ("killed", "whole"):
        arguments = command(tmp_path / folder, recipe, pairs_release, "--threads", "1")
        subprocess.run([sys.executable, *arguments], env=environment(), check=True)
    assert same(weights(tmp_path / "killed"), weights(tmp_path / "whole"))


@pytest.mark.slow
def test_two_processes_have_the_curve_of_one(tiny_encoder: Path, pairs_release: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(recipe_toml(tiny_encoder, kind='"mixed"', steps="6", evaluate_every="1"))
    one = [sys.executable, *command(tmp_path / "one", recipe, pairs_release)]
    two = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
        *command(tmp_path / "two", recipe, pairs_release),
    ]  # fmt: skip
    for arguments in (one, two):
        subprocess.run(arguments, env=environment(), check=True)
    curves = [
        [float(row["loss"]) for row in csv.DictReader((tmp_path / name / "curves.csv").open())]
        for name in ("one", "two")
    ]
    assert len(curves[0]) == 6
    assert curves[1] == pytest.approx(curves[0], abs=1e-4)
