"""Which marks a phrase means, and when that is not sure."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.regions.links import linked_phrases
from pmo_assets.pipeline.regions.phrases import region_phrases
from pmo_assets.records.regions import MARK_COLOURS, MARK_KINDS, Mark, MarkColour, MarkKind, RegionPhrase


def _mark(
    kind: MarkKind, colour: MarkColour | None = None, *, label: str | None = None, probability: float = 0.9
) -> Mark:
    return Mark(kind, colour, "#808080", (0.1, 0.1, 0.2, 0.2), None, None, label, "pixels", 0.9, probability)


def _links(text: str, *marks: Mark, identifier: str | None = None) -> list[tuple[tuple[int, ...], str | None]]:
    phrases = linked_phrases(region_phrases(text), marks, identifier=identifier)
    return [(phrase.marks, phrase.undecided) for phrase in phrases]


def test_a_singular_means_the_one_mark_of_its_kind() -> None:
    assert _links("Drusen (arrow).", _mark("circle"), _mark("arrow")) == [((1,), None)]


def test_a_singular_that_several_marks_fit_is_undecided_and_names_them() -> None:
    ((marks, reason),) = _links("Drusen (arrow).", _mark("arrow"), _mark("arrow"))
    assert marks == (0, 1)
    assert reason == "2 marks fit, and the text speaks of one"


def test_a_singular_means_one_mark_on_each_of_several_images() -> None:
    phrases = region_phrases("Drusen (arrow).")
    marks = _mark("arrow"), _mark("arrow")
    (apart,) = linked_phrases(phrases, marks, images=(0, 1))
    assert (apart.marks, apart.undecided) == ((0, 1), None)
    (together,) = linked_phrases(phrases, marks, images=(0, 0))
    assert together.undecided == "2 marks fit, and the text speaks of one"


def test_marks_of_a_named_colour_are_not_those_of_a_phrase_without() -> None:
    marks = _mark("arrow", "white"), _mark("arrow", "black"), _mark("arrow", "white")
    links = _links("The arrow shows drusen, and the white arrows show a scar.", *marks)
    assert links == [((1,), None), ((0, 2), None)]


def test_arrows_are_also_arrowheads_where_no_phrase_names_these() -> None:
    marks = _mark("arrow", "red"), _mark("arrowhead", "red"), _mark("arrowhead", "blue")
    assert _links("Drusen (red arrows).", *marks) == [((0, 1), None)]
    both = _links("Drusen (red arrows) and a scar (arrowheads).", *marks)
    assert both == [((0,), None), ((1, 2), None)]


def test_a_plural_means_all_that_fit() -> None:
    assert _links("Drusen (arrows).", _mark("arrow"), _mark("box"), _mark("arrow")) == [((0, 2), None)]


def test_colours_tell_marks_apart() -> None:
    marks = _mark("arrow", "yellow"), _mark("arrow", "red"), _mark("arrow", "red")
    text = "Yellow and red arrows mark drusen and exudates, respectively."
    assert _links(text, *marks) == [((0,), None), ((1, 2), None)]


def test_the_nearest_colour_is_taken_unless_another_phrase_names_it() -> None:
    assert _links("Drusen (orange arrow).", _mark("arrow", "yellow"), _mark("arrow", "blue")) == [((0,), None)]
    assert _links("Drusen (yellow arrow).", _mark("arrow", "yellow"), _mark("arrow", "orange")) == [((0,), None)]
    marks = _mark("arrow", "yellow"), _mark("arrow", None)
    links = _links("Drusen (orange arrow) and a scar (yellow arrow).", *marks)
    assert links == [((1,), None), ((0,), None)]
    ((linked, reason),) = _links("Drusen (white arrow).", _mark("arrow", "black"))
    assert linked == ()
    assert reason == "no white arrow was seen that is not another phrase's"


def test_arrows_and_arrowheads_are_taken_for_each_other_where_no_phrase_tells_them_apart() -> None:
    assert _links("Drusen (arrow).", _mark("arrowhead")) == [((0,), None)]
    both = _links("Drusen (arrow) and a scar (arrowhead).", _mark("arrowhead"), _mark("arrow"))
    assert both == [((1,), None), ((0,), None)]
    (first, second) = _links("Drusen (arrow) and a scar (arrowhead).", _mark("arrowhead"))
    assert first == ((), "no arrow was seen that is not another phrase's")
    assert second == ((0,), None)


def test_a_phrase_of_any_kind_fits_all_kinds() -> None:
    assert _links("Setae are highlighted in red.", _mark("line", "red")) == [((0,), None)]


def test_labels_tell_marks_apart() -> None:
    marks = _mark("arrow", label="1"), _mark("arrow", label="2"), _mark("arrow", label="3")
    assert _links("Drusen (arrow 1) and scars (arrows 2–3).", *marks) == [((0,), None), ((1, 2), None)]
    assert _links("Lens (**).", _mark("asterisk", label="*"), _mark("asterisk", label="∗∗")) == [((1,), None)]


def test_a_sign_means_the_arrow_that_bears_it() -> None:
    one, two = _mark("arrow", label="*"), _mark("arrow", label="**")
    assert _links("∗IV line site. ∗∗ID bracelet site.", one, two) == [((0,), None), ((1,), None)]


def test_a_label_that_was_not_read_leaves_the_link_undecided() -> None:
    ((marks, reason),) = _links("Drusen (arrow 1).", _mark("arrow"), _mark("arrow", label="2"))
    assert marks == (0,)
    assert reason == "no mark with the label '1' was seen"


def test_phrases_that_differ_in_what_no_picture_tells_are_undecided() -> None:
    links = _links("Drusen (thick arrows) and scars (thin arrows).", _mark("arrow"), _mark("arrow"))
    assert {reason for _, reason in links} == {"the text names these marks for several things"}
    assert {marks for marks, _ in links} == {(0, 1)}


def test_a_phrase_about_another_panel_has_no_marks_here() -> None:
    assert _links("Hole (arrow in B).", _mark("arrow"), identifier="b") == [((0,), None)]
    assert _links("Hole (arrow in B).", _mark("arrow"), identifier="A") == [((), "the text means marks in B")]
    assert _links("Hole (arrow in B).", _mark("arrow")) == [((0,), None)]


def test_unlikely_marks_are_not_linked_and_keep_their_positions() -> None:
    assert _links("Drusen (arrow).", _mark("arrow", probability=0.4)) == [((), "no mark was seen")]
    assert _links("Drusen (arrow).", _mark("arrow", probability=0.4), _mark("arrow")) == [((1,), None)]
    phrases = region_phrases("Drusen (arrow).")
    assert linked_phrases(phrases, [_mark("arrow", probability=0.4)], least_probability=0.3)[0].marks == (0,)


def test_texts_do_not_compete() -> None:
    marks = [_mark("arrow")]
    phrases: tuple[RegionPhrase, ...] = (
        *region_phrases("Drusen (arrow)."),
        *region_phrases("The scar is seen (arrow).", found_in="mention", mention=0),
    )
    assert [phrase.marks for phrase in linked_phrases(phrases, marks)] == [(0,), (0,)]


_TEXTS = st.sampled_from([
    "Drusen (arrow), fluid (*) and scars (white arrowheads).",
    "Red and blue circles mark a cyst and a hole, respectively.",
    "Arrows 1–3 show drusen; the arrow in B shows fluid.",
])  # fmt: skip
_MARKS = st.lists(
    st.builds(
        _mark, st.sampled_from(MARK_KINDS), st.one_of(st.none(), st.sampled_from(MARK_COLOURS)),
        label=st.sampled_from([None, "1", "2", "*"]), probability=st.floats(0, 1),
    ),
    max_size=8,
)  # fmt: skip


@given(_TEXTS, _MARKS)
def test_a_sure_link_has_marks_and_an_unlinked_phrase_a_reason(text: str, marks: list[Mark]) -> None:
    found = region_phrases(text)
    linked = linked_phrases(found, marks)
    assert [phrase.start for phrase in linked] == [phrase.start for phrase in found]
    for phrase in linked:
        assert phrase.marks or phrase.undecided
        assert all(marks[index].probability >= 0.5 for index in phrase.marks)
        assert phrase.undecided or phrase.is_plural or len(phrase.marks) == 1


def test_a_style_that_marks_do_not_state_leaves_the_link_undecided() -> None:
    assert _links("Fistula (hollow arrow).", _mark("arrow")) == [((0,), "whether a mark is open is not seen")]
    assert _links("Fistula (hollow arrow).") == [((), "no mark was seen")]
