"""Annotation files: what is read, and what a file that cannot be used is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pmo_assets.annotation.annotations import (
    AnnotationsMissing,
    annotated_articles,
    annotation_files,
    annotation_rows,
    article_number,
    read_annotations,
)
from pmo_assets.tables.quality import Annotations
from pmo_assets.tables.schemas import checked
from pmo_assets_tests.quality.metrics.annotated import article, figure, two_panels


def write(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def valid(name: str = "PMC7") -> dict[str, object]:
    return article(two_panels(), name=name).model_dump(mode="json")


def broken(place: str) -> dict[str, object]:
    content = valid()
    target = content["figures"][0]  # type: ignore[index]
    *path, last = place.split(".")
    for step in path:
        target = target[int(step) if step.isdigit() else step]
    target[last] = {"bbox": [5, 5, 5, 9], "box": [0.9, 0, 0.1, 1], "page": -1}[last]
    return content


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("PMC9", "PMC10", "other"):
        write(tmp_path, f"{name}.json", valid(name))
    write(tmp_path, "GUIDE.md", "not an annotation")
    read = read_annotations(annotation_files(str(tmp_path)))
    assert [item.article_id for item in read.articles] == ["PMC10", "PMC9", "other"]
    assert (read.problems, read.files) == ((), 3)


def test_a_pattern_chooses_files(tmp_path: Path) -> None:
    for name in ("PMC1", "PMC2"):
        write(tmp_path, f"{name}.json", valid(name))
    assert [path.stem for path in annotation_files(str(tmp_path / "*2.json"))] == ["PMC2"]


def test_a_place_without_files_is_named(tmp_path: Path) -> None:
    with pytest.raises(AnnotationsMissing, match=r"nowhere.*PMO_ANNOTATIONS"):
        annotation_files(str(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "Invalid JSON"),
        ("[]", "object"),
        ({"article_id": "PMC7"}, "figures: Field required"),
        (broken("figure_locations.0.bbox"), "has no area"),
        (broken("figure_locations.0.page"), "figures.0.figure_locations.0.page"),
        (broken("panels.1.box"), r"figures.0.panels.1.box: .*is not \[left, top, right, bottom\]"),
        ({"article_id": "PMC7", "figures": [{"figure_locations": []}]}, "figures.0.figure_locations"),
        ('{"article_id": "PMC7", "figures": [{"figure_locations": [{"page": 0, "bbox": [0, 0, 1e999, 1]}]}]}', "bbox"),
    ],
)
def test_a_bad_file_is_reported_and_the_others_are_read(tmp_path: Path, content: object, reason: str) -> None:
    import re

    files = [write(tmp_path, "bad.json", content), write(tmp_path, "good.json", valid("PMC8"))]
    read = read_annotations(files)
    assert [item.article_id for item in read.articles] == ["PMC8"]
    (problem,) = read.problems
    assert problem.file == "bad.json"
    assert re.search(reason, problem.reason), problem.reason


def test_bytes_that_are_no_text_are_reported(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(b'{"article_id": "\xff"}')
    assert len(read_annotations(annotation_files(str(tmp_path))).problems) == 1


def test_a_second_file_of_an_article_is_reported(tmp_path: Path) -> None:
    files = [write(tmp_path, "a.json", valid("PMC7")), write(tmp_path, "b.json", valid("PMC7.2"))]
    read = read_annotations(files)
    assert len(read.articles) == 1
    assert "another file" in read.problems[0].reason


def test_articles_are_numbered_as_in_the_tables() -> None:
    from pmo_assets.records.packages import derived_article_id

    assert article_number("PMC4657150") == 4657150
    assert article_number("plos_pone.0056489") == derived_article_id("plos_pone.0056489")


def test_rows_of_the_table_hold_all_of_the_annotation() -> None:

    articles = [article(two_panels(), figure(label="Figure 2", caption=""), name="PMC3"), article(name="PMC4")]
    table = checked(Annotations, annotation_rows(articles))
    assert annotated_articles(table.to_dicts()) == dict(zip((3, 4), articles, strict=True))
