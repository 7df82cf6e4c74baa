"""Which videos are read, by what is said beside them, and what their licence allows.

Add here: rules about a video's metadata. Keep out: what is seen or heard in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pmo_assets.pipeline.articles.licences import (
    agreed_code,
    allows_redistribution,
    commercial_use,
    license_statements,
    license_url,
)
from pmo_assets.pipeline.articles.relevance import Specialty, lecture_term
from pmo_assets.records.step_output import Row

SHORTEST: Final = 20.0
"""Seconds; a shorter video is a trailer, or an animated logo."""

LONGEST: Final = 12 * 3600.0
"""Seconds; a longer one is the recording of a day, or of a stream that nobody ended."""

LICENSES_OF_SITES: Final = {
    # As yt-dlp writes Vimeo's licences, by their codes.
    "by": "CC BY", "by-sa": "CC BY-SA", "by-nd": "CC BY-ND", "by-nc": "CC BY-NC", "by-nc-sa": "CC BY-NC-SA",
    "by-nc-nd": "CC BY-NC-ND", "cc0": "CC0",
}  # fmt: skip
"""Codes that a site uses where others write a sentence."""


def judged(listing: Mapping[str, Any], specialty: Specialty) -> tuple[bool, str]:
    """Return whether a video is read, and why, in a sentence.

    Args:
        listing: row of `video_batch`.
        specialty: whose terms title, tags or description must have.
    """
    seconds = listing["stated_seconds"]
    if seconds is not None and not SHORTEST <= seconds <= LONGEST:
        return False, f"Not read: it lasts {seconds:.0f} s, and {SHORTEST:.0f} to {LONGEST:.0f} are a lecture's."
    if not specialty.filter:
        return True, f"Read: the specialty {specialty.name} takes every video."
    texts = [("the title", listing["title"]), *(("a tag", tag) for tag in listing["tags"]),
             ("the description", listing["description"])]  # fmt: skip
    told = [(where, text) for where, text in texts if text]
    if not told:
        return True, "Read: nothing beside it says what it is about."
    named = lecture_term(told, specialty)
    if named is None:
        return False, "Not read: title, tags and description have none of the specialty's terms."
    return True, f"Read: {named}."


def rights(listing: Mapping[str, Any]) -> Row:
    """Return the licence of a video and whom to credit: columns of `videos`.

    Only what the metadata state as the licence gives rights, and only where all of it is understood; sentences about
    rights in the description take away.

    Args:
        listing: row of `video_batch`.
    """
    stated = listing["license_statement"]
    written = LICENSES_OF_SITES.get((stated or "").casefold(), stated)
    said = license_statements(listing["description"] or "")
    code = None if written is None else agreed_code(written, said or None)
    title = f"'{listing['title'] or listing['name']}'"
    return {
        "license": code,
        "license_url": license_url(code, written),
        "commercial_use": commercial_use(code),
        "withheld": code is None or not allows_redistribution(code),
        "attribution": ", ".join(part for part in (title, listing["channel"], listing["url"]) if part),
    }
