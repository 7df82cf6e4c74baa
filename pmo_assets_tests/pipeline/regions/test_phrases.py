"""Phrases that name marks, form by form, and offsets on hostile text."""

from __future__ import annotations

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pmo_assets.pipeline.regions.phrases import region_phrases
from pmo_assets.records.regions import RegionPhrase


def _read(text: str) -> list[tuple[str, str]]:
    return [
        (text[phrase.mark_start : phrase.mark_end], text[phrase.target_start : phrase.target_end])
        for phrase in region_phrases(text)
    ]


def _one(text: str) -> RegionPhrase:
    (phrase,) = region_phrases(text)
    return phrase


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("White arrows: drusen; black triangle: tear.", [("White arrows", "drusen"), ("black triangle", "tear")]),
        ("Arrow = optic disc.", [("Arrow", "optic disc")]),
        ("*, subretinal fluid; #, drusen", [("*", "subretinal fluid"), ("#", "drusen")]),
        ("∗IV line site, ∗∗ID bracelet site.", [("∗", "IV line site"), ("∗∗", "ID bracelet site")]),
        ("→ drusen; ▲ exudate.", [("→", "drusen"), ("▲", "exudate")]),
        ("Blue stars, ganglion cells.", [("Blue stars", "ganglion cells")]),
        ("Arrow cystic duct, arrowhead bile duct.", [("Arrow", "cystic duct"), ("arrowhead", "bile duct")]),
        ("Inset: higher magnification of the lesion.", [("Inset", "higher magnification of the lesion")]),
    ],
)
def test_a_legend_names_the_thing_behind_the_mark(text: str, phrases: list[tuple[str, str]]) -> None:
    assert _read(text) == phrases


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Asterisk indicates subretinal fluid.", ("Asterisk", "subretinal fluid")),
        ("Black arrowheads point to the tear.", ("Black arrowheads", "the tear")),
        ("White dotted lines delineate the fovea.", ("White dotted lines", "the fovea")),
        ("The arrow in the lower right image shows a hole.", ("arrow", "a hole")),
        ("The red arrow is pointing to a cyst.", ("red arrow", "a cyst")),
        ("The dashed red arrow is the path of the needle.", ("dashed red arrow", "the path of the needle")),
        ('"*" indicates fluid.', ("*", "fluid")),
        ("Arrow: a scar can be seen.", ("Arrow", "a scar")),
        ("Caliper A identifies the retina.", ("Caliper A", "the retina")),
        ("The dashed line shows the visual axis.", ("dashed line", "the visual axis")),
        ("Two concentric ellipses encompass the defects.", ("concentric ellipses", "the defects")),
        ("The distance between “+” marks was OND.", ("“+” marks", "OND")),
        ("The arrow shows the disc (which is swollen).", ("arrow", "the disc")),
    ],
)
def test_a_verb_leads_from_the_mark_to_the_thing(text: str, phrase: tuple[str, str]) -> None:
    assert _read(text) == [phrase]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Fundus photograph shows soft drusen in the macula (arrowhead).", "soft drusen in the macula"),
        ("Drusen are seen in the macula (arrow).", "Drusen"),
        ("The layer is surrounded by bright dots (arrow).", "bright dots"),
        ("OCT shows a large, hyperreflective lesion (arrow).", "a large, hyperreflective lesion"),
        ("Oedema and thinning of the nerve (arrow) are seen.", "thinning of the nerve"),
        ("Oedema and thinning of the nerve (arrows) are seen.", "Oedema and thinning of the nerve"),
        ("Fluid (SRF, arrow) was present.", "Fluid"),
        ("The tumour invades the orbit (arrow).", "the orbit"),
        ("Cysts (marked with an asterisk) are seen.", "Cysts"),
        ("Cysts (see between the white arrows) are seen.", "Cysts"),
        ("The lesion (drusen, arrow) was stable.", "drusen"),
        ("Calcium deposits seen as reflective foci (arrow) are frequent.", "Calcium deposits"),
        ("The optic disc, medial to the fovea (arrow), is pale.", "the fovea"),
        ("The graft at 2 mm posterior to the spur (arrow).", "the spur"),
    ],
)
def test_a_mark_in_brackets_shows_what_stands_before_it(text: str, target: str) -> None:
    assert [found for _, found in _read(text)] == [target]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("MRI shows a mass extending into the orbit (arrow).", "a mass"),
        ("MRI shows the tongue primary reaching vallecula (arrow).", "the tongue primary"),
        ("A vessel traced in Fig. 2 (arrow).", "A vessel"),
        ("Air displaced to the lid (arrow).", "Air"),
        ("OCT shows lesions suggestive of drusen (arrows).", "lesions"),
        ("Arrow: a cyst involving the fovea.", "a cyst"),
        ("Arrow: the area affected by atrophy.", "the area affected by atrophy"),
        ("Arrow: bleeding into the vitreous.", "bleeding into the vitreous"),
        ("OCT shows an enhancing mass (arrow).", "an enhancing mass"),
        ("Line: incision for lens positioning under the flap (arrow).", "incision for lens positioning under the flap"),
    ],
)
def test_a_participle_behind_the_noun_is_left_out(text: str, target: str) -> None:
    assert _read(text)[-1][1] == target


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("OCT shows a cyst with a septum (arrow).", "a septum"),
        ("A bleb with a stent (star) was seen.", "a stent"),
        ("OCT shows lesions consistent with drusen (arrows).", "lesions"),
        ("A cyst with a diameter of 3 mm (arrow).", "A cyst with a diameter of 3 mm"),
    ],
)
def test_behind_with_a_mark_shows_what_is_nearest(text: str, target: str) -> None:
    assert [found for _, found in _read(text)] == [target]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Enhanced-depth imaging of lesions (circles).", "lesions"),
        ("A rare demonstration of a tear (arrow).", "a tear"),
        ("Images obtained at the pit (arrow).", "the pit"),
        ("Images obtained at 3 months (arrow).", "Images"),
    ],
)
def test_a_picture_of_a_thing_shows_the_thing(text: str, target: str) -> None:
    assert [found for _, found in _read(text)] == [target]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("The hypoplastic iris is adherent to the cornea (arrow).", "The hypoplastic iris"),
        ("The zonule is broken (arrow).", "The zonule"),
        ("The outer band is missing (arrow).", "The outer band"),
        ("The angle was narrow (arrow).", "The angle"),
        ("The vessel is difficult to trace (arrow).", "The vessel"),
        ("The mass is 1.8 cm (arrow).", "The mass"),
        ("The folds have flattened (arrows).", "The folds"),
        ("There is thickening of the choroid (arrow).", "thickening of the choroid"),
        ("The changes are consistent with a scar (arrow).", "a scar"),
        ("Findings are of drusen (arrows).", "drusen"),
        ("Note is made of a small naevus (arrow).", "a small naevus"),
        ("We also found small haemorrhages (arrows).", "small haemorrhages"),
    ],
)
def test_a_state_or_size_behind_the_verb_shows_its_subject(text: str, target: str) -> None:
    assert [found for _, found in _read(text)] == [target]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("The muscle inserts on the medial wall (arrow).", "the medial wall"),
        ("The axons project across the midline (arrows).", "the midline"),
        ("The vessel consists of an alternation of beads (arrow).", "an alternation of beads"),
        ("A lesion that extends into the sinus (arrow).", "A lesion"),
        ("Streaks that may radiate from the disc (arrow).", "the disc"),
        ("The macula where he fixates (arrow) is thin.", "The macula"),
        ("A tear of the membrane, resulting in a fold (arrow).", "a fold"),
    ],
)
def test_a_verb_of_course_shows_where_it_leads(text: str, target: str) -> None:
    assert [found for _, found in _read(text)] == [target]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("A cyst (arrow) and extending anterior to the ora (star).", ["A cyst", "the ora"]),
        ("A cyst (arrow), adjacent to the pole and compressing the duct (star).", ["A cyst", "the duct"]),
        ("A cyst (arrow) and kissing stents in the duct (star).", ["A cyst", "kissing stents in the duct"]),
    ],
)
def test_a_second_clause_shows_its_object(text: str, targets: list[str]) -> None:
    assert [found for _, found in _read(text)] == targets


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("OCT shows anteriorly displaced lens (arrow).", "anteriorly displaced lens"),
        ("OCT shows well-defined lesions (arrows).", "well-defined lesions"),
        ("Arrow shows the abnormal, tiny foci of leakage.", "the abnormal, tiny foci of leakage"),
        ("OCT shows the lens located just behind the iris (arrow).", "the lens"),
        ("OCT shows a cyst (3 mm) involving the fovea (arrow).", "a cyst (3 mm)"),
        ("OCT shows a “stain” surrounding the channel (arrow).", "a “stain"),
        ("OCT shows a prominent surrounding cleft (arrow).", "a prominent surrounding cleft"),
        ("Arrow shows the stent demonstrating its typical appearance.", "the stent"),
        ("A scan through the optic disc (star).", "the optic disc"),
        ("Arrows mark the position of the scan across the macula.", "the position of the scan across the macula"),
    ],
)
def test_a_target_keeps_its_adverbs_and_leaves_clauses_out(text: str, target: str) -> None:
    assert [found for _, found in _read(text)] == [target]


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("Drusen (S7 Fig. in S1 File, arrows).", [("arrows", "Drusen")]),
        ("Outer circle with dots (area B)=stent; inner circle=lumen.", [("Outer circle", "stent"),
                                                                       ("inner circle", "lumen")]),
        ("A large cyst (inset, white arrow).", [("white arrow", "A large cyst")]),
        ("The dashed lines in (C) and (D) depict the scan's plane.", [("dashed lines", "the scan's plane")]),
        ("The arrow in the scan and the line in the map depict the fovea.",
         [("arrow", "the fovea"), ("line", "the fovea")]),
        ("B-scan corresponding to the yellow line in (C) showing flow.", [("yellow line", "B-scan")]),
        ("The nerve is outlined in dashed yellow.", [("outlined in dashed yellow", "The nerve")]),
        ("Magnified images of the boxes in (D).", [("boxes", "")]),
    ],
)  # fmt: skip
def test_what_stands_beside_a_mark_is_not_what_it_shows(text: str, phrases: list[tuple[str, str]]) -> None:
    assert _read(text) == phrases


