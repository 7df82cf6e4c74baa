"""Figures whose identifiers mislead: all of them occur, their truth is exact, and it says what can be known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import get_args

import pymupdf
import pytest

from pmo_assets.records.geometry import Box, denormalise, expand
from pmo_assets.samples import ArticleSpec, TypesetArticle, typeset
from pmo_assets.samples.caption_text import caption_text, subcaption
from pmo_assets.samples.figure_cells import printed_identifier
from pmo_assets.samples.spec import Extra, FigureSpec, IdentifierPlace, Lettering
from pmo_assets_tests.samples.assembly_specs import assembly_spec, otherwise_named_spec, true_split
from pmo_assets_tests.samples.figure_drafts import LAYOUTS
from pmo_assets_tests.samples.figure_faults import FAULTS
from pmo_assets_tests.samples.page_ink import assert_exact
from pmo_assets_tests.samples.test_typesetter import digest

SEEDS = range(1000)
WANTED = (
    *(f"lie:{fault}" for fault in FAULTS),
    *(f"layout:{layout}" for layout in (*LAYOUTS, "row", "column", "grid", "one panel")),
    *(f"print:{place}" for place in get_args(IdentifierPlace) if place != "none"),
    *(
        f"print:{text}"
        for text in ("{}", "({})", "{})", "{}.", "[{}]", "plate white", "plate black", "rotated", "small")
    ),
    *(f"print:{text}" for text in ("yellow", "other case")),
    *(f"naming:{kind}" for kind in ("upper", "lower", "digits", "roman", "letter_digit", "words", "places", "single")),
    *(f"form:{form}" for form in ("bitmaps", "flat", "panel_bitmaps", "plots")),
    *(f"caption:{style}" for style in ("sentences", "semicolons", "listing", "trailing", "single", "places trailing")),
    *("caption:neighbours share", "caption:every other shares", "caption:eyes against places", "naming:unnamed"),
    *("caption:eyes that are no places", "caption:places panel", "words:OD", "words:Step 1", "words:Control"),
    *(f"extra:{extra}" for extra in get_args(Extra)),
    *(f"lettering:{letters}" for letters in get_args(Lettering)),
)


@pytest.fixture(scope="module")
def specs() -> tuple[ArticleSpec, ...]:
    return tuple(assembly_spec(seed) for seed in SEEDS)


@pytest.fixture(scope="module")
def figures(specs: tuple[ArticleSpec, ...]) -> tuple[FigureSpec, ...]:
    return tuple(figure for spec in specs for figure in spec.figures)


@pytest.fixture(scope="module")
def chosen(specs: tuple[ArticleSpec, ...]) -> Mapping[int, TypesetArticle]:
    """By seed, few articles that show every feature between them."""
    left = set(WANTED)
    seeds = []
    for seed in sorted(SEEDS, key=lambda number: -len(specs[number].features)):
        if left & set(specs[seed].features):
            seeds.append(seed)
            left -= set(specs[seed].features)
    return {seed: typeset(specs[seed]) for seed in seeds}


def test_every_style_and_fault_occurs(figures: tuple[FigureSpec, ...]) -> None:
    seen = Counter(feature for figure in figures for feature in set(figure.features))
    assert not [feature for feature in WANTED if not seen[feature]]


def test_each_fault_stands_in_three_percent_of_the_figures_and_half_have_none(figures: tuple[FigureSpec, ...]) -> None:
    seen = Counter(feature for figure in figures for feature in set(figure.features))
    assert {fault for fault in FAULTS if seen[f"lie:{fault}"] < 0.03 * len(figures)} == set()
    assert 0.4 < seen["lie:none"] / len(figures) < 0.6


@pytest.mark.slow  # every layout is drawn
def test_the_truth_is_exact(chosen: Mapping[int, TypesetArticle]) -> None:
    for article in chosen.values():
        assert article.pdf is not None
        assert_exact(article.pdf, article.truth)


def page_box(box: list[float], location: Mapping[str, list[float]]) -> Box:
    return denormalise(tuple(box), tuple(location["bbox"]))  # type: ignore[arg-type]


@pytest.mark.slow  # every layout is drawn
def test_printed_identifiers_stand_in_their_boxes(
    specs: tuple[ArticleSpec, ...], chosen: Mapping[int, TypesetArticle]
) -> None:
    checked = 0
    for seed, article in chosen.items():
        with pymupdf.open(stream=article.pdf) as document:
            for figure, truth in zip(specs[seed].figures, article.truth["figures"], strict=True):
                if figure.flat or figure.panel_bitmaps:
                    continue
                location = truth["figure_locations"][0]
                for panel, true in zip(figure.panels, truth["panels"], strict=True):
                    text = printed_identifier(figure, panel)
                    if not text:
                        nested = "lie:nested_names" in figure.features
                        assert (true["identifier_box"] is None) != nested
                        continue
                    box = page_box(true["identifier_box"], location)
                    words = document[location["page"]].get_text("words", clip=expand(box, 1.0))
                    assert text.split()[0] in {word[4] for word in words}
                    checked += 1
    assert checked > 50


@pytest.mark.slow  # every layout is drawn
def test_where_nothing_decides_the_truth_has_no_subcaption(
    specs: tuple[ArticleSpec, ...], chosen: Mapping[int, TypesetArticle]
) -> None:
    undecided = 0
    for seed, article in chosen.items():
        for figure, truth in zip(specs[seed].figures, article.truth["figures"], strict=True):
            for panel, true in zip(figure.panels, truth["panels"], strict=True):
                assert (true["subcaption"] is None) == (panel.evidence == "none")
                assert true["identifier"] == panel.identifier
                undecided += panel.evidence == "none"
    assert undecided


@pytest.mark.slow  # every layout is drawn
def test_the_same_seed_gives_the_same_article(chosen: Mapping[int, TypesetArticle]) -> None:
    seed = next(iter(chosen))
    assert digest(typeset(assembly_spec(seed))) == digest(chosen[seed])
    assert assembly_spec(seed) != assembly_spec(seed + 1)


def with_fault(figures: tuple[FigureSpec, ...], fault: str) -> list[FigureSpec]:
    """Return figures that have this fault and no other."""
    return [f for f in figures if [x for x in f.features if x.startswith("lie:")] == [f"lie:{fault}"]]


def printed(figure: FigureSpec) -> list[str]:
    """Return what is printed in the panels, by identifier as in the truth, lower case."""
    names = [p.identifier if p.printed is None else p.printed for p in figure.panels]
    return ["" if figure.identifier_place == "none" else str(name).lower() for name in names]


def named(figure: FigureSpec) -> list[str]:
    return [name or "" for name, _ in true_split(figure.caption)]


def test_figures_without_a_fault_print_what_the_caption_names(figures: tuple[FigureSpec, ...]) -> None:
    for figure in with_fault(figures, "none"):
        if figure.identifier_place != "none":
            assert sorted(printed(figure)) == sorted(name.lower() for name in named(figure))
        assert {panel.evidence for panel in figure.panels} == {"decides"}


def test_an_unprinted_line_is_decided_and_a_grid_is_not(figures: tuple[FigureSpec, ...]) -> None:
    seen = set()
    for figure in with_fault(figures, "none_printed"):
        assert set(printed(figure)) == {""}
        line = "layout:line" in figure.features
        assert {panel.evidence for panel in figure.panels} == {"decides" if line else "conflicts"}
        seen.add(line)
    assert seen == {True, False}


def test_the_one_that_is_left_is_decided(figures: tuple[FigureSpec, ...]) -> None:
    for figure in with_fault(figures, "one_not_printed"):
        assert printed(figure).count("") == 1
        assert {panel.evidence for panel in figure.panels} == {"decides"}


def test_two_unprinted_panels_are_known_by_an_order_that_the_others_confirm(figures: tuple[FigureSpec, ...]) -> None:
    seen = Counter()  # type: ignore[var-annotated]
    for figure in with_fault(figures, "two_not_printed"):
        assert printed(figure).count("") == 2
        kinds = {panel.evidence for panel, text in zip(figure.panels, printed(figure), strict=True) if not text}
        assert len(kinds) == 1
        assert {p.evidence for p, text in zip(figure.panels, printed(figure), strict=True) if text} == {"decides"}
        kind = kinds.pop()
        seen[kind] += 1
        if "layout:line" in figure.features:
            assert kind == "decides"
        if "layout:shuffled" in figure.features:
            assert kind == "none"
            assert [panel.identifier for panel in figure.panels].count(None) == 2
    assert set(seen) == {"decides", "conflicts", "none"}


def test_a_letter_that_the_caption_does_not_name_has_no_text(figures: tuple[FigureSpec, ...]) -> None:
    for figure in with_fault(figures, "extra_letter"):
        (extra,) = [panel for panel in figure.panels if panel.evidence == "none"]
        assert extra.identifier not in named(figure)
        assert len(named(figure)) == len(figure.panels) - 1


def test_letters_that_the_caption_never_names_give_the_whole_caption(figures: tuple[FigureSpec, ...]) -> None:
    for figure in with_fault(figures, "unnamed_letters"):
        for panel in figure.panels:
            assert panel.identifier
            assert subcaption(figure.caption, panel.identifier) == caption_text(figure.caption)


def test_a_letter_printed_twice_conflicts_for_both(figures: tuple[FigureSpec, ...]) -> None:
    for figure in with_fault(figures, "duplicated_letter"):
        ((_, count),) = Counter(printed(figure)).most_common(1)
        assert count == 2
        doubtful = [p for p in figure.panels if p.evidence == "conflicts"]
        assert len(doubtful) == 2
        assert {panel.identifier for panel in doubtful} <= set(named(figure))


def test_a_gap_is_a_gap_in_figure_and_caption(figures: tuple[FigureSpec, ...]) -> None:
    for figure in with_fault(figures, "gap_in_series"):
        letters = sorted(named(figure))
        assert ord(letters[-1]) - ord(letters[0]) == len(letters)
        assert sorted(printed(figure)) == [letter.lower() for letter in letters]


def test_the_caption_names_panels_that_are_not_there(figures: tuple[FigureSpec, ...]) -> None:
    for figure in with_fault(figures, "absent_panels"):
        assert set(named(figure)) > {panel.identifier for panel in figure.panels}


def test_nested_names_are_one_panel(figures: tuple[FigureSpec, ...]) -> None:
    for figure in with_fault(figures, "nested_names"):
        for panel in figure.panels:
            assert [image.part[0] for image in panel.images] == [panel.identifier] * len(panel.images)
            assert len(panel.images) > 1
        assert sorted(named(figure)) == sorted(str(panel.identifier) for panel in figure.panels)


def test_letters_that_captions_do_not_name_are_printed_beside_places_and_alone() -> None:
    for seed in range(4):
        places, unnamed = otherwise_named_spec(seed).figures
        letters = [panel.printed for panel in places.panels]
        assert letters in (list("ABCD"[: len(letters)]), list("abcd"[: len(letters)]))
        assert all(len(panel.identifier or "") > 1 for panel in places.panels)
        assert not unnamed.caption.entries
        assert len(true_split(unnamed.caption)) == 1
        assert all(len(panel.identifier or "") == 1 and panel.printed != "" for panel in unnamed.panels)
