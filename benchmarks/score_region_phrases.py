"""Scores phrases that name marks: precision and recall of phrases and of what they show.

    python benchmarks/score_region_phrases.py --captions CAPTIONS.jsonl [--labels LABELS.jsonl] [--errors]

Labels (`benchmarks/data/region_phrase_labels.jsonl`) are short quotations of captions of PubMed Central's figures, by
article and file of the figure; the captions themselves are read from JSONL files (`article`, `figure`, `caption`) that
are not part of the repository; `source` says where those of the later sets come from (ROCO: the lists of
github.com/razorx89/roco-dataset; the starter corpus of github.com/PLOS/allofplos; eLife's XML; figure pages of
journals), `digest` begins the SHA-256 of the caption. Captions to develop with and to report on are of different
articles. A label's `mark` is the noun with its adjectives, `target` the noun phrase that the caption says the mark
shows, with adjectives and what belongs to it, without verbs and clauses of participles ("a mass" of "a mass extending
into the orbit"), the nearest one after "with", and the thing rather than its imaging; "" where it shows nothing. Labels
stand in the order of marks.

A phrase is right where the words of its mark overlap a label's, and its kind and colour are the label's. A target is
right where it shares with the label's at least half of the longer one, or has the same words elsewhere in the caption,
articles left aside; targets are counted of all labels and all phrases. Beside that: the share of the labels' targets
that are found word for word, and the mean IoU of the words of label and phrase (by position, articles left aside; 0
where a phrase is missed or says nothing). `--errors` lists what went wrong in the parts to develop with, never in
another.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from pmo_assets.pipeline.regions.phrases import region_phrases
from pmo_assets.records.regions import RegionPhrase

_LABELS: Final = Path(__file__).parent / "data" / "region_phrase_labels.jsonl"
_ARTICLE: Final = re.compile(r"(?:the|an?)\s+", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")

Range = tuple[int, int]


@dataclass(frozen=True)
class _Label:
    """A label with the ranges of its mark and its target in the caption; the target's may be empty."""

    mark: Range
    target: Range
    kind: str
    colour: str | None


@dataclass
class Score:
    """Counts of one part: right, wrong and missed phrases, and the same of targets."""

    counts: Counter[str] = field(default_factory=Counter)
    overlaps: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def rate(self, right: str, *others: str) -> float:
        """Share of a count in the sum of it and others; 1 where there is none."""
        total = self.counts[right] + sum(self.counts[other] for other in others)
        return self.counts[right] / total if total else 1.0


def located(caption: str, labels: Sequence[Mapping[str, Any]]) -> list[_Label]:
    """Labels with their ranges: each mark is looked for behind the one before, its target nearest to it.

    Raises:
        ValueError: a label does not stand in the caption.
    """
    found, position = [], 0
    for label in labels:
        start = caption.find(label["mark"], position)
        places = (
            [match.start() for match in re.finditer(re.escape(label["target"]), caption)] if label["target"] else []
        )
        if start < 0 or (label["target"] and not places):
            raise ValueError(f"{label!r} does not stand (any more) in {caption!r}")
        position = start + len(label["mark"])
        size = len(label["target"])
        target = (start, start)
        if places:
            nearest = min(places, key=lambda place: max(place - position, start - place - size))
            target = (nearest, nearest + size)
        found.append(_Label((start, position), target, label["kind"], label["colour"]))
    return found


def _shared(a: Range, b: Range) -> int:
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


def _without_article(caption: str, place: Range) -> Range:
    match = _ARTICLE.match(caption, place[0])
    return (match.end(), place[1]) if match and match.end() < place[1] else place


def _same_target(caption: str, label: Range, phrase: Range) -> bool:
    a, b = _without_article(caption, label), _without_article(caption, phrase)
    if caption[slice(*a)].lower() == caption[slice(*b)].lower():
        return True
    return 2 * _shared(a, b) >= max(a[1] - a[0], b[1] - b[0])


def word_overlap(caption: str, label: Range, phrase: Range) -> float:
    """Return the IoU of the words of two ranges of a caption, 0..1; articles at their beginning are left aside."""
    a, b = (
        {start + match.start() for match in _WORD.finditer(caption[start:end])}
        for start, end in (_without_article(caption, label), _without_article(caption, phrase))
    )
    return len(a & b) / len(a | b) if a | b else 1.0