@pytest.mark.parametrize("text", ["A cyst (head of arrow).", "A cyst (head arrow).", "A cyst (head of the red arrow)."])
def test_the_head_of_an_arrow_is_an_arrowhead(text: str) -> None:
    assert _one(text).kind == "arrowhead"
    assert _one("A cyst (single-head arrow).").kind == "arrow"


@pytest.mark.parametrize(
    "text",
    [
        "Thickness of healthy controls (circles) and patients with glaucoma (triangles).",
        "The thickness of three layers (L = 31 (red line), 88 (black circle)).",
        "Quantification of the inner layer (blue circles).",
    ],
)
def test_symbols_of_a_plot_are_no_marks(text: str) -> None:
    assert _read(text) == []


def test_two_pictures_with_marks_show_the_same_thing() -> None:
    text = "Retinoschisis is seen in the photograph (white arrow) and the B-scan image (arrowheads)."
    assert {target for _, target in _read(text)} == {"Retinoschisis"}


@pytest.mark.parametrize(
    ("text", "mark", "label"),
    [
        ("The margins are marked with small x's.", "small x's", "x"),
        ("The margins are marked with small x’s.", "small x’s", "x"),
        ("The interval between “x” marks was ONSD.", "“x” marks", "x"),
        ("The “#” symbol indicates the valve.", "“#” symbol", "#"),
        ("The margin (cross mark) is sharp.", "cross mark", None),
    ],
)
def test_a_sign_is_named_by_a_noun_behind_it(text: str, mark: str, label: str | None) -> None:
    phrase = _one(text)
    assert (text[phrase.mark_start : phrase.mark_end], phrase.kind, phrase.label) == (mark, "asterisk", label)


