"""Score references of the running text to figures and panels: on labelled articles, and on typeset ones.

    python benchmarks/score_mentions.py [--half develop|report] [--shared ../shared] [--hide-xml] [--errors]
    python benchmarks/score_mentions.py --samples 40 [--hide-xml] [--errors]

`data/mention_labels.jsonl` holds every sentence of its articles' running text that refers to a figure, as people read
it: a quotation that only this sentence contains, and the figures and panels that it names (a position printed as the
name of a part, "top row", counts as one); `only` marks sentences that the PDF has and the XML lost. Rules were made on
the half `develop`; `report` are other articles. Each article goes through the whole pipeline; counted are pairs of
sentence and figure, and of sentence and panel, that the rows of `panel_mentions` name. A figure that was not found in
the PDF is a miss. `--samples` typesets random articles, whose references are known exactly. CPU time is of all steps,
and of what running text and mentions add to them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pmo_assets.pipeline.article import process_article
from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.pipeline.articles.paragraphs import bounded
from pmo_assets.pipeline.articles.references import label_key
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.context.steps import mention_article_panels
from pmo_assets.records.context import RunningParagraph
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.memory_stores import MemoryObjects
from pmo_assets.samples.packages import write_package
from pmo_assets.samples.typesetter import typeset
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.package_folders import list_package
from pmo_assets.tables.rows import record_of, row_of
from pmo_assets_tests.samples.random_specs import random_spec

LABELS = Path(__file__).parent / "data" / "mention_labels.jsonl"
FIRST_SEED = 5_000
"""Of the typeset articles: no test uses these."""

Named = Mapping[str, Sequence[str]]
"""Panels by figure."""


@dataclass(frozen=True)
class Label:
    """A sentence, known by a quotation, and the figures and panels that it names."""

    quote: str
    figures: Named


@dataclass
class Counts:
    """True, found and missed pairs, of figures and of panels; the errors in words."""

    true: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    def add(self, kind: str, truth: set[str], found: set[str], where: str) -> None:
        """Count the pairs of one sentence."""
        self.true[kind] += len(truth & found)
        self.wrong[kind] += len(found - truth)
        self.missed[kind] += len(truth - found)
        self.errors += [f"{kind} too many: {item} | {where}" for item in sorted(found - truth)]
        self.errors += [f"{kind} missed: {item} | {where}" for item in sorted(truth - found)]

    def line(self, kind: str) -> str:
        """Return precision and recall of a kind in words."""
        true, wrong, missed = self.true[kind], self.wrong[kind], self.missed[kind]
        precision, recall = (true / max(1, true + other) for other in (wrong, missed))
        return f"{kind}: {true + missed} labelled, precision {precision:.3f}, recall {recall:.3f}"


def letters(text: str) -> str:
    """Return what of a text is compared: XML and PDF differ in spaces, quotes and hyphens."""
    return re.sub(r"[^0-9a-z]", "", text.lower())


@dataclass
class Seconds:
    """CPU seconds of all steps of some articles, and of those for running text and mentions alone."""

    articles: int = 0
    all: float = 0.0
    added: float = 0.0

    def line(self, kind: str) -> str:
        """Return them in words."""
        share, each = self.added / max(self.all, 1e-9), 1000 * self.added / max(1, self.articles)
        return f"{self.articles} {kind}, {self.all:.0f} s of CPU, {share:.2%} of it for mentions ({each:.1f} ms each)"


def mention_rows(
    folder: Path, seconds: Seconds, *, with_xml: bool
) -> tuple[list[dict[str, Any]], dict[str, str | None]]:
    """Return an article's rows of `panel_mentions`, and the keys of its figures by image_cluster_id."""
    listing = list_package(folder, folder.parent)
    if listing is None:
        raise SystemExit(f"{folder} is no article package")
    row = asdict(listing)
    row["files"] = [item for item in row["files"] if with_xml or item["role"] != "xml"]
    objects = MemoryObjects({})
    package = fetch_package(row, LocalFolder(folder.parent), objects, FetchLimits()).rows[0]
    start = time.process_time()
    result = process_article(package, objects, specialty=load_specialty("everything"), targets=["panel_mentions"])
    seconds.all += time.process_time() - start
    seconds.articles += 1
    tables = result.tables
    start = time.process_time()
    paragraphs = [record_of(RunningParagraph, item) for item in result.article["paragraphs"]]
    again = {**result.article, "paragraphs": [row_of(item) for item in bounded(paragraphs)[0]]}
    mention_article_panels(again, tables["figures"], tables["reviewed_panels"], tables["subcaptions"])
    seconds.added += time.process_time() - start
    keys = {figure["image_cluster_id"]: label_key(figure["label"] or "") for figure in result.figures}
    return list(tables["panel_mentions"]), keys


