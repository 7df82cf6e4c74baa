"""How well rows of BIOMEDICA are matched to package figures: precision and recall on a set with exact truth.

    python benchmarks/biomedica_match.py [--copies 4] [--seeds 3] [--shared ../shared]

The set (`pmo_assets_tests/sources/biomedica_set.py`) is made of the sample articles, in part with captions that differ
in a word only, and of the real articles with pictures where there are any. It is written as a webdataset tar, as
Parquet with pictures and as Parquet without, read back as a dataset would be, and matched. Two joins that do less are
scored beside it: the one on article and name of the picture, and the one on the nearest caption.

Without pictures a figure whose own row lacks a caption, or has another's name or caption, cannot be told: then the
right answer is none, which counts against recall all the same.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from pmo_assets.pipeline.articles.biomedica import match_biomedica
from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.figures.matching import caption_distance
from pmo_assets.records.biomedica import BiomedicaFigure
from pmo_assets.samples import sample_articles
from pmo_assets.sources.biomedica import open_biomedica, read_shard
from pmo_assets_tests.sources.biomedica_set import (
    Score,
    SetArticle,
    SetRow,
    alike_captions,
    biomedica_set,
    scored,
    set_article,
    write_parquet,
    write_tar,
)

Matches = dict[tuple[int, str], int]
"""(article, figure) to the place of its row in the set."""


def samples(copies: int) -> list[SetArticle]:
    """Return sample articles; every third with captions that are alike."""
    found = [article for article in map(set_article, sample_articles(copies=copies)) if article is not None]
    return [article if place % 3 else alike_captions(article) for place, article in enumerate(found)]


def corpus(folder: Path) -> list[SetArticle]:
    """Return the real articles that have an XML and pictures, numbered from one."""
    found = []
    for number, home in enumerate(sorted(folder.iterdir()), start=1):
        if not (home / "figures").is_dir() or not (home / "article.xml").exists():
            continue
        files = {path.stem: path for path in (home / "figures").glob("*.jp*g")}
        figures = parse_jats((home / "article.xml").read_bytes()).figures
        pictures = {
            figure.image_cluster_id: files[PurePosixPath(figure.image_cluster_id).name].read_bytes()
            for figure in figures
            if PurePosixPath(figure.image_cluster_id).name in files
        }
        if pictures:
            found.append(SetArticle(number, figures, pictures))
    return found


def matched(articles: Sequence[SetArticle], rows: Mapping[int, Sequence[BiomedicaFigure]]) -> Matches:
    """Match as the asset does."""
    found: Matches = {}
    for article in articles:
        for match in match_biomedica(article.figures, article.pictures, rows.get(article.article_id, ())):
            if match.row is not None:
                found[article.article_id, match.image_cluster_id] = int(match.row.row_id.rpartition("#")[2])
    return found


def by_name(articles: Sequence[SetArticle], rows: Mapping[int, Sequence[BiomedicaFigure]]) -> Matches:
    """Join on article and name."""
    return {
        (article.article_id, figure.image_cluster_id): int(row.row_id.rpartition("#")[2])
        for article in articles
        for figure in article.figures
        for row in rows.get(article.article_id, ())
        if row.image_cluster_id == figure.image_cluster_id
    }


def by_caption(articles: Sequence[SetArticle], rows: Mapping[int, Sequence[BiomedicaFigure]]) -> Matches:
    """Join on article and nearest caption."""
    found: Matches = {}
    for article in articles:
        for figure in article.figures:
            ranked = sorted(
                (caption_distance(figure.caption, row.caption) or 0.0, row.row_id)
                for row in rows.get(article.article_id, ())
            )
            if ranked and ranked[0][0] <= 0.2:
                found[article.article_id, figure.image_cluster_id] = int(ranked[0][1].rpartition("#")[2])
    return found


def read(path: Path, articles: Sequence[SetArticle]) -> dict[int, list[BiomedicaFigure]]:
    """Return the rows of a file by article."""
    wanted = {article.article_id for article in articles}
    rows: dict[int, list[BiomedicaFigure]] = defaultdict(list)
    for shard in open_biomedica(str(path)).shards():
        for item in read_shard(shard, wanted):
            if isinstance(item, BiomedicaFigure):
                rows[item.article_id].append(item)
    return rows


WITHOUT = "Parquet without pictures"

FORMATS: Mapping[str, Callable[[Path, Sequence[SetRow]], Path]] = {
    "webdataset tar": lambda folder, rows: write_tar(folder / "set.tar", rows),
    "Parquet with pictures": lambda folder, rows: write_parquet(folder / "with.parquet", rows),
    WITHOUT: lambda folder, rows: write_parquet(folder / "without.parquet", rows, pictures=False),
}

JOINS = {"two of four": matched, "by name": by_name, "by caption": by_caption}


def measured(articles: Sequence[SetArticle], seeds: int) -> dict[tuple[str, str], list[Score]]:
    """Return the scores per format and join, one per seed."""
    scores: dict[tuple[str, str], list[Score]] = defaultdict(list)
    for seed in range(seeds):
        for form, write in FORMATS.items():
            rows = biomedica_set(articles, seed, pictures=form != WITHOUT)
            with tempfile.TemporaryDirectory() as folder:
                found = read(write(Path(folder), rows), articles)
            for join, match in JOINS.items():
                scores[form, join].append(scored(rows, match(articles, found)))
    return scores


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=4, help="of the sample articles")
    parser.add_argument("--seeds", type=int, default=3, help="sets of the same articles")
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    arguments = parser.parse_args()
    sets = {"sample articles": samples(arguments.copies)}
    if (arguments.shared / "corpus").is_dir():
        sets["real articles"] = corpus(arguments.shared / "corpus")
    for name, articles in sets.items():
        figures = sum(len(article.pictures) for article in articles)
        kinds = Counter(row.kind for row in biomedica_set(articles))
        print(f"{name}: {len(articles)} articles, {figures} figures, {kinds.total()} rows; of the first set:")
        print("  " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
        for (form, join), scores in measured(articles, arguments.seeds).items():
            right, all_, expected = (
                sum(values) for values in zip(*((s.right, s.matched, s.expected) for s in scores), strict=True)
            )
            wrong = sum((score.wrong for score in scores), Counter[str]())
            missed = sum((score.missed for score in scores), Counter[str]())
            print(f"  {form:24} {join:12} precision {right / all_:.3f}  recall {right / expected:.3f}  ({expected})")
            if join == "two of four" and (wrong or missed):
                print(f"    wrong: {dict(wrong)}; missed: {dict(missed)}")


if __name__ == "__main__":
    main()