def test_marks_is_a_verb_before_an_object() -> None:
    assert _read("The star marks the inner layer.") == [("star", "the inner layer")]
    assert _read('"#" marks the valve.') == [("#", "the valve")]


def test_a_value_measured_in_a_coloured_mark_names_it_and_shows_nothing() -> None:
    text = "The mean value of the blue boxes was compared with that of the green box."
    assert _read(text) == [("blue boxes", ""), ("green box", "")]
    assert _read("A line was drawn (grey line) on each side of the orange line.") == [
        ("grey line", ""), ("orange line", ""),
    ]  # fmt: skip


def test_a_second_mark_shows_what_follows_the_first() -> None:
    text = "A mass (asterisk) extends via the fissure (curved arrow) into the left fossa (thin arrow)."
    assert [target for _, target in _read(text)] == ["A mass", "the fissure", "the left fossa"]


def test_marks_on_both_sides_of_between_show_a_side_each() -> None:
    assert _read("Fluid between the choroid (arrow) and sclera (*).") == [
        ("arrow", "the choroid"), ("*", "sclera"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Drusen are indicated by arrows.", ("arrows", "Drusen")),
        ("The ellipsoid zone is lost between the arrows.", ("arrows", "The ellipsoid zone")),
        ("The area outlined in white had grown.", ("outlined in white", "The area")),
        ("The border of the lesion is shown as a dashed line.", ("dashed line", "The border of the lesion")),
        ("In the red box, the ellipsoid zone is lost.", ("red box", "the ellipsoid zone")),
        ("Macular hole, arrow.", ("arrow", "Macular hole")),
        ("The olfactory limbus (encircled) protrudes.", ("encircled", "The olfactory limbus")),
        ("Magnified view of the boxed area.", ("boxed area", "")),
    ],
)
def test_a_mark_behind_a_preposition_or_participle_shows_what_stands_before_it(
    text: str, phrase: tuple[str, str]
) -> None:
    assert _read(text) == [phrase]


