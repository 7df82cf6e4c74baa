"""Marks and regions: how far two people agree, and how far the machine is from what people decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pmo_assets.annotation.annotations import FigureRegions
from pmo_assets.quality.metrics.metric import Metric, share
from pmo_assets.records.geometry import Box, as_box, matched_boxes

SAME_THING: Final = 0.5
"""IoU from which a mark or region is people's."""

LIKELY: Final = 0.5
"""Probability from which a mark counts: less likely ones are in no phrase and show no region."""


def figure_boxes(figure: FigureRegions) -> dict[str, list[Box]]:
    """Return the boxes of a figure's marks and regions, by kind of box."""
    return {
        "mark": [mark.box for panel in figure.panels for mark in panel.marks],
        "region": [region.box for panel in figure.panels for region in panel.regions],
    }


def figure_choices(first: FigureRegions, second: FigureRegions) -> dict[str, list[tuple[str, str]]]:
    """Return two people's choices for the marks and regions that both drew: kind, colour, words; "" for none."""
    marks = [[mark for panel in figure.panels for mark in panel.marks] for figure in (first, second)]
    regions = [[region for panel in figure.panels for region in panel.regions] for figure in (first, second)]
    same = matched_boxes([mark.box for mark in marks[0]], [mark.box for mark in marks[1]], SAME_THING)
    drawn = [(marks[0][i], marks[1][k]) for i, k in same.items()]
    shown = matched_boxes([region.box for region in regions[0]], [region.box for region in regions[1]], SAME_THING)
    return {
        "mark kind": [(a.kind, b.kind) for a, b in drawn],
        "mark colour": [(a.colour or "", b.colour or "") for a, b in drawn],
        "region text": [(regions[0][i].text or "", regions[1][k].text or "") for i, k in shown.items()],
    }


@dataclass
class Found:
    """The machine's boxes compared with people's.

    Attributes:
        people: number of boxes that people decided.
        machine: number of boxes of the machine.
        right: number of the machine's that are people's (IoU at least 0.5), each once.
        same: of those, whether each property is people's, by its name.
    """

    people: int = 0
    machine: int = 0
    right: int = 0
    same: dict[str, list[bool]] = field(default_factory=dict)

    def add(self, people: Sequence[Mapping[str, Any]], machine: Sequence[Mapping[str, Any]], *names: str) -> None:
        """Compare the boxes of a panel, and the properties of those that are the same."""
        theirs, found = ([as_box(cell["box"]) for cell in cells] for cells in (people, machine))
        matched = matched_boxes(theirs, found, SAME_THING)
        self.people += len(people)
        self.machine += len(machine)
        self.right += len(matched)
        for name in names:
            pairs = [(people[i][name], machine[k][name]) for i, k in matched.items()]
            self.same.setdefault(name, []).extend(a == b for a, b in pairs)

    def metrics(self, group: str) -> list[Metric]:
        """Return recall, precision and the shares of right properties."""
        recall = self.right / self.people if self.people else None
        precision = self.right / self.machine if self.machine else None
        return [
            Metric("machine's recall of people's", recall, self.people, group, SAME_THING),
            Metric("machine's precision by people's", precision, self.machine, group, SAME_THING),
            *(
                Metric(f"machine's {name} is people's", share(same), len(same), group, SAME_THING)
                for name, same in self.same.items()
            ),
        ]


def machine_metrics(
    marks: Iterable[Mapping[str, Any]], regions: Iterable[Mapping[str, Any]], whole: set[tuple[int, str]]
) -> list[Metric]:
    """Return how far the machine's marks and regions are from people's, where people decided a panel's.

    Figures of undecided cases were chosen because the machine was not sure: they stand apart and say nothing of others.

    Args:
        marks: rows of `marks`.
        regions: rows of `regions`.
        whole: article and image_cluster_id of the figures that people annotated in full.
    """
    of_marks: dict[str, Found] = {}
    of_regions: dict[str, Found] = {}

    def group(row: Mapping[str, Any]) -> str:
        return "" if (row["article_id"], row["image_cluster_id"]) in whole else ", undecided cases"

    for row in marks:
        if (machine := row["machine_marks"]) is not None:
            likely = [cell for cell in machine if cell["probability"] >= LIKELY]
            of_marks.setdefault(f"mark{group(row)}", Found()).add(row["marks"], likely, "kind", "colour")
    for row in regions:
        if (machine := row["machine_regions"]) is not None:
            of_regions.setdefault(f"region{group(row)}", Found()).add(row["regions"], machine, "text")
    return [metric for of in (of_marks, of_regions) for name in sorted(of) for metric in of[name].metrics(name)]
