"""The graph through Dagster itself: what the UI shows, what is kept, what is rejected."""

from __future__ import annotations

import gzip
import html
import importlib
import io
import json
import pkgutil
import re
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pyarrow.parquet as pq
import pytest
from PIL import Image

from pmo_assets.definitions import build_defs
from pmo_assets.defs import assets, checks
from pmo_assets.defs.assets.context import VERBATIM
from pmo_assets.defs.assets.quality import QUALITY_ASSETS
from pmo_assets.defs.batch_states import stale_assets
from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.job_assets import GroupJob
from pmo_assets.defs.loading import all_assets, group_assets
from pmo_assets.defs.release_state import LAST_TABLES
from pmo_assets.defs.resources import detector_workers_resource, workers_resource
from pmo_assets.defs.runner import RunFailed, release_is_stale, run_job
from pmo_assets.defs.sensors import registered_batches_of
from pmo_assets.pipeline.graph import declared_stages, declared_units
from pmo_assets.records.geometry import as_box, iou
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.stores import StorageError
from pmo_assets.release.keys import REPORT_KEY
from pmo_assets.settings import Settings
from pmo_assets.settings.step_options import wanted_types
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.release import CONFIGS, PublishedPanels
from pmo_assets.tables.schemas import schema_of
from pmo_assets_tests.defs.conftest import Graph, settings_below

STAGES = batch_graph(group_assets()).stages
"""Tables of a batch in the order of the data's way."""

ENCODER_ASSETS = ("dual_encoder", "release_embeddings")

MODEL_ASSETS = ("synthetic_figures", "panel_detector", "image_detector", "mark_classifier", "image_type_network")

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}

BATCH_ASSETS = [*batch_graph(all_assets()).stages]
"""… and what they could not process."""


def read(graph: Graph, asset: str) -> pl.DataFrame:
    return pl.concat([graph.tables.read(asset, batch) for batch in graph.batches])


def latest(graph: Graph, asset: str, batch: str | None) -> dg.AssetMaterialization:
    wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=[batch] if batch else None)
    found = graph.instance.fetch_materializations(wanted, limit=1).records[0].asset_materialization
    assert found is not None
    return found


# definitions


def test_the_code_location_loads_whole() -> None:
    """As its server loads it: names of ops are unique over all jobs, every resource is there."""
    build_defs().get_repository_def().load_all_definitions()


VIDEO_ASSETS = (
    "video_batch",
    "videos",
    "video_episodes",
    "video_words",
    "video_pairs",
    "video_cues",
    "video_instructions",
    "video_rejections",
)


def test_the_graph_holds_the_assets_of_the_design() -> None:
    keys = {key.to_user_string() for key in build_defs().resolve_asset_graph().get_all_asset_keys()}
    release = {"retractions", "panel_duplicates", "pubmed_ophtha", "dataset_report"}
    pmc = {"pmc_inventory", "pmc_candidates", "pmc_batches"}
    assert keys == {
        *BATCH_ASSETS,
        *VIDEO_ASSETS,
        *release,
        *pmc,
        *MODEL_ASSETS,
        *ENCODER_ASSETS,
        *QUALITY_ASSETS,
        "annotation_quality",
    }


def test_materialize_all_trains_nothing_and_measures_nothing() -> None:
    """The button of the lineage page takes what is executable: annotations where they are set, no videos here."""

    def left_out(settings: Settings) -> set[str]:
        graph = build_defs(settings).resolve_asset_graph()
        return {key.path[-1] for key in graph.get_all_asset_keys() if not graph.get(key).is_executable}

    only_seen = {*MODEL_ASSETS, *ENCODER_ASSETS, *QUALITY_ASSETS, *VIDEO_ASSETS, "annotation_quality"}
    assert left_out(Settings()) == only_seen
    assert left_out(Settings(annotations="truth")) == left_out(Settings()) - {"annotations"}


