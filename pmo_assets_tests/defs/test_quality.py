"""The quality assets on the sample articles, whose ground truth is exact."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from PIL import Image

from pmo_assets.definitions import build_defs
from pmo_assets.defs.assets.quality import QUALITY_ASSETS
from pmo_assets.defs.runner import RunFailed, run_job
from pmo_assets.quality.metrics.metric import metric_value
from pmo_assets.quality.quality_tables import has_annotations, page_key, quality_key, read_metrics
from pmo_assets.quality.scored_articles import scored_articles
from pmo_assets.records.stores import StorageError
from pmo_assets.tables.schemas import schema_of
from pmo_assets_tests.defs.conftest import Graph, settings_below

MEASURES = QUALITY_ASSETS[1:]


@dataclass
class Measured:
    """The graph's data root with the quality group materialised, and what Dagster knows of it."""

    graph: Graph
    made: set[str]
    metadata: dict[str, dict[str, dg.MetadataValue]]  # type: ignore[type-arg]


def materialise(graph: Graph, annotations: str | None) -> Measured:
    defs = build_defs(graph.settings.model_copy(update={"annotations": annotations}))
    with dg.DagsterInstance.ephemeral() as instance:
        made = run_job(defs, instance, "evaluate")
        metadata = {}
        for name in sorted(made):
            (record,) = instance.fetch_materializations(dg.AssetKey(name), limit=1).records
            assert record.asset_materialization is not None
            metadata[name] = dict(record.asset_materialization.metadata)
    return Measured(graph, made, metadata)


