"""Lecture videos at their source: what is said beside them, their numbers, and how their files are read.

Add here: what sources, steps and tables share about a video as a file with metadata. Keep out: what is seen and heard
in one (`pipeline.videos`), and folders (`sources.video_folders`).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from pmo_assets.records.rejections import ArticleError

VIDEO_SUFFIXES: Final = (".mp4", ".m4v", ".mov", ".webm", ".mkv")
"""Names of video files end so, in whatever case."""

METADATA_SUFFIX: Final = ".info.json"
"""Names of yt-dlp's metadata end so."""

LARGEST_METADATA: Final = 16 * 2**20
"""Bytes of a file of metadata that are read."""

KEYFRAMES: Final = "keyframes"
"""Pixel store of the pictures of episodes, masked and cropped."""

VIDEO_PAIRS: Final = "video_pairs"
"""Table of a batch of videos that a release is made of."""

VIDEO_CUES: Final = "video_cues"
"""The same with the cues that instructions are made of."""

VIDEO_INSTRUCTIONS: Final = "video_instructions"
"""Table of a batch of videos with the instructions that a release has of lectures."""

_PEOPLE: Final = ("channel", "uploader", "creator", "artist")
"""What yt-dlp's metadata calls those who may be named on slides."""

_LONGEST_TEXT: Final = 20_000
"""Characters of a text of the metadata that are kept."""

_MOST_TAGS: Final = 500


class UnreadableVideoMetadata(ArticleError):
    """The metadata beside a video cannot be read: its licence, and names that must be masked, would be unknown."""


@dataclass(frozen=True, slots=True)
class StatedVideo:
    """What the metadata beside a video state; None, or nothing, for what they do not.

    Attributes:
        title: of the video.
        description: by its makers.
        tags: and categories.
        channel: who published it; the uploader where there is no channel.
        people: names that may be printed on slides: channel, uploader, creator, artist.
        seconds: as stated.
        license: statement, as written.
        url: of the page where it is shown.
        published: date, YYYY-MM-DD.
        place: where it is from and its name there, "youtube:abc": the same video, whatever its file is called.
    """

    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    channel: str | None = None
    people: tuple[str, ...] = ()
    seconds: float | None = None
    license: str | None = None
    url: str | None = None
    published: str | None = None
    place: str | None = None


def stated_video(content: bytes) -> StatedVideo:
    """Return what yt-dlp's metadata of a video state; fields of a wrong type state nothing.

    Args:
        content: of NAME.info.json; untrusted.

    Raises:
        UnreadableVideoMetadata: when it is no JSON object of a usual size, or its licence is no text: nobody knows then
            what it would have said.
    """
    if len(content) > LARGEST_METADATA:
        raise UnreadableVideoMetadata(f"its metadata have more than {LARGEST_METADATA:,} bytes")
    try:
        stated = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else f"no JSON: {error}"
        raise UnreadableVideoMetadata(f"its metadata cannot be read, they are {reason}") from error
    if not isinstance(stated, dict):
        raise UnreadableVideoMetadata("its metadata are no JSON object")
    if stated.get("license") is not None and not isinstance(stated["license"], str):
        raise UnreadableVideoMetadata("the licence in its metadata is no text")
    people = [part.strip() for name in _PEOPLE for part in re.split(r"[,;&|]", (_text(stated, name) or "")[:500])]
    tags = [item for name in ("tags", "categories") for item in _texts(stated.get(name))]
    site, own = _text(stated, "extractor_key") or _text(stated, "extractor"), _text(stated, "id")
    day = re.fullmatch(r"(\d{4})(\d{2})(\d{2})", _text(stated, "upload_date") or "")
    url = _text(stated, "webpage_url") or ""
    return StatedVideo(
        title=_line(_text(stated, "title")),
        description=_text(stated, "description"),
        tags=tuple(dict.fromkeys(tags))[:_MOST_TAGS],
        channel=_line(_text(stated, "channel") or _text(stated, "uploader")),
        people=tuple(dict.fromkeys(part for part in people if part)),
        seconds=_duration(stated.get("duration")),
        license=_line(_text(stated, "license")),
        url=url if re.fullmatch(r"https?://[^\s<>\"]{1,2000}", url) else None,
        published="-".join(day.groups()) if day else None,
        place=f"{site.lower()}:{own}" if site and own else None,
    )


def _duration(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if 0 < value < math.inf else None
    except OverflowError:  # JSON's whole numbers have no end
        return None


def _text(stated: dict[str, Any], name: str) -> str | None:
    value = stated.get(name)
    # JSON may hold halves of surrogate pairs, which no table can.
    return value.encode(errors="replace").decode()[:_LONGEST_TEXT] if isinstance(value, str) and value else None


def _texts(value: object) -> list[str]:
    items = value if isinstance(value, list) else []
    lines = (_line(_text({"item": item}, "item")) for item in items[: 2 * _MOST_TAGS])
    return [line[:200] for line in lines if line]


def _line(value: str | None) -> str | None:
    return " ".join((value or "").split()) or None


def captions_among(stem: str, names: Iterable[str]) -> str | None:
    """Return the captions of a video among files' names: STEM.vtt, or else STEM.LANGUAGE.vtt, English before others.

    Of a name with dots the part behind is no language: STEM.2.vtt is another video's.
    """
    name = re.compile(rf"{re.escape(stem)}(?:\.([A-Za-z]{{2,3}})(?:[-_][\w-]+)?)?\.vtt")
    found = [(match, item) for item in names if (match := name.fullmatch(item))]
    order = [((match[1] is not None, (match[1] or "").lower() != "en", item), item) for match, item in found]
    return min(order)[1] if order else None


def video_number(place: str) -> int:
    """Return a video's number: 52 bits of the SHA-256 of where it is from, at least 1.

    Args:
        place: `StatedVideo.place`; of a video whose metadata have none, the source's URI and the file's name.
    """
    return 1 + (int.from_bytes(hashlib.sha256(place.encode("utf-8", "surrogatepass")).digest()[:7], "big") >> 4)


def video_pair_id(video_id: int, start: float, end: float, picture_sha256: str, text: str) -> str:
    """Return the name of a picture of a lecture with what is said: it stays while video, times, picture and text do."""
    said = json.dumps([video_id, start, end, picture_sha256, text], ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def video_digest(sha256: str, captions_sha256: str | None, stated: StatedVideo) -> str:
    """Return the SHA-256 over a video's content, its captions', and what its metadata state.

    Fields of the metadata that nobody uses (views, addresses of streams) are no part of it: they change every day.
    """
    said = json.dumps([sha256, captions_sha256, asdict(stated)], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()


class VideoFiles(Protocol):
    """Files of a source of videos."""

    def as_file(self, name: str, sha256: str) -> AbstractContextManager[Path]:
        """Give a file as one of this machine, as long as the block lasts.

        Args:
            name: of the file at the source.
            sha256: of its content when it was registered.

        Raises:
            ArticleError: if it is gone, changed, or cannot be read.
            SystemicError: if the source or the machine gave out.
        """
        ...


class OpensVideos(Protocol):
    """Opens sources of videos by the URI that a manifest names."""

    def __call__(self, uri: str) -> VideoFiles:
        """Return the files of a source.

        Raises:
            SystemicError: for a kind of source that this version does not know.
        """
        ...
