"""Which words two texts share."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.viewing.text_differences import caption_segments, text_difference

words = st.lists(st.sampled_from(["OCT", "scan", "of", "the", "eye,", "(a)", "µm"]), max_size=12).map(" ".join)


def test_what_the_other_text_lacks_is_not_shared() -> None:
    a, b = "OCT scan of the left eye.", "oct scan of  the eye before surgery."
    left, right = text_difference(a, b)
    assert [(a[s.start : s.end], s.shared) for s in left] == [
        ("OCT scan of the", True),
        ("left", False),
        ("eye.", True),
    ]
    assert [b[s.start : s.end] for s in right if not s.shared] == ["before surgery"]


def test_a_subcaption_is_found_in_its_caption() -> None:
    caption = "Imaging. (a) OCT scan, (b) photograph of the eye. Bar, 2 mm."
    parts = caption_segments(caption, "Imaging. Photograph of the eye. Bar, 2 mm.")
    assert [caption[start:end] for start, end in parts] == ["Imaging.", "photograph of the eye. Bar, 2 mm."]
    assert caption_segments(caption, None) == []


@given(words, words)
def test_both_sides_share_the_same_words(a: str, b: str) -> None:
    left, right = text_difference(a, b)

    def shared(text: str, parts: tuple) -> str:  # type: ignore[type-arg]
        return "".join("".join(text[s.start : s.end].split()) for s in parts if s.shared)

    assert shared(a, left) == shared(b, right)
    assert [s for s in left if not s.shared] == [] or a != b