def declared_groups() -> set[str]:
    """Return the groups of manifests, of the pipeline's stages, of jobs, and of the modules that hold other assets."""
    modules = pkgutil.iter_modules(assets.__path__, f"{assets.__name__}.")
    said = [vars(importlib.import_module(module.name)) for module in modules]
    jobs = (item.group for names in said for item in names.values() if isinstance(item, GroupJob))
    stages = (stage.group for stage in declared_stages().values())
    constants = (names["GROUP"] for names in said if "GROUP" in names)
    return {*(unit.names for unit in declared_units()), *stages, *jobs, *constants}


def test_every_asset_is_documented_owned_grouped_and_versioned() -> None:
    graph = build_defs().resolve_asset_graph()
    groups = declared_groups()
    for key in graph.get_all_asset_keys():
        node = graph.get(key)
        assert node.description, key
        assert node.owners, key
        assert node.kinds, key
        assert node.tags, key
        assert node.code_version, key
        assert node.group_name in groups, key


@pytest.mark.parametrize(("device", "workers"), [("cpu", 3), ("cuda", 2)])
def test_detection_has_workers_of_its_own_on_a_gpu_only(device: str, workers: int) -> None:
    settings = Settings(workers=3, detector_workers=2, detector_device=device)  # type: ignore[arg-type]
    needed = {"workers": workers_resource(settings), "detector_workers": detector_workers_resource(settings)}
    with dg.build_resources(needed) as resources:
        assert resources.workers.workers == 3
        assert resources.detector_workers.workers == workers
        assert (resources.detector_workers is resources.workers) == (device == "cpu")


def test_table_assets_show_their_columns_with_meaning() -> None:
    graph = build_defs().resolve_asset_graph()
    for name in [*BATCH_ASSETS, *QUALITY_ASSETS, "annotation_quality"]:
        columns = graph.get(dg.AssetKey(name)).metadata["dagster/column_schema"].columns
        assert [column.name for column in columns] == list(schema_of(name).columns())
        assert all(column.description for column in columns), name


def test_detections_share_the_gpu_pool() -> None:
    defs = build_defs()
    graph = defs.resolve_asset_graph()
    pooled = {key.path[-1] for key in graph.get_all_asset_keys() if "gpu" in (graph.get(key).pools or set())}
    assert pooled == {"panel_detections", "image_detections"}
    training = {op.name for op in defs.resolve_job_def("train").all_node_defs if "gpu" in (op.pools or set())}
    assert training == {"figure_network", "mark_classifier", "image_type_network"}, "so does training"


def test_one_release_is_written_at_a_time() -> None:
    """A second run would take the files away that the first one is about to put in their place."""
    graph = build_defs().resolve_asset_graph()
    pooled = {key.path[-1] for key in graph.get_all_asset_keys() if "release" in (graph.get(key).pools or set())}
    assert pooled == {"retractions", "pubmed_ophtha", "dataset_report"}


def test_whatever_changes_of_what_a_release_is_made_of_makes_a_release_due() -> None:
    graph = build_defs().resolve_asset_graph()
    parents = {key for key in graph.get(dg.AssetKey("pubmed_ophtha")).parent_keys if graph.get(key).is_partitioned}
    assert {"dataset_rows", "verdicts", "figures"} <= {key.to_user_string() for key in parents}
    last = {dg.AssetKey(name) for name in LAST_TABLES}
    assert last <= parents <= last.union(*map(graph.get_ancestor_asset_keys, last))


def test_an_unknown_resource_cannot_be_overridden() -> None:
    with pytest.raises(ValueError, match="unknown resources"):
        build_defs(resource_overrides={"detektor": object()})


def test_a_changed_option_changes_the_code_version_of_what_it_affects(tmp_path: Path) -> None:
    before = build_defs(settings_below(tmp_path)).resolve_asset_graph()
    after = build_defs(settings_below(tmp_path, max_dpi=150)).resolve_asset_graph()
    changed = {
        key.path[-1]
        for key in before.get_all_asset_keys()
        if before.get(key).code_version != after.get(key).code_version
    }
    assert changed == {"pdf_figures"}


