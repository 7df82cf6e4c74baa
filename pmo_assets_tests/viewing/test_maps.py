"""Maps of points: every class has its own look, and hostile texts stay texts."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import PIL.Image

from pmo_assets.viewing.maps import SHAPES, MapPoint, map_page, map_picture


def _png() -> bytes:
    stream = io.BytesIO()
    PIL.Image.new("RGB", (4, 4), "red").save(stream, "PNG")
    return stream.getvalue()


def _page(points) -> str:
    return map_page("Map", points, lambda label: "#123456" if label < "n" else "#654321", heading="Class")


def _data(page: str):
    found = re.search(r'<script type="application/json" id="points">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_of_many_classes_no_two_of_one_colour_have_the_same_mark() -> None:
    page = _page([MapPoint(number, 0, label) for number, label in enumerate("abcdefghstuvwxyz")])
    marks = re.findall(r'<use href="#(\w+)" x="[^"]+" y="[^"]+" fill="(#\w+)" data', page)
    assert len(marks) == len(set(marks)) == 2 * len(SHAPES)


def test_classes_have_different_marks() -> None:
    page = _page([MapPoint(number, number, label) for number, label in enumerate("abcdxy")])
    marks = re.findall(r'<use href="#(\w+)" x="[^"]+" y="[^"]+" fill="(#\w+)" data-label="(\w)"/>', page)
    assert len(marks) == len({shape for shape, *_ in marks}) == 6
    assert {colour for _, colour, _ in marks} == {"#123456", "#654321"}


def test_places_keep_their_proportions_and_lie_inside() -> None:
    page = _page([MapPoint(0, 0), MapPoint(10, 0), MapPoint(0, 5)])
    places = [tuple(map(float, found)) for found in re.findall(r'x="([\d.-]+)" y="([\d.-]+)" fill', page)]
    (ax, ay), (bx, by), (cx, cy) = places
    assert (ay, cx) == (by, ax)
    assert bx - ax == 2 * (ay - cy) > 900  # up in the plot is up on the page
    assert all(0 < x < 1000 and 0 < y < 720 for x, y in places)


def test_a_point_has_its_picture_and_says_what_it_is() -> None:
    page = _page(
        [MapPoint(0, 0, "a", "p1", "Text", "Someone (CC BY)", _png()), MapPoint(1, 0, "b", "p2", picture=b"GIF89a")]
    )
    first, second = _data(page)
    assert first["picture"].startswith("data:image/png;base64,")
    assert (first["label"], first["title"], first["text"], first["credit"]) == ("a", "p1", "Text", "Someone (CC BY)")
    assert second["picture"] is None


def test_texts_of_articles_cannot_end_the_script() -> None:
    text = "</script><script>alert(1)</script><!--"
    page = _page([MapPoint(0, 0, text, text, text, text)])
    assert page.count("</script>") == 2
    assert "alert(1)<" not in page
    assert _data(page)[0]["text"] == text


def test_nothing_is_loaded_from_elsewhere() -> None:
    page = _page([MapPoint(0, 0, "a")])
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    assert "default-src 'none'" in page


def test_the_picture_shows_each_class_in_its_colour() -> None:
    points = [MapPoint(x, y, "ab"[x % 2]) for x in range(12) for y in range(12)]
    picture = PIL.Image.open(io.BytesIO(map_picture(points, {"a": "#D55E00", "b": "#0072B2"}.get, title="t")))  # type: ignore[arg-type]
    pixels = np.asarray(picture.convert("RGB")).astype(int)
    red, blue = (pixels[..., 0] - pixels[..., 2] > 120), (pixels[..., 2] - pixels[..., 0] > 90)
    assert red.sum() > 500
    assert blue.sum() > 500


def test_a_map_without_points_is_no_error() -> None:
    assert map_picture([], str, title="t").startswith(b"\x89PNG")
    assert "0 points" in _page([])
