"""The test set as files for a model that is run elsewhere: questions and pictures, the labels apart.

Add here: the form of these files. Keep out: what is asked (`questions`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pmo_assets.quality.answers.baselines import PictureOf
from pmo_assets.quality.answers.questions import QuestionSet
from pmo_assets.records.stores import StorageError
from pmo_assets.release.hub.sums import SUMS_FILE, sums_text
from pmo_assets.release.hub.webdataset import picture_extension
from pmo_assets.system.aside import folder_aside

QUESTIONS, LABELS, FACTS, PICTURES = "questions.jsonl", "labels.jsonl", "test_set.json", "images"


def write_questions(
    questions: QuestionSet, target: Path, picture_of: PictureOf, tell: Callable[[int, int], object] = lambda *_: None
) -> None:
    """Write a test set as a folder, whole or not at all; the same release gives the same bytes.

    `questions.jsonl` {id, kind, question, image}, `labels.jsonl` {id, label}, the pictures, `test_set.json` (release
    and checksum of the set), and `SHA256SUMS` of all of them.

    Args:
        questions: the test set.
        target: a folder that is not there yet.
        picture_of: gives pictures.
        tell: is told of the progress: questions done, questions altogether.

    Raises:
        StorageError: if the target is there already, a picture is missing, or a file cannot be written.
    """
    if target.exists():
        raise StorageError(f"{target} is there already: take it away, or name another folder")
    try:
        with folder_aside(target) as partial:
            _write(questions, partial, picture_of, tell)
    except OSError as error:
        raise StorageError(f"{target} cannot be written: {error}") from error


def _write(
    questions: QuestionSet, folder: Path, picture_of: PictureOf, tell: Callable[[int, int], object]
) -> None:  # fmt: skip
    (folder / PICTURES).mkdir()
    names: dict[str, str] = {}
    asked: list[dict[str, Any]] = []
    for number, item in enumerate(questions.questions, start=1):
        if item.owner not in names:
            content = picture_of(item)
            if content is None:
                raise StorageError(f"{item.instruction_id}: the release has no picture of {item.owner}")
            names[item.owner] = f"{PICTURES}/{len(names):06d}.{picture_extension(content, item.owner)}"
            (folder / names[item.owner]).write_bytes(content)
        asked.append(
            {"id": item.instruction_id, "kind": item.kind, "question": item.question, "image": names[item.owner]}
        )
        tell(number, len(questions.questions))
    labels = [{"id": item.instruction_id, "label": item.label} for item in questions.questions]
    facts = {
        "release": questions.version, "release_digest": questions.release_digest, "test_set": questions.sha256,
        "questions": len(questions.questions),
    }  # fmt: skip
    (folder / QUESTIONS).write_text(_lines(asked), encoding="utf-8")
    (folder / LABELS).write_text(_lines(labels), encoding="utf-8")
    (folder / FACTS).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    digests = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }
    (folder / SUMS_FILE).write_text(sums_text(digests), encoding="utf-8")


def _lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


LABELS_APART: Final = f"{LABELS} holds the right answers: keep it from the model"
"""What people are told of the folder."""
