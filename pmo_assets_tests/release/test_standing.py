"""What newer manifests, other sources and PMC say takes effect before, and without, their batches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.licences import LICENSE_CODES, freedoms
from pmo_assets.release.keys import HUB
from pmo_assets.release.making import gone_articles
from pmo_assets.release.rebuilding import rebuild_release
from pmo_assets.release.reports import conflicts_table, withheld_table
from pmo_assets.release.retractions import read_retractions, write_retractions
from pmo_assets.release.selection import Selection, articles_under, current_rows, select_articles
from pmo_assets.release.standing import Restriction, waiting_statements
from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.parquet import parquet_bytes
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.examples import examples
from pmo_assets_tests.release.finished import LOCAL, SECRET, finish, make, published, read_table, release_of
from pmo_assets_tests.release.registered import FOLDER, PMC, at_pmc, process, process_whole, register

TITLE = "Serous macular detachment secondary to an optic pit"
OTHER_TITLE = "Another paper about macular holes in the eye"


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(DataRoot(str(tmp_path)))


def licences(tables: Tables) -> dict[int, str | None]:
    """Return the licence under which a release publishes each article."""
    selection = select_articles(tables)
    rows = [current_rows(tables, selection, batch, ["article_id", "license"]) for batch in selection.current]
    return dict(pl.concat(rows).unique().iter_rows())


def fail(tables: Tables, batch: str, facts: Mapping[int, Mapping[str, Any]], failure: str) -> None:
    """Register a batch and let it fail in a way; what its metadata state is in the manifest alone."""
    register(tables, batch, facts)
    if failure == "failed after its articles":
        scratch = Tables(DataRoot(f"{tables.data_root.root}/scratch"))
        finish(scratch, batch, facts, facts_only=True)
        for asset in ("article_packages", "articles"):
            tables.write(asset, batch, scratch.read(asset, batch))
    elif failure == "source gone":
        for asset in ("article_packages", "articles", "dataset_rows"):
            tables.write(asset, batch, [])


FAILURES = ("not run", "failed after its articles", "source gone")


# retracted and narrowed before the batch


@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES)
def test_a_newer_manifest_that_retracts_takes_the_rows_out(failure: str, tables: Tables) -> None:
    process_whole(tables, "0001-a", {1: {}, 2: {}})
    fail(tables, "0002-b", {1: {"is_retracted": True}}, failure)
    assert published(tables) == [2]
    selection = select_articles(tables)
    why = "a newer manifest (batch 0002-b, not processed) says that the article is retracted"
    assert selection.retracted[1].why == why
    noted = write_retractions(tables, selection, date(2026, 1, 15))
    assert noted.select("article_id", "reason", "why").rows() == [(1, "retracted", why)]
    assert gone_articles(tables.data_root, selection) == {1: f"the article was retracted: {why}"}
    assert withheld_table(selection).rows == (("n1", "left out", why),)
    assert release_of(tables, selection)["article_id"].to_list() == [2]


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"code": "CC BY-NC-ND"}, "CC BY-NC-ND"),
        ({"code": "CC BY-NC"}, "CC BY-NC"),
        ({"code": "all rights reserved"}, None),
        ({"code": None, "license_unknown": True}, None),
        ({"code": "CC BY-NC-ND", "version": 2}, "CC BY-NC-ND"),
    ],
)
def test_a_newer_manifest_that_narrows_holds_at_once(
    failure: str, facts: dict[str, Any], expected: str | None, tables: Tables
) -> None:
    process(tables, "0001-a", {1: {}, 2: {}})
    fail(tables, "0002-b", {1: facts}, failure)
    assert licences(tables) == {1: expected, 2: "CC BY"}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(
    "facts", [{}, {"version": 2}, {"code": None}, {"code": "CC0"}, {"code": "CC0", "version": 2}, {"pdf": "another"}]
)
def test_who_says_nothing_narrower_empties_no_release(failure: str, facts: dict[str, Any], tables: Tables) -> None:
    if facts.get("code", "") is None:
        failure = "not run"  # else its articles were looked at: no licence stands anywhere, which is narrower
    process(tables, "0001-a", {1: {}})
    fail(tables, "0002-b", {1: facts}, failure)
    assert licences(tables) == {1: "CC BY"}


def test_what_the_articles_of_a_failed_batch_say_counts_like_its_manifest(tables: Tables) -> None:
    process(tables, "0001-a", {1: {}, 2: {}})
    fail(tables, "0002-b", {1: {}, 2: {}}, "failed after its articles")
    read = tables.read("articles", "0002-b")
    stated = read.with_columns(
        license_code=pl.when(article_id=1).then(pl.lit("CC BY-ND")).otherwise("license_code"),
        is_retracted=pl.col("article_id") == 2,
    )
    tables.write("articles", "0002-b", stated)
    assert licences(tables) == {1: "CC BY-ND"}


@pytest.mark.parametrize("facts", [{"is_retracted": True}, {"code": "CC BY-NC-ND"}])
def test_pmc_is_heard_before_a_manifest_says_so(facts: dict[str, Any], tables: Tables) -> None:
    process(tables, "0001-a", {1: {"name": "PMC1.1"}, 2: {"name": "PMC2.1"}})
    at_pmc(tables, 1, **facts)
    assert licences(tables) == {2: "CC BY"} | ({1: facts["code"]} if "code" in facts else {})
    selection = select_articles(tables)
    (row,) = withheld_table(selection).rows
    assert str(row[2]).startswith("PubMed Central says")
    at_pmc(tables, 1)
    assert licences(tables) == {1: "CC BY", 2: "CC BY"}, "no batch ever said so"


def test_pmc_is_heard_also_for_a_folders_package_of_its_number(tables: Tables) -> None:
    process(tables, "0001-a", {1: {"name": "PMC1"}}, FOLDER)
    at_pmc(tables, 1, code="CC BY-NC-ND")
    assert licences(tables) == {1: "CC BY-NC-ND"}
    at_pmc(tables, 1, code="CC0")
    assert licences(tables) == {1: "CC BY"}


def test_an_older_version_says_nothing_of_a_newer_one(tables: Tables) -> None:
    process(tables, "0001-a", {1: {"version": 2}, 2: {}})
    register(tables, "0002-b", {1: {"is_retracted": True}, 2: {"code": "CC BY-ND", "is_manuscript": True}})
    assert licences(tables) == {1: "CC BY", 2: "CC BY"}


def test_a_release_is_due_when_a_manifest_takes_rights_of_a_released_article_away(tables: Tables) -> None:
    process_whole(tables, "0001-a", {1: {}, 2: {}})
    make(tables)
    assert waiting_statements(tables) == []
    register(tables, "0002-b", {1: {"pdf": "other"}, 9: {"is_retracted": True}})
    assert waiting_statements(tables) == []
    register(tables, "0003-c", {2: {"code": "CC BY-ND"}})
    assert len(waiting_statements(tables)) == 1


# what was said before


@pytest.mark.slow
@pytest.mark.parametrize("narrow", [{"code": "CC BY-NC-ND"}, {"license_unknown": True, "code": None}])
@pytest.mark.parametrize("write", [process, register])
def test_old_metadata_that_are_seen_again_widen_nothing(write: Any, narrow: dict[str, Any], tables: Tables) -> None:
    process(tables, "0001-a", {1: {}})
    write(tables, "0002-b", {1: narrow})
    for batch in ("0003-c", "0004-d"):
        process(tables, batch, {1: {}})
        assert freedoms(licences(tables)[1]) <= freedoms("CC BY-NC-ND"), "also with another picture, and so on"
        write(tables, f"{int(batch[:4]) + 10:04d}-n", {1: narrow})
    process(tables, "0020-e", {1: {"version": 2}})
    assert licences(tables) == {1: "CC BY"}


@pytest.mark.parametrize("write", [process, register])
def test_old_metadata_that_are_seen_again_unretract_nothing(write: Any, tables: Tables) -> None:
    process(tables, "0001-a", {1: {}, 2: {}})
    write(tables, "0002-b", {1: {"is_retracted": True}})
    process(tables, "0003-c", {1: {}})
    assert 1 not in licences(tables)
    process(tables, "0004-d", {1: {"pdf": "another"}})
    assert 1 not in licences(tables)
    process(tables, "0005-e", {1: {"version": 2}})
    assert licences(tables) == {1: "CC BY", 2: "CC BY"}


@pytest.mark.parametrize(
    ("narrow", "expected"), [({"license_code": "CC BY-NC-ND"}, {7: "CC BY-NC-ND"}), ({"is_retracted": True}, {})]
)
def test_a_folder_whose_metadata_go_back_and_forth_gives_what_the_narrower_ones_give(
    narrow: dict[str, Any], expected: dict[int, str | None], tables: Tables, tmp_path: Path
) -> None:
    package, registry = tmp_path / "articles" / "PMC7", BatchRegistry(tables.data_root)
    package.mkdir(parents=True)
    (package / "article.pdf").write_bytes(b"%PDF-1.7")
    wide: dict[str, Any] = {"license_code": "CC BY", "title": TITLE}
    for stated in (wide, {**wide, **narrow}, wide, {**wide, **narrow}, wide):
        (package / "metadata.json").write_text(json.dumps(stated))
        for batch, _ in registry.add(LocalFolder(tmp_path / "articles"), 9):
            if stated is wide:
                finish(tables, batch, {7: {"name": "PMC7"}}, facts_only=True)
    assert licences(tables) == expected
    (package / "metadata.json").write_text(json.dumps({**wide, "version": 2}))
    ((batch, _),) = registry.add(LocalFolder(tmp_path / "articles"), 9)
    finish(tables, batch, {7: {"name": "PMC7", "version": 2}}, facts_only=True)
    assert licences(tables) == {7: "CC BY"}


def test_another_sources_copy_widens_nothing(tables: Tables) -> None:
    process(tables, "0001-a", {1: {"name": "PMC1.1"}})
    process(tables, "0002-b", {1: {"name": "PMC1.1", "code": "CC BY-NC-ND"}})
    process(tables, "0003-c", {1: {"name": "PMC1.1"}}, FOLDER)
    assert licences(tables) == {1: "CC BY-NC-ND"}


@pytest.mark.slow
@examples(8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*LICENSE_CODES, None]), st.booleans(), st.booleans(), st.sampled_from([PMC, FOLDER])
        ),
        min_size=1,
        max_size=5,
    )
)
def test_a_release_never_gives_more_than_the_source_that_last_took_away(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str | None, bool, bool, str]]
) -> None:
    tables = Tables(DataRoot(str(tmp_path_factory.mktemp("root"))))
    process(tables, "0001-a", {1: {"code": "CC0", "name": "PMC1"}})
    latest: dict[str, list[tuple[str | None, bool]]] = {PMC: [("CC0", False)], FOLDER: []}
    for place, (code, is_retracted, is_done, source) in enumerate(said, start=2):
        facts = {"code": code or "unknown words", "is_retracted": is_retracted, "name": "PMC1"}
        (process if is_done else register)(tables, f"{place:04d}-x", {1: facts}, source)
        if (code, is_retracted) not in latest[source]:
            latest[source].append((code, is_retracted))
    found = licences(tables)
    for statements in latest.values():
        if statements:
            code, is_retracted = statements[-1]
            assert 1 not in found or (freedoms(found[1]) <= freedoms(code) and not is_retracted)


# what the release holds and says


@pytest.mark.slow
def test_what_is_narrowed_is_null_in_every_form_and_says_why(tables: Tables) -> None:
    process_whole(tables, "0001-a", {1: {}, 2: {}})
    register(tables, "0002-b", {1: {"code": "CC BY-NC-ND"}})
    made = make(tables)
    root = tables.data_root
    for key in [f"{HUB}/{name}" for name in root.tree(HUB) if name.endswith(".parquet")]:
        table = read_table(root, key)
        if "article_id" not in table.columns:
            continue
        text = str(table.filter(article_id=1).to_dicts())
        assert SECRET not in text, key
    rows = release_of(tables).filter(article_id=1)
    assert rows["license"].to_list() == ["CC BY-NC-ND"]
    assert rows["commercial_use"].to_list() == [False]
    assert rows["panel_image_bytes"].null_count() == rows.height
    why = "a newer manifest (batch 0002-b, not processed) says CC BY-NC-ND"
    listed = read_table(root, f"{HUB}/narrowed_licences.parquet")
    assert listed.rows() == [(1, "0001-a", "CC BY", "CC BY-NC-ND", why)]
    assert "hub/narrowed_licences.parquet" in {file.path for file in made.manifest.files}


def test_a_release_with_nothing_to_say_has_no_file_for_it(tables: Tables) -> None:
    process_whole(tables, "0001-a", {1: {}})
    assert not {"hub/conflicts.parquet", "hub/narrowed_licences.parquet"} & {
        f.path for f in make(tables).manifest.files
    }


def test_a_table_of_retractions_from_before_is_read(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {"is_retracted": True}})
    noted = write_retractions(tables, select_articles(tables), date(2026, 1, 15))
    tables.data_root.write("release/retractions.parquet", parquet_bytes(noted.drop("why")))
    assert read_retractions(tables.data_root)["why"].to_list() == [None]


# who may speak for others


def claim(**facts: Any) -> dict[str, Any]:
    return {"doi": "10.1/victim", "is_retracted": True, "title": OTHER_TITLE, "rows": 0, **facts}


VICTIM: dict[str, Any] = {"doi": "10.1/victim", "title": TITLE, "has_xml": True}


def test_a_metadata_file_with_a_victims_doi_retracts_itself_alone(tables: Tables) -> None:
    process_whole(tables, "0001-a", {1: VICTIM})
    process_whole(tables, "0002-b", {LOCAL: claim(title=None)}, FOLDER)
    assert 1 in published(tables)
    selection = select_articles(tables)
    (row,) = selection.conflict_listing().rows(named=True)
    assert (row["article_id"], row["other_article_id"], row["claim"], row["value"]) == (
        LOCAL,
        1,
        "retraction",
        "10.1/victim",
    )
    assert [cells[1] for cells in conflicts_table(selection).rows] == ["that it is retracted"]
    release_of(tables, selection)
    assert read_table(tables.data_root, f"{HUB}/conflicts.parquet")["other_name"].to_list() == ["n1"]


@pytest.mark.parametrize("source", [PMC, "file:///curated/2026"])
@pytest.mark.parametrize("write", [process, register])
def test_a_trusted_source_speaks_for_others_before_its_batch_too(write: Any, source: str, tables: Tables) -> None:
    process(tables, "0001-a", {LOCAL: {"doi": "10.1/victim"}}, FOLDER)
    write(tables, "0002-b", {7: {"doi": "10.1/victim", "is_retracted": True}}, source)
    selection = select_articles(tables, ("pmc://", "file:///curated"))
    assert [number for numbers in selection.current.values() for number in numbers if number == LOCAL] == []
    assert [item.package.article_id for item in selection.duplicates] == [LOCAL]


def test_what_pmc_lists_as_retracted_takes_copies_out_that_no_batch_of_its_own_holds(tables: Tables) -> None:
    process(tables, "0001-a", {LOCAL: {"doi": "10.1/victim"}}, FOLDER)
    at_pmc(tables, 7, is_retracted=True, doi="10.1/VICTIM")
    assert published(tables) == []


@pytest.mark.parametrize("write", [process, register])
def test_a_package_with_a_victims_number_neither_replaces_nor_retracts_it(write: Any, tables: Tables) -> None:
    process(tables, "0001-a", {1: {"title": TITLE}, 2: {"title": TITLE}})
    forged = {"title": OTHER_TITLE, "stated_title": OTHER_TITLE, "name": "mine", "version": 9, "pdf": "forged"}
    write(tables, "0002-b", {1: {**forged, "is_retracted": True}, 2: forged}, FOLDER)
    selection = select_articles(tables)
    assert selection.current["0001-a"] == [1, 2]
    assert {item.claim for item in selection.conflicts if item.other.article_id == 1} <= {"retraction"}
    if write is process:
        assert {item.package.name for item in selection.conflicts} == {"mine"}
        assert selection.current["0002-b"] == []


def xml_of(tables: Tables, title: str, author: str, pmcid: int | None = None) -> str:
    """Store an XML and return its key."""
    given, family = author.split()
    number = f'<article-id pub-id-type="pmcid">PMC{pmcid}</article-id>' if pmcid else ""
    text = (
        f"<article><front><article-meta>{number}<title-group><article-title>{title}</article-title></title-group>"
        f'<contrib-group><contrib contrib-type="author"><name><surname>{family}</surname><given-names>{given}'
        "</given-names></name></contrib></contrib-group></article-meta></front></article>"
    )
    return ContentStore(tables.data_root).put(text.encode(), ".xml")


@pytest.mark.parametrize("is_first", [True, False])
def test_of_two_untrusted_packages_of_one_number_the_one_whose_xml_states_it_is_believed(
    is_first: bool, tables: Tables
) -> None:
    true = {"title": TITLE, "xml": xml_of(tables, TITLE, "Ada Author", 1), "has_xml": True, "name": "true", "pdf": "a"}
    forged = {
        "title": OTHER_TITLE, "authors": ["Mal Lory"], "xml": xml_of(tables, OTHER_TITLE, "Mal Lory"), "has_xml": True,
        "name": "forged", "version": 9, "pdf": "b",
    }  # fmt: skip
    batches = [{1: true}, {1: forged}] if is_first else [{1: forged}, {1: true}]
    for place, (batch, facts) in enumerate(zip(("0001-a", "0002-b"), batches, strict=True)):
        process(tables, batch, facts, f"{FOLDER}/{place}")
    selection = select_articles(tables)
    assert selection.current == ({"0001-a": [1], "0002-b": []} if is_first else {"0001-a": [], "0002-b": [1]})
    assert [(item.package.name, item.other.name, item.claim) for item in selection.conflicts] == [
        ("forged", "true", "same article")
    ]


@pytest.mark.parametrize(("author", "is_heard"), [("Ada Author", True), ("Mal Lory", False)])
def test_a_title_that_only_metadata_state_is_looked_up_in_the_xml(author: str, is_heard: bool, tables: Tables) -> None:
    process(tables, "0001-a", {1: VICTIM})
    copied = claim(title=TITLE, title_source="metadata", authors=[author], xml=xml_of(tables, TITLE, author))
    process(tables, "0002-b", {LOCAL: copied}, FOLDER)
    assert (1 in published(tables)) is not is_heard


@pytest.mark.slow
def test_a_release_is_rebuilt_with_the_licences_that_held_then(tables: Tables, tmp_path: Path) -> None:
    process_whole(tables, "0001-a", {1: {}, 2: {}})
    register(tables, "0002-b", {1: {"code": "CC BY-NC-ND"}})
    made = make(tables)
    register(tables, "0003-c", {2: {"code": "CC BY-ND"}})
    rebuilt = rebuild_release(tables, made.manifest.version, DataRoot(str(tmp_path / "old")), say=lambda _: None)
    assert (rebuilt.other, rebuilt.changed_batches) == ((), {})


def test_an_annotated_article_whose_licence_was_narrowed_is_published_without_its_texts(tables: Tables) -> None:
    process(tables, "0001-a", {1: {}, 2: {}})
    register(tables, "0002-b", {1: {"code": "CC BY-NC-ND"}})
    known = articles_under(tables.read("articles", "0001-a"), select_articles(tables))
    assert known.select("article_id", "license_code").rows() == [(1, "CC BY-NC-ND"), (2, "CC BY")]
    assert known.columns == tables.read("articles", "0001-a").columns


def test_a_package_of_a_trusted_sources_number_replaces_it_only_if_it_is_shown_to_be_it(tables: Tables) -> None:
    process(tables, "0001-a", {1: {"title": TITLE, "pdf": "a"}, 2: {"title": TITLE, "pdf": "b"}})
    newer = {"name": "mine", "version": 2}
    process(
        tables, "0002-b", {1: {**newer, "title": None, "pdf": "c"}, 2: {**newer, "title": TITLE, "pdf": "d"}}, FOLDER
    )
    assert select_articles(tables).current == {"0001-a": [1], "0002-b": [2]}


def test_the_trusted_sources_are_a_choice(tables: Tables) -> None:
    process(tables, "0001-a", {1: VICTIM})
    process(tables, "0002-b", {LOCAL: claim(title=None)}, FOLDER)
    assert select_articles(tables, [FOLDER]).duplicates
    assert not select_articles(tables, [f"{FOLDER}/below", "file:///art"]).duplicates


def test_manifests_of_earlier_versions_are_heard(tables: Tables) -> None:
    process(tables, "0001-a", {1: {}, 2: {}})
    register(tables, "0002-b", {1: {"is_retracted": True}})
    key = "manifests/0002-b.parquet"
    old = read_table(tables.data_root, key).drop("license_unknown", "problems", "doi", "is_manuscript")
    tables.data_root.write(key, parquet_bytes(old))
    assert published(tables) == [2]


def test_rows_are_never_freer_than_they_were_made(tables: Tables) -> None:
    process(tables, "0001-a", {1: {"code": "CC BY-ND"}, 2: {"code": None}})
    selection = Selection({"0001-a": [1, 2]}, licences={n: Restriction("CC BY-NC", "CC BY", "") for n in (1, 2)})
    rows = current_rows(tables, selection, "0001-a", ["article_id", "license", "license_url", "commercial_use"])
    assert rows.rows() == [(1, "CC BY-NC-ND", None, False), (2, None, None, False)]
    assert current_rows(tables, selection, "0001-a", ["commercial_use"]).rows() == [(False,), (False,)]


def test_a_selection_without_licences_leaves_rows_as_they_were_made(tables: Tables) -> None:
    process(tables, "0001-a", {1: {}})
    rows = current_rows(tables, Selection({"0001-a": [1]}), "0001-a")
    assert rows.equals(tables.read("dataset_rows", "0001-a").select(rows.columns))
