"""Steps of the group `videos`, video by video: selection, episodes with their pictures, words, pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Final

from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.figures.perceptual_hash import NO_STRUCTURE, perceptual_hash
from pmo_assets.pipeline.videos.frames import Watched
from pmo_assets.pipeline.videos.selection import judged, rights
from pmo_assets.pipeline.videos.video import (
    Pixels,
    SeenEpisode,
    Stretch,
    VideoOptions,
    listen,
    load_for_speech,
    load_for_videos,
    rounded,
    shown,
    watch,
)
from pmo_assets.pipeline.videos.words import Word, joined, words_within
from pmo_assets.records.geometry import as_box, normalise, union_box
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.records.stores import Picture, PixelStore
from pmo_assets.records.videos import OpensVideos

ALIKE: Final = 32
"""Bits of 256 in which the hashes of one slide's pictures may differ (as `pipeline.dataset.near_duplicates`)."""

DIGITS: Final = 3
"""Decimal places of seconds."""


def select_video(listing: Row, specialty: Specialty) -> StepOutput:
    """Judge a video by what is said beside it: its row of `videos`."""
    is_selected, reason = judged(listing, specialty)
    return StepOutput(
        [
            {
                "video_id": listing["video_id"],
                "name": listing["name"],
                "is_selected": is_selected,
                "reason": reason,
                **rights(listing),
            }
        ]
    )


def load_to_watch(video_options: VideoOptions) -> None:
    """Load what `watch_video` works with in a worker.

    Raises:
        SystemicError: when something is missing; the message says what to install.
    """
    load_for_videos(video_options)


def watch_video(
    listing: Row, open_videos: OpensVideos, video_options: VideoOptions, keyframe_pixels: PixelStore
) -> StepOutput:
    """Cut a video into episodes and keep the picture of each retinal one: rows of `video_episodes`.

    Pictures are masked and cropped before they are stored: whole frames, with who speaks in them, are not kept.

    Raises:
        ArticleError: when the video cannot be read, or is another one than was registered.
        SystemicError: when something is not installed, or the source gave out.
    """
    options = replace(video_options, people=(*video_options.people, *listing["people"]))
    watched = Watched()
    pictures: dict[int, tuple[Picture, str, str]] = {}

    def keep(number: int, pixels: Pixels) -> None:
        png = png_bytes(pixels)
        picture = Picture(str(number), pixels.shape[1], pixels.shape[0], png)
        pictures[number] = picture, hashlib.sha256(png).hexdigest(), perceptual_hash(pixels).hex()

    with open_videos(listing["source"]).as_file(listing["name"], listing["sha256"]) as path:
        seen = watch(path, watched, options, keep)
    keyframe_pixels.write(listing["video_id"], [picture for picture, _, _ in pictures.values()])
    rows = [
        _episode_row(listing["video_id"], number, episode, watched.has_sound, pictures.get(number))
        for number, episode in enumerate(seen)
    ]
    return StepOutput(rows)


def _episode_row(
    video_id: int, number: int, episode: SeenEpisode, has_sound: bool, kept: tuple[Picture, str, str] | None
) -> Row:
    picture, sha256, own_hash = kept or (None, None, None)
    return {
        "video_id": video_id,
        "episode": number,
        "start": round(episode.start, DIGITS),
        "end": round(episode.end, DIGITS),
        "keyframe": None if episode.keyframe is None else round(episode.keyframe, DIGITS),
        "frame_width": episode.size[0],
        "frame_height": episode.size[1],
        **shown(episode),
        "picture_width": picture and picture.width,
        "picture_height": picture and picture.height,
        "picture_sha256": sha256,
        "perceptual_hash": own_hash,
        "has_sound": has_sound,
    }


def load_to_hear(video_options: VideoOptions) -> None:
    """Load what `hear_video` works with in a worker.

    Raises:
        SystemicError: when something is missing; the message says what to install.
    """
    load_for_speech(video_options)


def hear_video(
    listing: Row, video_episodes: Sequence[Row], open_videos: OpensVideos, video_options: VideoOptions
) -> StepOutput:
    """Read a video's captions, or recognise what is said around its pictures: rows of `video_words`.

    Raises:
        ArticleError: when video or captions cannot be read, or are others than were registered.
        SystemicError: when something is not installed, or the source gave out.
    """
    files = open_videos(listing["source"])
    stretches = [
        Stretch(row["start"], row["end"], tuple(row["print"]))
        for row in video_episodes
        if row["picture_sha256"] is not None or video_options.all_speech
    ]
    if not stretches:
        return StepOutput()
    has_sound = any(row["has_sound"] for row in video_episodes)
    beside = (
        nullcontext() if listing["captions"] is None else files.as_file(listing["captions"], listing["captions_sha256"])
    )
    with files.as_file(listing["name"], listing["sha256"]) as path, beside as captions:
        words, source = listen(path, stretches, has_sound, video_options, captions)
    source = listing["captions"] if captions is not None and source == captions.name else source
    return StepOutput(
        [
            {
                "video_id": listing["video_id"],
                "ordinal": number,
                "text": word.text,
                "start": round(max(0.0, word.start), DIGITS),
                "end": round(max(0.0, word.end), DIGITS),
                "probability": round(min(max(word.probability, 0.0), 1.0), 4),
                "original": word.original,
                "words_from": source,
            }
            for number, word in enumerate(words)
        ]
    )


def pair_video(video: Row, video_episodes: Sequence[Row], video_words: Sequence[Row]) -> StepOutput:
    """Join the pictures of a video and what is said while they are shown: rows of `video_pairs`.

    A slide that is shown again makes another pair, whose `repeats` names the first episode with its picture.
    """
    words = [Word(row["text"], row["start"], row["end"], row["probability"], row["original"]) for row in video_words]
    credit = {
        name: video[name] for name in ("name", "license", "license_url", "commercial_use", "withheld", "attribution")
    }
    rows: list[Row] = []
    shown: list[tuple[int, bytes]] = []
    for episode in video_episodes:
        if episode["picture_sha256"] is None:
            continue
        said = words_within(words, episode["start"], episode["end"])
        if not said:
            continue
        own = bytes.fromhex(episode["perceptual_hash"])
        same = next((number for number, other in shown if own != NO_STRUCTURE and _bits(own, other) <= ALIKE), None)
        if same is None:
            shown.append((episode["episode"], own))
        rows.append(
            {
                **{name: episode[name] for name in _SAME},
                "text": joined(said),
                "words_from": video_words[0]["words_from"],
                "word_count": len(said),
                "corrected": sum(word.original is not None for word in said),
                "images": in_picture(episode["images"]),
                "repeats": same,
                **credit,
            }
        )
    return StepOutput(rows)


_SAME: Final = (
    "video_id", "episode", "start", "end", "keyframe", "print", "picture_width", "picture_height", "picture_sha256",
    "perceptual_hash",
)  # fmt: skip
"""Columns of `video_episodes` that pairs have, too."""


def _bits(first: bytes, second: bytes) -> int:
    return (int.from_bytes(first, "big") ^ int.from_bytes(second, "big")).bit_count()


def in_picture(images: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return the images that left, with boxes normalised to the picture, which is cropped around them."""
    kept = [image for image in images if image["kept"]]
    around = union_box([as_box(image["box"]) for image in kept])
    return [
        {
            "box": rounded(normalise(as_box(image["box"]), around)),
            **{name: image[name] for name in ("image_type", "modality", "modality_score", "score")},
        }
        for image in kept
    ]