# what was made


def test_every_sample_article_is_accounted_for(graph: Graph) -> None:
    manifest = read(graph, "article_batch")
    assert set(read(graph, "articles")["article_id"]) == set(manifest["article_id"])


def test_relevant_articles_go_on_and_the_others_say_why(graph: Graph) -> None:
    from pmo_assets.samples import sample_specs, typeset

    articles = {row["article_id"]: row for row in read(graph, "articles").iter_rows(named=True)}
    for spec in sample_specs():
        article = typeset(spec)
        row, expected = articles[article.article_id], article.expected
        assert row["relevance_reason"]
        if expected.xml_readable:
            assert row["relevant"] == expected.relevant, (article.name, row["relevance_reason"])
            assert row["is_retracted"] == expected.is_retracted, article.name
        assert row["license_code"] == expected.license_code, article.name
        if not row["relevant"] or row["is_retracted"]:
            assert not row["selected"], article.name


def test_hostile_articles_are_rejected_with_a_reason_and_nothing_else_is_lost(graph: Graph) -> None:
    rejected = read(graph, "rejections").filter(pl.col("image_cluster_id").is_null())
    classes = set(rejected["error_class"])
    assert {"EncryptedPdf", "UnreadablePdf", "MalformedXml", "UnsafeXml", "NoPdf"} <= classes
    assert (rejected["message"].str.len_chars() > 10).all()
    assert "WorkerDied" not in classes


def test_figures_agree_with_the_ground_truth(graph: Graph) -> None:
    figures, articles = read(graph, "figures"), read(graph, "articles").filter("selected")
    selected = set(articles["article_id"])
    overlaps = []
    for path in sorted(graph.truth.glob("*.json")):
        article_id = int(path.stem.removeprefix("PMC"))
        if article_id not in selected:
            continue
        found = [
            {place["page"]: place["bbox"] for place in row["locations"]}
            for row in figures.filter(pl.col("article_id") == article_id).iter_rows(named=True)
        ]
        for figure in json.loads(path.read_text())["figures"]:
            wanted = {place["page"]: place["bbox"] for place in figure["figure_locations"]}
            overlaps.append(
                max(
                    (
                        min(iou(as_box(box), as_box(one[page])) for page, box in wanted.items())
                        if set(one) == set(wanted)
                        else 0.0
                    )
                    for one in found
                )
            )
    assert len(overlaps) >= 15
    assert sum(value > 0.9 for value in overlaps) / len(overlaps) >= 0.9, [round(value, 2) for value in overlaps]


def test_boxes_pixels_and_rows_fit_together(graph: Graph) -> None:
    panels = read(graph, "panels")
    assert panels["panel_id"].is_unique().all()
    for batch in graph.batches:
        result = latest(graph, "panels", batch)
        assert result.metadata["panels"].value == graph.tables.read("panels", batch).height


def test_figures_without_a_wanted_image_do_not_go_on(graph: Graph) -> None:
    key = ["article_id", "image_cluster_id"]
    assembled, images, panels = (read(graph, name) for name in ("panel_assembly", "image_detections", "panels"))
    wanted = images.filter(pl.col("image_type").is_null() | (pl.col("image_type") != "Other")).select(key).unique()
    assert assembled.filter("wanted").select(key).unique().sort(key).equals(wanted.sort(key))
    assert panels.height == assembled.filter("wanted").height < assembled.height
    made = [latest(graph, "panel_assembly", batch) for batch in graph.batches]
    tallies: list[Any] = [item.metadata["figures_that_do_not_go_on"].value for item in made]
    unwanted = assembled.filter(~pl.col("wanted")).select(key).n_unique()
    assert sum(count for tally in tallies for count in tally.values()) == unwanted > 0
    page = graph.tables.data_root.read(REPORT_KEY).decode()
    assert "no image of a wanted type in the figure" in page


