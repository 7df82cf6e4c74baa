"""People's decisions through Dagster: applied, kept over re-runs, incremental, and kept apart from what is measured."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import polars as pl
import pytest

from pmo_assets.annotation.answers import KnownFigures, take_answers
from pmo_assets.annotation.cases import FigureCase, figure_cases, known_figures
from pmo_assets.annotation.files import write_answers
from pmo_assets.annotation.region_cases import region_cases, region_words
from pmo_assets.annotation.region_tasks import regions_task
from pmo_assets.annotation.tasks import ShownPicture, boxes_task, captions_task
from pmo_assets.definitions import build_defs
from pmo_assets.defs.batch_states import stale_assets
from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.loading import all_assets
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.runner import read_annotations_if_changed, run_job
from pmo_assets.defs.staleness import evaluations, stages_in_force, stale_of_batches
from pmo_assets.pictures import decoded, png_bytes
from pmo_assets.pipeline.figures.fingerprint import fingerprint
from pmo_assets.pipeline.graph import declared_stages
from pmo_assets.records.stores import Picture
from pmo_assets.release.selection import current_articles
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.annotation.answered_cases import region, result_of, submitted
from pmo_assets_tests.defs.conftest import Graph

SHOWN = ShownPicture("x", 1000, 1000)


def with_what_follows(first: str) -> list[str]:
    """Return a stage and those that read it, directly or not, in the order of the data's way."""
    found = [first]
    for name, stage in declared_stages().items():
        if name != first and set(stage.reads) & set(found):
            found.append(name)
    return found


DOWNSTREAM = with_what_follows("reviewed_panels")


@dataclass
class Reviewed:
    """A copy of the data root into which people's answers come."""

    settings: Settings
    defs: dg.Definitions
    instance: dg.DagsterInstance
    tables: Tables
    batches: list[str]
    folder: Path

    def refresh(self) -> dict[str, list[str]]:
        """Do what `pmo run` does; return what was made of each batch."""
        assert read_annotations_if_changed(self.defs, self.instance, self.settings) == []
        made = {}
        for batch in self.batches:
            made[batch] = stale_assets(self.defs, self.instance, self.tables, batch)
            if made[batch]:
                run_job(self.defs, self.instance, "process_batch", batch=batch, assets=made[batch])
        return made

    def rows(self, table: str) -> list[dict[str, Any]]:
        return [row for batch in self.batches for row in self.tables.read(table, batch).to_dicts()]

    def case(self) -> FigureCase:
        """Return a figure of several panels that is in the dataset."""
        released = {row["image_cluster_id"] for row in self.rows("dataset_rows")}
        cases = figure_cases(self.tables, current_articles(self.tables, "panel_assembly"), "resolve")
        return next(c for c in cases if len(c.panels) > 1 and c.figure.image_cluster_id in released
                    and all(p.subcaption for p in c.panels))  # fmt: skip

    def seen(self, case: FigureCase) -> np.ndarray:
        key = case.figure.pdf_figure_id
        pictures = ParquetPixels(self.tables.data_root, "figures", case.batch).read(case.figure.article_id)
        return decoded(pictures.get(key), key)

    def answer(self, *tasks: dict[str, Any], folder: Path | None = None) -> None:
        names = {task["data"]["pmo"]["article"] for task in tasks}
        current = current_articles(self.tables, "panel_assembly")
        known = KnownFigures(known_figures(self.tables, current, names), region_words(self.tables, current, names))
        taken = take_answers(tasks, known)
        assert taken.problems == []
        assert write_answers(folder or self.folder, taken, known)


@pytest.fixture
def reviewed(graph: Graph, tmp_path: Path) -> Iterator[Reviewed]:
    """The sample articles with a folder for annotations that is still empty, up to date."""
    root, folder = tmp_path / "data", tmp_path / "people"
    shutil.copytree(graph.settings.data_root, root)
    folder.mkdir()
    settings = graph.settings.model_copy(update={"data_root": str(root), "annotations": str(folder)})
    with dg.DagsterInstance.ephemeral() as instance:
        register_partitions(instance, graph.batches)
        for name, batch in itertools.product(batch_graph(all_assets()).stages, graph.batches):
            instance.report_runless_asset_event(latest(graph.instance, name, batch))
        tables = Tables(DataRoot(str(root)))
        yield Reviewed(settings, build_defs(settings), instance, tables, graph.batches, folder)


