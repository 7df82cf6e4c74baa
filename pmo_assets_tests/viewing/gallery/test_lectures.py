"""Pages of lectures in the gallery: the time in the video, words as text, as many pages as it takes."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pmo_assets.viewing.gallery import GalleryLecture, write_gallery_folder
from pmo_assets.viewing.gallery.lectures import PAIRS_PER_PAGE, address_at, time_text

LECTURE = GalleryLecture(
    pair_id="a0", video="eyes.mp4", channel="Eye & Co", url="https://www.youtube.com/watch?v=x&t=3", start=247.6,
    end=3850.0, keyframe=250.0, text="fluid <script>alert(1)</script>", picture=b"PNG", license="CC BY",
    license_url="javascript:alert(1)", attribution="'Eyes', Eye & Co",
)  # fmt: skip


def gallery(*lectures: GalleryLecture) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    write_gallery_folder([], files.__setitem__, title="Eyes", facts={}, lectures=lectures)
    return files


def test_a_picture_stands_with_words_time_channel_and_licence() -> None:
    files = gallery(LECTURE)
    page = files["lectures/1.html"].decode()
    assert "eyes.mp4, 4:07 to 1:04:10" in page
    assert 'href="https://www.youtube.com/watch?v=x&amp;t=247s"' in page
    assert "fluid &lt;script&gt;" in page
    assert "Eye &amp; Co · CC BY · " in page
    assert "javascript:" not in page
    assert files["lectures/pictures/0/a0.png"] == b"PNG"
    assert 'src="pictures/0/a0.png"' in page
    assert "1 pictures" not in files["index.html"].decode()
    assert 'href="lectures/1.html"' in files["index.html"].decode()
    assert "lectures/1.html\n" in files["files.txt"].decode()


def test_pages_lead_to_each_other() -> None:
    files = gallery(*(replace(LECTURE, pair_id=f"a{n}") for n in range(2 * PAIRS_PER_PAGE + 1)))
    pages = [files[f"lectures/{n}.html"].decode() for n in (1, 2, 3)]
    assert [len(re.findall("<article", page)) for page in pages] == [PAIRS_PER_PAGE, PAIRS_PER_PAGE, 1]
    assert [re.findall(r'href="(\d)\.html"', page) for page in pages] == [["2"], ["1", "3"], ["2"]]


def test_a_gallery_without_lectures_has_no_pages_of_them() -> None:
    files = gallery()
    assert not [name for name in files if name.startswith("lectures")]
    assert "lectures/" not in files["index.html"].decode()


@pytest.mark.parametrize(
    ("url", "seconds", "found"),
    [
        ("https://youtu.be/x", 61.9, "https://youtu.be/x?t=61s"),
        ("https://vimeo.com/7#old", 5, "https://vimeo.com/7#t=5"),
        ("https://notyoutube.com/x", 5, "https://notyoutube.com/x#t=5"),
        ("file:///etc/passwd", 5, None),
        (None, 5, None),
    ],
)
def test_an_address_leads_to_the_time(url: str | None, seconds: float, found: str | None) -> None:
    assert address_at(url, seconds) == found


def test_times_are_written_as_players_do() -> None:
    assert [time_text(seconds) for seconds in (0, 59.9, 60, 3600)] == ["0:00", "0:59", "1:00", "1:00:00"]
