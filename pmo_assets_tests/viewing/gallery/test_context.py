"""What articles say of panels in the gallery's data: each sentence once, words marked where JavaScript finds them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pmo_assets.records.context import ENTITY_GROUPS, MENTION_KINDS, SECTION_CLASSES, SourceSentence
from pmo_assets.viewing.gallery.context import NEGATED, UNCERTAIN, context_entry, script_offsets
from pmo_assets_tests.viewing.gallery_figures import context, entity, figure, mention, panel, registered, written_files

FLUID = "Fig. 2A shows subretinal fluid but no drusen."
BOTH = "Figure 2 shows the right eye."


def told(*panels: Any) -> dict[str, Any]:
    entry = context_entry(figure(*panels))
    assert entry is not None
    return entry


def marks_of(entry: dict[str, Any], numbers: tuple[int, ...], text: str) -> list[tuple[str, str, str, int]]:
    """Return marks as (words, group, term, bits), words cut as JavaScript cuts them."""
    units = text.encode("utf-16-le", "surrogatepass")
    return [
        (
            units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass"),
            ENTITY_GROUPS[group],
            entry["terms"][term],
            bits,
        )
        for start, end, group, term, bits in zip(*[iter(numbers)] * 5, strict=True)
    ]


def test_a_sentence_that_panels_share_stands_once() -> None:
    shared = mention(BOTH, start=50, kind="names figure")
    entry = told(
        panel("A", context=context(mention(FLUID), shared)),
        panel("B", context=context(shared)),
        panel("C", context=None),
    )
    assert [sentence[0] for sentence in entry["sentences"]] == [FLUID, BOTH]
    names, whole = (MENTION_KINDS.index(kind) for kind in ("names panel", "names figure"))
    assert [item and item["said"] for item in entry["panels"]] == [[0, names, 1, whole], [1, whole], None]
    assert entry["sentences"][0][1:3] == (SECTION_CLASSES.index("results"), "Results")


def test_words_are_marked_with_group_term_and_whether_they_are_denied() -> None:
    said = [
        entity(FLUID, "subretinal fluid", number=0, uncertain=True),
        entity(FLUID, "drusen", "finding", "drusen", number=0, negated=True),
    ]
    own = [entity("Own text: OCT.", "OCT", "imaging", "optical coherence tomography")]
    entry = told(panel(subcaption="Own text: OCT.", context=context(mention(FLUID), entities=[*own, *said])))
    assert marks_of(entry, entry["sentences"][0][3], FLUID) == [
        ("subretinal fluid", "finding", "subretinal fluid", UNCERTAIN),
        ("drusen", "finding", "drusen", NEGATED),
    ]
    marked = marks_of(entry, entry["panels"][0]["marks"], "Own text: OCT.")
    assert marked == [("OCT", "imaging", "optical coherence tomography", 0)]


def test_marks_count_as_javascript_does() -> None:
    text = "𝛼-angle 👁 of the macula"
    assert script_offsets("abc") == range(4)
    assert list(script_offsets("a👁b")) == [0, 1, 3, 4]
    subcaption = f"  \n{text}"
    entry = told(panel(subcaption=subcaption, context=context(entities=[entity(subcaption, "macula", "anatomy")])))
    assert marks_of(entry, entry["panels"][0]["marks"], text) == [("macula", "anatomy", "macula", 0)], (
        "white space before a subcaption is not shown"
    )


def test_marks_that_overlap_or_lie_outside_are_left_out() -> None:
    outside = entity(FLUID + " More than is there.", "More", number=0)
    twice = [entity(FLUID, "subretinal fluid", number=0), entity(FLUID, "fluid", number=0)]
    entry = told(panel(context=context(mention(FLUID), entities=[*twice, outside])))
    assert [mark[0] for mark in marks_of(entry, entry["sentences"][0][3], FLUID)] == ["subretinal fluid"]


def test_a_summary_names_its_sentences_also_those_that_do_not_speak_of_the_panel() -> None:
    elsewhere = mention("OCT is optical coherence tomography.", start=500)
    entry = told(panel(context=context(mention(FLUID), summed=[elsewhere, mention(FLUID)], generated="Fluid.")))
    (item,) = entry["panels"]
    assert [entry["sentences"][number][0] for number in item["summary"]] == [elsewhere.sentence, FLUID]
    assert item["generated"] == "Fluid."


def test_a_clause_in_a_summary_is_a_sentence_of_its_own_with_its_words_marked() -> None:
    said = mention(FLUID, start=30)
    clause = FLUID[FLUID.index("shows") :]
    part = SourceSentence(said.paragraph, said.start + FLUID.index("shows"), said.end, clause)
    shown = context(said, summed=[said], entities=[entity(FLUID, "drusen", "finding", "drusen", number=0)])
    shown = replace(shown, summary=replace(shown.summary, sentences=(part,)))
    entry = told(panel(context=shown))
    (number,) = entry["panels"][0]["summary"]
    assert entry["sentences"][number][0] == clause
    assert [mark[0] for mark in marks_of(entry, entry["sentences"][number][3], clause)] == ["drusen"]


def test_the_same_words_marked_otherwise_are_another_sentence() -> None:
    one, other = (
        panel(name, context=context(mention(FLUID), entities=[entity(FLUID, "fluid", term=term, number=0)]))
        for name, term in (("A", "fluid"), ("B", "liquid"))
    )
    assert [sentence[0] for sentence in told(one, other)["sentences"]] == [FLUID, FLUID]


def test_files_lie_only_where_something_is_told() -> None:
    plain = figure(panel())
    speaking = figure(panel(context=context(mention(FLUID))))
    assert not any(name.startswith("data/context") for name in written_files([plain])[1])
    files = written_files([plain, speaking])[1]
    assert registered(files["data/context/0/0.js"])[0] is None
    page = registered(files["data/figures/0/0.js"])["figures"]
    assert ["told" in entry for entry in page] == [False, True]
    catalogue = registered(files["data/catalogue.js"])["context"]
    assert [group[0] for group in catalogue["groups"]] == list(ENTITY_GROUPS)


def test_hostile_words_are_only_text() -> None:
    hostile = "</script><img src=x onerror=alert(1)>\u202e\u2028\x00 fluid"
    said = [entity(hostile, "fluid", term=hostile, number=0)]
    shown = panel(context=context(mention(hostile, title=hostile), entities=said, generated=hostile))
    content = written_files([figure(shown)])[1]["data/context/0/0.js"]
    assert b"<" not in content
    assert b"\xe2\x80\xa8" not in content
    entry = registered(content)[0]
    assert entry["sentences"][0][0] == hostile.replace("\u202e", "\ufffd").replace("\x00", "\ufffd")
    assert marks_of(entry, entry["sentences"][0][3], entry["sentences"][0][0])[0][0] == "fluid"
