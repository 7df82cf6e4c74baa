"""One video: episodes, keyframes, pictures, words; everything of it that `pmo video` writes.

Cheap things come first: frames are compared before networks see one of each episode, print is read and speech
recognised only where a retinal image is shown. A picture is handed on as soon as its episode has ended, so that memory
does not grow with a video's length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.assembly.reading.text_readers import ReadingOptions
from pmo_assets.pipeline.detection.detector_set import detector_set
from pmo_assets.pipeline.videos.episodes import SAME_SLIDE, STEADY, Candidate, Episode, cut_episodes
from pmo_assets.pipeline.videos.faces import face_boxes, load_faces
from pmo_assets.pipeline.videos.frames import Frame, Watched, sampled_frames
from pmo_assets.pipeline.videos.names import is_identifying
from pmo_assets.pipeline.videos.slide_images import SlideImage, masked_picture, slide_images, without_people
from pmo_assets.pipeline.videos.speech import Transcriber, WhisperTranscriber, heard, merged_spans, sound_of
from pmo_assets.pipeline.videos.subtitles import read_captions
from pmo_assets.pipeline.videos.vocabulary import corrected, ophthalmic_dictionary, prompt
from pmo_assets.pipeline.videos.words import AROUND, Word, joined, words_within
from pmo_assets.records.defaults import VIDEO_HOURS
from pmo_assets.records.geometry import UNIT_BOX, Box, clip
from pmo_assets.records.reading import ReaderSource, ReadText
from pmo_assets.records.step_output import Row
from pmo_assets.records.stores import SystemicError
from pmo_assets.records.videos import captions_among

CONTEXT: Final = 2.0
"""Seconds that are heard beyond the words that are kept: a stretch begins and ends in the middle of a word."""

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class VideoOptions:
    """Options of reading a video.

    Attributes:
        most_hours: what comes later is not read.
        transcriber: recognises speech where no captions lie beside the video.
        reading: reads print on slides.
        people: names from the video's metadata, which are masked where they are printed.
        with_vocabulary: tell the recogniser the words of the field, and correct misheard ones.
        all_speech: transcribe episodes without a retinal image, too.
        same_slide: δ_c (`episodes.SAME_SLIDE`).
        steady: `episodes.STEADY`.
    """

    most_hours: float = VIDEO_HOURS
    transcriber: Transcriber = field(default_factory=WhisperTranscriber)
    reading: ReaderSource = field(default_factory=ReadingOptions)
    people: tuple[str, ...] = ()
    with_vocabulary: bool = True
    all_speech: bool = False
    same_slide: float = SAME_SLIDE
    steady: float = STEADY


@dataclass(frozen=True)
class SeenEpisode:
    """An episode as it was seen, before it was heard.

    Attributes:
        start: seconds.
        end: seconds.
        keyframe: seconds; None when the whole episode is change.
        images: pictures on the keyframe.
        kept: the retinal ones that leave.
        masked: boxes of faces and names on the keyframe.
        print: lines that were read on it, without those that are masked.
        size: (width, height) of the keyframe in pixels.
    """

    start: float
    end: float
    keyframe: float | None = None
    images: tuple[SlideImage, ...] = ()
    kept: tuple[SlideImage, ...] = ()
    masked: tuple[Box, ...] = ()
    print: tuple[ReadText, ...] = ()
    size: tuple[int, int] = (0, 0)


KeepPicture = Callable[[int, Pixels], None]
"""Called with an episode's number and the picture of it that may leave."""


def load_for_videos(options: VideoOptions, path: Path | None = None) -> None:
    """Load everything that reading videos needs, so that it is not loaded at a video's expense.

    Args:
        options: see there.
        path: of the video, whose captions make speech recognition needless; None to leave that for when it is needed.

    Raises:
        SystemicError: when something is missing; the message says what to install.
    """
    for network in detector_set().image_networks:
        network.load()
    load_faces()
    reader = options.reading.reader()
    if reader is not None:
        reader.load()
    if path is not None and captions_of(path) is None:
        load_for_speech(options)


