"""Steps of detection: what is handed on from captions to images."""

from __future__ import annotations

from pmo_assets.pipeline.detection.steps import words_of_panels


def captioned(ordinals: list[int], subcaption: str | None) -> dict[str, object]:
    return {"members": [{"ordinal": number, "box": [0, 0, 1, 1]} for number in ordinals], "subcaption": subcaption}


def test_words_of_a_panel_are_its_subcaption_or_the_caption() -> None:
    rows = [captioned([0], "text of a"), captioned([1], None)]
    assert words_of_panels(2, rows, "whole") == {0: "text of a", 1: "whole"}


def test_joined_panels_share_the_words_of_the_panel_they_are_joined_to() -> None:
    rows = [captioned([0, 2], "text of a"), captioned([1], "text of b")]
    assert words_of_panels(3, rows, "whole") == {0: "text of a", 1: "text of b", 2: "text of a"}


def test_a_figure_whose_panels_have_no_captions_is_described_by_its_caption() -> None:
    assert words_of_panels(2, [], "whole") == {0: "whole", 1: "whole"}
