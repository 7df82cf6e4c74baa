"""What a batch asset says of its work: in Dagster's event log, as JSON lines, as metadata that the UI plots."""

import json
import logging
from collections.abc import Iterator, Sequence

import dagster as dg
import pytest

from pmo_assets import logs
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.partitions import ARTICLE_BATCHES, register_partitions
from pmo_assets.defs.stage_log import LINES_PER_STEP, REJECTIONS_SHOWN, json_console
from pmo_assets.defs.stage_table import batch_table
from pmo_assets.records.rejections import Rejection

_LOG = logging.getLogger("pmo_assets.some_room")
BATCH = "0001-aaaaaaaa"


@pytest.fixture(autouse=True)
def _logger() -> Iterator[None]:
    """Log what is worth it, and leave the package's logger as it was."""
    logger = logging.getLogger(logs.PACKAGE)
    handlers, level = list(logger.handlers), logger.level
    logs.set_level("INFO")
    yield
    logger.handlers[:] = handlers
    logger.setLevel(level)


class Nowhere(dg.IOManager):
    """Keeps nothing."""

    def handle_output(self, context: dg.OutputContext, obj: StageResult) -> None:
        """Drop the rows."""

    def load_input(self, context: dg.InputContext) -> None:
        """Nobody reads."""


def rejection(number: int) -> Rejection:
    return Rejection("article_packages", number, None, "NoPdf", "the package has no PDF")


def made(
    instance: dg.DagsterInstance, rejections: Sequence[Rejection] = (), lines: int = 0
) -> tuple[dg.ExecuteInProcessResult, dg.AssetMaterialization, list[str]]:
    """Run an asset that logs and rejects; return its run, its materialisation and what its event log has in words."""

    @batch_table("article_packages", group="articles", makers=[rejection])
    def article_packages(context: dg.AssetExecutionContext) -> dg.MaterializeResult[StageResult]:
        with logs.log_fields(article=7):
            for number in range(lines):
                _LOG.info("line %s", number)
        preview = dg.MetadataValue.md("x" * 5000)
        return dg.MaterializeResult(
            value=StageResult([], rejections), metadata={"seconds": 30.0, "articles": 20, "preview": preview}
        )

    register_partitions(instance, [BATCH])
    defs = dg.Definitions(
        assets=[article_packages],
        resources={"io_manager": Nowhere()},
        jobs=[dg.define_asset_job("make", [article_packages], partitions_def=ARTICLE_BATCHES)],
        executor=dg.in_process_executor,
        loggers={"console": json_console},
    )
    job = defs.resolve_job_def("make")
    console = {"loggers": {"console": {"config": {"log_level": "DEBUG"}}}}
    result = job.execute_in_process(instance=instance, partition_key=BATCH, run_config=console)
    entries = instance.all_logs(result.run_id)
    said = [entry.user_message for entry in entries if not entry.is_dagster_event]
    (materialization,) = result.asset_materializations_for_node("article_packages")
    return result, materialization, said


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def test_the_ui_gets_a_rate_to_plot_over_partitions(instance: dg.DagsterInstance) -> None:
    _, materialization, _ = made(instance, [rejection(1)])
    numbers = {key: materialization.metadata[key].value for key in ("articles_per_minute", "seconds", "rejected")}
    assert numbers == {"articles_per_minute": 40.0, "seconds": 30.0, "rejected": 1}


def test_metadata_stand_in_one_event_only(instance: dg.DagsterInstance) -> None:
    result, materialization, _ = made(instance)
    assert "preview" in materialization.metadata
    (output,) = [event for event in result.all_events if event.event_type_value == "STEP_OUTPUT"]
    assert "preview" not in output.step_output_data.metadata


def test_the_event_log_has_a_line_for_the_end_and_one_for_each_rejection(instance: dg.DagsterInstance) -> None:
    _, _, said = made(instance, [rejection(1), rejection(2)])
    assert said == [
        "article 1 rejected: NoPdf: the package has no PDF",
        "article 2 rejected: NoPdf: the package has no PDF",
        "20 articles in 30.0 s (40 a minute): 0 rows, 2 rejected",
    ]


def test_what_rooms_log_is_there_with_its_article(instance: dg.DagsterInstance) -> None:
    assert made(instance, lines=1)[2][0] == "article 7: line 0"


def test_a_bad_batch_does_not_fill_the_event_log(
    instance: dg.DagsterInstance, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.log_to_stderr("json", "INFO")
    _, _, said = made(instance, [rejection(number) for number in range(100)], lines=100)
    assert len(said) == LINES_PER_STEP + 1
    assert said[-1].endswith("more lines of this step are on standard error only")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    own = [line for line in lines if line["logger"] == "pmo_assets.some_room"]
    assert len(own) == 100
    assert sum(line.get("event") == "rejected" for line in lines) == REJECTIONS_SHOWN
    assert f"{100 - REJECTIONS_SHOWN} more are rejected: the table `rejections` has all" in {
        line["message"] for line in lines
    }


def test_json_lines_have_dagsters_events_and_ours_once_with_the_same_fields(
    instance: dg.DagsterInstance, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.log_to_stderr("json", "INFO")
    result, *_ = made(instance, [rejection(1)])
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    events = [line["event"] for line in lines if "event" in line]
    for event in ("pipeline_start", "step_start", "stage_started", "rejected", "stage_finished", "step_success"):
        assert events.count(event) == 1, event
    (started,) = [line for line in lines if line.get("event") == "step_start"]
    assert (started["batch"], started["stage"], started["run"]) == (BATCH, "article_packages", result.run_id)
    (finished,) = [line for line in lines if line.get("event") == "stage_finished"]
    assert finished["batch"] == BATCH
    assert finished["stage"] == "article_packages"
    assert finished["run"] == result.run_id
    assert (finished["articles"], finished["rejected"], finished["articles_per_minute"]) == (20, 1, 40.0)