def latest(instance: dg.DagsterInstance, asset: str, batch: str) -> dg.AssetMaterialization:
    wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=[batch])
    made = instance.fetch_materializations(wanted, limit=1).records[0].asset_materialization
    assert made is not None
    return made


def caption_task(reviewed: Reviewed, case: FigureCase, text: str) -> dict[str, Any]:
    task = submitted(captions_task(case, SHOWN, fingerprint(reviewed.seen(case))))
    first = case.panels[0].ordinal
    region(task, f"panel-{first}", "transcription")["value"]["text"] = [text]
    return task


def panel(rows: list[dict[str, Any]], case: FigureCase) -> dict[str, Any]:
    return panel_of(rows, case, case.panels[0].ordinal)


def table_bytes(reviewed: Reviewed, table: str) -> dict[str, bytes]:
    root = reviewed.tables.data_root
    return {batch: root.read(reviewed.tables.key(table, batch)) for batch in reviewed.batches}


def metadata(reviewed: Reviewed, asset: str, batch: str) -> dict[str, Any]:
    return {name: item.value for name, item in latest(reviewed.instance, asset, batch).metadata.items()}


@pytest.mark.slow  # whole runs: pipeline/assembly/test_review holds what decisions change
def test_the_whole_way_of_a_decision(reviewed: Reviewed) -> None:
    machine = {table: table_bytes(reviewed, table) for table in ("panel_assembly", *DOWNSTREAM)}
    assert reviewed.refresh() == {batch: [] for batch in reviewed.batches}, "an empty folder makes nothing stale"

    # a decision changes its row, and makes its batch stale alone
    case = reviewed.case()
    reviewed.answer(caption_task(reviewed, case, "What a person says of it."))
    made = reviewed.refresh()
    assert {batch for batch, assets in made.items() if assets} == {case.batch}
    assert made[case.batch] == [*DOWNSTREAM, "rejections"]
    row = panel(reviewed.rows("dataset_rows"), case)
    assert (row["subcaption_text"], row["assembly"]) == ("What a person says of it.", "Manual Assignment")
    assert row["assembly_method"] == "resolved"
    (noted,) = row["annotations"]
    assert (noted["purpose"], noted["decided"]) == ("resolve", ["subcaptions"])
    assert table_bytes(reviewed, "panel_assembly") == machine["panel_assembly"], "what is measured is the machine's"
    assert metadata(reviewed, "reviewed_panels", case.batch)["figures_decided"] == 1

    # it survives that what lies before it is made again
    before = table_bytes(reviewed, "dataset_rows")
    again = ["panel_assembly", *DOWNSTREAM, "rejections"]
    run_job(reviewed.defs, reviewed.instance, "process_batch", batch=case.batch, assets=again)
    assert table_bytes(reviewed, "dataset_rows") == before
    assert reviewed.refresh()[case.batch] == []

    # what people drew is marked as such
    boxes = submitted(boxes_task(case, SHOWN, fingerprint(reviewed.seen(case))), at="2026-02-01T00:00:00Z")
    reviewed.answer(boxes)
    reviewed.refresh()
    row = panel(reviewed.rows("dataset_rows"), case)
    images, printed = row["images"], row["identifiers"]
    assert images
    assert all(item["is_gt"] for item in (*images, *printed))
    assert row["subcaption_text"] == "What a person says of it."

    # the figure changes under it: the machine's rows, and it is said
    store = ParquetPixels(reviewed.tables.data_root, "figures", case.batch)
    pictures = store.read(case.figure.article_id)
    key = case.figure.pdf_figure_id
    other = np.ascontiguousarray(reviewed.seen(case)[::-1, ::-1])
    pictures[key] = Picture(key, other.shape[1], other.shape[0], png_bytes(other))
    store.write(case.figure.article_id, list(pictures.values()))
    run_job(reviewed.defs, reviewed.instance, "process_batch", batch=case.batch, assets=DOWNSTREAM)
    row = panel(reviewed.rows("dataset_rows"), case)
    assert (row["subcaption_text"], row["annotations"]) == (case.panels[0].subcaption, [])
    said = metadata(reviewed, "reviewed_panels", case.batch)
    assert said["annotations_not_applied"] == 1
    assert "changed under the annotation" in said["not_applied"].records[0].data["what"]
    records = reviewed.instance.event_log_storage.get_asset_check_execution_history(
        dg.AssetCheckKey(dg.AssetKey("reviewed_panels"), "annotations_applied"), limit=1
    )
    evaluation = records[0].event.dagster_event.asset_check_evaluation_data  # type: ignore[union-attr]
    assert (evaluation.passed, evaluation.severity) == (False, dg.AssetCheckSeverity.WARN)

    # the answers are taken away: the machine's rows are back
    (reviewed.folder / f"{case.article.package}.json").unlink()
    (reviewed.folder / "PMC1.json").write_text('{"article_id": "PMC1", "figures": []}')
    assert reviewed.refresh()[case.batch] == [*DOWNSTREAM, "rejections"]
    assert table_bytes(reviewed, "reviewed_panels") == machine["reviewed_panels"]


