"""From settings to a search: who is asked, in whose name, and for what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pmo_assets.records.stores import SystemicError
from pmo_assets.refresh.searching import entrez_options, pmc_options, query_of, released_between, search_pmc
from pmo_assets.settings import Settings
from pmo_assets.storage.candidates import Candidates
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets_tests.loopback import LoopbackPmc, articles_from_folder
from pmo_assets_tests.refresh.conftest import Refreshes, article


def settings(pmc: LoopbackPmc | None = None, **options: Any) -> Settings:
    there = {name.removeprefix("PMO_").lower(): value for name, value in pmc.environment.items()} if pmc else {}
    return Settings(**{"entrez_email": None, "specialty": "everything", **there, **options})


def test_without_an_address_nobody_is_asked(refreshes: Refreshes) -> None:
    nameless = settings(refreshes.pmc, entrez_email=None)
    for ask in (
        lambda: entrez_options(nameless),
        lambda: released_between(nameless, None, None),
        lambda: search_pmc(nameless, refreshes.root, Candidates(), {}, None, lambda *_: None),
    ):
        with pytest.raises(SystemicError, match=r"set PMO_ENTREZ_EMAIL .* no account is needed"):
            ask()
    assert refreshes.pmc.requests == []


def test_the_bucket_is_asked_in_the_name_of_the_same_address_as_the_search() -> None:
    options = pmc_options(settings(entrez_email="a@example.org", pmc_concurrency=64, pmc_bucket="mirror"))
    assert (options.contact, options.concurrency, options.bucket, options.endpoint) == (
        "a@example.org",
        64,
        "mirror",
        None,
    )


def test_the_key_is_not_shown() -> None:
    options = entrez_options(settings(entrez_email="a@example.org", entrez_api_key="secret-key"))
    assert options.api_key == "secret-key"
    assert "secret-key" not in repr(options)


def test_the_query_is_the_specialtys_among_what_the_bucket_has() -> None:
    query = query_of(settings(specialty="ophthalmology"))
    assert "open_access[Filter]" in query
    assert "author_manuscript[Filter]" in query
    assert "retina" in query.lower()


@pytest.mark.slow  # a search of PMC
def test_a_search_finds_looks_and_says_so(refreshes: Refreshes, sample_folder: Path, tmp_path: Path) -> None:
    samples = articles_from_folder(sample_folder / "articles")
    refreshes.put(*samples, article(2))
    told: list[tuple[str, int, int]] = []
    found = search_pmc(
        settings(refreshes.pmc, specialty="ophthalmology", pmc_concurrency=64),
        DataRoot(str(tmp_path / "root")),
        Candidates(),
        {},
        ContentStore(refreshes.root),
        lambda *what: told.append(what),
    )
    assert 0 < found.searched < len(samples)
    assert found.searched == found.added == sum(found.events.values())
    assert set(found.candidates.numbers()) < {item.number for item in samples}
    assert told[-1] == ("look", found.searched, found.searched)
    assert not (tmp_path / "root").exists(), "what is known is written by who asked"


def test_terms_that_pmc_does_not_know_are_said(refreshes: Refreshes) -> None:
    unknown = [f"retinae {number}" for number in range(12)]
    refreshes.pmc.search.not_found = tuple(unknown)
    try:
        found = search_pmc(
            settings(refreshes.pmc, entrez_email="a@b.org"), refreshes.root, Candidates(), {}, None, lambda *_: None
        )
    finally:
        refreshes.pmc.search.not_found = ()
    (note,) = (note for note in found.notes if "narrower" in note)
    assert "not in PMC: retinae 0; not in PMC: retinae 1" in note
    assert note.endswith("… and 2 more")