def count(
    labels: Sequence[Label], rows: Iterable[Mapping[str, Any]], keys: Mapping[str, str | None], counts: Counts
) -> None:
    """Count one article's sentences."""
    sentences: dict[tuple[int, int], tuple[str, dict[str, set[str]]]] = {}
    for row in rows:
        if row["kind"] != "follows":
            place = sentences.setdefault((row["paragraph"], row["start"]), (row["sentence"], {}))
            panels = place[1].setdefault(keys[row["image_cluster_id"]] or row["image_cluster_id"], set())
            panels.update([normalised_identifier(row["identifier"])] if row["identifier"] is not None else [])
    seen: set[str] = set()
    for sentence, found in sentences.values():
        compared = letters(sentence)
        own = [label for label in labels if letters(label.quote) in compared]
        seen.update(label.quote for label in own)
        _count_sentence(own, found, sentence[:90], counts)
    for label in labels:
        if label.quote not in seen:
            _count_sentence([label], {}, label.quote, counts)


def _count_sentence(labels: Sequence[Label], found: Mapping[str, set[str]], where: str, counts: Counts) -> None:
    truth: dict[str, set[str]] = {}
    for label in labels:
        for figure, panels in label.figures.items():
            truth.setdefault(figure, set()).update(normalised_identifier(panel) for panel in panels)
    counts.add("figures", set(truth), set(found), where)
    counts.add("panels", set(_pairs(truth)), set(_pairs(found)), where)


def _pairs(named: Mapping[str, Iterable[str]]) -> Iterator[str]:
    return (f"{figure}{panel}" for figure, panels in named.items() for panel in panels)


def labelled_articles(half: str, *, with_xml: bool) -> dict[str, list[Label]]:
    """Return the labels of a half by article; of the PDF's sentences without the XML."""
    articles: dict[str, list[Label]] = {}
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        if item["half"] == half and not (with_xml and item.get("only") == "pdf"):
            articles.setdefault(item["article"], []).append(Label(item["quote"], item["figures"]))
    return articles


def typeset_scores(count_of_articles: int, *, with_xml: bool) -> tuple[Counts, Counter[str], Seconds]:
    """Return the counts on random typeset articles, the outcomes of sentences that carry on, and CPU seconds."""
    counts, follows, seconds = Counts(), Counter[str](), Seconds()
    for seed in range(FIRST_SEED, FIRST_SEED + count_of_articles):
        article = typeset(replace(random_spec(seed), reference_sentences=6))
        labels = {
            item.sentence: Label(item.sentence, {str(one.figure): one.identifiers for one in item.named})
            for item in article.references
            if item.named is not None
        }
        with tempfile.TemporaryDirectory() as target:
            folder = Path(target) / article.name
            write_package(folder, article)
            rows, keys = mention_rows(folder, seconds, with_xml=with_xml)
        known = len(counts.errors)
        count([*labels.values()], rows, keys, counts)
        counts.errors[known:] = [f"seed {seed}: {error}" for error in counts.errors[known:]]
        carried = {letters(item.sentence) for item in article.references if item.named is None}
        places = {
            (row["paragraph"], row["start"]): letters(row["sentence"]) for row in rows if row["kind"] == "follows"
        }
        follows["right"] += sum(sentence in carried for sentence in places.values())
        follows["wrong"] += sum(sentence not in carried for sentence in places.values())
    return counts, follows, seconds


def main() -> None:
    """Print the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--half", choices=["develop", "report"], default="develop")
    parser.add_argument("--hide-xml", action="store_true", help="work as if no package had an XML")
    parser.add_argument("--errors", action="store_true", help="name every error")
    parser.add_argument("--samples", type=int, metavar="N", help="score N typeset articles instead")
    arguments = parser.parse_args()
    if arguments.samples:
        counts, follows, seconds = typeset_scores(arguments.samples, with_xml=not arguments.hide_xml)
        print(f"{seconds.line('typeset articles')}; sentences that carry on: {dict(follows)}")
        print("\n".join(map(counts.line, ("figures", "panels"))))
        if arguments.errors:
            print("\n".join(counts.errors))
        return
    counts, seconds = Counts(), Seconds()
    articles = labelled_articles(arguments.half, with_xml=not arguments.hide_xml)
    for name, labels in articles.items():
        rows, keys = mention_rows(arguments.shared / "corpus" / name, seconds, with_xml=not arguments.hide_xml)
        known = len(counts.errors)
        count(labels, rows, keys, counts)
        counts.errors[known:] = [f"{name}: {error}" for error in counts.errors[known:]]
        print(f"\r{name:40s}", end="", file=sys.stderr, flush=True)
    print(f"\r{seconds.line('articles')}{'':30s}")
    print("\n".join(map(counts.line, ("figures", "panels"))))
    if arguments.errors:
        print("\n".join(counts.errors))


if __name__ == "__main__":
    main()