@pytest.mark.slow  # whole runs: pipeline/regions/test_region_steps holds what decisions change
def test_a_decision_about_regions_makes_nothing_again_that_lies_before_them(reviewed: Reviewed) -> None:
    assert reviewed.refresh() == {batch: [] for batch in reviewed.batches}
    before = {name: table_bytes(reviewed, name) for name in ("reviewed_panels", "panels", "dataset_rows")}
    current = current_articles(reviewed.tables, "panel_assembly")
    case = next(c for c in region_cases(reviewed.tables, current, "full") if len(c.panels) > 1)
    assert case.regions is not None
    shown = case.regions.panels[0]
    left, top, right, bottom = shown.panel.images[0].box
    words = next(word for word in case.figure.caption.split() if word.isalpha())

    # a person adds a circle that shows what they name
    task = submitted(regions_task(case, SHOWN, fingerprint(reviewed.seen(case))))
    sides = {"x": left * 100, "y": top * 100, "width": (right - left) * 50, "height": (bottom - top) * 50}
    for name, label in (("mine", "Circle"), ("what", "Region")):
        value = {**sides, "rotation": 0, "rectanglelabels": [label]}
        result_of(task).append({"id": name, "from_name": "boxes", "type": "rectanglelabels", "value": value})
    result_of(task).append({"id": "what", "from_name": "typed", "type": "textarea", "value": {"text": [words]}})
    result_of(task).append({"type": "relation", "from_id": "mine", "to_id": "what", "direction": "right"})
    reviewed.answer(task)
    made = reviewed.refresh()
    assert made == {b: [*with_what_follows("marks"), "rejections"] if b == case.batch else [] for b in made}
    assert {name: table_bytes(reviewed, name) for name in before} == before
    assert reviewed.refresh() == {batch: [] for batch in reviewed.batches}

    marks, regions = (panel_of(reviewed.rows(name), case, shown.panel.ordinal) for name in ("marks", "regions"))
    assert len(marks["marks"]) == len(shown.marks) + 1
    assert {mark["source"] for mark in marks["marks"]} == {"person"}
    assert (words, "person") in {(region["text"], region["source"]) for region in regions["regions"]}
    assert regions["machine_regions"] is not None
    said = metadata(reviewed, "marks", case.batch)
    assert (said["annotations_not_applied"], said["panels_decided"]) == (0, len(case.regions.panels))

    # the setting that applies decisions applies these
    settings = reviewed.settings.model_copy(update={"apply_annotations": False})
    stale = stale_of_batches(reviewed.instance, stages_in_force(batch_graph(all_assets()), settings))
    assert dict(stale.assets) == {case.batch: [*with_what_follows("marks"), "rejections"]}


