"""Run the whole pipeline on every annotated article and score the result.

    python benchmarks/score_articles.py [--shared ../shared] [--out FOLDER] [--ignore-xml]

Runs `pmo article` in this process for each article of `annotations/`, writes its JSON to FOLDER and prints the table of
`tools/score.py`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from pmo_assets.pipeline.article import MemoryObjects, annotation, process_article
from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.pipeline.articles.packages import list_package
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.resources.sources import LocalFolder


def article_json(folder: Path, *, ignore_xml: bool) -> dict[str, object]:
    """Return what the pipeline makes of a package, in the annotation format."""
    listing = list_package(folder, folder.parent)
    if listing is None:
        raise SystemExit(f"{folder} is no article package")
    files = [asdict(item) for item in listing.files if not (ignore_xml and item.role == "xml")]
    objects = MemoryObjects({})
    fetched = fetch_package({**asdict(listing), "files": files}, LocalFolder(folder.parent), objects, FetchLimits())
    result = process_article(fetched.rows[0], objects, specialty=load_specialty("everything"))
    return annotation(folder.name, result)


def main() -> None:
    """Write predictions and print the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--out", type=Path, help="where the JSON files go; a temporary folder if not given")
    parser.add_argument("--ignore-xml", action="store_true", help="work as if no package had an XML")
    arguments = parser.parse_args()
    out = arguments.out or Path(tempfile.mkdtemp())
    out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    truths = sorted((arguments.shared / "annotations").glob("*.json"))
    for number, truth in enumerate(truths, start=1):
        print(f"\r{number}/{len(truths)} {truth.stem:40s}", end="", file=sys.stderr, flush=True)
        found = article_json(arguments.shared / "corpus" / truth.stem, ignore_xml=arguments.ignore_xml)
        (out / truth.name).write_text(json.dumps(found, ensure_ascii=False, indent=1))
    print(f"\r{len(truths)} articles in {time.perf_counter() - start:.0f} s, JSON in {out}", file=sys.stderr)
    scorer = arguments.shared / "tools" / "score.py"
    subprocess.run([sys.executable, scorer, arguments.shared / "annotations", out], check=True)


if __name__ == "__main__":
    main()