def score(rows: Sequence[Mapping[str, Any]], captions: Mapping[tuple[str, str], str]) -> Score:
    """Score the phrases of the rows' captions.

    Raises:
        ValueError: a caption is not the one that was labelled.
    """
    result = Score()
    for row in rows:
        caption = captions[row["article"], row["figure"]]
        if "digest" in row and sha256(caption.encode()).hexdigest()[:16] != row["digest"]:
            raise ValueError(f"the caption of {row['article']} {row['figure']} is another one than the labelled one")
        _score_caption(caption, located(caption, row["phrases"]), region_phrases(caption), row["article"], result)
    return result


def _score_caption(
    caption: str, labels: Sequence[_Label], phrases: Sequence[RegionPhrase], article: str, result: Score
) -> None:
    left = list(labels)
    for phrase in phrases:
        place = (phrase.mark_start, phrase.mark_end)
        words = f"{caption[slice(*place)]!r} -> {caption[phrase.target_start : phrase.target_end]!r}"
        match = max(left, key=lambda label: _shared(label.mark, place), default=None)
        if match is None or not _shared(match.mark, place):
            result.counts["wrong"] += 1
            result.counts["target wrong"] += phrase.target_start < phrase.target_end
            result.errors.append(f"{article} wrong: {words}")
            continue
        left.remove(match)
        is_same = (phrase.kind, phrase.colour) == (match.kind, match.colour)
        result.counts["right" if is_same else "wrong"] += 1
        result.counts["missed"] += not is_same
        if not is_same:
            result.errors.append(f"{article} other kind or colour: {words} {phrase.kind} {phrase.colour}")
        _score_target(caption, match, phrase, f"{article} target: {words}", result)
    for label in left:
        result.counts["missed"] += 1
        result.counts["target missed"] += label.target[0] < label.target[1]
        result.overlaps += [0.0] if label.target[0] < label.target[1] else []
        result.errors.append(f"{article} missed: {caption[slice(*label.mark)]!r} -> {caption[slice(*label.target)]!r}")


def _score_target(caption: str, label: _Label, phrase: RegionPhrase, error: str, result: Score) -> None:
    target = (phrase.target_start, phrase.target_end)
    has_label, has_phrase = label.target[0] < label.target[1], target[0] < target[1]
    if has_label:
        result.overlaps.append(word_overlap(caption, label.target, target) if has_phrase else 0.0)
    if has_label and has_phrase and _same_target(caption, label.target, target):
        result.counts["target right"] += 1
    elif has_label or has_phrase:
        result.counts["target wrong"] += has_phrase
        result.counts["target missed"] += has_label
        result.errors.append(f"{error}, not {caption[slice(*label.target)]!r}")


def _lines(name: str, rows: Sequence[Mapping[str, Any]], result: Score) -> list[str]:
    counts = result.counts
    lines = [f"{name}: {len(rows)} captions, {counts['right'] + counts['missed']} phrases"]
    for title, prefix in (("phrases", ""), ("targets", "target ")):
        precision = result.rate(f"{prefix}right", f"{prefix}wrong")
        recall = result.rate(f"{prefix}right", f"{prefix}missed")
        numbers = ", ".join(f"{counts[prefix + kind]} {kind}" for kind in ("right", "wrong", "missed"))
        lines.append(f"  {title}  precision {precision:.3f}  recall {recall:.3f}  ({numbers})")
    if result.overlaps:
        exact = sum(overlap == 1 for overlap in result.overlaps) / len(result.overlaps)
        mean = sum(result.overlaps) / len(result.overlaps)
        lines.append(f"  targets' words  all the same {exact:.3f}  mean IoU {mean:.3f}")
    return lines


def main() -> None:
    """Print the scores of each part of the labels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captions", type=Path, required=True, nargs="+")
    parser.add_argument("--labels", type=Path, default=_LABELS)
    parser.add_argument("--errors", action="store_true", help="list the errors of the part to develop with")
    options = parser.parse_args()
    captions: dict[tuple[str, str], str] = {}
    for path in options.captions:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            captions[row["article"], row["figure"]] = row["caption"]
    parts: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for line in options.labels.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        parts[row["part"]].append(row)
    for name, rows in parts.items():
        result = score(rows, captions)
        print(*_lines(name, rows, result), sep="\n")
        if options.errors and name.endswith("develop"):
            print(*result.errors, sep="\n")


if __name__ == "__main__":
    main()
