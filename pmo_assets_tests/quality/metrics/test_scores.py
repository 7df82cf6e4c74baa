"""The numbers equal those of the scorer that lies beside the annotated articles."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pmo_assets.annotation.annotations import (
    AnnotatedArticle,
    annotation_files,
    article_number,
    read_annotations,
)
from pmo_assets_tests.quality.metrics.article_scores import article_scores


def shifted(box: list[float], source: random.Random, amount: float) -> list[float]:
    moved = [value + source.uniform(-amount, amount) for value in box]
    return [min(moved[0], moved[2]), min(moved[1], moved[3]), max(moved[0], moved[2]), max(moved[1], moved[3])]


def spoilt(figure: dict[str, Any], source: random.Random) -> dict[str, Any]:
    """Return an annotated figure as a mediocre pipeline might find it."""
    figure = json.loads(json.dumps(figure))
    for place in figure["figure_locations"]:
        place["bbox"] = shifted(place["bbox"], source, source.choice([0.1, 8, 60]))
    if source.random() < 0.2:
        figure["caption"] = figure["caption"][: len(figure["caption"]) // 2]
        figure["label"] = "Figure 99"
    panels = [panel for panel in figure["panels"] if source.random() > 0.1]
    for panel in panels:
        panel["box"] = shifted(panel["box"], source, 0.03)
        panel["score"] = round(source.random(), 1)  # with ties
        if source.random() < 0.15:
            panel["identifier"] = source.choice([None, "z", "a"])
        if source.random() < 0.2:
            panel["subcaption"] = None if source.random() < 0.3 else panel["subcaption"][10:]
        for image in panel["images"]:
            image["score"] = round(source.random(), 2)
            if source.random() < 0.2:
                image["type"] = source.choice(["CFP", "OCT", "Retinal Imaging", None])
                image["marked"] = source.choice([True, None])
    return {**figure, "panels": panels}


@pytest.mark.corpus
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (None, 1))])
def test_scores_equal_the_yardstick(shared_folder: Path, tmp_path: Path, seed: int | None) -> None:
    scorer = shared_folder / "tools" / "score.py"
    if not scorer.exists():
        pytest.skip(f"no scorer at {scorer}")
    source = random.Random(seed)
    predictions = []
    for path in sorted((shared_folder / "annotations").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        if seed is not None:
            if source.random() < 0.1:
                continue
            content["figures"] = [spoilt(item, source) for item in content["figures"] if source.random() > 0.1]
            source.shuffle(content["figures"])
        (tmp_path / path.name).write_text(json.dumps(content), encoding="utf-8")
        predictions.append(AnnotatedArticle.model_validate(content))
    command = [sys.executable, str(scorer), str(shared_folder / "annotations"), str(tmp_path), "--json"]
    wanted = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    truth = read_annotations(annotation_files(str(shared_folder / "annotations")))
    assert truth.problems == ()
    scores = article_scores(
        {article_number(item.article_id): item for item in truth.articles},
        {article_number(item.article_id): item for item in predictions},
    )
    assert list(scores) == list(wanted)
    for name, value in wanted.items():
        assert scores[name] == (None if value is None else pytest.approx(value, abs=1e-12)), name
    if seed is None:
        assert scores["panel AP@0.9"] == pytest.approx(1)
    else:
        assert 0.1 < scores["panel AP@0.5"] < 0.9, "the example must be able to tell scorers apart"  # type: ignore[operator]