@pytest.fixture(scope="module")
def truth_folder(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples' truth, with one figure more than there is, one file that is none, and one unknown article."""
    folder = tmp_path_factory.mktemp("truth")
    for path in sorted(graph.truth.glob("*.json")):
        shutil.copy(path, folder)
    first = folder / "PMC9000000001.json"
    content = json.loads(first.read_text())
    invented = json.loads(json.dumps(content["figures"][0]))
    invented["label"] = "Figure 77"
    invented["figure_locations"] = [{"page": 0, "bbox": [10, 10, 60, 40]}]
    content["figures"].append(invented)
    first.write_text(json.dumps(content))
    (folder / "broken.json").write_text("{")
    (folder / "unknown.json").write_text(json.dumps({**content, "article_id": "PMC123"}))
    return folder


@pytest.fixture(scope="module")
def measured(graph: Graph, truth_folder: Path) -> Iterator[Measured]:
    yield materialise(graph, str(truth_folder))
    shutil.rmtree(graph.tables.data_root.uri("quality"))


def value(measured: Measured, asset: str, metric: str, group: str = "", threshold: float | None = None) -> float:
    found = metric_value(read_metrics(measured.graph.tables.data_root, asset), metric, group, threshold)
    assert found is not None
    return found


def records(measured: Measured, asset: str) -> pl.DataFrame:
    with measured.graph.tables.data_root.open_random(quality_key(asset)) as file:
        return pl.read_parquet(file.read())


# without ground truth


def test_without_ground_truth_the_group_is_skipped_and_nothing_fails(graph: Graph) -> None:
    assert materialise(graph, None).made == set()
    assert not has_annotations(graph.tables.data_root)


def test_a_place_without_annotations_fails_and_is_named(graph: Graph, tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match=r"annotations failed.*PMO_ANNOTATIONS"):
        materialise(graph, str(tmp_path))


@pytest.mark.slow
def test_annotated_articles_that_no_batch_holds_are_not_scored(sample_folder: Path, tmp_path: Path) -> None:
    defs = build_defs(settings_below(tmp_path, annotations=str(sample_folder / "truth")))
    with dg.DagsterInstance.ephemeral() as instance:
        assert run_job(defs, instance, "evaluate") == {"annotations"}


def test_scoring_without_annotations_says_what_is_missing(tmp_path: Path) -> None:
    from pmo_assets.storage.data_root import DataRoot
    from pmo_assets.storage.tables import Tables

    with pytest.raises(StorageError, match="PMO_ANNOTATIONS"):
        scored_articles(Tables(DataRoot(str(tmp_path))))


# with it


@pytest.mark.slow
def test_all_assets_are_made_with_their_schemas(measured: Measured) -> None:
    assert measured.made == set(QUALITY_ASSETS)
    for name in QUALITY_ASSETS:
        table = records(measured, name)
        assert table.columns == list(schema_of(name).columns())
        assert measured.metadata[name]["dagster/row_count"].value == table.height


def shown_rows(shown: dg.MetadataValue) -> Sequence[dg.TableRecord]:  # type: ignore[type-arg]
    assert isinstance(shown, dg.TableMetadataValue)
    return shown.records


@pytest.mark.slow
def test_a_file_that_cannot_be_used_is_reported(measured: Measured) -> None:
    metadata = measured.metadata["annotations"]
    assert metadata["unusable_files"].value == 1
    (record,) = shown_rows(metadata["unusable"])
    assert record.data["file"] == "broken.json"


@pytest.mark.slow
def test_what_is_not_scored_is_named_with_its_reason(measured: Measured) -> None:
    reasons = {r.data["article"]: r.data["why"] for r in shown_rows(measured.metadata["figure_quality"]["not_scored"])}
    assert reasons["PMC123"] == "in no batch that has figures"
    articles = pl.concat([measured.graph.tables.read("articles", batch) for batch in measured.graph.batches])
    rejected = {f"PMC{number}" for number in articles.filter(~pl.col("selected"))["article_id"]}
    assert {name for name in reasons if name != "PMC123"} == rejected & {
        path.stem for path in measured.graph.truth.glob("*.json")
    }


@pytest.mark.slow
def test_the_samples_are_found_but_for_the_invented_figure(measured: Measured) -> None:
    table = records(measured, "figure_quality")
    (missed,) = table.filter(pl.col("state") == "missed").to_dicts()
    assert (missed["name"], missed["label"], missed["iou"]) == ("PMC9000000001", "Figure 77", 0)
    assert missed["problems"] == ["missed: nothing was found here"]
    recall = value(measured, "figure_quality", "figure recall", threshold=0.5)
    assert recall == pytest.approx(1 - 1 / table.filter(pl.col("state") != "spurious").height)
    assert measured.metadata["figure_quality"]["figure_recall"].value == pytest.approx(recall, abs=1e-4)
    assert value(measured, "figure_quality", "captions similar", threshold=0.95) > 0.9


@pytest.mark.slow
def test_detections_of_the_samples_are_good_and_the_invented_figure_counts_as_missed(measured: Measured) -> None:
    assert 0.8 < value(measured, "detection_quality", "AP", "panel", 0.5) < 1
    assert value(measured, "detection_quality", "type accuracy", "images found") > 0.8
    worst = records(measured, "detection_quality").sort("badness", descending=True).row(0, named=True)
    assert worst["label"] == "Figure 77"
    assert worst["panels_missed"] == worst["panels"] > 0
    assert worst["problems"][0] == "the figure itself was not found"


@pytest.mark.slow
def test_subcaptions_and_assembly_of_the_samples_are_good(measured: Measured) -> None:
    assert value(measured, "subcaption_quality", "mean average sentence BLEU") > 0.9
    assert value(measured, "assembly_quality", "panels assigned") > 0.8
    assert value(measured, "subcaption_quality", "figures not found") == 1
    table = records(measured, "assembly_quality")
    assert (table.select(pl.sum_horizontal("right", "wrong", "none", "missed") == pl.col("panels"))).to_series().all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asset", "plots", "numbers"),
    [
        ("figure_quality", {"recall"}, {"figure_recall", "figure_precision", "median_iou", "label_accuracy"}),
        ("subcaption_quality", {"calibration", "coverage"}, {"mean_average_bleu", "unprocessed", "calibration_error"}),
        ("detection_quality", {"precision_and_recall", "image_types"}, {"panel_ap", "image_map", "mark_accuracy"}),
        ("assembly_quality", {"assignment"}, {"panels_assigned", "subcaptions_right"}),
    ],
)
def test_the_ui_shows_numbers_plots_and_the_worst_cases(
    measured: Measured, asset: str, plots: set[str], numbers: set[str]
) -> None:
    metadata = measured.metadata[asset]
    assert all(isinstance(metadata[name], dg.FloatMetadataValue) for name in numbers)
    shown = {name for name in metadata if re.fullmatch(r"worst_\d", name)}
    wrong = metadata["figures_with_a_problem"].value
    assert isinstance(wrong, int)
    assert len(shown) == min(4, wrong)
    for name in plots | shown:
        match = re.search(r"base64,([^)]+)\)", str(metadata[name].value))
        assert match is not None
        picture = Image.open(io.BytesIO(base64.b64decode(match[1])))
        assert picture.width > 200
        assert len(match[1]) < 45_000


@pytest.mark.slow
@pytest.mark.parametrize("asset", MEASURES)
def test_a_page_shows_every_figure_with_a_problem(measured: Measured, asset: str) -> None:
    page = measured.graph.tables.data_root.read(page_key(asset)).decode()
    wrong = records(measured, asset).filter(pl.col("problems").list.len() > 0)
    for row in wrong.iter_rows(named=True):
        assert f"{row['name']} · {row['label'] or 'no label'}" in page
    assert str(measured.metadata[asset]["page"].value).endswith(f"{asset}.html")


@pytest.mark.slow  # measured twice
def test_measuring_again_gives_the_same_bytes(measured: Measured, truth_folder: Path) -> None:
    root = measured.graph.tables.data_root
    keys = [f"quality/{name}" for name in root.keys("quality")]
    before = {key: root.read(key) for key in keys}
    materialise(measured.graph, str(truth_folder / "*.json"))
    assert [key for key in keys if root.read(key) != before[key]] == []
    assert len(keys) == 1 + 3 * len(MEASURES)