def test_every_image_of_a_figure_is_kept(graph: Graph) -> None:
    assembled = read(graph, "panel_assembly")
    kept = pl.concat(
        [
            assembled.select("article_id", "image_cluster_id", pl.col(column).list.eval(pl.element().struct["id"]))
            .explode(column).drop_nulls().rename({column: "detection_id"})
            for column in ("images", "unassigned_images")
        ]
    )  # fmt: skip
    keys = ["article_id", "image_cluster_id", "detection_id"]
    assert kept.sort(keys).equals(read(graph, "image_detections").select(keys).sort(keys))


CONTEXT = (
    "panel_mentions", "panel_summaries", "panel_entities", "panel_modality", "marks", "region_phrases", "regions",
    "cues", "cue_scores", "instructions", "verdicts",
)  # fmt: skip
"""Stages that follow from panels, beside the dataset's rows."""


def test_all_figures_go_on_where_that_is_set(graph: Graph) -> None:
    settings = graph.settings.model_copy(update={"only_wanted_figures": False})
    assert wanted_types(settings) == IMAGE_TYPES
    assert wanted_types(graph.settings) == ("CFP", "OCT", "Retinal Imaging")
    stale = stale_assets(build_defs(settings), graph.instance, graph.tables, graph.batches[0])
    assert set(stale) == {
        "panel_assembly", "reviewed_panels", "panels", "dataset_rows", *CONTEXT, "rejections",
    }  # fmt: skip


def test_subcaptions_can_be_rebuilt_from_their_segments(graph: Graph) -> None:
    from pmo_assets.pipeline.captions.segments import join_segments

    captions = {
        (r["article_id"], r["image_cluster_id"]): r["caption"] for r in read(graph, "figures").iter_rows(named=True)
    }
    rows = read(graph, "dataset_rows")
    assert rows.height > 20
    for row in rows.iter_rows(named=True):
        caption = captions[row["article_id"], row["image_cluster_id"]]
        assert join_segments(caption, [tuple(part) for part in row["subcaption_segments"]]) == row["subcaption_text"]


# the release


@pytest.fixture
def release(graph: Graph) -> pl.DataFrame:
    with graph.tables.data_root.open_random("release/pubmed_ophtha.parquet") as file:
        return pl.read_parquet(file.read())


def hub(graph: Graph, config: str) -> pl.DataFrame:
    """Return a config of the hub's folder, all splits."""
    folder = Path(graph.tables.data_root.uri(f"release/hub/data/{config}"))
    return pl.concat([pl.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])


def test_the_release_has_the_published_columns_and_no_others(release: pl.DataFrame) -> None:
    assert release.columns == list(PublishedPanels.columns())
    assert len(release.columns) == 22
    assert release["panel_id"].is_unique().all()
    assert release["article_id"].dtype == pl.Int64


def test_pairs_credit_as_their_articles_do(graph: Graph) -> None:
    given = dict(hub(graph, "articles").select("article_id", "attribution").iter_rows())
    pairs = hub(graph, "pairs")
    assert set(pairs["level"]) == {"figure", "panel", "region"}
    assert {*pairs.select("article_id", "attribution").iter_rows()} <= {*given.items()}


@pytest.mark.parametrize("config", ["panels", "figures", "articles"])
def test_every_row_of_the_hubs_tables_says_whom_to_credit(graph: Graph, config: str) -> None:
    rows = hub(graph, config)
    assert rows.height > 0
    assert rows.select(
        pl.all_horizontal(pl.col("title", "authors", "year", "doi", "article_url").is_not_null()).all()
    ).item()
    for row in rows.iter_rows(named=True):
        assert row["attribution"].startswith(f"'{row['title']}', {row['authors'][0]}")
        assert row["attribution"].endswith(f"https://doi.org/{row['doi']}")


