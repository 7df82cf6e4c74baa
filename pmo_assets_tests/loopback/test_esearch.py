"""The stand-in's search: answers that Biopython reads, limits, errors, and the query language."""

from __future__ import annotations

import datetime
import io
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode

import pytest
from Bio import Entrez

from pmo_assets_tests.loopback import CloudArticle, Faults, LoopbackPmc
from pmo_assets_tests.loopback.entrez_evaluator import (
    EntrezIndex,
    EntrezSyntaxError,
    parse_query,
    record_of,
)
from pmo_assets_tests.loopback.layout import facts_of


def _jats(caption: str, text: str = "", *mesh: str) -> bytes:
    terms = "".join(f"<kwd>{term}</kwd>" for term in mesh)
    return (
        f'<article><front><article-meta><kwd-group kwd-group-type="MESH">{terms}</kwd-group></article-meta></front>'
        f'<body><p>{text}</p><fig id="f1"><caption><p>{caption}</p></caption><graphic href="g1"/></fig></body>'
        "</article>"
    ).encode()


def _on(day: int) -> datetime.date:
    return datetime.date(2026, 1, day)


OCT = CloudArticle(101, xml=_jats("OCT of the macula", "The retina.", "Macula Lutea"), released=_on(14))
OCTOBER = CloudArticle(102, xml=_jats("Oct 2015", "The heart."), released=_on(20))
MANUSCRIPT = CloudArticle(
    103,
    xml=_jats("Optical-coherence  tomography", "Retinas."),
    is_manuscript=True,
    is_open_access=False,
    released=_on(31),
)
BROKEN = CloudArticle(104, xml=b"<article", text=b"OCT of the retina", released=_on(31))
ARTICLES = (OCT, OCTOBER, MANUSCRIPT, BROKEN)
EITHER = "(open_access[Filter] OR author_manuscript[Filter])"


@pytest.fixture
def pmc() -> Iterator[LoopbackPmc]:
    with LoopbackPmc(ARTICLES) as server:
        yield server


def _body(server: LoopbackPmc, post: bool = False, **parameters: Any) -> bytes:
    query = urlencode({"db": "pmc", **parameters})
    url = f"{server.entrez_url}esearch.fcgi"
    with urllib.request.urlopen(url, query.encode()) if post else urllib.request.urlopen(f"{url}?{query}") as answer:
        return bytes(answer.read())


def _read(server: LoopbackPmc, post: bool = False, **parameters: Any) -> Any:
    return Entrez.read(io.BytesIO(_body(server, post, **parameters)))


@pytest.mark.parametrize("post", [False, True])
def test_answers_are_read_by_biopython(pmc: LoopbackPmc, post: bool) -> None:
    answer = _read(pmc, post, term='"OCT"[Figure/Table Caption]', tool="pmo", email="a@example.org")

    assert (answer["Count"], answer["RetMax"], answer["RetStart"]) == ("3", "3", "0")
    assert answer["IdList"] == ["104", "102", "101"]
    assert answer["QueryTranslation"] == '"OCT"[Figure/Table Caption]'
    assert pmc.requests[-1].query["term"] == '"OCT"[Figure/Table Caption]'
    assert pmc.requests[-1].path == "/entrez/eutils/esearch.fcgi"


def test_pages_end_at_the_limit_but_for_the_history_server(pmc: LoopbackPmc) -> None:
    pmc.search.limit = 3
    everything = f"{EITHER} AND 2026:3000[pmcrdat]"

    assert _read(pmc, term=everything, retstart=2, retmax=50)["IdList"] == ["102"]
    with pytest.raises(HTTPError) as refused:
        _read(pmc, term=everything, retstart=3)
    assert (refused.value.code, b"'retstart' cannot be larger than 2" in refused.value.read()) == (400, True)
    first = _read(pmc, term=everything, usehistory="y", retmax=0)
    page = {"usehistory": "y", "WebEnv": first["WebEnv"], "query_key": first["QueryKey"], "retstart": 2, "retmax": 2}
    assert _read(pmc, **page)["IdList"] == ["102", "101"]
    assert _read(pmc, term=everything, **page)["IdList"] == ["102", "101"]
    pmc.search.forget_history()
    with pytest.raises(RuntimeError, match="Unable to obtain query"):
        _read(pmc, **page)


@pytest.mark.parametrize(
    ("term", "dates", "numbers"),
    [
        ("2026/01/14:2026/01/20[pmcrdat]", {}, ["102", "101"]),
        ('"2026/01/20":"3000"[pmcrdat]', {}, ["104", "103", "102"]),
        ("2026/1/31[pmcrdat]", {}, ["104", "103"]),
        (f"{EITHER} NOT 2026/01/31[pmcrdat]", {}, ["102", "101"]),
        ("open_access[Filter]", {"datetype": "pmcrdat", "mindate": "2026/01/14", "maxdate": "2026/01"}, None),
        ("open_access[filter]", {"datetype": "pmcrdat", "mindate": "2026/01/01", "maxdate": "2026/01/19"}, ["101"]),
        ("author_manuscript[Filter]", {}, ["103"]),
    ],
)
def test_dates_and_filters(pmc: LoopbackPmc, term: str, dates: dict[str, str], numbers: list[str] | None) -> None:
    assert _read(pmc, False, term=term, **dates)["IdList"] == (numbers or ["104", "102", "101"])


