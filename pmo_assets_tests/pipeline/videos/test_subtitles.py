"""WebVTT as people and machines write it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.videos.subtitles import caption_words, read_captions

PLAIN = """WEBVTT

1
00:00:01.000 --> 00:00:03.000
<v Jane>The optic&nbsp;disc is pale. [applause]

NOTE a remark

01:00:03.000 --> 01:00:05.000 align:start
Note the drusen.
"""

ROLLING = """WEBVTT
Kind: captions
Language: en

00:00:00.000 --> 00:00:02.000 align:start position:0%
\x20
this<00:00:00.500><c> is</c><00:00:01.000><c> the</c><00:00:01.500><c> macula</c>

00:00:02.000 --> 00:00:02.010 align:start position:0%
this is the macula


00:00:02.010 --> 00:00:04.000 align:start position:0%
this is the macula
with<00:00:03.000><c> drusen</c>
"""


def test_the_words_of_a_cue_share_its_time_by_their_length() -> None:
    words = caption_words(PLAIN)
    assert [word.text for word in words] == ["The", "optic", "disc", "is", "pale.", "Note", "the", "drusen."]
    assert (words[0].start, words[4].end) == pytest.approx((1.0, 3.0))
    assert words[1].end - words[1].start > words[0].end - words[0].start
    assert words[5].start == pytest.approx(3603.0)


def test_lines_that_roll_are_said_once_with_their_own_times() -> None:
    words = caption_words(ROLLING)
    assert [word.text for word in words] == ["this", "is", "the", "macula", "with", "drusen"]
    assert [word.start for word in words] == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.01, 3.0])


def test_what_opens_and_never_closes_is_said() -> None:
    opened = "[" * 200_000
    words = caption_words(f"WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n{opened} drusen [laughs]\n")
    assert [word.text for word in words] == [opened, "drusen"]


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b"1\n00:00:01,000 --> 00:00:02,000\nsubrip", b"WEBVTT\n\n"])
def test_another_file_has_no_words(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.vtt").write_bytes(content)
    assert read_captions(tmp_path / "a.vtt") == []


@given(st.text(alphabet="0123456789:.-> <c/>ab\n&;[", max_size=200))
def test_any_text_gives_words_in_order_within_their_cues(text: str) -> None:
    words = caption_words("WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n" + text)
    assert all(a.start <= b.start for a, b in pairwise(words))
    assert all(word.start <= word.end + 1e-6 for word in words)
