"""Pages as people count them: from 1, in names of files and titles; ids keep counting from 0."""

from __future__ import annotations

import pytest

from pmo_assets.records.figure_names import UNMATCHED_PREFIX, figure_file_name, figure_words, page_number


def test_people_count_from_one() -> None:
    assert page_number(0) == 1
    assert figure_file_name("p0-2") == "p1-2"
    assert figure_file_name("p11-1") == "p12-1"


def test_a_name_that_is_no_place_stays_as_it_is() -> None:
    assert figure_file_name("fig-p1-2") == "fig-p1-2"


@pytest.mark.parametrize(
    ("label", "cluster", "words"),
    [
        ("Figure 3", f"{UNMATCHED_PREFIX}p0-1", "Figure 3"),
        (None, f"{UNMATCHED_PREFIX}p0-1", "page 1, figure 1"),
        ("", "gr1", "page 3, figure 1"),
        ("Figure 3", None, "Figure 3"),
    ],
)
def test_a_figure_is_called_by_its_label_else_by_its_place(label: str | None, cluster: str | None, words: str) -> None:
    assert figure_words({"label": label, "image_cluster_id": cluster, "pdf_figure_id": "p2-1"}) == words


def test_a_figure_of_a_package_that_was_not_found_is_called_by_its_name() -> None:
    assert figure_words({"label": "", "image_cluster_id": "p1-2"}) == "p1-2", "a package's name that looks like a place"
