"""The search beside the gallery, over real sockets: who finds what, and what nobody is shown."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import numpy as np
import pytest

from pmo_assets.encoders.evaluation.embedding_files import write_embedding_table
from pmo_assets.encoders.search.index import write_index
from pmo_assets.encoders.search.panel_search import MOST_PICTURE_BYTES, PanelSearch
from pmo_assets.encoders.search.panels import panel_embeddings
from pmo_assets.loading import Release, load
from pmo_assets.release.keys import HUB
from pmo_assets.serving.server import address_of, listening_socket, web_server
from pmo_assets.serving.site import site
from pmo_assets.storage.data_root import DataRoot
from pmo_assets_tests.encoders.conftest import tiny_encoder
from pmo_assets_tests.loading.small_release import write_release
from pmo_assets_tests.viewing.gallery.test_widths import WIDTHS, cut_off, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["tiny_encoder"]


@contextmanager
def served(root: Path, search: PanelSearch) -> Iterator[httpx2.Client]:
    server = web_server(site(DataRoot(str(root)), search=search))
    with listening_socket("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            with httpx2.Client(base_url=address_of(listening), timeout=60) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()


def indexed(release: Release, folder: Path, *, encoder: str = "", values: Any = None) -> Path:
    """Write an index of all panels, also of those whose picture is withheld, and return its folder."""
    names = release.panels.to_arrow(["panel_id"]).column(0).to_pylist()
    rows = np.random.default_rng(1).standard_normal((len(names), 8)).astype(np.float32) if values is None else values
    write_embedding_table(folder / "E.parquet", names, "image", "panel", rows)
    table = panel_embeddings(folder / "E.parquet", release)
    write_index(
        folder / "I", table, encoder=encoder, encoder_name="some encoder", release=release.digest,
        version=release.version, graph=False,
    )  # fmt: skip
    return folder / "I"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("root")
    write_release(place, articles=10)
    return place


@pytest.fixture(scope="module")
def search(root: Path, tmp_path_factory: pytest.TempPathFactory) -> PanelSearch:
    release = load(root)
    return PanelSearch(indexed(release, tmp_path_factory.mktemp("index")), release)


@pytest.fixture(scope="module")
def client(root: Path, search: PanelSearch) -> Iterator[httpx2.Client]:
    with served(root, search) as made:
        yield made


def found(client: httpx2.Client, **query: str) -> list[dict[str, Any]]:
    answer = client.get("/search/panels", params=query)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["panels"])


def test_a_panel_finds_others_with_text_licence_and_credit(client: httpx2.Client, search: PanelSearch) -> None:
    panels = {panel.panel_id: panel for panel in search.release.panels}
    name = next(iter(panels))
    told = found(client, panel=name, count="100")
    assert {hit["panel_id"] for hit in told} == set(panels) - {name}
    assert [hit["score"] for hit in told] == sorted((hit["score"] for hit in told), reverse=True)
    for hit in told:
        panel = panels[hit["panel_id"]]
        assert hit["subcaption"] == ("withheld" if panel.subcaption is None else panel.subcaption)
        assert (hit["license"], hit["attribution"]) == (panel.license, panel.attribution)


def test_filters_come_before_the_search(client: httpx2.Client, search: PanelSearch) -> None:
    name = search.release.panels[0].panel_id
    choices = search.choices()
    assert set(choices) == {"modality", "disease", "eye"}
    for word in choices["modality"]:
        expected = {panel.panel_id for panel in search.release.panels.filter(modality=word)} - {name}
        assert {hit["panel_id"] for hit in found(client, panel=name, count="100", modality=word)} == expected


def test_a_picture_is_shown_unless_its_licence_withholds_it(client: httpx2.Client, search: PanelSearch) -> None:
    kinds = set()
    for panel in search.release.panels:
        answer = client.get(f"/search/pictures/{panel.panel_id}")
        picture = panel.picture()
        kinds.add(picture is None)
        assert (answer.status_code, picture) in ((404, None), (200, answer.content))
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert kinds == {True, False}
    assert client.get("/search/pictures/p_0").status_code == 404


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"panel": "p_0"}, "no panel 'p_0'"),
        ({"text": "an OCT scan"}, "need the encoder"),
        ({"text": " "}, "text is empty"),
        ({"text": "x" * 2001}, "more than 2,000"),
        ({"panel": "p_0", "count": "101"}, "1 to 100"),
        ({"panel": "p_0", "count": "-1"}, "1 to 100"),
        ({"panel": "FIRST", "modality": "OTC"}, "no modality 'OTC'"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(client: httpx2.Client, search: PanelSearch, query, words) -> None:
    first = search.release.panels[0].panel_id
    asked = {key: first if value == "FIRST" else value for key, value in query.items()}
    answer = client.get("/search/panels", params=asked)
    assert answer.status_code == 422
    assert words in answer.json()["error"]


def test_another_site_can_neither_ask_nor_send(client: httpx2.Client) -> None:
    assert client.post("/search/panels", content=b"x", headers={"Origin": "https://evil.example"}).status_code == 403
    foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert client.get("/search/panels", headers=foreign).status_code == 403


def test_the_index_page_links_to_the_search_only_where_there_is_one(client: httpx2.Client, root: Path) -> None:
    assert 'href="/search"' in client.get("/").text
    assert "Content-Security-Policy" in client.get("/search").text
    assert 'name="modality"' in client.get("/search").text


def test_a_release_that_is_replaced_or_filled_is_not_shown(tmp_path: Path) -> None:
    place = tmp_path / "root"
    write_release(place, articles=5)
    release = load(place)
    name = next(panel.panel_id for panel in release.panels if panel.picture())
    with served(place, PanelSearch(indexed(release, tmp_path), release)) as client:
        assert client.get(f"/search/pictures/{name}").status_code == 200
        sums, manifest = (place / HUB / part for part in ("SHA256SUMS", "manifest.json"))
        kept = sums.read_bytes()
        sums.write_bytes(kept + b"0" * 64 + b"  more.parquet\n")
        assert client.get(f"/search/pictures/{name}").status_code == 404
        assert client.get("/search/panels", params={"panel": name}).status_code == 409
        sums.write_bytes(kept)
        stated = json.loads(manifest.read_text("utf-8"))
        manifest.write_text(json.dumps({**stated, "filled": {"restored": 3}}), "utf-8")
        sums.touch()
        sums.write_bytes(kept)
        assert client.get(f"/search/pictures/{name}").status_code == 404


def test_texts_and_pictures_ask_by_the_encoder_of_the_index(tiny_encoder: Path, root: Path, tmp_path: Path) -> None:
    from pmo_assets.encoders.embedding import embed_pictures_and_texts, encoder_digest
    from pmo_assets.encoders.networks.building import load_encoder

    release, encoder = load(root), load_encoder(tiny_encoder)
    shown = [panel for panel in release.panels if panel.picture()]
    values = np.random.default_rng(0).standard_normal((len(release.panels), encoder.dimensions)).astype(np.float32)
    own = {panel.panel_id: row for panel, row in zip(
        shown, embed_pictures_and_texts(encoder, [panel.image() for panel in shown], [])[0], strict=True
    )}  # fmt: skip
    for place, panel in enumerate(release.panels):
        values[place] = own.get(panel.panel_id, values[place])
    index = indexed(release, tmp_path, encoder=encoder_digest(encoder), values=values)
    with served(root, PanelSearch(index, release, tiny_encoder)) as client:
        answer = client.post("/search/panels", content=shown[0].picture() or b"")
        assert answer.json()["panels"][0]["panel_id"] == shown[0].panel_id
        assert answer.json()["panels"][0]["score"] == pytest.approx(1, abs=1e-4)
        assert len(found(client, text="an OCT scan of the retina", count="3")) == 3
        assert "no picture" in client.post("/search/panels", content=b"<svg/>").json()["error"]
        large = client.post("/search/panels", content=b"\0" * (MOST_PICTURE_BYTES + 1))
        assert "more than 32 MiB" in large.json()["error"]


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_people_find_panels_in_a_browser(browser: Browser, client: httpx2.Client, search: PanelSearch, width) -> None:
    pytest.importorskip("axe_core_python", reason="needs axe-core (the extra `dev`)")
    page = browser.new_page(viewport={"width": width, "height": 800})
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    name = search.release.panels[0].panel_id
    page.goto(f"{str(client.base_url).rstrip('/')}/search?panel={name}")
    page.wait_for_selector("#found li")
    count = len(search.release.panels) - 1
    assert page.locator("#found li").count() == min(24, count)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert cut_off(page) == []
    assert violations(page) == []
    word = search.choices()["modality"][0]
    with page.expect_response(lambda answer: "modality=" in answer.url):
        page.select_option("select[name=modality]", word)
    page.locator("#said", has_text="nearest").wait_for()
    for text in page.locator("#found li .chips").all_inner_texts():
        assert word in text
    assert f"modality={word.replace(' ', '+')}" in page.url
    page.locator("#found li").first.get_by_role("button", name="Similar").click()
    page.locator("#like-text", has_not_text=name).wait_for()
    assert faults == []
    page.close()
