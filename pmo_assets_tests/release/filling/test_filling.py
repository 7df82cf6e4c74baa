"""What a release withholds, restored from copies of the articles: the bytes of a release that withholds nothing."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import subprocess
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

import pmo_assets.release.filling.restoring as restoring
from pmo_assets.cli.console import CommandError
from pmo_assets.cli.release.fill_null import _as_released, _beside, _figure_pictures
from pmo_assets.pipeline.article import process_article
from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.assembly.steps import crop_article_panels, review_article
from pmo_assets.pipeline.context.steps import (
    decide_article_modalities,
    find_article_entities,
    mention_article_panels,
    summarise_article_panels,
)
from pmo_assets.pipeline.dataset.steps import make_dataset_rows
from pmo_assets.pipeline.figures.extraction import FigureOptions
from pmo_assets.records.step_output import StepOutput
from pmo_assets.records.stores import StorageError
from pmo_assets.release.filling.copies import ArticleCopies, ArticleFiles, DataRootCopies, FolderCopies, PmcCopies
from pmo_assets.release.filling.fill import Filled, _alone, fill_null, finish_exchange
from pmo_assets.release.filling.folder import NOTICE
from pmo_assets.release.filling.restoring import (
    Kept,
    Restored,
    WantedArticle,
    WantedFigure,
    WantedPanel,
    restore_article,
)
from pmo_assets.release.hub.checking import checked_folder, is_filled_folder
from pmo_assets.release.hub.features import feature_metadata
from pmo_assets.release.hub.sums import check_sums, sums_text
from pmo_assets.release.selection import Selection
from pmo_assets.release.writing import ReleaseOptions, write_tables
from pmo_assets.samples import sample_specs, typeset
from pmo_assets.samples.packages import write_package
from pmo_assets.settings import Settings
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.package_folders import list_package
from pmo_assets.sources.pmc_bucket import PmcOptions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.release import ArticleSplits, PanelDuplicates, joined_columns, joined_names
from pmo_assets.tables.schemas import empty_table
from pmo_assets.workers.pool import WorkerPool
from pmo_assets_tests.cli.command_line import command, environment, files_below
from pmo_assets_tests.loopback import LoopbackPmc, articles_from_folder

pytestmark = pytest.mark.slow  # whole runs

BATCHES = ("batch-0001", "batch-0002")

ASKED = ("cues", "instructions", "verdicts")
"""Tables that the hub's instructions are made of."""

NOT_FILLED = ("pairs", "instructions")
"""Configs in which what is withheld has no row."""


@dataclass(frozen=True)
class World:
    """Articles, a data root that processed them, and its release, nulled and not.

    Attributes:
        articles: folder of the packages; the names of the two that are withheld are in `withheld`.
        data: the data root.
        nulled, whole: folders of a release: `pubmed_ophtha.parquet` and `hub/`.
    """

    articles: Path
    data: DataRoot
    nulled: Path
    whole: Path
    withheld: tuple[str, ...]

    @property
    def listed(self) -> Path:
        return self.nulled / "hub" / "withheld.parquet"


def _specs() -> list[Any]:
    """Two articles whose rows are withheld, one of them without XML, and two whose rows are not."""
    specs = {feature: spec for spec in sample_specs(0) for feature in spec.features}
    chosen = [specs["positional_identifiers"], specs["single_panel"], specs["caption_beside"]]
    return [
        chosen[0],
        replace(chosen[1], license_code="CC BY-NC-ND", damage="no_xml"),
        replace(chosen[2], figures=chosen[2].figures[1:]),
    ]


