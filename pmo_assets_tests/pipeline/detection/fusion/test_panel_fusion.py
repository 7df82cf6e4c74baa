"""Panels and identifiers of structure and network together: who wins where."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.fusion.disjoint import disjoint_choice
from pmo_assets.pipeline.detection.fusion.panel_fusion import (
    EnsemblePanelDetector,
    completed,
    fused_panels,
)
from pmo_assets.pipeline.detection.structure.gutters import canvas_of
from pmo_assets.pipeline.detection.structure.identifiers import Identifier
from pmo_assets.pipeline.detection.structure.panels import PrintedNames
from pmo_assets.records.detections import FigureView, PanelDetection
from pmo_assets.records.figure import EmbeddedText
from pmo_assets.records.geometry import Box, covered_fraction, iou
from pmo_assets.samples.drawing import print_text as printed
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.detection.fusion.sources import LEFT, RIGHT, WHOLE, boxes, seen, two_pictures


def panel(box: Box, source: str = "figure") -> PanelDetection:
    return PanelDetection("panel", box, 0.5, source)


def named(view: FigureView, *names: str) -> FigureView:
    return replace(view, caption_identifiers=names)


def test_the_network_separates_panels_that_the_structure_could_not() -> None:
    found = fused_panels(named(two_pictures(), "a", "b"), [panel(WHOLE)], seen(panels=((LEFT, 0.8), (RIGHT, 0.7))))
    assert [p.source for p in found] == ["network", "network"]


def test_a_caption_without_names_leaves_one_panel() -> None:
    structural = [panel(WHOLE)]
    assert fused_panels(two_pictures(), structural, seen(panels=((LEFT, 0.8), (RIGHT, 0.7)))) == structural


def test_too_few_panels_of_the_network_do_not_replace_the_figure() -> None:
    structural = [panel(WHOLE)]
    view = named(two_pictures(), "a", "b", "c", "d")
    assert fused_panels(view, structural, seen(panels=((LEFT, 0.8), (RIGHT, 0.7)))) == structural


def identified(box: Box, printed: Box, name: str, score: float = 0.9) -> tuple[PanelDetection, PanelDetection]:
    return PanelDetection("panel", box, score, "identifier"), PanelDetection(
        "identifier", printed, score, "glyph", name
    )


def test_a_panel_cut_wrongly_around_its_identifier_gives_way_to_the_networks() -> None:
    a, printed_a = identified(LEFT, (0.0, 0.0, 0.04, 0.08), "a")
    strip, printed_b = identified((0.5, 0.0, 1.0, 0.1), (0.56, 0.01, 0.6, 0.09), "b", 0.5)
    found = fused_panels(
        named(two_pictures(), "a", "b"), [a, strip, printed_a, printed_b], seen(panels=((LEFT, 0.8), (RIGHT, 0.8)))
    )
    panels = [p for p in found if p.kind == "panel"]
    assert [p.source for p in panels] == ["identifier", "network"]
    assert panels[0].score > a.score
    assert iou(panels[1].box, RIGHT) > 0.95
    assert [p for p in found if p.kind == "identifier"] == [printed_a, printed_b]


def test_a_part_that_the_network_takes_for_a_panel_does_not_replace_the_panel() -> None:
    a, printed_a = identified(LEFT, (0.0, 0.0, 0.04, 0.08), "a")
    b, printed_b = identified(RIGHT, (0.56, 0.01, 0.6, 0.09), "b")
    inside = seen(panels=(((0.6, 0.2, 0.8, 0.6), 0.85),))
    panels = fused_panels(named(two_pictures(), "a", "b"), [a, b, printed_a, printed_b], inside)
    assert [p.box for p in panels if p.kind == "panel"] == [LEFT, RIGHT]


@examples(60)
@given(
    st.lists(st.tuples(boxes, st.floats(0.3, 0.95)), max_size=5),
    st.lists(st.tuples(boxes, st.floats(0.06, 0.95)), max_size=6),
)
def test_chosen_panels_hardly_overlap(structural: list[tuple[Box, float]], network: list[tuple[Box, float]]) -> None:
    values = [s for _, s in (*structural, *network)]
    every = [b for b, _ in (*structural, *network)]
    kept = disjoint_choice(every, values, touching=0.3, most=4)
    assert len(kept) <= 4
    for i in kept:
        for j in kept:
            assert i == j or covered_fraction(every[i], every[j]) <= 0.3 + 1e-6
    assert not every or sum(values[k] for k in kept) >= max(values) - 1e-6


def test_two_small_panels_are_worth_more_than_the_large_one_around_them() -> None:
    assert disjoint_choice([WHOLE, LEFT, RIGHT], [0.9, 0.6, 0.6], touching=0.3, most=5) == [1, 2]
    assert disjoint_choice([WHOLE, LEFT, RIGHT], [0.9, 0.6, 0.6], touching=0.3, most=1) == [0]


# identifiers


def printed_on(view: FigureView, text: str, x: int, y: int) -> tuple[FigureView, Box]:
    """Print black text on a white patch of a picture; return its normalised box."""
    pixels = view.pixels.copy()
    pixels[y - 3 : y + 25, x - 3 : x + 27] = 255
    box = printed(pixels, x, y, text, "hebo", 24, (0, 0, 0))
    tall, wide = pixels.shape[:2]
    return replace(view, pixels=pixels), (box[0] / wide, box[1] / tall, box[2] / wide, box[3] / tall)


def test_identifiers_that_only_the_network_sees_get_the_names_of_the_caption() -> None:
    view, place_b = printed_on(named(two_pictures(), "A", "B"), "B", 224, 4)
    view, place_a = printed_on(view, "A", 4, 4)
    known = PrintedNames(canvas_of(view.pixels), ("A", "B"), ((), ()))
    found = completed(known, seen(labels=((place_b, 0.7), (place_a, 0.6))))
    tall, wide = view.pixels.shape[:2]
    for places, box in zip(found.places, (place_a, place_b), strict=True):
        rect = places[0].rect
        assert iou((rect[0] / wide, rect[1] / tall, rect[2] / wide, rect[3] / tall), box) > 0.6
    assert [p[0].name for p in found.places] == ["A", "B"]
    assert found.complete


def test_a_name_with_a_known_place_keeps_it() -> None:
    view, place = printed_on(named(two_pictures(), "A", "B"), "A", 4, 4)
    own = Identifier("A", (4, 4, 20, 22), "plain", "text", 0.95, 1.0)
    found = completed(PrintedNames(canvas_of(view.pixels), ("A", "B"), ((own,), ())), seen(labels=((place, 0.9),)))
    assert found.places == ((own,), ())


def test_places_that_captions_name_are_not_looked_for() -> None:
    view, place = printed_on(named(two_pictures(), "left", "right"), "A", 4, 4)
    known = PrintedNames(canvas_of(view.pixels), ("left", "right"), ((), ()))
    assert completed(known, seen(labels=((place, 0.9),))).places == ((), ())


def lettered() -> tuple[FigureView, Box, Box]:
    """Two pictures with A and B printed in their corners, unknown to the caption."""
    view, place_a = printed_on(two_pictures(), "A", 4, 4)
    view, place_b = printed_on(view, "B", 224, 4)
    return view, place_a, place_b


def test_printed_letters_make_panels_although_the_caption_names_none() -> None:
    view, a, b = lettered()
    network = seen(labels=((a, 0.8), (b, 0.8)), panels=((LEFT, 0.8), (RIGHT, 0.8)))
    (found,) = EnsemblePanelDetector(lambda views: [network])([view])
    assert [(p.kind, p.text) for p in found] == [
        ("panel", None), ("panel", None), ("identifier", "A"), ("identifier", "B")
    ]  # fmt: skip


def test_live_letters_in_plain_type_make_panels_where_the_network_sees_them_apart() -> None:
    view, a, b = lettered()
    view = replace(view, texts=(EmbeddedText("A", a, 8.0, False), EmbeddedText("B", b, 8.0, False)))
    apart, together = seen(panels=((LEFT, 0.8), (RIGHT, 0.8))), seen(panels=((WHOLE, 0.8),))
    (found,) = EnsemblePanelDetector(lambda views: [apart])([view])
    assert [(p.kind, p.text) for p in found] == [
        ("panel", None), ("panel", None), ("identifier", "A"), ("identifier", "B")
    ]  # fmt: skip
    (found,) = EnsemblePanelDetector(lambda views: [together])([view])
    assert [p.source for p in found] == ["figure"]


def test_gutters_that_give_the_named_panels_stand_against_their_parts() -> None:
    halves = [PanelDetection("panel", box, 0.8, "gutter") for box in (LEFT, RIGHT)]
    parts = [((x, y, x + 0.45, y + 0.48), 0.97) for x in (0.0, 0.55) for y in (0.0, 0.52)]
    found = fused_panels(named(two_pictures(), "a", "b"), halves, seen(panels=tuple(parts)))
    assert [p.box for p in found] == [LEFT, RIGHT]
    cut_around_identifiers = [replace(half, source="identifier", score=0.6) for half in halves]
    found = fused_panels(named(two_pictures(), "a", "b"), cut_around_identifiers, seen(panels=tuple(parts)))
    assert {p.source for p in found} == {"network"}


def test_there_are_never_more_panels_than_names_and_their_edges_are_those_of_the_picture() -> None:
    loose = ((0.02, 0.0, 0.47, 0.98), 0.8), ((0.53, 0.02, 1.0, 1.0), 0.7), ((0.46, 0.0, 0.53, 1.0), 0.6)
    found = fused_panels(named(two_pictures(), "a", "b"), [panel(WHOLE)], seen(panels=loose))
    assert len(found) == 2
    assert iou(found[0].box, LEFT) > 0.97
    assert iou(found[1].box, RIGHT) > 0.97
