"""Scores entities of captions: F1 by group, negation, cost of a panel.

    python benchmarks/score_entities.py [--captions ../shared/captions/ophthalmic_captions.jsonl] [--errors]

Labels (`benchmarks/entities/labels.jsonl`) are short quotations of captions of PubMed Central's figures, by article and
file of the figure; the captions themselves are read from a JSONL file (`article`, `figure`, `caption`) beside the
checkout. Three kinds of labels: all entities of a caption; its eyes and diseases alone; whether terms of a caption are
negated or uncertain (group "*"). Captions to develop with and to report on are of different articles.

What a disease is and what a finding, labels and lexicon say alike (docs/context.md): a named diagnosis is a disease;
bare words for something seen ("tumor", "lesion") and "mass", "lesion" or "opacity" of a place are findings.

An entity is right where it overlaps a label of its group and a filter by the label's term finds it: it is that term or
one within it, in the lexicon or by its own wider terms. Labelled texts that the file does not have are left out.
Status is judged where an
entity that can be absent overlaps a label. `--errors` lists what went wrong in the half to develop with, never in the
other.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from pmo_assets.lexicon.terms import LexiconError, terms_within
from pmo_assets.pipeline.context.entities import entities_of, panel_entities
from pmo_assets.pipeline.context.negation import DENIABLE
from pmo_assets.records.context import ENTITY_GROUPS, Entity, EntityGroup

_LABELS = Path(__file__).parent / "entities" / "labels.jsonl"
_SUBCAPTION_WORDS, _MENTIONS, _MENTION_WORDS = 60, 10, 25


@dataclass(frozen=True)
class _Label:
    """A label with its range in the caption; group and term are "*" where only the status counts."""

    group: str
    term: str
    start: int
    end: int
    negated: bool
    uncertain: bool


def located(caption: str, labels: Sequence[Sequence[str]]) -> list[_Label]:
    """Labels in the caption's order with their ranges: each is looked for behind the one before."""
    found, position = [], 0
    for group, term, text, *flags in labels:
        start = caption.find(text, position)
        if start < 0:
            raise ValueError(f"{text!r} does not stand (any more) in {caption!r}")
        found.append(_Label(group, term, start, start + len(text), "negated" in flags, "uncertain" in flags))
        position = start + len(text)
    return found


@cache
def _within(group: str, term: str) -> frozenset[str]:
    """Terms that a filter by a label's term finds; only itself for what the lexicon does not list ("34 years")."""
    try:
        return terms_within(term, cast("EntityGroup", group))
    except LexiconError:
        return frozenset({term})


def _overlap(label: _Label, entity: Entity) -> bool:
    return label.start < entity.end and entity.start < label.end


@dataclass
class Score:
    """Counts of one half: by group right, wrong and missed entities; statuses right and wrong."""

    right: Counter[str]
    wrong: Counter[str]
    missed: Counter[str]
    statuses: Counter[tuple[str, bool]]
    errors: list[str]

    def f1(self, group: str) -> float:
        """F1 of a group, 0..1; 1 where it has neither labels nor entities."""
        faults = self.wrong[group] + self.missed[group]
        return 2 * self.right[group] / (2 * self.right[group] + faults) if self.right[group] or faults else 1.0


def score(rows: Sequence[Mapping[str, Any]], captions: Mapping[tuple[str, str], str]) -> Score:
    """Score the entities of the rows' captions."""
    result = Score(Counter(), Counter(), Counter(), Counter(), [])
    for row in rows:
        caption = captions[row["article"], row["figure"]]
        labels, entities = located(caption, row["labels"]), entities_of(caption, row.get("definitions", {}))
        if row["kind"] != "status":
            groups: set[str] = set(ENTITY_GROUPS if row["kind"] == "all" else ("eye", "disease"))
            _score_entities(row, [label for label in labels if label.group in groups], entities, groups, result)
        _score_statuses(row, labels, entities, result)
    return result


