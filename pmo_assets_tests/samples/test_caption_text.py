"""Captions and true subcaptions, with the annotation guide's own examples."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pmo_assets.samples.caption_text import caption_text, subcaption
from pmo_assets.samples.spec import CaptionEntry, CaptionSpec
from pmo_assets_tests.samples.assembly_specs import true_split


def caption(style: str, *entries: tuple[str, str], introduction: str = "", closing: str = "") -> CaptionSpec:
    """Build a caption from ("a b", text) pairs."""
    parts = tuple(CaptionEntry(tuple(names.split()), text) for names, text in entries)
    return CaptionSpec(introduction, parts, closing, style=style)  # type: ignore[arg-type]


def test_a_single_panel_gets_the_whole_caption() -> None:
    single = CaptionSpec("OCT scan. Scale bar, 200 µm.")
    assert caption_text(single) == subcaption(single, None) == "OCT scan. Scale bar, 200 µm."


def test_sentences_repeat_introduction_and_closing() -> None:
    spec = caption("sentences", ("a", "Left eye"), ("b", "Right eye"), introduction="Both eyes.", closing="OCT: scan.")
    assert caption_text(spec) == "Both eyes. (a) Left eye. (b) Right eye. OCT: scan."
    assert subcaption(spec, "b") == "Both eyes. Right eye. OCT: scan."


def test_the_guides_listing_example() -> None:
    spec = caption("listing", ("a", "X"), ("b", "Y of Z"))
    assert caption_text(spec) == "(a) X and (b) y of Z."
    assert subcaption(spec, "a") == "X."
    assert subcaption(spec, "b") == "Y of Z."


def test_semicolons_capitalise_a_subcaption_that_starts_a_sentence() -> None:
    spec = caption("semicolons", ("a", "Right view"), ("b", "left view"), introduction="Angiography (arrows).")
    assert caption_text(spec) == "Angiography (arrows). (a) Right view; (b) left view."
    assert subcaption(spec, "b") == "Angiography (arrows). Left view."


def test_entries_that_continue_the_introduction_stay_small() -> None:
    spec = caption("listing", ("a", "Left eye"), ("b", "OCT scan"), introduction="Findings:")
    assert caption_text(spec) == "Findings: (a) left eye and (b) OCT scan."
    assert subcaption(spec, "a") == "Findings: left eye."
    assert subcaption(spec, "b") == "Findings: OCT scan."


def test_trailing_identifiers() -> None:
    spec = caption("trailing", ("a", "Before treatment"), ("b", "During treatment"))
    assert caption_text(spec) == "Before treatment (a) and during treatment (b)."
    assert subcaption(spec, "b") == "During treatment."


def test_lists_and_ranges_concern_each_panel() -> None:
    spec = caption("sentences", ("A B", "Eyes"), ("C D E", "Controls"))
    assert caption_text(spec) == "(A, B) Eyes. (C–E) Controls."
    assert subcaption(spec, "B") == "Eyes."
    assert subcaption(spec, "D") == "Controls."


def test_a_panel_without_text_is_an_error() -> None:
    with pytest.raises(KeyError, match="panel 'c'"):
        subcaption(caption("sentences", ("a", "X")), "c")


def test_names_that_do_not_follow_each_other_are_a_list() -> None:
    spec = caption("sentences", ("A C D", "Eyes"), ("B", "Control"))
    assert caption_text(spec) == "(A, C, D) Eyes. (B) Control."


def test_ranges_and_lists_are_written_in_several_ways() -> None:
    spec = replace(caption("sentences", ("A B C", "Eyes"), ("D E", "Scans")), range_mark=" to ", list_mark=") and (")
    assert caption_text(spec) == "(A to C) Eyes. (D) and (E) Scans."


def test_the_noun_of_a_place_is_no_part_of_the_identifier() -> None:
    spec = replace(caption("positional", ("left", "Drusen"), ("right", "A scar")), noun="panel")
    assert caption_text(spec) == "Left panel: drusen. Right panel: a scar."
    assert true_split(spec) == (("left", "Drusen."), ("right", "A scar."))


def test_the_split_of_a_caption_that_names_no_panel_is_the_caption() -> None:
    assert true_split(CaptionSpec("Both eyes.")) == ((None, "Both eyes."),)
