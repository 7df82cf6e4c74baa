"""The gallery's pages of lecture videos: keyframes with the time in the video, what is said, licence, whom to credit.

    lectures/<page>.html             PAIRS_PER_PAGE pictures with their words: HTML that needs no script
    lectures/pictures/<n>/<id>.png   the pictures, masked and cropped as the release has them

Only what a release passes on is handed in. Does not belong here: which pairs those are (`release.lectures`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pmo_assets.viewing.gallery.records import GalleryInstruction
from pmo_assets.viewing.markup import page_templates, slug, web_url

PAIRS_PER_PAGE: Final = 24

PAGES: Final = "lectures"
"""Folder of the pages below the gallery's."""

_BY_QUERY: Final = ("youtube.com", "youtu.be")
"""Sites that take the time from the query; others take a media fragment (W3C, Media Fragments URI 1.0)."""


@dataclass(frozen=True, slots=True)
class GalleryLecture:
    """A picture of a lecture video with what is said while it is shown.

    Attributes:
        pair_id: of the release's pair.
        video: name of its file.
        channel: who published it, if its metadata say so.
        url: page where it is shown, if its metadata say so.
        start, end, keyframe: seconds of the video.
        text: what is said.
        picture: PNG.
        license: code.
        license_url: deed.
        attribution: whom to credit.
        instructions: that the release has about it.
    """

    pair_id: str
    video: str
    channel: str | None
    url: str | None
    start: float
    end: float
    keyframe: float
    text: str
    picture: bytes
    license: str
    license_url: str | None
    attribution: str
    instructions: tuple[GalleryInstruction, ...] = ()


def time_text(seconds: float) -> str:
    """Return a time in a video as players show it: "4:07", "1:04:07"."""
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def address_at(url: str | None, seconds: float) -> str | None:
    """Return the address of a video at a time; None where there is no web address."""
    known = web_url(url)
    if known is None:
        return None
    parts, at = urlsplit(known), int(seconds)
    host = parts.hostname or ""
    if any(host == site or host.endswith(f".{site}") for site in _BY_QUERY):
        query = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name != "t"]
        return urlunsplit(parts._replace(query=urlencode([*query, ("t", f"{at}s")])))
    return urlunsplit(parts._replace(fragment=f"t={at}"))


def write_lecture_pages(
    lectures: Iterable[GalleryLecture], add: Callable[[str, bytes], object], *, title: str, styles: str, private: bool
) -> int:
    """Write the pages of lectures with their pictures, and return how many pictures there are.

    Args:
        lectures: in the order of the pages; some at a time are held.
        add: takes a file: its name below the gallery's folder, and its bytes.
        title: of the gallery.
        styles: name of its style sheet.
        private: see `write_gallery_folder`.
    """
    waiting, count, page = iter(lectures), 0, 1
    own = list(islice(waiting, PAIRS_PER_PAGE))
    while own:
        following = list(islice(waiting, PAIRS_PER_PAGE))
        shown = []
        for number, lecture in enumerate(own, start=count):
            picture = f"pictures/{number // 100}/{slug(lecture.pair_id)}.png"
            add(f"{PAGES}/{picture}", lecture.picture)
            shown.append(_view(lecture, picture))
        content = page_templates().get_template("gallery/lectures.html.j2").render(
            title=title, styles=f"../{styles}", lectures=shown, private=private, page=page, first=count + 1,
            last=count + len(own), is_last=not following,
        )  # fmt: skip
        add(f"{PAGES}/{page}.html", content.encode())
        count, page, own = count + len(own), page + 1, following
    return count


def _view(lecture: GalleryLecture, picture: str) -> dict[str, Any]:
    return {
        "id": lecture.pair_id,
        "picture": picture,
        "video": lecture.video,
        "channel": lecture.channel,
        "time": f"{time_text(lecture.start)} to {time_text(lecture.end)}",
        "keyframe": time_text(lecture.keyframe),
        "url": address_at(lecture.url, lecture.start),
        "text": lecture.text,
        "license": lecture.license,
        "license_url": web_url(lecture.license_url),
        "attribution": lecture.attribution,
        "instructions": lecture.instructions,
    }
