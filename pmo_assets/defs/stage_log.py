"""The log of a batch asset: lines in Dagster's event log and on standard error, and rates as metadata.

Lines that any room logs while the asset works go to both places. Here are the handler that carries them to the event
log, and the lines that the asset itself logs when it begins and ends.
"""

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import dagster as dg
from dagster import Field

from pmo_assets import logs
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.records.faults import full_disk_advice
from pmo_assets.records.rejections import Rejection
from pmo_assets.records.stores import SystemicError
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.settings import Settings
from pmo_assets.workers.effort import Effort, per_minute

_LOG = logging.getLogger(__name__)

LINES_PER_STEP: Final = 40
"""Lines of one step in the event log: a bad batch must not fill the database. Standard error has all."""

REJECTIONS_SHOWN: Final = 20
"""Rejections of one step that get a line of their own; the table has all."""

SLOWEST_SHOWN: Final = 5
"""Articles in the table of the slowest."""

_CARRIED: Final = "pmo_carried"
"""Attribute of records that were on standard error before they came to the event log."""

_ONLY_STDERR: Final = "stage_started"
"""The event that Dagster logs itself."""


@contextlib.contextmanager
def in_event_log(context: dg.AssetExecutionContext, **fields: object) -> Iterator[None]:
    """Let what the package logs in the block appear in the run's event log, with these fields, up to a number of lines.

    A handler of our own and not `managed_python_loggers` of `dagster.yaml`: a home that was made before has another
    one, and the database needs the limit.
    """

    def carry(record: logging.LogRecord) -> None:
        text, article = record.getMessage(), str(logs.fields_of(record).get("article", ""))
        text = text if article in text else f"article {article}: {text}"
        context.log.log(record.levelno, logs.printable(text, keep="\n"), extra={_CARRIED: True})

    handler = logs.OneLineEach(carry, LINES_PER_STEP)
    handler.addFilter(lambda record: logs.fields_of(record).get("event") != _ONLY_STDERR)
    with logs.log_fields(**fields), logs.attached(handler):
        try:
            yield
        finally:
            if handler.left_out:
                context.log.info(f"{handler.left_out} more lines of this step are on standard error only")


def stage_logged(name: str, function: Callable[..., Any], unit: Unit = ARTICLE) -> Callable[..., Any]:
    """Return the function of a batch asset with its lines in the event log and its rates in the metadata.

    It is the outermost wrapper: its result has no metadata any more.
    """

    @functools.wraps(function)
    def logged(context: dg.AssetExecutionContext, *args: Any, **kwargs: Any) -> dg.MaterializeResult[StageResult]:
        with in_event_log(context, batch=context.partition_key, stage=name, run=context.run_id):
            _LOG.info("begins", extra={logs.FIELDS: {"event": _ONLY_STDERR}})
            try:
                result: dg.MaterializeResult[StageResult] = function(context, *args, **kwargs)
            except OSError as error:
                if advice := full_disk_advice(error):
                    raise SystemicError(f"{error}{advice}") from error
                raise
            facts = _rates(result, unit)
            _say_rejections(result.value.rejections, unit)
            _LOG.info(
                "%s %s in %.1f s (%.0f a minute): %s rows, %s rejected",
                facts[unit.names],
                unit.names,
                facts["seconds"],
                facts[f"{unit.names}_per_minute"],
                len(result.value.rows),
                facts["rejected"],
                extra={logs.FIELDS: {"event": "stage_finished", "rows": len(result.value.rows), **facts}},
            )
            # As metadata of the asset alone: what is returned stands in the event of the step's output, too.
            context.add_asset_metadata({**facts, **(result.metadata or {})})
            return result._replace(metadata=None)

    return logged


def _rates(result: dg.MaterializeResult[StageResult], unit: Unit) -> dict[str, Any]:
    """Return counts and rate of a stage, by the names under which the UI plots them."""
    told = result.metadata or {}
    seconds = float(told["seconds"])  # type: ignore[arg-type]
    said, rejected = told.get(unit.names), told.get("rejected", len(result.value.rejections))
    count = said if isinstance(said, int) else len({row[unit.key] for row in result.value.rows})
    return {
        "seconds": seconds,
        unit.names: count,
        f"{unit.names}_per_minute": per_minute(count, seconds),
        "rejected": rejected,
    }


def _say_rejections(rejections: Sequence[Rejection], unit: Unit) -> None:
    for item in rejections[:REJECTIONS_SHOWN]:
        where = f"{unit.name} {item.unit_id}" + (f", {item.part}" if item.part else "")
        own = {"event": "rejected", unit.name: item.unit_id, "error": item.error_class}
        if item.part:
            own[unit.part_name] = item.part
        _LOG.info("%s rejected: %s: %s", where, item.error_class, item.message[:300], extra={logs.FIELDS: own})
    if len(rejections) > REJECTIONS_SHOWN:
        _LOG.info("%s more are rejected: the table `rejections` has all", len(rejections) - REJECTIONS_SHOWN)


def effort_metadata(effort: Effort) -> dict[str, Any]:
    """Return the effort of a step as metadata: its slowest articles, memory of workers, second attempts."""
    facts: dict[str, Any] = {}
    if effort.peak_bytes:
        facts["peak_worker_mb"] = effort.peak_mb
    if effort.again:
        facts["tried_again"] = effort.again
    if slowest := effort.slowest(SLOWEST_SHOWN):
        # JSON: Dagster's table, with its schema, takes ten times the bytes in the event log
        facts["slowest_seconds"] = dg.MetadataValue.json({str(number): round(took, 2) for number, took in slowest})
    return facts


@dg.logger(
    {"log_level": Field(str, default_value="INFO", is_required=False)},
    description="Dagster's events as JSON lines on standard error (PMO_LOG_FORMAT=json).",
)
def json_console(context: dg.InitLoggerContext) -> logging.Logger:
    """Return the logger of runs that writes Dagster's lines; those of the rooms are there already."""
    logger = logging.Logger("dagster", level=context.logger_config["log_level"])
    handler = logs.stderr_handler(logs.JsonLines())
    handler.addFilter(_of_dagster)
    logger.addHandler(handler)
    return logger


def _of_dagster(record: logging.LogRecord) -> bool:
    """Say whether a record is Dagster's own, and give it our fields."""
    if getattr(record, _CARRIED, False):
        return False
    facts = getattr(record, "dagster_meta", None)
    if facts is not None:
        tags = facts["job_tags"] or {}
        event = facts["dagster_event"]
        named = {
            "event": event.event_type_value.lower() if event is not None else None,
            "job": facts["job_name"],
            "run": facts["run_id"],
            "stage": facts["step_key"],
            "batch": tags.get("dagster/partition"),
        }
        setattr(record, logs.FIELDS, {key: value for key, value in named.items() if value is not None})
        record.msg, record.args = facts["orig_message"], ()
    return True


def log_as_set(settings: Settings) -> None:
    """Let this process log as the settings say: JSON lines on standard error, or, for people, what Dagster prints."""
    logs.set_level(settings.log_level)
    if settings.log_format == "json":
        logs.log_to_stderr("json", settings.log_level)