def panel_of(rows: list[dict[str, Any]], case: FigureCase, ordinal: int) -> dict[str, Any]:
    name = f"p_{case.figure.article_id}_{case.figure.image_cluster_id}_{ordinal}"
    return next(row for row in rows if row["panel_id"] == name)


@pytest.mark.slow  # whole runs
def test_ground_truth_is_released_and_what_is_measured_stays_the_machines(graph: Graph, reviewed: Reviewed) -> None:
    """The quality assets compare the machine with people; what people corrected must not make it look better."""
    from pmo_assets.quality.quality_tables import read_metrics

    def measured(applied: bool) -> list[Any]:
        settings = reviewed.settings.model_copy(update={"annotations": str(graph.truth)})
        defs = build_defs(settings)
        run_job(defs, reviewed.instance, "evaluate", assets=["annotations"])
        if applied:
            for batch in reviewed.batches:
                run_job(defs, reviewed.instance, "process_batch", batch=batch, assets=DOWNSTREAM)
        assets = ["detection_quality", "assembly_quality"]
        run_job(defs, reviewed.instance, "evaluate", assets=assets)
        return [item for name in assets for item in read_metrics(reviewed.tables.data_root, name)]

    before = measured(applied=False)
    assert measured(applied=True) == before
    rows = pl.DataFrame(reviewed.rows("dataset_rows"))
    assert rows.filter(assembly="Ground Truth", assembly_method="annotated").height > rows.height / 2
    truth = json.loads((graph.truth / "PMC9000000001.json").read_text())["figures"][0]
    texts = {p["identifier"]: p["subcaption"] for p in truth["panels"]}
    found = rows.filter(pl.col("image_cluster_id") == truth["image_cluster_id"])
    assert dict(found.select("panel_name", "subcaption_text").iter_rows()) == texts


@pytest.mark.slow  # whole runs
def test_annotations_without_being_read_break_nothing(reviewed: Reviewed) -> None:
    (reviewed.folder / "broken.json").write_text("{")
    before = {table: table_bytes(reviewed, table) for table in DOWNSTREAM}
    for batch in reviewed.batches:
        run_job(reviewed.defs, reviewed.instance, "process_batch", batch=batch, assets=DOWNSTREAM)
    assert {table: table_bytes(reviewed, table) for table in before} == before, "byte for byte"


@pytest.mark.slow
def test_what_people_decided_and_whether_it_is_applied_is_seen_in_the_graph(reviewed: Reviewed) -> None:
    """By the check `current`: of the batches with annotated articles alone, naming the setting that was flipped."""

    def warnings(**options: Any) -> dict[str, str]:
        settings = reviewed.settings.model_copy(update=options)
        found = evaluations(reviewed.instance, stages_in_force(batch_graph(all_assets()), settings), settings)
        return {name: str(result.description) for name, result in found.items() if not result.passed}

    for batch in reviewed.batches:  # made with the setting that names the folder
        run_job(reviewed.defs, reviewed.instance, "process_batch", batch=batch, assets=[*DOWNSTREAM, "rejections"])
    assert warnings() == warnings(apply_annotations=False) == {}, "nothing is annotated"
    case = reviewed.case()
    reviewed.answer(caption_task(reviewed, case, "a person wrote this"))
    run_job(reviewed.defs, reviewed.instance, "evaluate", assets=["annotations"])
    said = warnings()
    assert set(said) == {*DOWNSTREAM, "rejections"}
    assert said["reviewed_panels"].startswith("1 of ")
    assert "what people annotated" in said["reviewed_panels"]

    assert list(reviewed.refresh()) == reviewed.batches
    assert warnings() == {}
    said = warnings(apply_annotations=False)
    assert set(said) == {*DOWNSTREAM, "rejections"}
    assert "Changed: PMO_APPLY_ANNOTATIONS true → false." in said["reviewed_panels"]
    assert said["reviewed_panels"].startswith("1 of ")
    settings = reviewed.settings.model_copy(update={"apply_annotations": False})
    stale = stale_of_batches(reviewed.instance, stages_in_force(batch_graph(all_assets()), settings))
    assert dict(stale.assets) == {case.batch: [*DOWNSTREAM, "rejections"]}