def test_a_published_version_is_searched_before_a_manuscript_and_the_first_release_counts(pmc: LoopbackPmc) -> None:
    pmc.put(CloudArticle(103, 2, xml=_jats("Slit lamp"), released=_on(31) + datetime.timedelta(days=9)))

    assert _read(pmc, term='"tomography"[Figure/Table Caption]')["IdList"] == []
    assert _read(pmc, term='"slit lamp"[Figure/Table Caption] AND 2026/01/31[pmcrdat]')["IdList"] == ["103"]
    pmc.delete(103)
    assert _read(pmc, term="author_manuscript[Filter]")["Count"] == "0"


def test_errors_come_on_demand_and_from_wrong_queries(pmc: LoopbackPmc) -> None:
    pmc.search.errors.append("Search Backend failed: Couldn't connect")
    with pytest.raises(RuntimeError, match="Couldn't connect"):
        _read(pmc, term="retina[Body]")
    pmc.search.bodies.append(b"<html>Maintenance</html>")
    assert _body(pmc, term="retina[Body]") == b"<html>Maintenance</html>"
    pmc.search.not_found = ("retinaa",)
    assert _read(pmc, term="retina[Body]")["ErrorList"]["PhraseNotFound"] == ["retinaa"]
    assert _read(pmc, term='"retina"[No Such Field]')["ErrorList"]["FieldNotFound"] == ["No Such Field"]
    with pytest.raises(RuntimeError, match="Cannot process query"):
        _read(pmc, term='("retina"[Body]')
    with pytest.raises(RuntimeError, match="Empty term"):
        _read(pmc)


def test_too_many_requests_without_a_key(pmc: LoopbackPmc) -> None:
    now = 100.0
    pmc.search.rate_limit = True
    pmc.search.clock = lambda: now
    for _ in range(3):
        _read(pmc, term="retina[Body]")
    with pytest.raises(HTTPError, match="429"):
        _read(pmc, term="retina[Body]")
    for _ in range(10):
        _read(pmc, term="retina[Body]", api_key="k")
    with pytest.raises(HTTPError, match="429"):
        _read(pmc, term="retina[Body]", api_key="k")
    now += 1
    assert _read(pmc, term="retina[Body]")["Count"] == "2"


def test_the_search_fails_with_the_bucket_or_alone(pmc: LoopbackPmc) -> None:
    pmc.faults = Faults(share=1, kinds=("503",), only=lambda path: path.startswith("/entrez/"))

    with pytest.raises(HTTPError, match="503"):
        _read(pmc, term="retina[Body]")
    assert pmc.client().head_object(Bucket=pmc.bucket, Key=OCT.key("xml"))["ContentLength"] == len(OCT.xml or b"")


INDEX = EntrezIndex([record_of(facts_of(article), article.number) for article in ARTICLES])


@pytest.mark.parametrize(
    ("term", "numbers"),
    [
        ('"oct"[figure/table caption]', {101, 102, 104}),
        ("optical coherence tomography[Figure/Table Caption]", {103}),
        ('"retina"[Body - All Words]', {101, 104}),
        ('"retina*"[Body - All Words]', {101, 103, 104}),
        ('"Retina"[MeSH Terms]', {101}),
        ('"Macula"[MeSH Terms]', set()),
        ('"macula the"[Body - All Words]', set()),
        ("heart[Body] OCT[Body]", {102}),
        # from left to right: (heart OR retina) AND macula
        ("heart[Body] OR retina[Body] AND macula[Body]", {101}),
        ("heart[Body] OR (retina[Body] AND macula[Body])", {101, 102}),
        ("OCT[Body] NOT retina[Body] OR macula[Body]", {101, 102}),
        ("and[Body]", set()),
    ],
)
def test_the_query_language(term: str, numbers: set[int]) -> None:
    assert INDEX.search(parse_query(term)) == numbers


@pytest.mark.parametrize(
    "term",
    ["", "(retina[Body]", "retina[Body])", "retina AND", "AND retina", '"retina', "2026:2027[Body]", "2026/13[pmcrdat]",
     "x:y[pmcrdat]", "()", "(" * 60 + "x" + ")" * 60],
)  # fmt: skip
def test_a_wrong_query_is_refused(term: str) -> None:
    with pytest.raises(EntrezSyntaxError):
        INDEX.search(parse_query(term))
