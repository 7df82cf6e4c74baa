"""`pmo train synthesise` and `pmo train score`, called in this process."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from pmo_assets.cli.console import CommandError
from pmo_assets.cli.train import train_app


def test_a_recipes_figures_are_made_and_scored(tmp_path: Path) -> None:
    made = CliRunner().invoke(train_app, ["synthesise", str(tmp_path), "--figures", "3"])
    assert made.exit_code == 0, made.output
    assert made.output.split() == [str(tmp_path / "validation" / "shard_0000")]
    arguments = [str(tmp_path / "validation"), "--detector", "structure", "--named", "--figures", "2"]
    scored = CliRunner().invoke(train_app, ["score", *arguments])
    assert scored.exit_code == 0, scored.output
    numbers = json.loads(scored.output)
    assert numbers["figures"] == 2
    assert numbers["threshold"] == 0.25
    assert 0 <= numbers["mAP"] <= numbers["AP50"] <= 1
    assert 0 < numbers["F1"] <= numbers["best_F1"] <= 1


def test_what_cannot_be_made_or_scored_is_said(tmp_path: Path) -> None:
    def error(*arguments: str) -> str:
        result = CliRunner().invoke(train_app, [*arguments])
        assert isinstance(result.exception, CommandError)
        return str(result.exception)

    assert "open-pmc-18m" in error("synthesise", str(tmp_path), "--recipe", "another")
    assert "--figures" in error("synthesise", str(tmp_path), "--split", "test")
    assert "no picture" in error("synthesise", str(tmp_path), "--figures", "1", "--images", str(tmp_path))
    assert "no figure" in error("score", str(tmp_path))
    CliRunner().invoke(train_app, ["synthesise", str(tmp_path), "--figures", "1"])
    assert "other figures" in error("synthesise", str(tmp_path), "--figures", "1", "--boxes", "content")
