"""What Dagster's instance tells Prometheus, of a real instance with runs that succeeded and failed."""

from pathlib import Path

import dagster as dg
import pytest
from prometheus_client.core import GaugeMetricFamily

from pmo_assets.defs.instance import open_instance
from pmo_assets.defs.instance_metrics import instance_families, instance_reader
from pmo_assets.defs.partitions import ARTICLE_BATCHES
from pmo_assets.defs.stale_counts import CURRENT, STALE_BATCHES
from pmo_assets.settings import Settings


@dg.asset(name="rejections", partitions_def=ARTICLE_BATCHES)
def finished_last(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    if context.partition_key == "bad":
        raise ValueError("no")
    return dg.MaterializeResult(metadata={"seconds": 2.5, "articles_per_minute": 40.0})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_root=str(tmp_path / "data"), dagster_home=tmp_path / "home")


def values(families: list[GaugeMetricFamily], name: str) -> dict[str, float]:
    return {
        next(iter(sample.labels.values()), ""): sample.value
        for family in families
        if family.name == name
        for sample in family.samples
    }


@pytest.mark.slow  # runs
def test_runs_failed_batches_and_seconds_are_told(settings: Settings) -> None:
    with open_instance(settings) as instance:
        instance.add_dynamic_partitions("article_batch", ["good", "bad", "new"])
        for key in ("good", "bad"):
            dg.materialize([finished_last], partition_key=key, instance=instance, raise_on_error=False)
        families = instance_families(instance)
    assert values(families, "pmo_runs")["success"] == 1
    assert values(families, "pmo_runs")["failure"] == 1
    assert values(families, "pmo_batches_failed") == {"rejections": 1}
    assert values(families, "pmo_stage_seconds") == {"rejections": 2.5}
    assert values(families, "pmo_stage_articles_per_minute") == {"rejections": 40.0}
    assert values(instance_reader(settings)(), "pmo_instance_up") == {"": 1}


@pytest.mark.slow
def test_a_batch_that_was_made_after_it_failed_is_no_longer_failed(settings: Settings) -> None:
    with open_instance(settings) as instance:
        instance.add_dynamic_partitions("article_batch", ["bad"])
        dg.materialize([finished_last], partition_key="bad", instance=instance, raise_on_error=False)

        @dg.asset(name="rejections", partitions_def=ARTICLE_BATCHES)
        def mended() -> None: ...

        dg.materialize([mended], partition_key="bad", instance=instance)
        assert values(instance_families(instance), "pmo_batches_failed") == {"rejections": 0}


@pytest.mark.slow  # runs
def test_the_batches_that_the_check_found_stale_last_are_told(settings: Settings) -> None:
    with open_instance(settings) as instance:
        instance.add_dynamic_partitions("article_batch", ["first"])
        dg.materialize([finished_last], partition_key="first", instance=instance)
        assert values(instance_families(instance), "pmo_batches_stale") == {}, "nobody has looked yet"
        for count in (3, 1):
            evaluation = dg.AssetCheckEvaluation(
                dg.AssetKey("rejections"), CURRENT, passed=False, metadata={STALE_BATCHES: count}
            )
            instance.report_runless_asset_event(evaluation)
        assert values(instance_families(instance), "pmo_batches_stale") == {"rejections": 1}


def test_an_instance_that_is_not_there_is_not_made(settings: Settings, tmp_path: Path) -> None:
    families = instance_reader(settings)()
    assert values(families, "pmo_instance_up") == {"": 0}
    assert len(families) == 1
    assert not (tmp_path / "home").exists()
