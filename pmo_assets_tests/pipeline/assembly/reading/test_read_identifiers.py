"""Printed identifiers read by templates, by a scripted reader and by both."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.assembly.reading.identifier_text import reading_of
from pmo_assets.pipeline.assembly.reading.read_identifiers import combined, read_identifiers, reader_readings
from pmo_assets.pipeline.assembly.reading.template_reading import template_reading
from pmo_assets.records.reading import ReadText
from pmo_assets_tests.pipeline.assembly.reading.printed import ScriptedReader, printed_figure

NAMES = ["A", "B", "C"]


def test_clear_print_is_read_without_an_engine() -> None:
    figure, boxes = printed_figure(["A", "(B)", "C."])
    found = read_identifiers(figure, boxes, NAMES, None)
    assert [one.best for one in found] == NAMES
    assert {one.source for one in found} == {"templates"}
    assert min(one.confidence for one in found) > 0.8


def test_an_engine_is_asked_only_where_templates_are_not_sure() -> None:
    figure, boxes = printed_figure(["A", "B"])
    noise = np.random.default_rng(0).integers(0, 255, (40, 40, 3), dtype=np.uint8)
    figure[100:140, 20:60] = noise
    reader = ScriptedReader((ReadText("C", 0.99, None),))
    found = read_identifiers(figure, [*boxes, (20 / 280, 100 / 160, 60 / 280, 140 / 160)], NAMES, reader)
    assert [one.best for one in found] == NAMES
    assert "scripted" in found[2].source
    assert 1 <= len(reader.pictures) <= 8


def test_nothing_is_read_without_names_or_boxes() -> None:
    figure, boxes = printed_figure(["A"])
    reader = ScriptedReader(())
    assert read_identifiers(figure, [], NAMES, reader) == []
    for names in ([], ["", "–"]):
        (one,) = read_identifiers(figure, boxes, names, reader)
        assert (dict(one.names), one.best, one.confidence) == ({}, None, 0.0)
    assert reader.pictures == []


def test_an_engine_that_reads_nothing_leaves_it_to_templates() -> None:
    figure, boxes = printed_figure(["B"])
    (silent,) = reader_readings(figure, boxes, NAMES, ScriptedReader(()))
    assert silent.text is None
    assert silent.best is None or silent.confidence < 0.5
    templates = template_reading(figure, boxes[0], NAMES)
    assert combined(templates, silent) == templates


def test_what_both_read_is_surer_than_what_either_reads() -> None:
    weak = reading_of({"A": 0.6, "B": 0.2}, "A", "templates")
    strong = reading_of({"A": 0.8, "B": 0.1}, "A", "engine")
    both = combined(weak, strong)
    assert both.confidence > 0.8
    assert both.source == "templates + engine"
    other = combined(weak, reading_of({"A": 0.02, "B": 0.97}, "B", "engine"))
    assert other.best == "B", "a sure engine outweighs templates that are not"


@pytest.mark.parametrize("box", [(0.0, 0.0, 0.0, 0.0), (-1.0, -1.0, 2.0, 2.0), (0.9, 0.9, 1.5, 1.5)])
def test_boxes_that_leave_the_figure_do_no_harm(box) -> None:
    figure, _ = printed_figure(["A"])
    (one,) = read_identifiers(figure, [box], NAMES, ScriptedReader((ReadText("A", 1.0, None),)))
    assert 0 <= one.confidence <= 1


def test_half_a_name_is_not_the_name() -> None:
    figure, boxes = printed_figure(["11"])
    found = template_reading(figure, boxes[0], [str(k) for k in range(1, 13)])
    assert found.best != "1" or found.confidence < 0.75
