"""Gather the captions that `entities/labels.jsonl` labels from a copy of ROCO, for `score_entities.py --captions`.

    python benchmarks/gather_captions.py FILE REPOSITORY

REPOSITORY is a copy of github.com/razorx89/roco-dataset, with or without a work tree: captions by number in
`captions.txt`, articles and files of the figures in `dlinks.txt`, of three splits and two kinds. Captions of other
sources, and those of files that the copy lacks, are counted as missing. White space is written as single blanks.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

LABELS = Path(__file__).parent / "entities" / "labels.jsonl"
FOLDERS = [
    f"data/{split}/{kind}" for split in ("train", "validation", "test") for kind in ("radiology", "non-radiology")
]


def lines_of(repository: Path, file: str) -> list[list[str]]:
    """Return the fields of a file's lines; none when the copy does not have it."""
    shown = subprocess.run(["git", "-C", repository, "show", f"HEAD:{file}"], check=False, capture_output=True)
    return [line.split("\t") for line in shown.stdout.decode("utf-8", "replace").splitlines()]


def captions_of(repository: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield article and file of each figure with its caption."""
    for folder in FOLDERS:
        captions = {
            fields[0]: fields[1] for fields in lines_of(repository, f"{folder}/captions.txt") if len(fields) > 1
        }
        for fields in lines_of(repository, f"{folder}/dlinks.txt"):
            article = re.search(r"(PMC\d+)\.tar", fields[1]) if len(fields) > 2 else None
            if article is not None and fields[0] in captions:
                yield (article.group(1), fields[2].strip()), " ".join(captions[fields[0]].split())


def main() -> None:
    """Gather and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("repository", type=Path)
    arguments = parser.parse_args()
    labels = map(json.loads, LABELS.read_text("utf-8").splitlines())
    wanted = {(row["article"], row["figure"]) for row in labels}
    found = {key: caption for key, caption in captions_of(arguments.repository) if key in wanted}
    rows = [{"article": key[0], "figure": key[1], "caption": caption} for key, caption in sorted(found.items())]
    arguments.file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    print(f"{len(found)} of {len(wanted)} captions in {arguments.file}")


if __name__ == "__main__":
    main()