def test_both_forms_of_the_release_hold_the_same_panels(graph: Graph, release: pl.DataFrame) -> None:
    panels = hub(graph, "panels")
    assert set(panels["panel_id"]) == set(release["panel_id"]) == set(read(graph, "dataset_rows")["panel_id"])
    assert set(hub(graph, "figures")["panel_ids"].explode(empty_as_null=False)) == set(release["panel_id"])
    assert hub(graph, "articles")["panels"].sum() == release.height


def texts_of(content: bytes) -> str:
    """Return everything that a file says: the columns of a Parquet file, decompressed, or the text of a page."""
    if content.startswith(b"PAR1"):
        return repr(pq.read_table(io.BytesIO(content)).to_pydict()) + str(
            pq.read_metadata(io.BytesIO(content)).to_dict()
        )
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    return html.unescape(content.decode(errors="replace"))


def test_no_file_of_the_release_shows_what_a_licence_forbids(graph: Graph, release: pl.DataFrame) -> None:
    forbidden = set(release.filter(pl.col("panel_image_bytes").is_null())["article_id"])
    rows = read(graph, "dataset_rows").filter(pl.col("article_id").is_in(forbidden))
    figures = read(graph, "figures").filter(pl.col("article_id").is_in(forbidden))
    texts = {*rows["subcaption_text"], *rows["in_text_mention"].explode(empty_as_null=False), *figures["caption"]}
    sentences = [text for text in texts if text and len(text) > 30]
    assert len(sentences) > 3
    root = graph.tables.data_root
    files = root.tree("release")
    expected = {"hub/README.md", "hub/LICENSE.md", "hub/manifest.json", "gallery/index.html", "report.html"}
    assert expected <= set(files)
    assert any(name.startswith("versions/") for name in files)
    for name in files:
        text = texts_of(root.read(f"release/{name}"))
        forms = {
            form for sentence in sentences for form in (sentence, repr(sentence)[1:-1], json.dumps(sentence)[1:-1])
        }
        assert not [form for form in forms if form in text], name


def test_the_release_reads_with_other_tools(graph: Graph, release: pl.DataFrame) -> None:
    root = graph.tables.data_root
    assert pq.read_table(root.uri("release/pubmed_ophtha.parquet")).num_rows == release.height
    assert json.loads(root.read("release/hub/manifest.json"))["specialty"] == "ophthalmology"
    for config in CONFIGS:
        if config == "videos":  # there is none
            assert not root.tree(f"release/hub/data/{config}")
        else:
            assert pq.read_table(root.uri(f"release/hub/data/{config}")).num_rows == hub(graph, config).height


def test_panels_are_pictures_of_the_stated_size(graph: Graph, release: pl.DataFrame) -> None:
    sizes = {row["panel_id"]: (row["width"], row["height"]) for row in read(graph, "panels").iter_rows(named=True)}
    for row in release.drop_nulls("panel_image_bytes").iter_rows(named=True):
        assert Image.open(io.BytesIO(row["panel_image_bytes"])).size == sizes[row["panel_id"]]


def test_licences_without_adaptation_are_withheld_and_the_others_are_not(release: pl.DataFrame) -> None:
    withheld = release.filter(pl.col("panel_image_bytes").is_null())
    given = release.filter(pl.col("panel_image_bytes").is_not_null())
    assert withheld.height > 0
    assert withheld["license"].fill_null("ND").str.contains("ND").all()
    assert withheld["subcaption_text"].is_null().all()
    assert withheld["in_text_mention"].is_null().all()
    assert given["in_text_mention"].is_not_null().all()
    assert not given["license"].str.contains("ND").any()
    assert given["subcaption_text"].is_not_null().all()
    assert (withheld["subcaption_segments"].list.len() > 0).all(), "segments stay, so that the text can be restored"