def test_respectively_distributes_things_over_marks() -> None:
    text = "Yellow and red arrows mark drusen and exudates, respectively."
    assert _read(text) == [("Yellow", "drusen"), ("red arrows", "exudates")]
    assert [phrase.colour for phrase in region_phrases(text)] == ["yellow", "red"]
    assert _read("Arrows and arrowheads indicate drusen and vessels, respectively.") == [
        ("Arrows", "drusen"), ("arrowheads", "vessels"),
    ]  # fmt: skip
    assert _read("The right and left branches (red and white asterisks, respectively).") == [
        ("red", "The right"), ("white asterisks", "left branches"),
    ]  # fmt: skip


def test_a_name_says_kind_colour_style_number_and_label() -> None:
    phrase = _one("Fluid (thick white dashed arrows 1–3).")
    assert (phrase.kind, phrase.colour, phrase.style, phrase.label, phrase.is_plural) == (
        "arrow", "white", "dashed", "1–3", True,
    )  # fmt: skip
    assert _one("Cyst (arrow a).").label == "a"
    assert _one("Cyst (black opposing arrowheads).").colour == "black"
    assert _one("Cyst (arrow-head).").kind == "arrowhead"
    assert _one("Cyst (magenta star).").colour == "pink"
    assert [phrase.label for phrase in region_phrases("Lens (†), iris (*), angle (**).")] == ["†", None, "**"]


@pytest.mark.parametrize("text", ["Hole (arrow in B).", "Hole (B, arrow).", "Hole (arrow, B).", "Arrow (B) shows it."])
def test_a_name_says_the_panel(text: str) -> None:
    assert _one(text).panels == ("B",)


def test_a_range_of_panels_is_written_out() -> None:
    assert _one("Cells (arrows in a–c).").panels == ("a", "b", "c")


