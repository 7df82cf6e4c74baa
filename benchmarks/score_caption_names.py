"""Scores which panels captions name, on captions that no rule was written on when they were labelled.

    python benchmarks/score_caption_names.py [CAPTIONS] [--show plos-elife-develop]

CAPTIONS is a JSONL file of `{"id", "caption"}`: figures of open-access articles (ROCO's captions of eyes by their
ROCO number; figures of PLOS and eLife as `<file>#<figure id>`; figure pages of ophthalmic journals by the end of their
address; figures of the CRAFT corpus as `<PubMed number>#Figure<n>`), not part of the repository. The labels in
`data/caption_names.jsonl` are the names of their panels, none for a single one, written by a reader before the grammar
was run. *Develop* and *report* are different articles of PLOS and eLife, and different captions of the others. The sets
*odd* and *nested* (lists within panels, abbreviations, materials, parts) were written for this, in forms that authors
seldom use, and lie in the file with their captions. `said` tells, by a piece of a caption, the panels that it is about.
The sets *fresh* (github.com/ContentMine/ami and wellcome-2015-files, ROCO, figure pages of the eye; split by journal;
white space as single spaces) also have `pieces`: offsets [start, end) of a caption and the panels whose text is there,
"*" for all, null where a reader was not sure.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.records.subcaptions import CaptionSplit

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
LABELS = Path(__file__).parent / "data" / "caption_names.jsonl"


def misplaced(split: CaptionSplit, said: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the pieces of a caption that other panels' subcaptions hold than those which `said` names."""
    return [
        piece
        for piece, names in said.items()
        if {s.identifier for s in split.subcaptions if piece in s.text} != set(names)
    ]


def words_with_panels(caption: str, split: CaptionSplit, label: Mapping[str, Any]) -> float:
    """Return F1 of the pairs of word and panel, 0 to 1, over the words of the pieces that a reader was sure of."""
    names: list[str] = label["names"]
    right = told = wanted = 0
    for start, end, owners in label["pieces"]:
        if owners is None:
            continue
        for word in _WORD.finditer(caption, start, end):
            if word.group() in names:
                continue
            truth = set(names if owners == "*" else owners)
            given = {
                sub.identifier
                for sub in split.subcaptions
                if any(left <= word.start() < stop for left, stop in sub.segments)
            }
            right += len(truth & given)
            told += len(given.intersection(names))
            wanted += len(truth)
    return 2 * right / (told + wanted) if told + wanted else 1.0


def main() -> None:
    """Print, per set, how many captions' names are not all found, and how many of single panels are split."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captions", type=Path, nargs="?", help="none: those that lie in the file of labels")
    parser.add_argument("--show", default="", help="print what is wrong in this set")
    args = parser.parse_args()
    given = map(json.loads, args.captions.read_text("utf-8").splitlines()) if args.captions else ()
    captions = {row["id"]: row["caption"] for row in given}
    several: dict[str, list[bool]] = defaultdict(list)
    single: dict[str, list[bool]] = defaultdict(list)
    sentences: dict[str, list[bool]] = defaultdict(list)
    words: dict[str, list[float]] = defaultdict(list)
    for label in map(json.loads, LABELS.read_text("utf-8").splitlines()):
        caption = label.get("caption") or captions.get(label["id"])
        if caption is None:
            continue
        split = split_caption(caption)
        found = {name for name in split.identifiers if name is not None}
        wrong = found != set(label["names"])
        astray = [] if wrong else misplaced(split, label.get("said", {}))
        sentences[label["set"]].extend(not wrong and piece not in astray for piece in label.get("said", {}))
        if "pieces" in label:
            words[label["set"]].append(words_with_panels(caption, split, label))
        (several if label["names"] else single)[label["set"]].append(wrong)
        if wrong and label["set"] == args.show:
            print(label["id"], "names", label["names"], "found", sorted(found))
        if astray and label["set"] == args.show:
            print(label["id"], "other panels have", astray)
    for name in sorted(several):
        missed, parted = several[name], single[name]
        share = sum(missed) / len(missed)
        print(f"{name}: {sum(missed)} of {len(missed)} captions whose panels are not all found ({share:.1%})", end="")
        print(f", {sum(parted)} of {len(parted)} of one panel split", end="")
        placed = sentences[name]
        print(f", {sum(placed)} of {len(placed)} sentences with their panels" if placed else "", end="")
        told = words[name]
        print(f", F1 of words with their panels {sum(told) / len(told):.3f} of {len(told)}" if told else "")


if __name__ == "__main__":
    main()
