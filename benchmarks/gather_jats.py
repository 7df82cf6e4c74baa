"""Gather the JATS articles of some repositories in one folder, each under the name that the label files use.

    python benchmarks/gather_jats.py FOLDER REPOSITORY...

Articles lie among the test files and data of tools: github.com/elifesciences/elife-tools, github.com/sibils/jats-parser
and github.com/petermr/norma have about 90 with figures that their text names. Given behind these and
github.com/PLOS/allofplos, github.com/spyysalo/nxml2txt, github.com/titipata/pubmed_parser,
github.com/UCDenver-ccp/CRAFT, github.com/ContentMine/wellcome-2015-files, github.com/PLOS/rhino and
github.com/ContentMine/ami have about 390 more. github.com/ropensci/pubchunks, github.com/CeON/CERMINE,
github.com/substance/texture and github.com/petermr/tigr2ess have about 3,000 further ones, of plants, food, biology and
medicine, from which the fourth and fifth lot of `data/summary_sentence_labels.jsonl` were drawn. An article's name is
its PMC number, else the end of its DOI; of two files of one article, the first in the repositories' order counts. Their
text is not kept here: `data/passage_labels.jsonl` and `data/summary_sentence_labels.jsonl` have places only.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

SMALLEST = 30_000
"""Bytes below which a file is no whole article."""


def article_name(data: bytes) -> str | None:
    """Return the name of a JATS article by its identifiers; None for another file, or one without figures."""
    if len(data) < SMALLEST or b"<article" not in data[:3000] or b"<fig" not in data:
        return None
    pmc = re.search(rb'<article-id pub-id-type="pmc"[^>]*>(?:PMC)?(\d+)<', data)
    doi = re.search(rb'pub-id-type="doi"[^>]*>([^<]+)<', data)
    if pmc is not None:
        return f"PMC{pmc.group(1).decode()}"
    return re.sub(r"[^\w.]", "_", doi.group(1).decode().split("/")[-1]) if doi is not None else None


def files_of(repository: Path) -> Iterator[bytes]:
    """Yield the XML files of a git repository's newest commit, with or without a work tree."""

    def git(*arguments: str) -> bytes:
        return subprocess.run(["git", "-C", repository, *arguments], check=True, capture_output=True).stdout

    for name in git("ls-tree", "-r", "-z", "--name-only", "HEAD").decode().split("\0"):
        if name.endswith((".xml", ".nxml")) and "fulltext.html" not in name:
            try:
                yield git("show", f"HEAD:{name}")
            except subprocess.CalledProcessError:
                print(f"not in this copy of {repository}: {name}")


def main() -> None:
    """Gather and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("repositories", type=Path, nargs="+")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    found: set[str] = set()
    for repository in arguments.repositories:
        for data in files_of(repository):
            name = article_name(data)
            if name is not None and name not in found:
                (arguments.folder / f"{name}.xml").write_bytes(data)
                found.add(name)
    print(f"{len(found)} articles in {arguments.folder}")


if __name__ == "__main__":
    main()
