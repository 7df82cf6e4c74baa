"""Sources of a run: opened once, and what waits for a network can be told to stop."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from pmo_assets.records.packages import SourceError
from pmo_assets.sources.opening import SourceOpener
from pmo_assets.sources.pmc_bucket import PmcOptions
from pmo_assets.workers.threads import Stoppable
from pmo_assets_tests.loopback import CloudArticle, Faults, LoopbackPmc

ARTICLE = CloudArticle(
    7, xml=b"<article/>", pdf=b"%PDF" + bytes(100), media={f"f{n}.jpg": b"jpeg" for n in range(40)},
    released=date(2026, 1, 14),
)  # fmt: skip


def test_a_source_is_opened_once_also_by_threads(tmp_path: Path) -> None:
    opener = SourceOpener()
    with ThreadPoolExecutor(8) as pool:
        assert len({id(source) for source in pool.map(lambda _: opener(str(tmp_path)), range(32))}) == 1
    opener.stop()  # folders have nothing to stop


def test_reading_that_is_repeated_ends_when_it_is_stopped() -> None:
    with LoopbackPmc([ARTICLE], bucket="stopping") as pmc:
        pmc.faults = Faults(share=1.0, kinds=("503",))
        opener = SourceOpener(PmcOptions(endpoint=pmc.endpoint, pause=30))
        assert isinstance(opener, Stoppable)
        source = opener("pmc://stopping")
        threading.Timer(0.5, opener.stop).start()
        started = time.monotonic()
        with pytest.raises(SourceError):
            source.read(ARTICLE.key("pdf"))
        assert time.monotonic() - started < 10, "the pause before the second attempt alone takes 30 s"
        asked = len(pmc.requests)
        with pytest.raises(SourceError, match="not read any more"):
            source.read(ARTICLE.key("pdf"))
        assert len(pmc.requests) == asked, "nothing is asked for after that"


def test_no_more_requests_are_under_way_than_the_settings_say() -> None:
    under_way, most, lock = 0, 0, threading.Lock()

    with LoopbackPmc([ARTICLE], bucket="polite") as pmc:
        source = SourceOpener(PmcOptions(endpoint=pmc.endpoint, concurrency=2))("pmc://polite")
        answered = pmc._traffic._answered

        def counted(environ, answer):  # type: ignore[no-untyped-def]
            nonlocal under_way, most
            with lock:
                under_way += 1
                most = max(most, under_way)
            time.sleep(0.02)
            with lock:
                under_way -= 1
            return answered(environ, answer)

        pmc._traffic._answered = counted  # type: ignore[method-assign]
        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(source.read, [ARTICLE.key(name) for name in ARTICLE.media])) == {b"jpeg"}
    assert most == 2