def _release(tables: Tables, home: Path, numbers: dict[str, list[int]], options: ReleaseOptions) -> None:
    """Write a release's tables; in row groups so small that some hold rows of two articles, or a part of one's."""
    articles = sorted(number for own in numbers.values() for number in own)
    splits = [
        {"article_id": number, "split": split, "own_split": split}
        for number, split in zip(articles, ("train", "train", "test"), strict=True)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pmo_assets.release.shards.GROUP_ROWS", 3)
        write_tables(
            DataRoot(str(home)),
            tables,
            Selection(numbers),
            splits=ArticleSplits.cast(pl.DataFrame(splits)),
            groups=empty_table(PanelDuplicates),
            options=options,
            prefix="",
            metadata=feature_metadata,
            say=lambda _: None,
        )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    home = tmp_path_factory.mktemp("filling")
    names = []
    for spec in _specs():
        article = typeset(spec)
        names.append(article.name)
        write_package(home / "articles" / article.name, article)
    data = DataRoot(str(home / "data"))
    tables = Tables(data)
    numbers: dict[str, list[int]] = {}
    for batch, own in zip(BATCHES, (names[:2], names[2:]), strict=True):
        numbers[batch] = _process(tables, batch, home / "articles", own)
    for name, withhold in (("nulled", True), ("whole", False)):
        _release(tables, home / name, numbers, ReleaseOptions(withhold=withhold))
        hub = home / name / "hub"
        (hub / "README.md").write_text("---\nlicense: other\n---\n\n# Panels\n")
        paths = [path.relative_to(hub).as_posix() for path in sorted(hub.rglob("*.parquet"))]
        listed: list[dict[str, Any]] = [
            {"path": f"hub/{path}", "sha256": _sha256(hub / path), "size": (hub / path).stat().st_size}
            for path in paths
        ]
        (hub / "manifest.json").write_text(json.dumps({"version": "1.0.0", "files": listed}))
        entries = [
            {"contentUrl": path, "sha256": item["sha256"], "contentSize": f"{item['size']} B"}
            for path, item in zip(paths, listed, strict=True)
        ]
        (hub / "croissant.json").write_text(json.dumps({"distribution": [*entries, {"includes": "data/*"}]}))
        (hub / "SHA256SUMS").write_text(sums_text(files_below(hub)))
    return World(home / "articles", data, home / "nulled", home / "whole", tuple(names[:2]))


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _process(tables: Tables, batch: str, folder: Path, names: list[str]) -> list[int]:
    """Take packages through the pipeline and write the tables and pictures that a release is made of."""
    made: dict[str, list[Any]] = {name: [] for name in ("article_packages", "articles", "figures", "dataset_rows")}
    made |= {name: [] for name in (*joined_names(), *ASKED)}
    objects = ContentStore(tables.data_root)
    figure_pixels, panel_pixels = (ParquetPixels(tables.data_root, name, batch) for name in ("figures", "panels"))
    specialty = load_specialty("everything")
    for name in names:
        listing = list_package(folder / name, folder)
        assert listing is not None
        (package,) = fetch_package(asdict(listing), LocalFolder(folder), objects, FetchLimits()).rows
        result = process_article(package, objects, specialty=specialty, pixels=figure_pixels)
        number = result.article["article_id"]
        assembled = [row for rows in result.assembled.values() for row in rows]
        reviewed = review_article(result.figures, assembled, [], [], [], figure_pixels).rows
        panels = crop_article_panels(number, result.figures, reviewed, figure_pixels, panel_pixels).rows
        rows = make_dataset_rows(result.article, result.figures, panels, reviewed, specialty, 0.0).rows
        assert rows, f"{name} has no rows"
        made["article_packages"].append(package)
        made["articles"].append(result.article)
        made["figures"] += result.figures
        made["dataset_rows"] += rows
        mentions = mention_article_panels(result.article, result.figures, reviewed, result.tables["subcaptions"]).rows
        summaries = summarise_article_panels(result.article, result.figures, reviewed, mentions).rows
        made["panel_summaries"] += summaries
        made["panel_entities"] += find_article_entities(result.figures, reviewed, summaries).rows
        made["panel_modality"] += decide_article_modalities(result.figures, reviewed, mentions).rows
        for table in ASKED:
            made[table] += result.tables[table]
    for name, rows in made.items():
        tables.write(name, batch, rows)
    return sorted(row["article_id"] for row in made["articles"])


def _fill(world: World, source: Path, target: Path, copies: ArticleCopies | None = None, **options: Any) -> Filled:
    with WorkerPool(workers=0, timeout=600, memory_mb=0) as pool:
        return fill_null(
            source,
            target,
            world.listed,
            copies=copies or DataRootCopies(world.data),
            pool=pool,
            **{"figure_options": FigureOptions(), **options},
        )


def shards_filled(hub: Path) -> dict[str, str]:
    """Return the digests of a folder's shards but of `NOT_FILLED`: there, rows of what is withheld are not made."""
    found = files_below(hub / "data")
    return {name: digest for name, digest in found.items() if name.split("/")[0] not in NOT_FILLED}


def test_filled_file_and_folder_have_the_bytes_of_an_unnulled_release(world: World, tmp_path: Path) -> None:
    published, whole = (place / "pubmed_ophtha.parquet" for place in (world.nulled, world.whole))
    nulls = pl.read_parquet(published)["panel_image_bytes"].null_count()
    assert 0 < nulls < pl.read_parquet(published).height
    assert pq.read_metadata(published).num_row_groups > 2
    assert pl.read_parquet(whole)["panel_image_bytes"].null_count() == 0

    filled = _fill(world, published, tmp_path / "filled.parquet")
    assert (filled.restored, filled.rows, filled.articles, filled.reasons) == (nulls, nulls, 2, [])
    assert (tmp_path / "filled.parquet").read_bytes() == whole.read_bytes()

    _fill(world, world.nulled / "hub", tmp_path / "hub")
    shards = shards_filled(tmp_path / "hub")
    assert shards == shards_filled(world.whole / "hub")
    assert shards != shards_filled(world.nulled / "hub")
    for config in NOT_FILLED:
        own, published_rows = (place / "hub" / "data" / config for place in (tmp_path, world.nulled))
        assert files_below(own) == files_below(published_rows)
    hidden = pl.read_parquet(world.nulled / "hub" / "data" / "panels").filter(pl.col("panel_image").is_null())
    shown = pl.read_parquet(tmp_path / "hub" / "data" / "panels").join(hidden, on="panel_id", how="semi")
    for name in ("mentions", "summary", "abbreviations", "entities"):
        assert hidden[name].null_count() == hidden.height
        assert len([value for value in shown[name].to_list() if value]) > 1, "panels that have some"
    sources = {mention["source"] for mentions in shown["mentions"].drop_nulls() for mention in mentions}
    assert sources >= {"xref", "pdf"}, "of an article with its XML, and of one without"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_damage_of_a_folder_is_not_hidden_by_sums_of_its_own(world: World, tmp_path: Path, damage: str) -> None:
    shutil.copytree(world.nulled / "hub", tmp_path / "hub")
    shard = next((tmp_path / "hub" / "data" / "panels").glob("*.parquet"))
    if damage == "missing":
        shard.unlink()
    else:
        content = bytearray(shard.read_bytes())
        content[len(content) // 2] ^= 1
        shard.write_bytes(content)
    with pytest.raises(StorageError, match=f"{shard.name} is {damage}"):
        _fill(world, tmp_path / "hub", tmp_path / "filled")
    assert not (tmp_path / "filled").exists()


def test_a_shard_gets_no_twin_in_the_folder_of_a_release(world: World) -> None:
    shard = next((world.nulled / "hub" / "data" / "panels").glob("*.parquet"))
    with pytest.raises(CommandError, match="--out"):
        _beside(shard)


def test_filled_folder_says_what_it_is(world: World, tmp_path: Path) -> None:
    _fill(world, world.nulled / "hub", tmp_path / "hub")
    assert check_sums(tmp_path / "hub") == []
    assert is_filled_folder(tmp_path / "hub")
    assert not is_filled_folder(world.nulled / "hub")
    with pytest.raises(StorageError, match="may not be published"):
        checked_folder(tmp_path / "hub")
    card = (tmp_path / "hub" / "README.md").read_text()
    assert card.startswith("---\nlicense: other\n---\n\n> **Not for redistribution.**")
    assert NOTICE in card
    assert card.endswith("# Panels\n")
    sums = files_below(tmp_path / "hub")
    manifest = json.loads((tmp_path / "hub" / "manifest.json").read_text())
    assert {item["path"].removeprefix("hub/"): item["sha256"] for item in manifest["files"]}.items() <= sums.items()
    assert manifest["filled"]["left"] == 0
    assert "left_texts" not in manifest["filled"]
    croissant = json.loads((tmp_path / "hub" / "croissant.json").read_text())["distribution"]
    assert {item["contentUrl"]: item["sha256"] for item in croissant[:-1]}.items() <= sums.items()

    _fill(world, world.nulled / "hub", tmp_path / "hub")  # a filled folder may be made again
    assert files_below(tmp_path / "hub") == sums
    with pytest.raises(StorageError, match="no filled release"):
        _fill(world, world.nulled / "hub", world.nulled)


@pytest.mark.parametrize("config", ["panels", "figures"])
def test_one_shard_in_place_from_a_folder_of_packages(world: World, tmp_path: Path, config: str) -> None:
    shard = f"hub/data/{config}/train-00000.parquet"
    place = shutil.copy(world.nulled / shard, tmp_path)
    filled = _fill(world, Path(place), Path(place), FolderCopies(world.articles, FetchLimits()))
    assert filled.restored == filled.rows > 0
    assert Path(place).read_bytes() == (world.whole / shard).read_bytes()


def test_from_pmc(world: World, tmp_path: Path) -> None:
    with LoopbackPmc(articles_from_folder(world.articles)) as pmc:
        copies = PmcCopies(PmcOptions(endpoint=pmc.endpoint, bucket=pmc.bucket, pause=0.01), FetchLimits())
        filled = _fill(world, world.nulled / "pubmed_ophtha.parquet", tmp_path / "filled.parquet", copies)
    assert filled.reasons == []
    assert (tmp_path / "filled.parquet").read_bytes() == (world.whole / "pubmed_ophtha.parquet").read_bytes()


@pytest.mark.parametrize(("split", "known"), [("train", None), ("test", False)])
def test_a_release_without_pictures_of_figures_gets_none(
    world: World, tmp_path: Path, split: str, known: bool | None
) -> None:
    """The other rows of a shard tell it; where all are withheld, as in the test split here, the manifest does."""
    tables = Tables(world.data)
    numbers = {batch: sorted(tables.read("articles", batch)["article_id"]) for batch in BATCHES}
    for name, withhold in (("nulled", True), ("whole", False)):
        _release(tables, tmp_path / name, numbers, ReleaseOptions(figure_pictures=False, withhold=withhold))
    shard = Path("hub") / "data" / "figures" / f"{split}-00000.parquet"
    filled = _fill(world, tmp_path / "nulled" / shard, tmp_path / "filled.parquet", figure_pictures=known)
    assert filled.restored > 0
    assert (tmp_path / "filled.parquet").read_bytes() == (tmp_path / "whole" / shard).read_bytes()


def test_what_cannot_be_restored_stays_null_and_the_next_run_restores_it(world: World, tmp_path: Path) -> None:
    """Another PDF, a missing article: each is named, and articles that were restored are not restored again."""
    first, second = world.withheld
    copies = tmp_path / "copies"
    shutil.copytree(world.articles / first, copies / first)
    with (copies / first / "article.pdf").open("ab") as stream:
        stream.write(b"\n% another file\n")
    source, target = world.nulled / "pubmed_ophtha.parquet", tmp_path / "filled.parquet"
    folder = FolderCopies(copies, FetchLimits())

    none = _fill(world, source, target, folder)
    assert none.restored == 0
    assert len(none.reasons) == 2
    assert any(f"{first}: its PDF here is another file (SHA-256 " in reason for reason in none.reasons)
    assert any(f"{second} is not in {copies}" in reason for reason in none.reasons)
    assert target.read_bytes() == source.read_bytes()  # rewritten as it was

    shutil.copytree(world.articles / second, copies / second)
    some = _fill(world, source, target, folder)
    assert 0 < some.restored < some.rows
    null = pl.read_parquet(target).filter(pl.col("subcaption_text").is_null())
    assert null["article_id"].n_unique() == 1
    assert null["panel_image_bytes"].null_count() == null["in_text_mention"].null_count() == null.height

    shutil.copy(world.articles / first / "article.pdf", copies / first)
    whole = _fill(world, source, target, folder)
    assert (whole.reused, whole.restored) == (1, whole.rows)
    assert target.read_bytes() == (world.whole / "pubmed_ophtha.parquet").read_bytes()
    assert not (tmp_path / ".filled.parquet.filling").exists()


def test_a_partly_filled_file_can_be_filled_further(world: World, tmp_path: Path) -> None:
    first, second = world.withheld
    place = tmp_path / "pubmed_ophtha.parquet"
    shutil.copy(world.nulled / "pubmed_ophtha.parquet", place)
    for number, name in enumerate((second, first)):
        copies = FolderCopies(world.articles / name, FetchLimits())  # the folder of one package
        filled = _fill(world, place, place, copies)
        assert (filled.restored < filled.rows) is (number == 0)
    assert place.read_bytes() == (world.whole / "pubmed_ophtha.parquet").read_bytes()


def test_values_are_verified_one_by_one(world: World, tmp_path: Path) -> None:
    """A release that withholds something else: the row is not filled with what is not it."""
    listed = pl.read_parquet(world.listed)
    victim = listed["panel_id"][0]
    for column, word in (
        ("panel_image_sha256", "picture made here is not"),
        ("subcaption_text_sha256", "subcaption made here is not"),
        ("in_text_mention_sha256", "paragraphs made here is not"),
    ):
        other = pl.when(panel_id=victim).then(pl.lit("0" * 64)).otherwise(column).alias(column)
        table = listed.with_columns(other).to_arrow(compat_level=pl.CompatLevel.oldest())
        pq.write_table(table.cast(pq.read_schema(world.listed)), tmp_path / "withheld.parquet")
        changed = replace(world, nulled=tmp_path)
        (tmp_path / "hub").mkdir(exist_ok=True)
        shutil.move(tmp_path / "withheld.parquet", tmp_path / "hub" / "withheld.parquet")
        filled = _fill(changed, world.nulled / "pubmed_ophtha.parquet", tmp_path / f"{column}.parquet")
        assert filled.restored == filled.rows - 1
        assert len(filled.reasons) == 1
        assert victim in filled.reasons[0]
        assert word in filled.reasons[0]
        made = pl.read_parquet(tmp_path / f"{column}.parquet").filter(panel_id=victim)
        assert made.select("panel_image_bytes", "subcaption_text", "in_text_mention").null_count().row(0) == (1, 1, 1)


@pytest.mark.parametrize(
    ("column", "without"),
    [
        ("mentions", {"mentions", "abbreviations", "entities"}),
        ("summary", {"summary", "abbreviations", "entities"}),
        ("entities", {"entities"}),
    ],
)
def test_a_text_that_is_made_otherwise_stays_null_alone(
    world: World, tmp_path: Path, column: str, without: set[str]
) -> None:
    """The lexicon of another version: picture and caption are restored, and the result says what is not."""
    listed = pl.read_parquet(world.listed)
    is_it = pl.element().struct.field("column") == column
    other = pl.element().struct.with_fields(sha256=pl.when(is_it).then(pl.lit("0" * 64)).otherwise(pl.field("sha256")))
    table = listed.with_columns(pl.col("other_texts").list.eval(other))
    (tmp_path / "hub").mkdir()
    arrow = table.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pq.read_schema(world.listed))
    pq.write_table(arrow, tmp_path / "hub" / "withheld.parquet")
    target = tmp_path / "filled"
    filled = _fill(replace(world, nulled=tmp_path), world.nulled / "hub", target)
    assert filled.restored == filled.rows
    assert filled.reasons == []
    assert {line.split()[0] for line in filled.left} == without
    assert any(f"{column} stays null in" in line and "made here it is not" in line for line in filled.left)
    manifest = json.loads((target / "manifest.json").read_text())
    assert set(manifest["filled"]["left_texts"]) == without
    own = pl.read_parquet(target / "data" / "panels").join(listed, on="panel_id", how="semi")
    whole = pl.read_parquet(world.whole / "hub" / "data" / "panels").join(listed, on="panel_id", how="semi")
    for name in ("panel_image", "subcaption_text", "mentions", "summary", "abbreviations", "entities"):
        expected = whole.select(
            pl.when(pl.lit(name in without) & pl.col(column).is_not_null()).then(None).otherwise(name)
        )
        assert own[name].to_list() == expected.to_series().to_list(), name


def test_a_release_of_before_the_running_text_is_filled_as_it_is(world: World, tmp_path: Path) -> None:
    """Its panels have no column of another table, its list no digests of such texts."""
    later = [name for names in joined_columns("panels").values() for name in names]
    place = Path("hub") / "data" / "panels" / "train-00000.parquet"
    tables = {}
    for name, folder in (("nulled", world.nulled), ("whole", world.whole)):
        (tmp_path / name / place).parent.mkdir(parents=True)
        tables[name] = pq.read_table(folder / place).drop_columns(later)
        pq.write_table(tables[name], tmp_path / name / place)
    pq.write_table(
        pq.read_table(world.listed).drop_columns("other_texts"), tmp_path / "nulled" / "hub" / "withheld.parquet"
    )
    earlier = replace(world, nulled=tmp_path / "nulled")
    filled = _fill(earlier, earlier.nulled / place, tmp_path / "filled.parquet")
    assert filled.restored == filled.rows > 0
    assert (filled.reasons, filled.left) == ([], [])
    assert pq.read_table(tmp_path / "filled.parquet") == tables["whole"]
    assert pq.read_table(earlier.nulled / place) == tables["nulled"]


def test_other_settings_of_figures_are_noticed(world: World, tmp_path: Path) -> None:
    source = world.nulled / "pubmed_ophtha.parquet"
    filled = _fill(world, source, tmp_path / "filled.parquet", figure_options=FigureOptions(max_dpi=72))
    assert filled.restored == 0
    assert len(filled.reasons) == filled.rows
    assert all("picture made here is not what the release withholds" in reason for reason in filled.reasons)


def test_settings_of_figures_are_those_that_the_release_states() -> None:
    stated = {"options": {"figures": {"max_dpi": 150, "max_pages": 7, "workers": 99, "max_pixels": "many"}}}
    settings = Settings(max_dpi=300, max_pages=20, workers=1)
    found = _as_released(settings, stated)
    assert found == settings.model_copy(update={"max_dpi": 150, "max_pages": 7})
    assert _as_released(settings, {"options": []}) == settings
    assert _figure_pictures({"options": {"figure_pictures": False}}) is False
    assert _figure_pictures({}) is None


def test_only_one_process_fills_a_file(world: World, tmp_path: Path) -> None:
    target = tmp_path / "filled.parquet"
    with _alone(tmp_path / ".filled.parquet.filling"), pytest.raises(StorageError, match="another process"):
        _fill(world, world.nulled / "pubmed_ophtha.parquet", target)
    assert not target.exists()


def test_a_folder_that_was_being_exchanged_is_put_back(tmp_path: Path) -> None:
    (tmp_path / ".hub.old").mkdir()
    (tmp_path / ".hub.old" / "SHA256SUMS").touch()
    finish_exchange(tmp_path / "hub")
    assert (tmp_path / "hub" / "SHA256SUMS").exists()
    (tmp_path / ".hub.old").mkdir()
    finish_exchange(tmp_path / "hub")  # what is there counts
    assert (tmp_path / "hub" / "SHA256SUMS").exists()


def test_what_is_kept_is_verified_when_it_is_read(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted behind the articles and begun again: only the article whose file is damaged is restored again."""
    source, target = world.nulled / "pubmed_ophtha.parquet", tmp_path / "filled.parquet"
    calls: list[int] = []

    def counted(article: WantedArticle, *rest: Any) -> StepOutput:
        calls.append(article.files.article_id)
        return restore_article(article, *rest)

    monkeypatch.setattr("pmo_assets.release.filling.fill.restore_article", counted)

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pmo_assets.release.filling.fill.write_filled", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _fill(world, source, target)
    assert len(calls) == 2
    assert not target.exists()

    kept = sorted((tmp_path / ".filled.parquet.filling" / "articles").iterdir())
    content = bytearray(kept[0].read_bytes())
    content[len(content) // 2] ^= 1
    kept[0].write_bytes(bytes(content))
    filled = _fill(world, source, target)
    assert calls[2:] == [int(kept[0].name)]
    assert filled.reused == 1
    assert target.read_bytes() == (world.whole / "pubmed_ophtha.parquet").read_bytes()


def test_rounded_boxes_are_cut_like_the_boxes_that_they_were() -> None:
    """At half a pixel six decimal places do not tell which way an edge was rounded: both ways are tried."""
    import numpy as np

    pixels = np.zeros((10, 1001, 3), np.uint8)
    ways = list(restoring._unrounded((round(100.5 / 1001, 6), 0.0, 1.0, 1.0), pixels))
    assert len(ways) == 2
    assert len(list(restoring._unrounded((0.1, 0.0, 1.0, 1.0), pixels))) == 1
    with pytest.raises(restoring.NotTheSame, match="no box"):
        list(restoring._unrounded((0.0, float("nan"), 1.0, 1.0), pixels))


def test_what_is_kept_belongs_to_one_release(tmp_path: Path) -> None:
    panel = WantedPanel("f1", "a", "b", "c", "p_1_f1_0", (0.0, 0.0, 1.0, 1.0), ((0, 3),))
    figure = WantedFigure("f1", None, "d", "c")
    article = WantedArticle(ArticleFiles(1, "n1", "e", None), (panel,), (figure,), False)
    kept = Kept(str(tmp_path))
    assert kept.read(article) == {}
    kept.write(article, {"p_1_f1_0": Restored(b"\x00", "text", ["one", "two"])})
    assert kept.read(article)["p_1_f1_0"] == Restored(b"\x00", "text", ["one", "two"])
    assert not kept.is_complete(article)  # the figure is missing
    assert kept.is_complete(replace(article, figures=())) is False  # another task has other hashes
    kept.write(article, {"p_1_f1_0": Restored(None, "", []), "1/f1": Restored(None, "caption", [])})
    assert kept.is_complete(article)


def test_files_that_are_none_of_a_release_are_refused(world: World, tmp_path: Path) -> None:
    target = tmp_path / "filled.parquet"
    (tmp_path / "text.parquet").write_text("no table")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "other.parquet")
    damaged = tmp_path / "damaged.parquet"
    content = (world.nulled / "pubmed_ophtha.parquet").read_bytes()
    damaged.write_bytes(content[: len(content) // 2])
    published = pl.read_parquet(world.nulled / "pubmed_ophtha.parquet")
    published.with_columns(opening=pl.lit("")).write_parquet(tmp_path / "later.parquet")
    published.with_columns(pl.col("article_id").cast(pl.String)).write_parquet(tmp_path / "types.parquet")
    for name, word in (
        ("text", "cannot be read"),
        ("damaged", "cannot be read"),
        ("other", "no file of a release"),
        ("types", "other types"),
        ("later", r"has not \(opening\): use the version of pmo-assets that made it"),
    ):
        with pytest.raises(StorageError, match=word):
            _fill(world, tmp_path / f"{name}.parquet", target)
    for source, other in (
        (world.nulled / "hub", tmp_path / "text.parquet"),
        (world.nulled / "pubmed_ophtha.parquet", tmp_path),
    ):
        with pytest.raises(StorageError, match="is there and no"):
            _fill(world, source, other)
    with pytest.raises(StorageError, match="no folder of a release"):
        _fill(world, world.articles, tmp_path / "folder")
    with pytest.raises(StorageError, match="is there and no file of a release"):
        _fill(world, world.nulled / "pubmed_ophtha.parquet", tmp_path / "text.parquet")
    (tmp_path / "hub").mkdir()
    (tmp_path / "other.parquet").rename(tmp_path / "hub" / "withheld.parquet")
    with pytest.raises(StorageError, match="no list of what a release withholds"):
        _fill(replace(world, nulled=tmp_path), world.nulled / "pubmed_ophtha.parquet", target)
    assert not target.exists()


def test_rows_of_another_release_are_named(world: World, tmp_path: Path) -> None:
    """The list knows only one of the panels that are null."""
    place = tmp_path / "hub"
    place.mkdir()
    pq.write_table(pq.read_table(world.listed).slice(0, 1), place / "withheld.parquet")
    other = replace(world, nulled=tmp_path)
    filled = _fill(other, world.nulled / "pubmed_ophtha.parquet", tmp_path / "filled.parquet")
    assert filled.restored == 1
    assert len(filled.reasons) == filled.rows - 1
    assert all("not in the list" in reason for reason in filled.reasons)


@pytest.fixture
def arguments(world: World, tmp_path: Path) -> dict[str, Any]:
    shutil.copytree(world.nulled, tmp_path / "release")
    return {"env": {**environment(tmp_path), "PMO_DATA_ROOT": world.data.root}, "cwd": tmp_path}


def test_the_command_killed_and_run_again(world: World, tmp_path: Path, arguments: dict[str, Any]) -> None:
    words = command("release", "fill-null", "release/pubmed_ophtha.parquet", "--workers", "1")
    kept = tmp_path / "private" / ".pubmed_ophtha.filled.parquet.filling" / "articles"
    with subprocess.Popen(words, **arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < until:
            if kept.is_dir() and any(not path.name.startswith(".") for path in kept.iterdir()):
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    target = tmp_path / "private" / "pubmed_ophtha.filled.parquet"
    assert process.returncode == -signal.SIGKILL
    assert not target.exists()
    result = subprocess.run(words, **arguments, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stderr
    assert "had been restored before" in result.stderr
    assert "for yourself only" in result.stderr
    assert target.read_bytes() == (world.whole / "pubmed_ophtha.parquet").read_bytes()
    assert not kept.parent.exists()


def test_the_command_says_what_it_could_not_restore(world: World, tmp_path: Path, arguments: dict[str, Any]) -> None:
    first, _ = world.withheld
    (tmp_path / "release").rename(tmp_path / "copy")  # in the data root's own nothing is restored
    words = ["release", "fill-null", "copy/hub", "--in-place", "--workers", "0"]
    result = subprocess.run(
        command(*words, "--source", world.articles / first), **arguments, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert "still null" in result.stderr
    assert is_filled_folder(tmp_path / "copy" / "hub")
    rest = subprocess.run(command(*words), **arguments, capture_output=True, text=True, check=False)
    assert rest.returncode == 0, rest.stderr
    assert shards_filled(tmp_path / "copy" / "hub") == shards_filled(world.whole / "hub")
    assert check_sums(tmp_path / "copy" / "hub") == []
