"""What is new, changed and gone between two releases, and what `CHANGES.md` says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.release.differences import (
    NEW_ARTICLE,
    NEW_PANEL,
    NO_PANEL_LEFT,
    NOT_MADE,
    Changes,
    changed_rows,
    changes_file,
    differences,
)
from pmo_assets.release.row_index import facets
from pmo_assets.tables.release import RowIndex
from pmo_assets.tables.schemas import checked

FACETS = facets()


def index(panels: Mapping[str, tuple[int, Mapping[str, int]]]) -> pl.DataFrame:
    """Return an index; of each panel its article and the facets that are not 0."""
    rows = [
        {"panel_id": panel, "article_id": article, **dict.fromkeys(FACETS, 0), **facets}
        for panel, (article, facets) in panels.items()
    ]
    return checked(RowIndex, rows)


BEFORE = index(
    {
        "a1": (1, {}), "a2": (1, {}), "b1": (2, {"text": 5}), "c1": (3, {}), "d1": (4, {}), "d2": (4, {}),
        "e1": (5, {"picture": 1, "text": 1, "boxes": 1, "assembly": 1, "credit": 1}),
    }
)  # fmt: skip
AFTER = index(
    {
        "a1": (1, {}),  # as it was; a2 is no longer made
        "a3": (1, {}),  # new, of an article that was there
        "b1": (2, {"text": 6, "boxes": 1}),  # changed
        "e1": (5, {}),  # changed in everything
        "f1": (6, {}), "f2": (6, {}),  # new article
    }
)  # fmt: skip
REASONS = {4: "the article was retracted", 99: "of no concern"}


def test_every_panel_that_differs_is_listed_with_its_reason() -> None:
    assert changed_rows(BEFORE, AFTER, REASONS).rows() == [
        ("a2", 1, "gone", NOT_MADE),
        ("a3", 1, "new", NEW_PANEL),
        ("b1", 2, "changed", "text, boxes"),
        ("c1", 3, "gone", NO_PANEL_LEFT),
        ("d1", 4, "gone", "the article was retracted"),
        ("d2", 4, "gone", "the article was retracted"),
        ("e1", 5, "changed", "picture, text, boxes, assembly, credit"),
        ("f1", 6, "new", NEW_ARTICLE),
        ("f2", 6, "new", NEW_ARTICLE),
    ]


def test_they_are_counted() -> None:
    assert differences("1.2.3", BEFORE, AFTER, REASONS) == Changes(
        since="1.2.3",
        rows_before=7,
        rows_after=6,
        new={NEW_ARTICLE: 2, NEW_PANEL: 1},
        changed={"picture": 1, "text": 2, "boxes": 2, "assembly": 1, "credit": 1},
        changed_panels=2,
        gone={"the article was retracted": 2, NOT_MADE: 1, NO_PANEL_LEFT: 1},
        columns=False,
    )


def test_a_release_does_not_differ_from_itself() -> None:
    found = differences("1.0.0", BEFORE, BEFORE.reverse(), {1: "it is still there"})
    assert found == Changes("1.0.0", 7, 7)
    assert found.nothing
    assert changed_rows(BEFORE, BEFORE, {}).is_empty()


@pytest.mark.parametrize(("before", "after"), [(0, 0), (0, 2), (2, 0)])
def test_empty_releases_are_releases(before: int, after: int) -> None:
    empty, full = BEFORE.clear(), BEFORE.head(2)
    found = differences("1.0.0", full if before else empty, full if after else empty, {})
    assert (found.rows_before, found.rows_after) == (before, after)
    assert sum(found.new.values()) == after
    assert sum(found.gone.values()) == before


def test_changes_are_read_back_from_json_as_they_were() -> None:
    found = differences("1.2.3", BEFORE, AFTER, REASONS, columns=True)
    again = Changes(**json.loads(json.dumps(found.as_json())))
    assert again == found
    assert list(again.new) == list(found.new), "in their order, so that CHANGES.md stays the same"
    assert again.columns


PANELS = st.dictionaries(
    st.sampled_from([f"{article}-{panel}" for article in range(4) for panel in range(3)]),
    st.dictionaries(st.sampled_from(list(FACETS)), st.integers(0, 2)),
)


@pytest.mark.slow
@given(PANELS, PANELS)
def test_what_is_not_new_changed_or_gone_is_the_same(
    before: dict[str, dict[str, int]], after: dict[str, dict[str, int]]
) -> None:
    def made(panels: dict[str, dict[str, int]]) -> pl.DataFrame:
        return index({panel: (int(panel[0]) + 1, facets) for panel, facets in panels.items()})

    def facets(panels: dict[str, dict[str, int]], panel: str) -> list[int]:
        return [panels[panel].get(name, 0) for name in FACETS]

    found = {panel: change for panel, _, change, _ in changed_rows(made(before), made(after), {}).rows()}
    shared = before.keys() & after.keys()
    assert {panel for panel, change in found.items() if change == "new"} == after.keys() - before.keys()
    assert {panel for panel, change in found.items() if change == "gone"} == before.keys() - after.keys()
    assert {panel for panel, change in found.items() if change == "changed"} == {
        panel for panel in shared if facets(before, panel) != facets(after, panel)
    }
    there_and_back = changed_rows(made(after), made(before), {})
    assert sorted(there_and_back["panel_id"]) == sorted(found)


def test_changes_file_tells_the_history_newest_first() -> None:
    history = [
        ("3.0.0", differences("2.0.0", BEFORE, AFTER, REASONS, columns=True)),
        ("2.0.0", Changes("1.1.0", 6, 6, columns=True)),
        ("1.1.0", differences("1.0.0", BEFORE, AFTER, REASONS)),
        ("1.0.0", Changes(None, 0, 7)),
    ]
    text = changes_file(history)
    assert text.startswith("# Changes\n\n")
    _, *sections = text.split("## ")
    assert sections[0].startswith(
        "3.0.0\n\nSince 2.0.0: 7 panels became 6.\nColumns or their types changed.\n"
        "A panel that has something in a new column counts as changed.\n\n* 2 new"
    )
    assert sections[1:] == [
        "2.0.0\n\nSince 1.1.0: 6 panels became 6.\nColumns or their types changed.\n"
        "No panel is new, changed or gone: what lies beside the panels changed.\n\n",
        "1.1.0\n\nSince 1.0.0: 7 panels became 6.\n\n"
        "* 2 new: of an article that was not in the release before\n"
        "* 1 new: of an article that was\n"
        "* 2 changed: picture (1), text (2), boxes (2), assembly (1), credit (1)\n"
        "* 2 gone: the article was retracted\n"
        "* 1 gone: no longer made of an article that is still in the release\n"
        "* 1 gone: of an article that has no panel in the release any more\n\n",
        "1.0.0\n\nThe first release: 7 panels.\n",
    ]
