"""Numbers of the table `instructions`: by kind, and the balance of yes and no.

A release's manifest keeps them (`counts`), so that its card, its report and the web UI say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pmo_assets.pipeline.dataset.splits import SPLITS
from pmo_assets.records.instructions import INSTRUCTION_KINDS, TOPICS

_YES_NO: Final = tuple((split, topic) for split in SPLITS for topic in TOPICS)


@dataclass(frozen=True)
class InstructionCounts:
    """Numbers of a release's instructions.

    Attributes:
        kinds: instructions by kind.
        answers: yes/no instructions by split, topic and answer ("Yes.", "No.").
        left_out: yes/no instructions that balance left out.
        panels: panels with an instruction.
        lectures: pictures of lectures with one.
    """

    kinds: Mapping[str, int] = field(default_factory=dict)
    answers: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    left_out: int = 0
    panels: int = 0
    lectures: int = 0

    def as_counts(self) -> dict[str, int]:
        """Return them as a manifest has them: "instructions", "instructions_what", "train_finding_yes", and so on."""
        return {
            "instructions": sum(self.kinds.values()),
            "instructions_left_out": self.left_out,
            "instructed_panels": self.panels,
            "instructed_lectures": self.lectures,
            **{f"instructions_{kind}": self.kinds.get(kind, 0) for kind in INSTRUCTION_KINDS},
            **{
                f"{split}_{topic}_{answer.rstrip('.').lower()}": self.answers.get((split, topic, answer), 0)
                for split, topic in _YES_NO
                for answer in ("Yes.", "No.")
            },
        }

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> InstructionCounts | None:
        """Return those that a manifest has; None for a release from before there were instructions."""
        if "instructions" not in counts:
            return None
        return cls(
            {kind: counts.get(f"instructions_{kind}", 0) for kind in INSTRUCTION_KINDS},
            {
                (split, topic, answer): counts.get(f"{split}_{topic}_{answer.rstrip('.').lower()}", 0)
                for split, topic in _YES_NO
                for answer in ("Yes.", "No.")
            },
            counts.get("instructions_left_out", 0),
            counts.get("instructed_panels", 0),
            counts.get("instructed_lectures", 0),
        )


INSTRUCTION_HEADER: Final = ("kind", "instructions")


def instruction_cells(counts: InstructionCounts) -> list[tuple[str, int]]:
    """Return the instructions by kind as the cells of `INSTRUCTION_HEADER`."""
    return [(kind, counts.kinds.get(kind, 0)) for kind in INSTRUCTION_KINDS]


BALANCE_HEADER: Final = ("split", "about", "yes", "no")


def balance_cells(counts: InstructionCounts) -> list[tuple[str, str, int, int]]:
    """Return the answers of yes/no instructions as the cells of `BALANCE_HEADER`, where there are any."""
    rows = [
        (split, topic, counts.answers.get((split, topic, "Yes."), 0), counts.answers.get((split, topic, "No."), 0))
        for split, topic in _YES_NO
    ]
    return [row for row in rows if row[2] or row[3]]


BALANCE_REMARK: Final = (
    "In each split there are as many yes as no for each thing that is asked for; the surplus was left out by hash."
)
"""What the card and the report say below the balance."""