def test_commercial_use_follows_the_licence(release: pl.DataFrame) -> None:
    seen = set(release.select("license", "commercial_use").iter_rows())
    assert ("CC BY", True) in seen
    assert ("CC BY-NC", False) in seen


def test_json_columns_are_json_with_the_published_keys(release: pl.DataFrame) -> None:
    for row in release.iter_rows(named=True):
        position = json.loads(row["position"])
        assert set(position) == {"predicted_box", "content_box", "figure_page_coordinates", "prediction_score"}
        assert all(0 <= value <= 1 for value in position["content_box"])
        for image in json.loads(row["image_data"]):
            assert set(image) == {"id", "imaging_type", "mark_status", "is_gt", "included_in_content_box", "position"}
        for identifier in json.loads(row["identifier_data"]):
            assert {"id", "is_gt", "included_in_content_box", "origin_identifier", "position", "text"} == set(
                identifier
            )
        assert json.loads(row["annotation"]) == []


def test_every_row_has_a_retinal_image_and_its_flags_say_which(release: pl.DataFrame) -> None:
    retinal = release.select(pl.any_horizontal("contains_cfp", "contains_oct", "contains_retinal").all()).item()
    assert retinal


def test_gallery_report_and_card_are_written(graph: Graph) -> None:
    for name, words in (
        ("gallery/index.html", "<html"),
        ("report.html", "<html"),
        ("hub/README.md", "license: other"),
        ("hub/LICENSE.md", "CC BY"),
    ):
        assert words in graph.tables.data_root.read(f"release/{name}").decode()


def test_a_retracted_article_is_not_in_the_release(graph: Graph, release: pl.DataFrame) -> None:
    retracted = set(read(graph, "articles").filter("is_retracted")["article_id"])
    assert retracted
    assert not retracted & set(release["article_id"])


# what the UI shows


@pytest.mark.parametrize(
    ("asset", "expected"),
    [
        ("articles", {"selected", "licences", "seconds"}),
        ("package_figures", {"preview", "with_picture"}),
        ("pdf_figures", {"preview", "figures", "not_located", "seconds"}),
        ("figures", {"preview", "matched"}),
        ("panel_detections", {"preview", "identifiers"}),
        ("image_detections", {"preview", "types"}),
        ("subcaptions", {"preview", "mean_confidence"}),
        ("panel_captions", {"preview", "methods"}),
        ("panel_assembly", {"preview", "images"}),
        ("reviewed_panels", {"preview"}),
        ("panels", {"preview"}),
        ("panel_mentions", {"mentions", "kinds", "sections"}),
        ("panel_summaries", {"with_summary", "mentions_per_panel"}),
        ("panel_entities", {"preview", "groups", "diseases"}),
        ("panel_modality", {"classes", "disagreeing"}),
        ("marks", {"preview", "marks", "kinds", "sources"}),
        ("region_phrases", {"preview", "phrases", "linked", "undecided"}),
        ("regions", {"preview", "regions", "with_words"}),
        ("cues", {"scenes", "context"}),
        ("cue_scores", {"kept", "quality", "difficulty", "relevance"}),
        ("instructions", {"kinds", "topics", "makers"}),
        ("verdicts", {"kept", "discarded_by"}),
        ("dataset_rows", {"left_out"}),
        ("rejections", {"by_error", "first", "page"}),
    ],
)
def test_materialisations_carry_counts_durations_and_pictures(graph: Graph, asset: str, expected: set[str]) -> None:
    metadata = latest(graph, asset, graph.batches[0]).metadata
    assert expected | {"dagster/row_count", "dagster/partition_row_count", "rejected", "articles_per_minute"} <= set(
        metadata
    )
    if "preview" in expected:
        text = str(metadata["preview"].value)
        assert "data:image/webp;base64," in text
        assert len(text) < 20_000