def load_for_speech(options: VideoOptions) -> None:
    """Load what recognising speech needs, so that it is not loaded at a video's expense.

    Raises:
        SystemicError: when something is missing; the message says what to install.
    """
    options.transcriber.load()
    ophthalmic_dictionary()


def watch(
    path: Path,
    watched: Watched,
    options: VideoOptions,
    keep: KeepPicture | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[SeenEpisode]:
    """Return the episodes of a video as they are seen.

    Args:
        path: of the video.
        watched: is filled in.
        options: see there.
        keep: takes the pictures, in order.
        progress: called with the seconds that have been read.

    Raises:
        ArticleError: when the video cannot be read (`containers`).
        SystemicError: when something is not installed.
    """
    seen: list[SeenEpisode] = []
    frames = _reported(sampled_frames(path, watched, most_hours=options.most_hours), progress)
    for episode in cut_episodes(frames, same_slide=options.same_slide, steady=options.steady):
        own, picture = _seen(episode, options)
        if picture is not None and keep is not None:
            keep(len(seen), picture)
        seen.append(own)
    if seen:
        seen[-1] = replace(seen[-1], end=max(seen[-1].end, watched.seconds))
    return seen


def _reported(frames: Iterator[Frame], progress: Callable[[float], None] | None) -> Iterator[Frame]:
    for frame in frames:
        if progress is not None:
            progress(frame.seconds)
        yield frame


def _seen(episode: Episode, options: VideoOptions) -> tuple[SeenEpisode, Pixels | None]:
    """Return an episode with what its keyframe shows, and the picture that may leave."""
    if not episode.candidates:
        return SeenEpisode(episode.start, episode.end), None
    detectors = detector_set()
    chosen: Candidate = episode.candidates[0]
    (images,) = slide_images([chosen.pixels], detectors)
    faces = face_boxes(chosen.pixels)
    kept = without_people(images, faces)
    own = SeenEpisode(
        episode.start, episode.end, chosen.seconds, images, tuple(kept), tuple(faces),
        size=(chosen.pixels.shape[1], chosen.pixels.shape[0]),
    )  # fmt: skip
    if not kept:
        return own, None
    reader = options.reading.reader()
    if reader is None:
        raise SystemicError("names on slides cannot be masked without a reader of print")
    names: list[Box] = []
    told: list[ReadText] = []
    for text in reader([chosen.pixels])[0]:
        if is_identifying(text.text, options.people):
            names.append(_with_margin(text.box or UNIT_BOX))  # without a box it may be anywhere
        else:
            told.append(text)
    own = replace(own, masked=(*faces, *names), print=tuple(told))
    return own, masked_picture(chosen.pixels, [image.box for image in kept], own.masked)


def _with_margin(box: Box) -> Box:
    """Return the box of a line of print with room for what the reader's box cuts off."""
    air = 0.15 * (box[3] - box[1])
    return clip((box[0] - air, box[1] - air, box[2] + air, box[3] + air), UNIT_BOX)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a video that is listened to: start and end in seconds, and lines that its slide shows."""

    start: float
    end: float
    print: tuple[str, ...] = ()


def stretches_of(seen: Sequence[SeenEpisode], options: VideoOptions) -> list[Stretch]:
    """Return the stretches that are listened to: episodes with a retinal image that leaves, or all."""
    wanted = [episode for episode in seen if episode.kept or options.all_speech]
    return [Stretch(item.start, item.end, tuple(text.text for text in item.print)) for item in wanted]


def listen(
    path: Path, stretches: Sequence[Stretch], has_sound: bool, options: VideoOptions, captions: Path | None = None
) -> tuple[list[Word], str]:
    """Return the words of a video, of captions or recognised, and where they are from.

    Args:
        path: of the video.
        stretches: in order; speech is recognised around them.
        has_sound: there is a sound stream.
        options: see there.
        captions: WebVTT; with words in it, no speech is recognised.

    Raises:
        UnreadableVideo: when the sound cannot be read.
        SystemicError: when speech recognition is not installed.
    """
    if captions is not None:
        words = read_captions(captions)
        if words:
            return words, captions.name
    if not has_sound or not stretches:
        return [], "" if stretches else "not listened to"
    reach = AROUND + CONTEXT
    spans = merged_spans([(item.start - reach, item.end + reach) for item in stretches])
    words = []
    for (start, end), samples in sound_of(path, spans):
        if not samples.size or not np.abs(samples).max() > 1e-4:
            continue
        slide = [line for item in stretches if item.start < end and item.end > start for line in item.print]
        said = heard(samples, prompt(slide) if options.with_vocabulary else "", options.transcriber)
        if options.with_vocabulary:
            said = corrected(said, options.transcriber.knows)
        words += [replace(word, start=word.start + start, end=word.end + start) for word in said]
    return words, options.transcriber.name


def captions_of(path: Path) -> Path | None:
    """Return the captions beside a video; see `records.videos.captions_among`."""
    name = captions_among(path.stem, (item.name for item in path.parent.iterdir() if item.is_file()))
    return None if name is None else path.with_name(name)


def read_video(
    path: Path,
    options: VideoOptions | None = None,
    keep: KeepPicture | None = None,
    progress: Callable[[float], None] | None = None,
) -> Row:
    """Return what one video shows and says: the content of `pmo video`'s JSON file.

    Args:
        path: MP4, QuickTime, WebM or Matroska.
        options: None for the defaults.
        keep: takes the pictures that may leave.
        progress: called with the seconds that have been read.

    Raises:
        ArticleError: when the video cannot be read: damaged, no picture (`containers`).
        SystemicError: when something is not installed.
    """
    options = options or VideoOptions()
    watched = Watched()
    seen = watch(path, watched, options, keep, progress)
    words, source = listen(path, stretches_of(seen, options), watched.has_sound, options, captions_of(path))
    notes = watched.notes if watched.has_sound else (*watched.notes, "it has no sound")
    return {
        "video": path.name,
        "seconds": round(watched.seconds, 3),
        "stated_seconds": None if watched.stated_seconds is None else round(watched.stated_seconds, 3),
        "size": list(watched.size),
        "words_from": source,
        "notes": list(notes),
        "episodes": [_as_json(episode, words) for episode in seen],
    }


def _as_json(episode: SeenEpisode, words: Sequence[Word]) -> dict[str, Any]:
    said = words_within(words, episode.start, episode.end)
    return {
        "start": round(episode.start, 3),
        "end": round(episode.end, 3),
        "keyframe": None if episode.keyframe is None else round(episode.keyframe, 3),
        "transcript": joined(said),
        "words": [
            {
                "text": word.text,
                "start": round(word.start, 2),
                "end": round(word.end, 2),
                "probability": round(word.probability, 3),
                **({} if word.original is None else {"original": word.original}),
            }
            for word in said
        ],
        **shown(episode),
        "reason": _reason(episode, said),
    }


def shown(episode: SeenEpisode) -> dict[str, Any]:
    """Return what an episode's keyframe shows as `pmo video` and the table `video_episodes` say it.

    "images" with normalised boxes, "masked" boxes, and "print", the lines that were read and are not masked.
    """
    return {
        "images": [
            {
                "box": rounded(image.box),
                "image_type": image.image_type,
                "modality": image.modality,
                "modality_score": round(image.modality_score, 4),
                "score": round(image.score, 4),
                "kept": image in episode.kept,
            }
            for image in episode.images
        ],
        "masked": [rounded(box) for box in episode.masked],
        "print": [text.text for text in episode.print],
    }


def _reason(episode: SeenEpisode, said: Sequence[Word]) -> str | None:
    """Return why an episode is no pair of picture and words; None when it is one."""
    if episode.keyframe is None:
        return "nothing in it stands still"
    if not episode.kept:
        return "no retinal image on its keyframe"
    return None if said else "nothing is said"


def rounded(box: Box) -> list[float]:
    """Return a normalised box as tables and files hold it, to a millionth."""
    return [round(float(value), 6) for value in box]
