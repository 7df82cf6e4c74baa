"""Columns of the hub's table `videos`: a picture of a lecture video with what is said while it is shown (level V).

It is no asset's table: `release.lectures` makes it of `video_pairs`. A row stands apart from the config `pairs`, since
it belongs to no article and no figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import dataframely as dy

from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.tables.released import FACTS, TEXT, released

_FACT: Final = released(FACTS, "videos")
_TEXT: Final = released(TEXT, "videos")

LECTURE_COLUMNS: Final[Mapping[str, dy.Column]] = {
    "pair_id": dy.String(
        primary_key=True, description="The same in every release in which video, times, picture and text are the same",
        metadata=_FACT,
    ),
    "level": dy.Enum(["video"], description="A picture of a lecture (level V)", metadata=_FACT),
    "text": dy.String(description="What is said while the picture is shown, and three seconds around", metadata=_TEXT),
    "words_from": dy.String(description="File of captions, or recogniser and model", metadata=_FACT),
    "corrected_words": dy.Int64(min=0, description="Words of the text put right by the lexicon", metadata=_FACT),
    "slide_text": dy.List(
        dy.String(), description="Lines that were read on the slide, without those that are masked", metadata=_TEXT
    ),
    "boxes": dy.List(
        dy.List(dy.Float64(), min_length=4, max_length=4),
        description="Retinal images, as fractions of the picture; what lies between them is black", metadata=_FACT,
    ),
    "image_types": dy.List(dy.Enum(IMAGE_TYPES), description="Of each image", metadata=_FACT),
    "modalities": dy.List(
        dy.String(nullable=True), description="Of each image, where the network says one", metadata=_FACT
    ),
    "video_id": dy.Int64(min=1, description="Number of the video", metadata=_FACT),
    "video": dy.String(description="Name of the video's file", metadata=_FACT),
    "start": dy.Float64(min=0, description="Seconds at which the slide appears", metadata=_FACT),
    "end": dy.Float64(min=0, description="Seconds at which it goes", metadata=_FACT),
    "keyframe": dy.Float64(min=0, description="Seconds of the frame that the picture is of", metadata=_FACT),
    "picture_width": dy.Int64(min=1, description="Pixels", metadata=_FACT),
    "picture_height": dy.Int64(min=1, description="Pixels", metadata=_FACT),
    "perceptual_hash": dy.String(
        description="Of the picture, hexadecimal; near for pictures that look alike", metadata=_FACT
    ),
    "picture_group": dy.String(
        nullable=True, description="Pictures of lectures that look the same have the same group; null for one that "
        "none resembles", metadata=_FACT,
    ),
    "license": dy.String(description="Code of the video's licence", metadata=_FACT),
    "license_url": dy.String(nullable=True, description="Deed of the licence, as it is stated", metadata=_FACT),
    "commercial_use": dy.Bool(description="The licence allows commercial use", metadata=_FACT),
    "attribution": dy.String(description="Whom to credit: title, channel, address", metadata=_FACT),
}  # fmt: skip
"""Columns in their order, but the picture and the split."""
