"""What yt-dlp's metadata state of a video, and which files belong to one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.videos import (
    LARGEST_METADATA,
    StatedVideo,
    UnreadableVideoMetadata,
    captions_among,
    stated_video,
    video_digest,
    video_number,
)

STATED: dict[str, Any] = {
    "id": "a1", "extractor_key": "Youtube", "title": "Macular\n disease", "description": "On drusen.",
    "tags": ["retina", 3, "retina"], "categories": ["Education"],
    "channel": "Jane Miller; Eye Channel", "uploader": "X",
    "license": "CC BY 4.0", "webpage_url": "https://example.org/a1", "upload_date": "20240131", "duration": 61.5,
    "view_count": 7,
}  # fmt: skip


def stated(**changed: Any) -> StatedVideo:
    return stated_video(json.dumps(STATED | changed).encode())


def test_what_is_used_of_the_metadata() -> None:
    assert stated() == StatedVideo(
        title="Macular disease",
        description="On drusen.",
        tags=("retina", "Education"),
        channel="Jane Miller; Eye Channel",
        people=("Jane Miller", "Eye Channel", "X"),
        seconds=61.5,
        license="CC BY 4.0",
        url="https://example.org/a1",
        published="2024-01-31",
        place="youtube:a1",
    )


def test_fields_of_a_wrong_type_state_nothing() -> None:
    wrong = stated(
        title=3, tags="retina", channel=[], duration=True, webpage_url="javascript:1", upload_date="2024", id=1
    )
    assert (wrong.title, wrong.tags, wrong.seconds, wrong.url, wrong.published, wrong.place) == (
        None, ("Education",), None, None, None, None,
    )  # fmt: skip
    assert wrong.channel == "X"
    assert stated(duration=float("inf")).seconds is None
    assert stated(duration=10**400).seconds is None
    assert stated(title="\ud800 drusen").title == "? drusen"


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"[" * 100_000, b'{"license": ["CC BY"]}', b"\xff"])
def test_metadata_that_may_have_said_anything_are_refused(content: bytes) -> None:
    with pytest.raises(UnreadableVideoMetadata):
        stated_video(content)


def test_metadata_without_end_are_refused() -> None:
    with pytest.raises(UnreadableVideoMetadata, match="bytes"):
        stated_video(b"{}" + b" " * LARGEST_METADATA)


@given(st.binary(max_size=60) | st.dictionaries(st.sampled_from(sorted(STATED)), st.none() | st.text() | st.integers()))
def test_whatever_stands_there_is_read_or_refused(content: bytes | dict[str, Any]) -> None:
    try:
        read = stated_video(content if isinstance(content, bytes) else json.dumps(content).encode())
    except UnreadableVideoMetadata:
        return
    video_digest("0", None, read).encode()
    video_number(read.place or "").bit_length()


def test_a_video_is_another_one_when_its_content_or_what_is_said_of_it_changes() -> None:
    digest = video_digest("a", "b", stated())
    assert digest == video_digest("a", "b", stated(view_count=8))
    others = {
        video_digest("c", "b", stated()),
        video_digest("a", None, stated()),
        video_digest("a", "b", stated(license="")),
    }
    assert digest not in others
    assert len(others) == 3


def test_numbers_fit_and_keep() -> None:
    assert video_number("youtube:a1") == 875888831882839
    assert video_number("youtube:a1") != video_number("youtube:a2")
    assert 1 <= video_number("") <= 2**52


def test_captions_of_another_video_are_none() -> None:
    names = ["talk.2.vtt", "talk.chapter.vtt", "talks.en.vtt"]
    assert captions_among("talk", names) is None
    for name in ("talk.de.vtt", "talk.en-orig.vtt", "talk.vtt"):  # from the last choice to the first
        names.append(name)
        assert captions_among("talk", names) == name
