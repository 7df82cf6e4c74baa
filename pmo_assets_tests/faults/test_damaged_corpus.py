"""Sixty articles, half of them damaged in identity or rights: nothing wrong is released, and all of it has a reason.

The same articles are processed undamaged. What is released of the damaged ones must be what is released there: the same
picture and the same text under the same panel, under no freer licence than is stated.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from pmo_assets.pipeline.articles.licences import freedoms
from pmo_assets.samples import write_sample_articles

pytestmark = pytest.mark.faults

ARTICLES, DAMAGED = 60, 30


@dataclass(frozen=True)
class Expected:
    """What must come of a damaged article.

    Attributes:
        reasons: error classes of which one must stand in its rejections; empty when nothing is rejected for it.
        freest: the freest licence code under which anything of it may be shown; None: nothing may be shown.
        out: no row of it is in the release.
    """

    reasons: frozenset[str]
    freest: str | None
    out: bool = False


def _xml(folder: Path, change: Callable[[str], str]) -> None:
    path = folder / "article.xml"
    before = path.read_text(encoding="utf-8")
    after = change(before)
    assert after != before, "the damage is done"
    path.write_text(after, encoding="utf-8")


def _metadata(folder: Path, **stated: object) -> None:
    path = folder / "metadata.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **stated}))


def another_pdf(folder: Path, other: Path) -> Expected:
    shutil.copyfile(other / "article.pdf", folder / "article.pdf")
    return Expected(frozenset({"PdfOfAnotherArticle"}), None, out=True)


def another_xml(folder: Path, other: Path) -> Expected:
    shutil.copyfile(other / "article.xml", folder / "article.xml")
    return Expected(frozenset({"PdfOfAnotherArticle", "MetadataOfAnotherArticle"}), None, out=True)


def metadata_of_another(folder: Path, other: Path) -> Expected:
    stated = json.loads((other / "metadata.json").read_text())
    _metadata(folder, doi=stated["doi"], title=stated["title"])
    return Expected(frozenset({"MetadataOfAnotherArticle"}), None, out=True)


def several_pdfs(folder: Path, other: Path) -> Expected:
    (folder / "article.pdf").rename(folder / "b.pdf")
    shutil.copyfile(other / "article.pdf", folder / "a.pdf")
    shutil.copyfile(other / "article.pdf", folder / "c.pdf")
    return Expected(frozenset({"UnclearDocuments"}), None, out=True)


def no_derivatives_in_words(folder: Path, other: Path) -> Expected:
    _metadata(folder, license_code="CC BY 4.0, with no derivatives")
    return Expected(frozenset(), "CC BY-ND")


def negated(folder: Path, other: Path) -> Expected:
    _metadata(folder, license_code=None)
    _xml(folder, lambda text: re.sub(r"<license .*?</license>", "<license><license-p>This article is not published "
         "under a Creative Commons Attribution License.</license-p></license>", text, flags=re.S))  # fmt: skip
    return Expected(frozenset(), None)


def narrower_xml(folder: Path, other: Path) -> Expected:
    _xml(folder, lambda text: re.sub(r"licenses/by[a-z-]*/|publicdomain/zero/", "licenses/by-nc-nd/", text))
    return Expected(frozenset(), "CC BY-NC-ND")


def all_rights_reserved(folder: Path, other: Path) -> Expected:
    _metadata(folder, license_code="CC BY (all rights reserved by the publisher for the figures)")
    return Expected(frozenset(), None)


def broken_metadata(folder: Path, other: Path) -> Expected:
    (folder / "metadata.json").write_text('{"license_code": "CC BY", "is_retracted": ')
    return Expected(frozenset({"UnreadableMetadata"}), None)


def retracted(folder: Path, other: Path) -> Expected:
    _metadata(folder, is_retracted=True)
    return Expected(frozenset(), None, out=True)


KINDS = (
    another_pdf, another_xml, metadata_of_another, several_pdfs, no_derivatives_in_words, negated, narrower_xml,
    all_rights_reserved, broken_metadata, retracted,
)  # fmt: skip


def pmo(root: Path, *arguments: str) -> str:
    told = subprocess.run(
        [sys.executable, "-m", "pmo_assets.cli", *arguments],
        env={**os.environ, "PMO_DATA_ROOT": str(root), "COLUMNS": "300"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr[-3000:]
    return told.stdout + told.stderr


def released(root: Path, config: str) -> pl.DataFrame:
    return pl.read_parquet(root / "release" / "hub" / "data" / config / "*.parquet")


@dataclass(frozen=True)
class Experiment:
    """Both runs: data roots, and what is expected of each damaged article by number."""

    sound: Path
    damaged: Path
    expected: Mapping[int, Expected]
    kinds: Mapping[int, str]
    said: str


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    place = tmp_path_factory.mktemp("trust")
    write_sample_articles(place / "all", copies=6)
    usable = sorted(path for path in (place / "all" / "articles").iterdir() if _is_whole(path))[:ARTICLES]
    assert len(usable) == ARTICLES
    for name in ("sound", "damaged"):
        for folder in usable:
            shutil.copytree(folder, place / f"{name}_articles" / folder.name)
    expected, kinds = {}, {}
    for number in range(DAMAGED):
        folder = place / "damaged_articles" / usable[2 * number].name
        kind = KINDS[number % len(KINDS)]
        other = usable[(2 * number + 7) % ARTICLES]
        stated = json.loads((folder / "metadata.json").read_text())["license_code"]
        outcome = kind(folder, other)
        article = int(folder.name.removeprefix("PMC"))
        kinds[article] = kind.__name__
        freest = outcome.freest if outcome.freest is None or stated not in (None, "") else None
        expected[article] = Expected(outcome.reasons, freest, outcome.out)
    said = ""
    for name in ("sound", "damaged"):
        pmo(place / name, "batches", "add", "--source", str(place / f"{name}_articles"))
        said = pmo(place / name, "run")
    return Experiment(place / "sound", place / "damaged", expected, kinds, said)


def _is_whole(folder: Path) -> bool:
    return all((folder / name).is_file() for name in ("article.pdf", "article.xml", "metadata.json"))


def test_every_released_panel_is_that_of_the_sound_articles(experiment: Experiment) -> None:
    what = ["panel_id", "picture_sha256", "subcaption_text"]
    sound = {row[0]: row[1:] for row in released(experiment.sound, "panels").select(what).iter_rows()}
    wrong = [
        row[0]
        for row in released(experiment.damaged, "panels").select(what).iter_rows()
        if row[0] not in sound or row[1] != sound[row[0]][0] or row[2] not in (None, sound[row[0]][1])
    ]
    assert wrong == []


def test_no_licence_is_freer_than_what_is_stated(experiment: Experiment) -> None:
    for config in ("panels", "figures"):
        picture = {"panels": "panel_image", "figures": "figure_image"}[config]
        rows = released(experiment.damaged, config)
        for row in rows.select("article_id", "license", shown=pl.col(picture).is_not_null()).iter_rows(named=True):
            expected = experiment.expected.get(row["article_id"])
            if expected is None:
                continue
            kind = experiment.kinds[row["article_id"]]
            assert freedoms(row["license"]) <= freedoms(expected.freest), (kind, row)
            assert not row["shown"] or (expected.freest is not None and "ND" not in expected.freest), (kind, row)


def test_what_is_not_the_articles_is_out(experiment: Experiment) -> None:
    there = set(released(experiment.damaged, "articles")["article_id"])
    out = {number for number, expected in experiment.expected.items() if expected.out}
    assert not there & out, {experiment.kinds[number] for number in there & out}


def test_every_sound_article_is_released_as_before(experiment: Experiment) -> None:
    before, after = (released(root, "panels") for root in (experiment.sound, experiment.damaged))
    sound = ~pl.col("article_id").is_in(list(experiment.expected))
    what = ["panel_id", "picture_sha256", "subcaption_text", "license"]
    assert after.filter(sound).select(what).sort("panel_id").equals(before.filter(sound).select(what).sort("panel_id"))


def test_every_damaged_article_has_its_reason(experiment: Experiment) -> None:
    rejected: dict[int, set[str]] = {}
    packages: dict[str, set[str]] = {}
    for path in (experiment.damaged / "rejections").rglob("*.parquet"):
        for row in pl.read_parquet(path).iter_rows(named=True):
            rejected.setdefault(row["article_id"], set()).add(row["error_class"])
            packages.setdefault(row["package"] or "", set()).add(row["error_class"])
    for number, expected in experiment.expected.items():
        found = rejected.get(number, set()) | packages.get(f"PMC{number}", set())
        assert not expected.reasons or found & expected.reasons, (experiment.kinds[number], found)


def test_every_article_figure_and_panel_is_accounted_for(experiment: Experiment) -> None:
    statistics = json.loads((experiment.damaged / "release" / "hub" / "statistics.json").read_text())
    assert [way["unit"] for way in statistics["waterfalls"]] == ["articles", "figures", "panels"]
    for way in statistics["waterfalls"]:
        lost = {item["step"]: item["count"] for item in way["losses"]}
        assert lost["not accounted for"] == 0, way
        assert way["came_in"] == sum(lost.values()) + way["in_the_release"]
    registered = sum(pl.read_parquet(path).height for path in (experiment.damaged / "manifests").glob("*.parquet"))
    not_registered = Counter(experiment.kinds.values())["several_pdfs"]
    assert registered + not_registered == ARTICLES