def test_checks_are_evaluated_per_batch(graph: Graph) -> None:
    key = dg.AssetCheckKey(dg.AssetKey("articles"), checks.REJECTED_SHARE)
    records = graph.instance.event_log_storage.get_asset_check_execution_history(key, limit=10)
    assert len(records) == len(graph.batches)
    results = [record.event.asset_check_evaluation for record in records if record.event is not None]
    told = [item for item in results if item is not None and item.metadata["rejected"].value]
    assert told, "sample articles are rejected"
    for item in told:
        assert re.search(r"^\d of \d+ articles were rejected here: PMC\d+ \(\w+\)", item.description or "")
        assert str(item.metadata["page"].value).startswith(graph.settings.pages_url)


@pytest.mark.parametrize("asset", ["panel_mentions", "panel_summaries"])
def test_words_of_the_article_stand_where_rows_say(graph: Graph, asset: str) -> None:
    key = dg.AssetCheckKey(dg.AssetKey(asset), VERBATIM)
    records = graph.instance.event_log_storage.get_asset_check_execution_history(key, limit=10)
    found = [record.event.asset_check_evaluation for record in records if record.event is not None]
    assert [item.passed for item in found if item is not None] == [True] * len(graph.batches)
    assert read(graph, asset).height > 0


# running again


def test_nothing_is_stale_after_a_run(graph: Graph) -> None:
    assert [stale_assets(graph.defs, graph.instance, graph.tables, batch) for batch in graph.batches] == [
        [] for _ in graph.batches
    ]
    assert not release_is_stale(graph.defs, graph.instance, graph.tables.data_root, graph.batches)


def test_an_emptied_data_root_is_made_again(graph: Graph, tmp_path: Path) -> None:
    empty = DataRoot(str(tmp_path))
    assert stale_assets(graph.defs, graph.instance, Tables(empty), graph.batches[0]) == BATCH_ASSETS
    assert release_is_stale(graph.defs, graph.instance, empty, graph.batches)


def test_a_changed_option_makes_the_asset_and_what_follows_stale(graph: Graph) -> None:
    defs = build_defs(graph.settings.model_copy(update={"score_threshold": 0.5}))
    stale = stale_assets(defs, graph.instance, graph.tables, graph.batches[0])
    assert stale[0] == "panel_detections"
    assert "subcaptions" not in stale
    assert set(stale) == {
        "panel_detections", "panel_captions", "image_detections", "panel_assembly", "reviewed_panels", "panels",
        "dataset_rows", *CONTEXT, "rejections",
    }  # fmt: skip


@pytest.mark.slow  # the whole graph again: pipeline/test_article_steps does the same for an article
def test_running_again_gives_the_same_bytes(graph: Graph) -> None:
    root = graph.tables.data_root
    batch = graph.batches[0]
    before = {stage: root.read(graph.tables.key(stage, batch)) for stage in STAGES}
    run_job(graph.defs, graph.instance, "process_batch", batch=batch)
    run_job(graph.defs, graph.instance, "release")  # else it is older than its rows, for other tests
    assert {stage for stage in STAGES if root.read(graph.tables.key(stage, batch)) != before[stage]} == set()


def test_registering_the_same_articles_again_adds_nothing(graph: Graph, sample_folder: Path) -> None:
    from pmo_assets.sources.local import LocalFolder

    assert graph.registry.add(LocalFolder(sample_folder / "articles"), size=3) == []


# failures


@pytest.mark.slow
def test_what_is_systemic_fails_the_batch_and_says_what_to_do(tmp_path: Path) -> None:
    settings = settings_below(tmp_path)
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("article_batch", ["0001-none"])
        with pytest.raises(RunFailed, match=r"article_batch failed.*there is no batch 0001-none"):
            run_job(build_defs(settings), instance, "process_batch", batch="0001-none")


