"""Which videos are read, and what their licences allow."""

from __future__ import annotations

from typing import Any

import pytest

from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.videos.selection import judged, rights

NO_TERM = "Not read: title, tags and description have none of the specialty's terms."

OPHTHALMOLOGY = load_specialty("ophthalmology")


def listing(**stated: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(("title", "description", "channel", "url", "stated_seconds", "license_statement"))
    return {"name": "a.mp4", "tags": [], **nothing, **stated}


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        ({"title": "Retinal detachment in ten minutes"}, 'Read: the title has "Retinal".'),
        ({"title": "Lecture 3", "tags": ["OCT"]}, 'Read: a tag has "OCT".'),
        ({"title": "Lecture 3", "description": "We speak of macular holes."}, 'Read: the description has "macular".'),
        ({}, "Read: nothing beside it says what it is about."),
        ({"title": "My cat"}, NO_TERM),
        ({"title": "Oct 2020", "tags": ["october"]}, NO_TERM),
        ({"title": "Retina", "stated_seconds": 5.0}, "Not read: it lasts 5 s, and 20 to 43200 are a lecture's."),
        ({"title": "Retina", "stated_seconds": 9e5}, "Not read: it lasts 900000 s, and 20 to 43200 are a lecture's."),
    ],
)  # fmt: skip
def test_a_video_is_chosen_by_its_words_and_its_length(stated: dict[str, Any], reason: str) -> None:
    assert judged(listing(**stated), OPHTHALMOLOGY) == (reason.startswith("Read"), reason)


def test_a_specialty_that_does_not_filter_takes_all() -> None:
    assert judged(listing(title="My cat"), load_specialty("everything"))[0]


@pytest.mark.parametrize(
    ("stated", "code", "withheld"),
    [
        ({"license_statement": "Creative Commons Attribution license (reuse allowed)"}, "CC BY", False),
        ({"license_statement": "by-nc-sa"}, "CC BY-NC-SA", False),
        ({"license_statement": "CC BY-ND 4.0"}, "CC BY-ND", True),
        ({"license_statement": "Standard YouTube License"}, None, True),
        ({"license_statement": None}, None, True),
        ({"license_statement": None, "description": "This work is licensed under CC BY 4.0."}, None, True),
        ({"license_statement": "CC BY 4.0", "description": "Follow me!"}, "CC BY", False),
        (
            {"license_statement": "CC BY 4.0", "description": "This work is licensed under a Creative Commons "
             "Attribution-NonCommercial 4.0 licence."}, "CC BY-NC", False,
        ),
    ],
)  # fmt: skip
def test_only_an_open_licence_that_is_understood_lets_anything_out(
    stated: dict[str, Any], code: str | None, withheld: bool
) -> None:
    found = rights(listing(**stated))
    assert (found["license"], found["withheld"]) == (code, withheld)


def test_a_channel_is_credited() -> None:
    credit = rights(listing(title="Drusen", channel="Eye Channel", url="https://example.org"))["attribution"]
    assert credit == "'Drusen', Eye Channel, https://example.org"
    assert rights(listing())["attribution"] == "'a.mp4'"
