"""People's verdicts on instructions: found again by what was asked and answered, and only on the figure they saw.

An instruction that anybody calls wrong or unclear is discarded; what people call right no model is asked about, and no
check is overruled. Add here: how an answer of people becomes a verdict. Keep out: checks (`checks`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pmo_assets.pipeline.assembly.review import changed, figure_of
from pmo_assets.pipeline.instructions.checks import AUDIT
from pmo_assets.records.figure import LocatedFigure
from pmo_assets.records.instructions import Verdict
from pmo_assets.records.reviews import Fingerprint, JudgedInstruction
from pmo_assets.tables.rows import record_of

PERSON: Final = "person"
"""Who gives a person's verdict, before the digest that stands for them."""


def peoples_verdicts(
    answers: Sequence[Mapping[str, Any]],
    figures: Sequence[LocatedFigure],
    look: Callable[[str], Fingerprint | None],
) -> tuple[dict[str, list[Verdict]], list[str]]:
    """Return people's verdicts by `instruction_id`, and notes on those about a figure that is gone or changed.

    Args:
        answers: `instruction_answers` of a row of `annotations`.
        figures: the article's.
        look: gives the fingerprint of a figure by its `image_cluster_id`; None where it has no picture.
    """
    found: dict[str, list[Verdict]] = {}
    notes: list[str] = []
    for cell in answers:
        said = record_of(JudgedInstruction, cell)
        figure = figure_of(said, figures)
        why = "no such figure was found" if figure is None else changed(said, figure, look(figure.image_cluster_id))
        if why:
            notes.append(f"verdict on {said.instruction_id}: {why}")
        else:
            found.setdefault(said.instruction_id, []).append(_verdict(said))
    return found, notes


def _verdict(said: JudgedInstruction) -> Verdict:
    who = f"{PERSON} {said.review.annotator}" if said.review and said.review.annotator else PERSON
    if said.verdict == "right":
        return Verdict(who, AUDIT, "keep", said.reason or "")
    return Verdict(who, AUDIT, "discard", said.reason or f"a person calls it {said.verdict}")


def is_judged(verdicts: Sequence[Verdict]) -> bool:
    """Say whether people have judged an instruction."""
    return any(item.criterion == AUDIT for item in verdicts)