def test_a_release_without_batches_says_what_is_missing(tmp_path: Path) -> None:
    with dg.DagsterInstance.ephemeral() as instance, pytest.raises(RunFailed, match="materialise dataset_rows"):
        run_job(build_defs(settings_below(tmp_path)), instance, "release")


def test_an_unwritable_data_root_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder is needed")
    with pytest.raises(StorageError, match="PMO_DATA_ROOT"):
        Tables(DataRoot(str(tmp_path / "data"))).write_rejections("articles", "b", [])


@pytest.mark.slow  # a release
def test_a_release_is_made_in_one_run_with_a_search_that_nobody_asked_for(graph: Graph) -> None:
    """Without an e-mail address PMC is not asked; a backfill would count what was not made as failed."""
    release = ("retractions", "panel_duplicates", "pubmed_ophtha", "dataset_report")
    names = ("pmc_inventory", "pmc_candidates", "pmc_batches", *release)
    job = graph.defs.resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(
        instance=graph.instance, asset_selection=[dg.AssetKey(name) for name in names], run_config=QUIET
    )
    made = {event.step_key: event for event in result.all_events if event.is_step_materialization}
    assert set(made) == set(names)
    for name in names[:3]:
        said = made[name].step_materialization_data.materialization.metadata
        assert set(said) == {"not_asked"}
        assert "PMO_ENTREZ_EMAIL" in str(said["not_asked"].value)
    assert not graph.tables.data_root.keys("pmc", ".parquet"), "nothing was searched, nothing written"


# sensors


def test_the_sensor_adds_and_runs_registered_batches_once(graph: Graph) -> None:
    resources = {"registry": graph.registry, "data_root": graph.tables.data_root, "settings": graph.settings}
    registered_batches = registered_batches_of({})
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_sensor_context(instance=instance, resources=resources)
        result = registered_batches(context)
        assert isinstance(result, dg.SensorResult)
        assert [request.partition_key for request in result.run_requests or []] == graph.batches
        first, second = graph.batches
        instance.add_dynamic_partitions("article_batch", graph.batches)  # as `pmo batches add` does
        run_job(graph.defs, instance, "process_batch", batch=first, assets=["article_batch"])
        again = registered_batches(dg.build_sensor_context(instance=instance, resources=resources))
        assert isinstance(again, dg.SensorResult)
        assert [request.partition_key for request in again.run_requests or []] == [second]
        run_job(graph.defs, instance, "process_batch", batch=second, assets=["article_batch"])
        last = registered_batches(dg.build_sensor_context(instance=instance, resources=resources))
        assert isinstance(last, dg.SkipReason)


@pytest.mark.slow  # every article again
def test_the_graph_and_the_single_article_command_give_the_same_answer(graph: Graph, sample_folder: Path) -> None:
    from dataclasses import asdict

    from pmo_assets.pipeline.article import process_article
    from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
    from pmo_assets.pipeline.articles.relevance import load_specialty
    from pmo_assets.records.memory_stores import MemoryObjects
    from pmo_assets.sources.local import LocalFolder
    from pmo_assets.sources.package_folders import list_package

    assembled = read(graph, "panel_assembly")
    for article_id in assembled["article_id"].unique().sort().to_list()[:6]:
        folder = sample_folder / "articles" / f"PMC{article_id}"
        listing, objects = list_package(folder, folder.parent), MemoryObjects({})
        assert listing is not None
        package = fetch_package(
            {**asdict(listing), "files": [asdict(item) for item in listing.files]},
            LocalFolder(folder.parent),
            objects,
            FetchLimits(),
        )
        result = process_article(package.rows[0], objects, specialty=load_specialty("ophthalmology"))
        alone = {(key, row["ordinal"]): row for key, rows in result.assembled.items() for row in rows}
        in_graph = assembled.filter(pl.col("article_id") == article_id)
        assert len(alone) == in_graph.height
        for row in in_graph.iter_rows(named=True):
            assert row == alone[row["image_cluster_id"], row["ordinal"]]
