"""Answers that are written at the same time: none is lost. Of 20 at once, 13 used to be."""

from __future__ import annotations

import copy
import multiprocessing
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pmo_assets.annotation import files
from pmo_assets.annotation.annotations import AnnotatedArticle, read_annotations
from pmo_assets.annotation.answers import take_answers
from pmo_assets.annotation.files import LOCK_FILE, read_article_file, write_answers
from pmo_assets.annotation.tasks import captions_task
from pmo_assets.records.stores import SystemicError
from pmo_assets_tests.annotation.answered_cases import PICTURE, SEEN, case, known, submitted


def answer_of(person: int) -> dict[str, Any]:
    task = copy.deepcopy(submitted(captions_task(case(), PICTURE, SEEN), at=f"2026-01-{person + 1:02d}T00:00:00Z"))
    task["annotations"][0]["completed_by"] = {"id": person, "email": f"{person}@example.org"}
    return task


def import_answer(folder: Path, person: int) -> None:
    taken = take_answers([answer_of(person)], known())
    write_answers(folder, taken, known())
    assert taken.problems == []


def annotators(folder: Path) -> int:
    (article,) = read_annotations(sorted(folder.glob("*.json"))).articles
    return len({answer.review.annotator for answer in article.answers if answer.review})


def test_of_twenty_threads_none_loses_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, failures = threading.Barrier(20), []

    def slowly(path: Path) -> AnnotatedArticle | None:
        article = read_article_file(path)
        time.sleep(0.01)  # between reading and writing there is time for others
        return article

    def work(person: int) -> None:
        begin.wait()
        try:
            import_answer(tmp_path, person)
        except BaseException as error:
            failures.append(error)

    monkeypatch.setattr(files, "read_article_file", slowly)
    threads = [threading.Thread(target=work, args=(person,)) for person in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert annotators(tmp_path) == 20
    assert {path.name for path in tmp_path.iterdir()} <= {"PMC7.json", LOCK_FILE}


def test_nor_does_any_of_several_processes(tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    begin = fork.Barrier(4)

    def work(person: int) -> None:
        begin.wait()
        for number in range(4):
            import_answer(tmp_path, 4 * person + number)

    processes = [fork.Process(target=work, args=(person,)) for person in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert annotators(tmp_path) == 16


def test_who_has_waited_for_long_is_told_for_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    with files._one_at_a_time(tmp_path), pytest.raises(SystemicError, match="another command has been writing"):
        import_answer(tmp_path, 1)
