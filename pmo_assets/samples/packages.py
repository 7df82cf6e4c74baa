"""Sample articles written to disk, a folder each."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pmo_assets.samples.samples import sample_specs
from pmo_assets.samples.spec import Expected, TypesetArticle
from pmo_assets.samples.typesetter import typeset


@dataclass(frozen=True, slots=True)
class WrittenSample:
    """One article on disk.

    Attributes:
        name: "PMC9000000001".
        article_id: the number without "PMC".
        folder: its files.
        truth: the annotation file; None if the PDF is not readable.
        expected: facts that a correct pipeline finds out.
    """

    name: str
    article_id: int
    folder: Path
    truth: Path | None
    expected: Expected


def sample_articles(
    seed: int = 0, copies: int = 1, features: Collection[str] | None = None
) -> Iterator[TypesetArticle]:
    """Typeset the standard set `copies` times, each time with another seed and with the following numbers.

    With `features`, only the articles that show at least one of them are made; they keep their numbers.
    """
    for copy in range(copies):
        specs = sample_specs(seed + copy)
        for spec in specs:
            if features is not None and not set(features) & set(spec.features):
                continue
            yield typeset(replace(spec, number=spec.number + copy * len(specs)))


def _json_bytes(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def write_package(home: Path, article: TypesetArticle) -> None:
    """Write those files that an article has: `article.pdf`, `article.xml`, `metadata.json`, `figures/*.jpg`.

    Args:
        home: the package's folder, is made if missing; files of the same names are overwritten.
        article: the article.
    """
    home.mkdir(parents=True, exist_ok=True)
    if article.pdf is not None:
        (home / "article.pdf").write_bytes(article.pdf)
    if article.xml is not None:
        (home / "article.xml").write_bytes(article.xml)
    (home / "metadata.json").write_bytes(_json_bytes(article.metadata))
    if article.figures:
        (home / "figures").mkdir(exist_ok=True)
    for name, jpeg in article.figures.items():
        (home / "figures" / name).write_bytes(jpeg)


def write_sample_articles(
    folder: Path, *, seed: int = 0, copies: int = 1, features: Collection[str] | None = None
) -> list[WrittenSample]:
    """Write the standard set.

    Files: `<folder>/articles/<name>/{article.pdf,article.xml,metadata.json,figures/*.jpg}` and, for articles with a
    readable PDF, `<folder>/truth/<name>.json` in the format of the annotation guide.

    Args:
        folder: is made if missing; files of the same names are overwritten.
        seed: of pictures and running text.
        copies: number of times that the set is repeated, with other seeds and other article numbers.
        features: write only articles that show at least one of these; None writes all.
    """
    written = []
    truth_folder = folder / "truth"
    truth_folder.mkdir(parents=True, exist_ok=True)
    for article in sample_articles(seed, copies, features):
        home = folder / "articles" / article.name
        write_package(home, article)
        truth = None
        if article.expected.pdf_readable:
            truth = truth_folder / f"{article.name}.json"
            truth.write_bytes(_json_bytes(article.truth))
        written.append(WrittenSample(article.name, article.article_id, home, truth, article.expected))
    return written