@pytest.mark.parametrize(
    "text",
    [
        "* P < 0.05, ** P < 0.01.",
        "*p<0.05; **p<0.001 compared with controls.",
        "Asterisks indicate significant differences.",
        "(*) corresponds to p<0.001.",
        "Box plot of values; box-and-whisker plots are shown.",
        "Scale bar, 100 µm. Scale bars: 50 µm.",
        "Star-shaped macula, circle of Willis, and a macular star.",
        "The foveal avascular zone outlined by the capillaries.",
        "The yellow arrow sign; line graph.",
        "Dashed line: regression fit.",
        "Open circles, control; filled circles, treated; mean ± SD.",
        "Staining at magnification 200* and *400 in cell line #2.",
        "Case #1 with ERG+ and CD4 (+) cells.",
        "The membrane is seen as double echogenic lines.",
        "Each circle represents one eye.",
        "The dashed line is the x-axis.",
        "The slope of the black line was steep.",
        "Magnification ×40 and x 20; the x chromosome; fragile X’s; the “X” sign.",
        "The distance between circles was 3 mm.",
        "A fracture line extends through the cortex. The Schwalbe line is shown.",
        "",
    ],
)
def test_other_things_are_no_marks(text: str) -> None:
    assert region_phrases(text) == ()


def test_a_plus_in_brackets_is_a_mark_beside_another_sign() -> None:
    assert _read("The duct (+) and the aorta (*).") == [("+", "The duct"), ("*", "the aorta")]


def test_a_phrase_goes_from_target_to_bracket() -> None:
    text = "CT shows a mass (white arrow) in the orbit."
    phrase = region_phrases(text, found_in="mention", mention=3)[0]
    assert text[phrase.start : phrase.end] == "a mass (white arrow)"
    assert (phrase.found_in, phrase.mention, phrase.marks, phrase.undecided) == ("mention", 3, (), None)


_WORDS = (
    "( ) [ ] arrow arrows head white and red , ; : . = * ∗ ** # + → in A B a 1 – - star circle of outlined boxed area "
    "the between drusen are seen shows with indicated by respectively line dashed p < 0.05 each inset macular "
    "x “ ” ’ s marks image scan extending into imaging to medial distance was"
)
_PIECES = st.sampled_from([*_WORDS.split(), '"', "\u202e", "\x00"])


def _is_sound(text: str) -> bool:
    for phrase in region_phrases(text):
        mark, target = (phrase.mark_start, phrase.mark_end), (phrase.target_start, phrase.target_end)
        assert 0 <= phrase.start <= mark[0] < mark[1] <= phrase.end <= len(text)
        assert target[0] <= target[1] <= len(text)
        assert target[0] == target[1] or phrase.start <= target[0]
        assert target[1] <= phrase.end
        assert text[slice(*mark)].strip() == text[slice(*mark)]
        assert text[slice(*target)].strip() == text[slice(*target)]
        assert not (target[0] < mark[1] and mark[0] < target[1])
    return True


@given(st.lists(_PIECES, max_size=30), st.sampled_from([" ", ""]))
@example(["*", "–"], " ")  # ends with a dash that may be a legend's
def test_offsets_are_sound_on_any_order_of_words(pieces: list[str], joiner: str) -> None:
    assert _is_sound(joiner.join(pieces))


@given(st.text(max_size=80))
def test_offsets_are_sound_on_any_text(text: str) -> None:
    assert _is_sound(text + " arrow (" + text)


@pytest.mark.parametrize(
    "unit",
    [
        "(",
        "(arrow",
        "((((arrow",
        "red, ",
        "arrows and ",
        "*",
        "(+)",
        "shows is are with arrow ",
        "x’s “x” marks ",
        "image of arrow, mass extending with ",
    ],
)
def test_long_hostile_text_takes_work_near_linear_in_its_length(unit: str) -> None:
    def calls(size: int) -> int:
        """Calls of functions: work without a clock."""
        count = 0

        def counted(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(counted)
        try:
            region_phrases((unit * size)[:size])
        finally:
            sys.setprofile(before)
        return count

    assert calls(12_000) < 5 * calls(3_000) + 1_000
    assert _is_sound((unit * 12_000)[:12_000])
