"""Which figures go on."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.assembly.wanted import NO_IMAGE, NO_WANTED_TYPE, figure_is_wanted, unwanted_reason
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType

RETINA: tuple[ImageType, ...] = ("CFP", "OCT", "Retinal Imaging")


@pytest.mark.parametrize(
    ("types", "reason"),
    [
        (["Other", "OCT"], None),
        (["CFP"], None),
        (["Other", "Other"], NO_WANTED_TYPE),
        (["Other", None], None),
        ([None], None),
        ([], NO_IMAGE),
    ],
)
def test_one_image_that_may_be_wanted_is_enough(types: list[ImageType | None], reason: str | None) -> None:
    assert unwanted_reason(types, RETINA) == reason
    assert figure_is_wanted(types, RETINA) == (reason is None)


@pytest.mark.parametrize("types", [["Other"], []])
def test_where_all_types_are_wanted_so_is_every_figure(types: list[ImageType]) -> None:
    assert figure_is_wanted(types, IMAGE_TYPES)
