"""Run the whole pipeline on every annotated article and score the result.

    python benchmarks/score_articles.py [--shared ../shared] [--out FOLDER] [--hide xml pictures live-figures text scan]

Runs `pmo article` in this process for each article of `annotations/`, writes its JSON to FOLDER and prints how it
compares (`quality/metrics`, the same numbers as `tools/score.py` there). `--hide` takes evidence away
(`hidden_evidence.py`); an article that then cannot be processed counts as one without figures, and is named.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from hidden_evidence import HIDDEN, package_without

from pmo_assets.annotation.annotations import (
    AnnotatedArticle,
    annotation_files,
    article_number,
    read_annotations,
)
from pmo_assets.pipeline.article import annotation, process_article
from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.records.memory_stores import MemoryObjects
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.package_folders import list_package
from pmo_assets_tests.quality.metrics.article_scores import article_scores, score_lines


def article_json(folder: Path) -> dict[str, object]:
    """Return what the pipeline makes of a package, in the annotation format."""
    listing = list_package(folder, folder.parent)
    if listing is None:
        raise SystemExit(f"{folder} is no article package")
    objects = MemoryObjects({})
    fetched = fetch_package(asdict(listing), LocalFolder(folder.parent), objects, FetchLimits())
    result = process_article(fetched.rows[0], objects, specialty=load_specialty("everything"))
    return annotation(folder.name, result)


def main() -> None:
    """Write predictions and print the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--out", type=Path, help="where the JSON files go; nowhere if not given")
    parser.add_argument("--ignore-xml", action="store_true", help="work as if no package had an XML: --hide xml")
    parser.add_argument("--hide", nargs="+", choices=HIDDEN, default=[], help="evidence that is taken away")
    parser.add_argument("--only", default="", help="articles whose folders begin so")
    arguments = parser.parse_args()
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    read = read_annotations(annotation_files(str(arguments.shared / "annotations")))
    for problem in read.problems:
        print(f"{problem.file} is not scored: {problem.reason}", file=sys.stderr)
    truths = {
        article_number(item.article_id): item for item in read.articles if item.article_id.startswith(arguments.only)
    }
    hidden = frozenset([*arguments.hide, *(["xml"] if arguments.ignore_xml else [])])
    predictions = {}
    for number, (key, truth) in enumerate(truths.items(), start=1):
        print(f"\r{number}/{len(truths)} {truth.article_id:40s}", end="", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as target:
            folder = arguments.shared / "corpus" / truth.article_id
            found = article_json(package_without(folder, hidden, truth, Path(target)) if hidden else folder)
        predictions[key] = AnnotatedArticle.model_validate(found)
        if arguments.out is not None:
            text = json.dumps(found, ensure_ascii=False, indent=1)
            (arguments.out / f"{truth.article_id}.json").write_text(text, encoding="utf-8")
    print(f"\r{len(truths)} articles in {time.perf_counter() - start:.0f} s{'':40s}", file=sys.stderr)
    print("\n".join(score_lines(article_scores(truths, predictions))))


if __name__ == "__main__":
    main()