def _score_entities(
    row: Mapping[str, Any], labels: Sequence[_Label], entities: Sequence[Entity], groups: set[str], result: Score
) -> None:
    open_labels = list(labels)
    for entity in (entity for entity in entities if entity.group in groups):
        match = next(
            (label for label in open_labels if label.group == entity.group
             and not _within(label.group, label.term).isdisjoint((entity.term, *entity.broader))
             and _overlap(label, entity)),
            None,
        )  # fmt: skip
        if match is None:
            result.wrong[entity.group] += 1
            result.errors.append(f"{row['article']} wrong: {entity.group} {entity.term!r} ({entity.text!r})")
        else:
            result.right[entity.group] += 1
            open_labels.remove(match)
    for label in open_labels:
        result.missed[label.group] += 1
        result.errors.append(f"{row['article']} missed: {label.group} {label.term!r}")


def _score_statuses(
    row: Mapping[str, Any], labels: Sequence[_Label], entities: Sequence[Entity], result: Score
) -> None:
    for label in labels:
        entity = next((entity for entity in entities if entity.group in DENIABLE and _overlap(label, entity)), None)
        if entity is not None and (label.group == "*" or label.group in DENIABLE):
            kind = "negated" if label.negated else "uncertain" if label.uncertain else "affirmed"
            right = (entity.negated, entity.uncertain) == (label.negated, label.uncertain)
            result.statuses[kind, right] += 1
            if not right:
                result.errors.append(f"{row['article']} status: {entity.text!r} is {kind}")


def _table(name: str, rows: Sequence[Mapping[str, Any]], result: Score) -> list[str]:
    lines = [f"{name}: {len(rows)} captions of {len({row['article'] for row in rows})} articles"]
    for group in ENTITY_GROUPS:
        right, wrong, missed = result.right[group], result.wrong[group], result.missed[group]
        if right + wrong + missed:
            lines.append(f"  {group:12} F1 {result.f1(group):.3f}  ({right} right, {wrong} wrong, {missed} missed)")
    judged, right = sum(result.statuses.values()), sum(n for (_, ok), n in result.statuses.items() if ok)
    shares = ", ".join(
        f"{kind} {result.statuses[kind, True]} of {result.statuses[kind, True] + result.statuses[kind, False]}"
        for kind in ("negated", "uncertain", "affirmed")
    )
    lines.append(f"  status right {right / max(1, judged):.3f} of {judged}: {shares}")
    return lines


def cost(captions: Sequence[str]) -> float:
    """Milliseconds of processor time for a panel with a subcaption and mentions of typical lengths."""
    words = " ".join(captions).split()
    size = _SUBCAPTION_WORDS + _MENTIONS * _MENTION_WORDS
    panels = [words[first : first + size] for first in range(0, len(words) - size, size)]
    panel_entities("warm", [], {})
    began = time.process_time()
    for panel in panels:
        mentions = [
            " ".join(panel[first : first + _MENTION_WORDS]) for first in range(_SUBCAPTION_WORDS, size, _MENTION_WORDS)
        ]
        panel_entities(" ".join(panel[:_SUBCAPTION_WORDS]), mentions, {"OCT": "optical coherence tomography"})
    return 1000 * (time.process_time() - began) / max(1, len(panels))


def main() -> None:
    """Print the scores of both halves and the cost of a panel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).parents[2] / "shared" / "captions" / "ophthalmic_captions.jsonl"
    parser.add_argument("--captions", type=Path, default=default)
    parser.add_argument("--errors", action="store_true", help="list the errors of the half to develop with")
    options = parser.parse_args()
    read = [json.loads(line) for line in options.captions.read_text(encoding="utf-8").splitlines()]
    captions = {(row["article"], row["figure"]): row["caption"] for row in read}
    halves: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    left_out = 0
    for line in _LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if (row["article"], row["figure"]) in captions:
            halves[row["part"]].append(row)
        else:
            left_out += 1
    if left_out:
        print(f"left out: {left_out} labelled texts that {options.captions} does not have")
    for name, rows in halves.items():
        result = score(rows, captions)
        print(*_table(name, rows, result), sep="\n")
        if options.errors and name == "develop":
            print(*result.errors, sep="\n")
    print(f"{cost(list(captions.values())):.2f} ms of processor time a panel")


if __name__ == "__main__":
    main()
