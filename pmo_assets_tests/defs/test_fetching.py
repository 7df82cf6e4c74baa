"""The asset that fetches packages from PMC: says how far it is, and can be interrupted."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import dagster as dg
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.resources import workers_resource
from pmo_assets.defs.runner import run_job
from pmo_assets.settings import Settings
from pmo_assets.sources.pmc_bucket import PmcBucket, PmcOptions
from pmo_assets.sources.pmc_cloud import PmcCloud
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.loopback import CloudArticle, Faults, LoopbackPmc

BUCKET = "packages-to-fetch"
ASSETS = ["article_batch", "article_packages"]
NUMBERS = range(1, 31)


@pytest.fixture
def pmc() -> Iterator[LoopbackPmc]:
    articles = [
        CloudArticle(
            number, xml=b"<article>%d</article>" % number, pdf=b"%%PDF %d" % number, media={"f1.jpg": bytes([number])}
        )
        for number in NUMBERS
    ]
    with LoopbackPmc(articles, bucket=BUCKET) as pmc:
        for article in articles:  # the layout's URLs name PMC's own bucket
            record = pmc.object(article.metadata_key).replace(b"s3://pmc-oa-opendata/", f"s3://{BUCKET}/".encode())
            pmc.put_object(article.metadata_key, record)
        yield pmc


@pytest.fixture
def settings(pmc: LoopbackPmc, tmp_path: Path) -> Settings:
    return Settings(
        data_root=str(tmp_path / "data"),
        dagster_home=tmp_path / "dagster",
        workers=1,
        pmc_endpoint=pmc.endpoint,
        pmc_bucket=BUCKET,
    )


def registered(pmc: LoopbackPmc, registry: BatchRegistry) -> str:
    cloud = PmcCloud(PmcBucket(PmcOptions(bucket=BUCKET, endpoint=pmc.endpoint)), articles=NUMBERS)
    ((batch, _),) = registry.add(cloud, size=len(NUMBERS))
    return batch


@pytest.mark.slow
def test_progress_is_told_for_each_article_that_is_fetched(pmc: LoopbackPmc, settings: Settings) -> None:
    registry, told = BatchRegistry(DataRoot(settings.data_root)), []
    batch = registered(pmc, registry)
    defs = build_defs(
        settings, resource_overrides={"workers": workers_resource(settings, lambda *news: told.append(news))}
    )
    with dg.DagsterInstance.ephemeral() as instance:
        register_partitions(instance, registry.batches())
        run_job(defs, instance, "process_batch", batch=batch, assets=ASSETS)
    assert told == [("article_packages", done, len(NUMBERS)) for done in range(len(NUMBERS) + 1)]
    packages = Tables(registry.data_root).read("article_packages", batch)
    assert packages["article_id"].to_list() == list(NUMBERS)
    assert packages["pdf"].n_unique() == len(NUMBERS)


@pytest.mark.slow  # waits; sources/test_pmc_download holds it
def test_an_interrupted_download_ends_soon_and_goes_on_where_it_was(pmc: LoopbackPmc, settings: Settings) -> None:
    registry = BatchRegistry(DataRoot(settings.data_root))
    batch = registered(pmc, registry)
    pmc.faults = Faults(share=1.0, kinds=("503",), only=lambda path: path.endswith(".jpg"))  # repeated for a minute
    pmc.forget_requests()
    ended: list[float] = []

    def interrupt() -> None:
        while not any(request.path.endswith(".jpg") for request in pmc.requests):
            time.sleep(0.05)
        ended.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with dg.DagsterInstance.ephemeral() as instance:
        register_partitions(instance, registry.batches())
        run = partial(run_job, build_defs(settings), instance, "process_batch", batch=batch, assets=ASSETS)
        with pytest.raises(KeyboardInterrupt):
            run()
        assert time.monotonic() - ended[0] < 15
        assert not Tables(registry.data_root).exists("article_packages", batch)
        got = pmc.get_counts("PMC")
        pmc.faults = Faults()
        run()
    assert got, "some files came before the interruption"
    counts = pmc.get_counts("PMC")
    assert set(counts.values()) == {1}, "nothing is downloaded twice"
    assert len(counts) == 3 * len(NUMBERS)
