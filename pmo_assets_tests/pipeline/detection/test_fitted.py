"""Fitted numbers of the package: files that lack one, or are broken, stop everything and say what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

from pmo_assets.pipeline.detection import calibration, fitted
from pmo_assets.pipeline.detection.fusion import mark_fusion, panel_choice
from pmo_assets.pipeline.detection.image_types import measures
from pmo_assets.records.stores import SystemicError

READ: dict[str, Callable[[], Any]] = {
    "mark_decision.json": mark_fusion.fitted_coefficients.__wrapped__,
    "panel_choice.json": panel_choice.choice_weights.__wrapped__,
    "image_type.json": measures.image_type_weights.__wrapped__,
    "detection_calibration.json": calibration.fitted_curves.__wrapped__,
}
"""What reads each file, without its memory."""


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Texts that stand in for files of the package."""
    texts: dict[str, str] = {}

    def content(file: str) -> Any:
        return json.loads(texts.get(file) or files("pmo_assets").joinpath("weights", file).read_text("utf-8"))

    for module in (fitted, measures, calibration):
        monkeypatch.setattr(module, "shipped_json", content)
    return texts


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("mark_decision.json", lambda data: data["coefficients"].pop("second")),
        ("mark_decision.json", lambda data: data.pop("coefficients")),
        ("mark_decision.json", lambda data: data["coefficients"].update(first=float("nan"))),
        ("mark_decision.json", lambda data: data["coefficients"].update(first="much")),
        ("panel_choice.json", lambda data: data.pop("network: like mixture")),
        ("panel_choice.json", lambda data: data.clear()),
        ("image_type.json", lambda data: data["fusion"].pop("seen")),
        ("image_type.json", lambda data: data["bias"].pop()),
        ("image_type.json", lambda data: data["features"].reverse()),
        ("image_type.json", lambda data: data["coefficients"][0].__setitem__(0, float("inf"))),
        ("detection_calibration.json", lambda data: data.pop("image")),
    ],
)
def test_a_number_that_is_missing_is_refused(
    shipped: dict[str, str], file: str, changed: Callable[[Any], object]
) -> None:
    data = json.loads(files("pmo_assets").joinpath("weights", file).read_text("utf-8"))
    READ[file]()
    changed(data)
    shipped[file] = json.dumps(data)
    with pytest.raises(SystemicError, match=rf"{file} cannot be loaded .*: install pmo-assets again"):
        READ[file]()


@pytest.mark.parametrize("file", READ)
def test_a_broken_file_is_refused(shipped: dict[str, str], file: str) -> None:
    shipped[file] = "{"
    with pytest.raises(SystemicError, match=rf"{file} cannot be loaded .*: install pmo-assets again"):
        READ[file]()
