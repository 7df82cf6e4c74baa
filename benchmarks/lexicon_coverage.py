"""Counts how many names of a public terminology's diseases of the eye the lexicon finds.

    python benchmarks/lexicon_coverage.py HumanDO.tsv [--within "eye disease"] [--missing]

HumanDO.tsv (columns `id`, `label`, `subClassOf`) is the Human Disease Ontology's list of labels with their wider terms,
in the folder `DOreports` of github.com/DiseaseOntology/HumanDiseaseOntology (CC0). *Whole*: the whole name is one
disease or finding, numbers and letters of a subtype apart ("cataract 12"). *Part*: a part of it is ("cystoid macular
retinal degeneration" by its end). A name is no caption: what is found in captions, `score_entities.py` tells.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter, defaultdict
from pathlib import Path

from pmo_assets.pipeline.context.entities import entities_of

_SUBTYPE = re.compile(r" (?:\d+[A-Z]?|type \w+|[A-Z]|Ia)$")


def names_within(path: Path, wanted: str) -> list[str]:
    """Return the labels below a term of the list, sorted."""
    narrower: dict[str, set[str]] = defaultdict(set)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            narrower[row["subClassOf"]].add(row["label"])
    found: set[str] = set()
    waiting = [wanted]
    while waiting:
        new = narrower[waiting.pop()] - found
        found |= new
        waiting.extend(new)
    return sorted(found)


def how(name: str) -> str:
    """Say how much of a name is found: whole, part, none."""
    plain = _SUBTYPE.sub("", name)
    lengths = [e.end - e.start for e in entities_of(plain, {}) if e.group in {"disease", "finding"}]
    return "none" if not lengths else "whole" if max(lengths) >= len(plain) - 1 else "part"


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", type=Path)
    parser.add_argument("--within", default="eye disease")
    parser.add_argument("--missing", action="store_true", help="list the names that are not found")
    options = parser.parse_args()
    found = {name: how(name) for name in names_within(options.names, options.within)}
    print(f"{len(found)} names within {options.within!r}: {dict(Counter(found.values()).most_common())}")
    if options.missing:
        print(*(name for name, kind in found.items() if kind == "none"), sep="\n")


if __name__ == "__main__":
    main()
