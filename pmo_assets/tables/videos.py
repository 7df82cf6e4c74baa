"""Tables of the group `videos`: a source's lecture videos, which are wanted, what each shows, and what is said."""

from __future__ import annotations

from typing import Final

import dataframely as dy

from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.units import VIDEO
from pmo_assets.tables.rejections import rejections_schema

_IMAGES: Final = {
    "box": dy.List(dy.Float64(), min_length=4, max_length=4),
    "image_type": dy.Enum(IMAGE_TYPES, nullable=True),
    "modality": dy.String(nullable=True),
    "modality_score": dy.Float64(min=0, max=1),
    "score": dy.Float64(min=0, max=1),
    "kept": dy.Bool(),
}


class VideoKey(dy.Schema):
    """The column that every table of videos starts with."""

    video_id = dy.Int64(primary_key=True, min=1, description="Number of the video, of where it is from")


class VideoBatch(VideoKey):
    """The lecture videos of a batch, as they were registered; never changes."""

    name = dy.String(description="Of its file at the source")
    source = dy.String(description="Folder or prefix, as a URI")
    digest = dy.String(description="SHA-256 over its content, its captions', and what its metadata state")
    size = dy.Int64(min=0, description="Bytes of the file")
    sha256 = dy.String(description="Of the file's content")
    captions = dy.String(nullable=True, description="File of captions beside it; null: speech is recognised")
    captions_sha256 = dy.String(nullable=True, description="Of the captions' content")
    place = dy.String(
        nullable=True, description="Site and name there, by the metadata: the same video wherever it lies"
    )
    problem = dy.String(nullable=True, description="What its metadata lack; null when they are there")
    title = dy.String(nullable=True, description="As its metadata state it")
    description = dy.String(nullable=True, description="As its metadata state it")
    tags = dy.List(dy.String(), description="Tags and categories of its metadata")
    channel = dy.String(nullable=True, description="Who published it")
    people = dy.List(dy.String(), description="Names that may be printed on its slides: they are masked there")
    stated_seconds = dy.Float64(nullable=True, min=0, description="Length, by its metadata")
    license_statement = dy.String(nullable=True, description="Licence, as its metadata state it")
    url = dy.String(nullable=True, description="Page where it is shown")
    published = dy.String(nullable=True, description="Date, YYYY-MM-DD")


class Videos(VideoKey):
    """Which lecture videos are wanted, and why; under which licence they are."""

    name = dy.String(description="Of its file at the source")
    is_selected = dy.Bool(description="It is read: what its metadata say is of the specialty, and its length is sound")
    reason = dy.String(description="Why it is read, or not, in a sentence")
    license = dy.String(nullable=True, description="Code of the licence; null when none is stated, or understood")
    license_url = dy.String(nullable=True, description="Deed of the licence, in the version that is stated")
    commercial_use = dy.Bool(description="The licence allows commercial use")
    withheld = dy.Bool(description="Pictures and words are in no release: the licence does not let them be passed on")
    attribution = dy.String(description="Whom to credit: title, channel, address")


class VideoEpisodes(VideoKey):
    """Stretches in which the same slide is shown, and which retinal images it has."""

    episode = dy.Int64(primary_key=True, min=0, description="Number of the episode, from 0")
    start = dy.Float64(min=0, description="Seconds")
    end = dy.Float64(min=0, description="Seconds")
    keyframe = dy.Float64(nullable=True, min=0, description="Seconds; null when nothing stands still")
    frame_width = dy.Int64(min=0, description="Pixels of the keyframe")
    frame_height = dy.Int64(min=0, description="Pixels of the keyframe")
    images = dy.List(
        dy.Struct(_IMAGES), description="Pictures on it, boxes normalised to the frame; `kept`: retinal, and left"
    )
    masked = dy.List(
        dy.List(dy.Float64(), min_length=4, max_length=4),
        description="Boxes of faces and names, which are black in the picture; normalised to the frame",
    )
    print = dy.List(dy.String(), description="Lines that were read on it, without those that are masked")
    picture_width = dy.Int64(nullable=True, min=1, description="Pixels of its picture; null: none leaves")
    picture_height = dy.Int64(nullable=True, min=1, description="Pixels of its picture")
    picture_sha256 = dy.String(nullable=True, description="Of its picture's PNG file")
    perceptual_hash = dy.String(
        nullable=True, description="Of its picture, hexadecimal; near for those that look alike"
    )
    has_sound = dy.Bool(description="The video has sound")


class VideoWords(VideoKey):
    """What is said in each video, word by word."""

    ordinal = dy.Int64(primary_key=True, min=0, description="Position in the video")
    text = dy.String(description="Word, with the punctuation that follows it")
    start = dy.Float64(min=0, description="Seconds")
    end = dy.Float64(min=0, description="Seconds")
    probability = dy.Float64(min=0, max=1, description="How sure the recogniser is; 1 for captions")
    original = dy.String(nullable=True, description="As it was heard, where it was corrected")
    words_from = dy.String(description="File of captions, or recogniser and model")


class VideoPairs(VideoKey):
    """Pictures of lectures, masked and cropped, and what is said while they are shown."""

    episode = dy.Int64(primary_key=True, min=0, description="Number of the episode, from 0")
    start = dy.Float64(min=0, description="Seconds at which the slide appears")
    end = dy.Float64(min=0, description="Seconds at which it goes")
    keyframe = dy.Float64(min=0, description="Seconds of the frame that the picture is of")
    text = dy.String(description="What is said from three seconds before to three seconds after")
    words_from = dy.String(description="File of captions, or recogniser and model")
    word_count = dy.Int64(min=1, description="Words of the text")
    corrected = dy.Int64(min=0, description="Words that were corrected by the dictionary of the field")
    images = dy.List(
        dy.Struct({name: kind for name, kind in _IMAGES.items() if name != "kept"}),
        description="Retinal images in the picture, boxes normalised to it",
    )
    print = dy.List(dy.String(), description="Lines that were read on the slide, without those that are masked")
    picture_width = dy.Int64(min=1, description="Pixels")
    picture_height = dy.Int64(min=1, description="Pixels")
    picture_sha256 = dy.String(description="Of the picture's PNG file")
    perceptual_hash = dy.String(description="Of the picture, hexadecimal; near for pictures that look alike")
    repeats = dy.Int64(
        nullable=True, min=0, description="Earlier episode of the video whose picture looks the same; null for none"
    )
    name = dy.String(description="Of the video's file")
    license = dy.String(nullable=True, description="Code of the video's licence")
    license_url = dy.String(nullable=True, description="Deed of the licence")
    commercial_use = dy.Bool(description="The licence allows commercial use")
    withheld = dy.Bool(description="The licence does not let picture and words be passed on")
    attribution = dy.String(description="Whom to credit")


SCHEMAS = {
    "video_batch": VideoBatch,
    "videos": Videos,
    "video_episodes": VideoEpisodes,
    "video_words": VideoWords,
    "video_pairs": VideoPairs,
    "video_rejections": rejections_schema(VIDEO),
}
