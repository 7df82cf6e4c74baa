"""Panels that look the same over all batches, and splits: no picture in two, and no way back out of training."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.dataset.splits import SPLITS, ArticleSplits, SplitOptions, article_fraction
from pmo_assets.release.panel_duplicates import PanelGroups, not_moved_away
from pmo_assets.release.retractions import write_retractions
from pmo_assets.release.selection import select_articles
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.release import ArticleSplits as SplitTable
from pmo_assets.tables.release import PanelDuplicates
from pmo_assets_tests.release.finished import finish, groups_of, make


def drawn(split: str, count: int) -> list[int]:
    """Return the first articles to which their number alone gives a split."""
    bounds = {"train": (0.0, 0.8), "validation": (0.8, 0.9), "test": (0.9, 1.0)}[split]
    return [number for number in range(1, 400) if bounds[0] <= article_fraction(number) < bounds[1]][:count]


(TRAIN, TRAIN_2), (VALIDATION, VALIDATION_2), (TEST, TEST_2) = (drawn(split, 2) for split in SPLITS)


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(DataRoot(str(tmp_path)))


def splits_of(groups: PanelGroups) -> dict[int, str]:
    return dict(groups.splits.select("article_id", "split").iter_rows())


def test_without_shared_pictures_the_number_decides(tables: Tables) -> None:
    numbers = (TRAIN, VALIDATION, TEST)
    finish(tables, "0001-a", {number: {} for number in numbers})
    groups = groups_of(tables)
    assert splits_of(groups) == dict(zip(numbers, SPLITS, strict=True))
    assert groups.splits["own_split"].to_list() == groups.splits["split"].to_list()
    assert groups.duplicates.is_empty()
    assert groups.facts.moved == groups.facts.groups == 0
    assert groups.splits.columns == list(SplitTable.columns())


@pytest.mark.slow
def test_articles_with_one_picture_share_the_split_that_is_nearest_to_training(tables: Tables) -> None:
    finish(tables, "0001-a", {TEST: {"looks": "x"}, VALIDATION_2: {}})
    finish(tables, "0002-b", {VALIDATION: {"looks": "x"}, TEST_2: {"looks": "y"}, TRAIN: {"looks": "y"}})
    groups = groups_of(tables)
    assert splits_of(groups) == {
        TEST: "validation", VALIDATION: "validation", VALIDATION_2: "validation", TEST_2: "train", TRAIN: "train"
    }  # fmt: skip
    assert dict(groups.splits.select("article_id", "own_split").iter_rows())[TEST] == "test"
    facts = groups.facts
    assert (facts.groups, facts.grouped_panels, facts.groups_across_articles, facts.moved) == (2, 4, 2, 2)
    assert facts.groups_across_splits == 0
    assert facts.articles == {"train": 2, "validation": 3, "test": 0}
    assert groups.panels == 5


def test_a_group_is_named_by_its_representative_and_says_how_far_the_others_are(tables: Tables) -> None:
    finish(tables, "0001-a", {9: {"looks": "x"}, 4: {"looks": "x", "rows": 2}})
    (found, far) = (groups_of(tables).duplicates, groups_of(tables).largest(5))
    assert found.columns == list(PanelDuplicates.columns())
    assert found.select("panel_id", "article_id", "duplicate_group", "kind", "distance").rows() == [
        ("p_4_f1_0", 4, "p_4_f1_0", "identical", 0),
        ("p_9_f1_0", 9, "p_4_f1_0", "identical", 0),
    ]
    assert far == [("p_4_f1_0", 2, 2)]


@pytest.mark.slow
def test_what_a_release_leaves_out_links_nothing(tables: Tables) -> None:
    finish(tables, "0001-a", {TEST: {"looks": "x"}, TRAIN: {"looks": "x", "code": "CC BY-NC"}})
    assert splits_of(groups_of(tables)) == {TRAIN: "train", TEST: "train"}
    options = ReleaseOptions(noncommercial=False)
    assert splits_of(groups_of(tables, options=options)) == {TEST: "test"}


def test_the_panels_of_an_article_without_rows_are_not_asked_for(tables: Tables) -> None:
    finish(tables, "0001-a", {TRAIN: {"rows": 0}})
    groups = groups_of(tables)
    assert groups.splits.is_empty()
    assert groups.panels == 0


# no way back


def retract(tables: Tables, batch: str, number: int) -> None:
    finish(tables, batch, {number: {"is_retracted": True}})
    write_retractions(tables, select_articles(tables), date(2026, 1, 15))


@pytest.mark.slow  # several releases
def test_an_article_stays_in_training_when_the_one_that_drew_it_there_is_withdrawn(tables: Tables) -> None:
    finish(tables, "0001-a", {TEST: {"looks": "x"}, TRAIN: {"looks": "x"}, VALIDATION: {}})
    make(tables)
    retract(tables, "0002-b", TRAIN)
    groups = groups_of(tables)
    assert splits_of(groups) == {TEST: "train", VALIDATION: "validation"}, "models were trained on it"
    assert dict(groups.splits.select("article_id", "own_split").iter_rows())[TEST] == "test"
    assert groups.facts.moved == 1
    make(tables)
    make(tables)
    assert splits_of(groups_of(tables)) == {TEST: "train", VALIDATION: "validation"}, "and so for ever"


@pytest.mark.slow  # two releases
def test_who_shares_a_picture_with_it_later_comes_along(tables: Tables) -> None:
    finish(tables, "0001-a", {TEST: {"looks": "x"}, TRAIN: {"looks": "x"}})
    make(tables)
    retract(tables, "0002-b", TRAIN)
    finish(tables, "0003-c", {TEST_2: {"looks": "x"}})
    assert splits_of(groups_of(tables)) == {TEST: "train", TEST_2: "train"}
    assert groups_of(tables).facts.groups_across_splits == 0


@pytest.mark.slow  # two releases
def test_an_article_that_was_for_testing_may_come_into_training(tables: Tables) -> None:
    finish(tables, "0001-a", {TEST: {"looks": "x"}, VALIDATION: {}})
    make(tables)
    assert splits_of(groups_of(tables))[TEST] == "test"
    finish(tables, "0002-b", {TRAIN: {"looks": "x"}})
    assert splits_of(groups_of(tables))[TEST] == "train"


@pytest.mark.slow
def test_an_article_that_came_back_is_where_it_was_as_long_as_the_newest_release_knows(tables: Tables) -> None:
    finish(tables, "0001-a", {TEST: {"looks": "x"}, TRAIN: {"looks": "x"}})
    make(tables)
    retract(tables, "0002-b", TRAIN)
    make(tables)
    finish(tables, "0003-c", {TRAIN: {"looks": "z", "version": 2}})
    assert splits_of(groups_of(tables)) == {TEST: "train", TRAIN: "train"}


@pytest.mark.slow  # three releases
def test_an_article_out_of_one_release_is_in_training_again_when_it_comes_back(tables: Tables) -> None:
    """What models were trained on is what any release gave for training, not only the newest."""
    finish(tables, "0001-a", {TEST: {"looks": "x"}, TRAIN: {"looks": "x"}})
    make(tables)
    retract(tables, "0002-b", TRAIN)
    finish(tables, "0003-c", {TEST: {"is_retracted": True}, VALIDATION: {}})
    make(tables)
    finish(tables, "0004-d", {TEST: {"version": 2}})
    assert splits_of(groups_of(tables)) == {TEST: "train", VALIDATION: "validation"}


@pytest.mark.slow  # two releases
@pytest.mark.parametrize("options", [SplitOptions((0.0, 0.0, 1.0)), SplitOptions(test_from_year=1900)])
def test_with_other_options_splitting_starts_afresh(tables: Tables, options: SplitOptions) -> None:
    finish(tables, "0001-a", {TRAIN: {}, VALIDATION: {}})
    make(tables)
    assert splits_of(groups_of(tables, splits=options)) == {TRAIN: "test", VALIDATION: "test"}
    make(tables, splits=options)
    assert splits_of(groups_of(tables, splits=options)) == {TRAIN: "test", VALIDATION: "test"}


def test_the_newest_articles_are_for_testing_where_that_is_wanted(tables: Tables) -> None:
    finish(
        tables,
        "0001-a",
        {TRAIN: {"row": {"year": 2025}}, TRAIN_2: {"row": {"year": 2024}}, TEST: {"row": {"year": None}}},
    )
    found = splits_of(groups_of(tables, splits=SplitOptions(test_from_year=2025)))
    assert found[TRAIN] == "test"
    assert found[TRAIN_2] == "train"
    assert found[TEST] != "test", "its year is not known"


SPLIT = st.integers(0, len(SPLITS) - 1)


@given(st.lists(st.tuples(SPLIT, st.integers(0, 4)), max_size=12), st.dictionaries(st.integers(0, 14), SPLIT))
def test_no_article_is_farther_from_training_than_it_was_and_families_stay_together(
    articles: list[tuple[int, int]], released: dict[int, int]
) -> None:
    numbers = np.arange(len(articles), dtype=np.int64)
    families = [family for _, family in articles]
    lowest = {family: families.index(family) for family in families}
    family = np.array([lowest[each] for each in families], dtype=np.int64)
    now = np.array([min(split for split, other in articles if other == each) for each in families], dtype=np.int64)
    made = not_moved_away(ArticleSplits(numbers, now, now.copy(), family), released)
    assert made.own.tolist() == now.tolist()
    assert made.articles.tolist() == numbers.tolist()
    for place, each in enumerate(families):
        relatives = [number for number, other in enumerate(families) if other == each]
        wanted = min([int(now[place]), *(released[number] for number in relatives if number in released)])
        assert made.split[place] == wanted
