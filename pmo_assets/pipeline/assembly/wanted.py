"""Which figures go on: those with at least one image of a type that the specialty wants (paper, A.1, step 0).

The others get no vision model, no panel pictures and no rows in the dataset; their panels stay in `panel_assembly`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from pmo_assets.records.image_types import IMAGE_TYPES, ImageType

NO_IMAGE: Final = "no image was found"
NO_WANTED_TYPE: Final = "no image of a wanted type"
"""Reasons for which a figure does not go on."""


def unwanted_reason(found: Iterable[ImageType | None], wanted: Collection[ImageType]) -> str | None:
    """Return the reason why a figure does not go on; None when it does.

    An undecided type may be a wanted one: such an image counts as wanted. Where all types are wanted, so are figures
    without any image.

    Args:
        found: types of the figure's images; None for an undecided one.
        wanted: the wanted ones.
    """
    if set(wanted) >= set(IMAGE_TYPES):
        return None
    types = list(found)
    if any(kind is None or kind in wanted for kind in types):
        return None
    return NO_WANTED_TYPE if types else NO_IMAGE


def figure_is_wanted(found: Iterable[ImageType | None], wanted: Collection[ImageType]) -> bool:
    """Say whether a figure goes on; see `unwanted_reason`."""
    return unwanted_reason(found, wanted) is None
