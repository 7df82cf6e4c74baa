"""Answers of several people and interfaces put together, and written down."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from pmo_assets.annotation.annotations import annotated_articles, annotation_rows, read_annotations
from pmo_assets.annotation.answers import take_answers
from pmo_assets.annotation.files import FileInTheWay, annotation_file, write_answers
from pmo_assets.annotation.tasks import ShownPage, boxes_task, captions_task, page_task
from pmo_assets.tables.schemas import checked, schema_of
from pmo_assets_tests.annotation.answered_cases import PICTURE, SEEN, case, known, region, result_of, submitted

PAGES = [ShownPage(n, (0.0, 0.0, 600.0, 800.0), 2) for n in range(2)]


def written(folder: Path, *tasks: dict[str, Any]) -> Any:
    taken = take_answers(list(tasks), known())
    assert taken.problems == []
    write_answers(folder, taken, known())
    (article,) = read_annotations(sorted(folder.glob("*.json"))).articles
    return article


def whole(at: str = "2026-01-02T00:00:00Z") -> list[dict[str, Any]]:
    full = case(purpose="full")
    return [
        submitted(boxes_task(full, PICTURE, SEEN), at=at),
        submitted(captions_task(full, PICTURE, SEEN), at=at),
        *(submitted(page_task([full], "PMC7", page, PICTURE), at=at) for page in PAGES),
    ]


def test_importing_the_same_answers_again_changes_nothing(tmp_path: Path) -> None:
    written(tmp_path, *whole())
    before = (tmp_path / "PMC7.json").read_bytes()
    taken = take_answers(whole(), known())
    assert write_answers(tmp_path, taken, known()) == {}
    assert (tmp_path / "PMC7.json").read_bytes() == before


def test_interfaces_come_together_in_one_figure_and_only_then_is_the_article_complete(tmp_path: Path) -> None:
    boxes, captions, *pages = whole()
    article = written(tmp_path, boxes)
    assert (len(article.figures), article.complete) == (1, False)
    article = written(tmp_path, captions)
    (figure,) = article.figures
    assert set(figure.decided) == {"panels", "identifiers", "subcaptions", "images"}
    assert figure.panels[0].subcaption == "Overview. CFP of the eye. Scale bars 1 mm."
    assert len(figure.panels[0].images) == 1
    assert not written(tmp_path, pages[1]).complete
    article = written(tmp_path, pages[0])
    assert article.complete
    rows = annotation_rows([article])
    table = checked(schema_of("annotations"), rows)
    assert annotated_articles(table.to_dicts())[7].figures == annotated_articles(rows)[7].figures


def test_what_is_decided_in_part_or_judged_is_no_ground_truth(tmp_path: Path) -> None:
    open_case = submitted(captions_task(case(), PICTURE, SEEN))
    assert annotated_articles(annotation_rows([written(tmp_path, open_case)])) == {}
    assert annotated_articles(annotation_rows([written(tmp_path, *whole()[:1])])) == {}
    article = written(tmp_path, *whole())
    (truth,) = annotated_articles(annotation_rows([article])).values()
    assert [figure.purpose for figure in truth.figures] == ["full"], "without the undecided case"
    assert len(article.figures) == 2


def test_a_figure_that_people_struck_out_on_its_page_is_none(tmp_path: Path) -> None:
    tasks = whole()
    result_of(tasks[3]).clear()
    article = written(tmp_path, *tasks)
    assert (article.figures, article.complete) == ((), False)


def test_boxes_follow_when_people_move_the_figure(tmp_path: Path) -> None:
    tasks = whole()
    region(tasks[3], "figure-f1-0")["value"]["height"] = 30.0  # 240 points instead of 200
    (figure,) = written(tmp_path, *tasks).figures
    assert figure.figure_locations[0].bbox == pytest.approx((100, 100, 500, 340), abs=0.01)
    assert figure.panels[0].box == pytest.approx((0, 0, 0.5, 200 / 240), abs=1e-4)


def test_the_latest_answer_holds_and_both_stay(tmp_path: Path) -> None:
    first = submitted(captions_task(case(), PICTURE, SEEN), person=1, at="2026-01-03T00:00:00Z")
    second = copy.deepcopy(first)
    second["annotations"][0] |= {"completed_by": {"id": 2, "email": "b@example.org"}}
    second["annotations"][0]["updated_at"] = "2026-01-04T00:00:00Z"
    region(second, "panel-0", "transcription")["value"]["text"] = ["Another text."]
    for order in ([first, second], [second, first]):
        folder = tmp_path / str(order.index(first))
        article = written(folder, *order)
        assert article.figures[0].panels[0].subcaption == "Another text."
        assert len(article.answers) == 2
        assert len({answer.review.annotator for answer in article.answers}) == 2
        assert "example.org" not in (folder / "PMC7.json").read_text()


def test_figures_written_by_hand_stay(tmp_path: Path) -> None:
    (tmp_path / "PMC7.json").write_text(
        '{"article_id": "PMC7", "figures": [{"label": "Figure 1", "image_cluster_id": "f1", "figure_locations": '
        '[{"page": 1, "bbox": [100, 100, 500, 300]}], "panels": []}]}'
    )
    article = written(tmp_path, *whole())
    assert [figure.review for figure in article.figures] == [None]
    assert article.complete
    assert len(article.answers) == 3


def test_a_file_that_cannot_be_used_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "PMC7.json").write_text("{")
    taken = take_answers(whole(), known())
    assert write_answers(tmp_path, taken, known()) == {}
    assert "cannot be used" in taken.problems[0].reason
    assert (tmp_path / "PMC7.json").read_text() == "{"


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "a\0"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileInTheWay):
        annotation_file(tmp_path, name)
