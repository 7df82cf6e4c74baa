"""The test set: a release's short questions of its test split, named by a checksum; and files of predictions.

Add here: what is asked and what was answered. Keep out: whether it is right (`matching`, `judging`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pmo_assets.loading.release import Release
from pmo_assets.loading.typed_rows import Instruction
from pmo_assets.pipeline.dataset.splits import Split
from pmo_assets.records.instructions import SHORT_KINDS, InstructionKind, Topic
from pmo_assets.records.pairs import PictureConfig

LONGEST_ANSWER: Final = 20_000
"""Characters of a prediction that are read: the paper lets models write 2,048 tokens."""

LONGEST_LINE: Final = 1 << 20
"""Bytes of a line of a file of predictions."""

UNKNOWN_MODALITY: Final = "not known"


class PredictionsUnusable(Exception):
    """A file of predictions does not belong to the test set, or is none; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Question:
    """A short question of a release with its label.

    Attributes:
        instruction_id: of the instruction.
        kind: "yes_no", "what" or "where".
        topic: entity group, mark or place that it is about.
        modality: of the panel, or of the only image of a lecture's picture; `UNKNOWN_MODALITY` where the release does
            not say.
        source_id: number of the article or lecture video.
        owner: panel, or pair of a lecture.
        picture_row: of the picture among those of its split.
        picture: SHA-256 of the panel's picture file; "" for a lecture's, whose `owner` tells pictures apart.
        question: as asked.
        label: the right answer.
        scene: words that say what is visible, verbatim.
        context: words that add to it.
    """

    instruction_id: str
    kind: InstructionKind
    topic: Topic
    modality: str
    source_id: int
    owner: str
    picture_row: int
    picture: str
    question: str
    label: str
    scene: tuple[str, ...]
    context: tuple[str, ...]
    picture_config: PictureConfig = "panels"


@dataclass(frozen=True)
class QuestionSet:
    """The questions of a release's test split.

    Attributes:
        version: of the release.
        release_digest: SHA-256 of the list of the release's checksums.
        questions: in the order of the release.
    """

    version: str
    release_digest: str
    questions: tuple[Question, ...]

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of what is asked: names, kinds, questions, labels and pictures, whatever their order."""
        lines = sorted(
            json.dumps([item.instruction_id, item.kind, item.question, item.label, item.picture], ensure_ascii=False)
            for item in self.questions
        )
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def question_set(release: Release) -> QuestionSet:
    """Return the test set of a release: the short questions of its test split and of no other.

    Raises:
        ReleaseError: if the release cannot be read, or was made before there were instructions.
    """
    return QuestionSet(release.version, release.digest, tuple(questions_of(release, "test")))


def questions_of(release: Release, split: Split) -> Iterator[Question]:
    """Yield the short questions of a split, in the order of the release.

    Raises:
        ReleaseError: as `question_set`.
    """
    panels = release.panels.filter(split=split).to_polars(["panel_id", "modality", "picture_sha256"])
    told = {name: (modality, picture) for name, modality, picture in panels.iter_rows()}
    lectures: dict[str, str | None] | None = None  # releases of once have no such config
    for row in release.instructions.filter(split=split, kind=list(SHORT_KINDS)):
        if row.panel_id is not None:
            yield _question(row, row.panel_id, *told.get(row.panel_id, (None, None)))
            continue
        if lectures is None:
            videos = release.videos.filter(split=split).to_polars(["pair_id", "modalities"])
            lectures = {name: own[0] if len(own) == 1 else None for name, own in videos.iter_rows()}
        yield _question(row, row.pair_id, lectures.get(row.pair_id), None)


def _question(row: Instruction, owner: str, modality: str | None, picture: str | None) -> Question:
    return Question(
        row.instruction_id,
        row.kind,
        row.topic,
        modality or UNKNOWN_MODALITY,
        row.article_id if row.article_id is not None else row.video_id,
        owner,
        row.picture_row,
        picture or "",
        row.messages[0].content,
        row.messages[-1].content,
        row.scene,
        row.context,
        "videos" if row.panel_id is None else "panels",
    )


def read_predictions(path: Path, questions: Sequence[Question]) -> dict[str, str]:
    """Return the answers of a file by `instruction_id`: a JSON object {"id", "answer"} a line.

    Questions that the file does not answer are absent: they count as wrong, and are told.

    Raises:
        PredictionsUnusable: if the file cannot be read, a line is no such object, an id is given twice, or is none of
            the test set's.
    """
    known = {item.instruction_id for item in questions}
    found: dict[str, str] = {}
    try:
        with path.open("rb") as lines:
            number = 0
            while line := lines.readline(LONGEST_LINE + 1):
                number += 1
                if not line.strip():
                    continue
                name, answer = _predicted(line, f"{path} line {number}")
                if name in found:
                    raise PredictionsUnusable(f"{path} line {number} answers {name} again: leave one answer")
                if name not in known:
                    raise PredictionsUnusable(
                        f"{path} line {number}: {name} is no question of this release's test split: answer those that "
                        "`pmo instruct questions` writes, of the same release"
                    )
                found[name] = answer
    except OSError as error:
        raise PredictionsUnusable(f"{path} cannot be read: {error}") from error
    if not found:
        raise PredictionsUnusable(f"{path} holds no answers: a JSON object with id and answer a line")
    return found


def _predicted(line: bytes, place: str) -> tuple[str, str]:
    if len(line) > LONGEST_LINE:
        raise PredictionsUnusable(f"{place} is longer than {LONGEST_LINE} bytes")
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise PredictionsUnusable(f"{place} is no JSON: {error}") from error
    name, answer = (row.get("id"), row.get("answer")) if isinstance(row, Mapping) else (None, None)
    if not isinstance(name, str) or not isinstance(answer, str):
        raise PredictionsUnusable(f'{place} is no object {{"id": "…", "answer": "…"}}')
    return name, answer[:LONGEST_ANSWER]
