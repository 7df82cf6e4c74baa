"""The task of one instruction, and what people made of it: a verdict, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pmo_assets.annotation.annotations import MAX_WORDS
from pmo_assets.annotation.cases import FigureCase
from pmo_assets.annotation.interfaces import EVIDENCE, PANEL, REASON, REGION, TURNS, VERDICT
from pmo_assets.annotation.label_studio import Answered, BadRegion, rectangle
from pmo_assets.annotation.tasks import ShownPicture, figure_about, figure_data, labelled_task, panel_title
from pmo_assets.records.reviews import INSTRUCTION_VERDICTS, Fingerprint, InstructionVerdict

_SPEAKERS: Final = {"user": "Q", "assistant": "A"}


def instruction_tasks(case: FigureCase, picture: ShownPicture, seen: Fingerprint) -> Iterator[dict[str, Any]]:
    """Yield a task for each instruction about a figure that an audit judges: `FigureCase.instructions`."""
    size = picture.width, picture.height
    for item in case.instructions:
        data = {
            **figure_data(case, picture),
            "title": f"{panel_title(case, item.panel)} · {item.kind}",
            TURNS: "\n".join(f"{_SPEAKERS.get(role, role)}: {words}" for role, words in item.turns),
            EVIDENCE: "\n".join(item.evidence) or "(nothing)",
        }
        shown = [rectangle(f"panel-{item.panel.ordinal}", item.panel.content_box, PANEL, *size)]
        shown += [rectangle(f"region-{number}", box, REGION, *size) for number, box in enumerate(item.boxes)]
        yield labelled_task(
            data, {**figure_about(case, "instructions", seen), "instruction": item.instruction_id}, shown
        )


def judged_instruction(answer: Answered) -> tuple[InstructionVerdict, str | None]:
    """Return a person's verdict on an instruction and their reason, None without.

    Raises:
        BadRegion: if there is no verdict, or a reason of thousands of characters.
    """
    verdict = answer.choices.get(VERDICT)
    if verdict not in INSTRUCTION_VERDICTS:
        raise BadRegion(f"no verdict, or an unknown one: {str(verdict)[:40]!r}")
    reason = " ".join(answer.texts.get(REASON, "").split())
    if len(reason) > MAX_WORDS:
        raise BadRegion(f"a reason has {len(reason)} characters, {MAX_WORDS} are allowed")
    return verdict, reason or None
