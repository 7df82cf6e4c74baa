"""A release from beginning to end: whole or not at all, the same again for the same, its version and its history."""

from __future__ import annotations

import getpass
import hashlib
import io
import json
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from pmo_assets.annotation.annotations import AnnotatedArticle, annotation_rows
from pmo_assets.pictures import compact_bytes, png_bytes
from pmo_assets.pipeline.articles.licences import LICENSE_CODES, TEXT_MINING
from pmo_assets.records.stores import StorageError
from pmo_assets.release import making
from pmo_assets.release.differences import NEW_ARTICLE, NOT_MADE
from pmo_assets.release.keys import ANNOTATION_KEY, GALLERY_KEY, HUB, RELEASE_KEY
from pmo_assets.release.making import Origin
from pmo_assets.release.retractions import write_retractions
from pmo_assets.release.selection import select_articles
from pmo_assets.release.statistics.outcomes import NONCOMMERCIAL
from pmo_assets.release.versions import (
    data_digest,
    read_history,
    read_manifest,
    read_version_table,
    released_versions,
    schema_digest,
)
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.quality import Annotations
from pmo_assets.tables.release import CONFIGS
from pmo_assets.tables.schemas import checked
from pmo_assets_tests.release.finished import (
    FIGURE_SIDES,
    LOCAL,
    SECRET,
    files_below,
    finish,
    make,
    pixels_of,
    read_table,
)

CODES = [*LICENSE_CODES, TEXT_MINING, None]
CLOSED = [code for code in CODES if code is None or "ND" in code or code == TEXT_MINING]


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(DataRoot(str(tmp_path / "data")))


def changed_text(tables: Tables, batch: str, panel: str, **columns: Any) -> None:
    """Let a batch say something else of a panel."""
    rows = tables.read("dataset_rows", batch).to_dicts()
    next(row for row in rows if row["panel_id"] == panel).update(columns)
    tables.write("dataset_rows", batch, rows)


# what is there


@pytest.mark.slow
def test_both_forms_lie_where_they_belong_with_everything_beside_them(tables: Tables) -> None:
    finish(tables, "0001-a", {3: {}, 4: {}}, panels=2)
    release = make(tables)
    assert tables.data_root.tree("release") == [
        "gallery/index.html",
        *(f"hub/{name}" for name in ("CHANGES.md", "CITATION.cff", "LICENSE.md", "README.md", "SHA256SUMS",
          "croissant.json")),
        *(f"hub/data/{config}/{split}-00000.parquet" for config in sorted({*CONFIGS} - {"videos"})
          for split in ("test", "train")),
        *(f"hub/{name}" for name in ("duplicate_articles.parquet", "duplicates.parquet", "manifest.json",
          "retractions.parquet", "splits.parquet", "statistics.json", "withheld.parquet")),
        "pubmed_ophtha.parquet", "pubmed_ophtha_annotation.json",
        *(f"versions/1.0.0/{name}" for name in ("absent.parquet", "articles.parquet", "changes.json",
          "duplicates.parquet", "manifest.json", "rows.parquet")),
    ]  # fmt: skip
    assert tables.data_root.read(ANNOTATION_KEY) == b"{}", "nobody annotated anything"
    assert (release.facts.panels, release.facts.articles, release.expected) == (4, 2, 4)
    assert sorted(release.panel_ids) == sorted(read_table(tables.data_root, RELEASE_KEY)["panel_id"])


@pytest.mark.slow
def test_what_a_release_of_the_former_layout_left_behind_is_taken_away(tables: Tables) -> None:
    """Its gallery would go on showing what is retracted since; what others put there is not touched."""
    finish(tables, "0001-a", {1: {}})
    for name in ("README.md", "LICENSE.md", "duplicates.parquet", "gallery.html", "notes.txt"):
        tables.data_root.write(f"release/{name}", b"of before")
    make(tables)
    beside = [name for name in tables.data_root.tree("release") if "/" not in name]
    assert beside == ["notes.txt", "pubmed_ophtha.parquet", "pubmed_ophtha_annotation.json"]


@pytest.mark.slow
def test_the_manifest_says_what_it_was_made_of(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}, 2: {"code": "CC BY-ND"}}, panels=3)
    finish(tables, "0002-b", {2: {"version": 2, "code": "CC BY-NC"}, 5: {"looks": "1"}})
    origin = Origin({"panels": "settings"}, {"panels": "code"}, {"weights.onnx": "ab"}, figures={"max_dpi": 300})
    manifest = make(tables, origin=origin, options=ReleaseOptions(figure_pictures=False)).manifest
    root = tables.data_root
    assert root.read(f"{HUB}/manifest.json") == root.read("release/versions/1.0.0/manifest.json") == manifest.as_bytes()
    assert read_manifest(root, "1.0.0") == manifest
    assert (manifest.version, manifest.previous, manifest.specialty) == ("1.0.0", None, "everything")
    assert (manifest.settings, manifest.code_versions, manifest.models) == (
        origin.settings, origin.code_versions, origin.models
    )  # fmt: skip
    assert manifest.options == {
        "noncommercial": True, "figure_pictures": False, "withhold": True, "mask_people": False,
        "split_shares": [0.8, 0.1, 0.1],
        "test_from_year": None, "figures": {"max_dpi": 300},
    }  # fmt: skip
    assert [(item.batch, item.articles) for item in manifest.batches] == [("0001-a", 1), ("0002-b", 2)]
    assert manifest.schema_digest == schema_digest()
    assert manifest.counts["panels"] == 5
    assert manifest.counts["withheld"] == 0, "the version under CC BY-ND is not the newest"
    for file in manifest.files:
        content = root.read(f"release/{file.path}")
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file.size, file.sha256)
        if file.path.endswith(".parquet"):
            assert file.rows == pq.read_metadata(io.BytesIO(content)).num_rows
    assert manifest.digest == data_digest(manifest.files)


@pytest.mark.slow
def test_the_manifests_file_list_holds_every_data_file(tables: Tables) -> None:
    finish(tables, "0001-a", {3: {}, 4: {}})
    make(tables)
    root = tables.data_root
    listed = {file.path for file in read_manifest(root, "1.0.0").files}
    assert listed == {
        name for name in root.tree("release") if not name.startswith("versions/") and "parquet" in name
    } | {"pubmed_ophtha_annotation.json"}


@pytest.mark.slow
def test_the_sums_are_those_of_the_folder(tables: Tables) -> None:
    """The real `sha256sum` checks them, and every file is listed."""
    finish(tables, "0001-a", {number: {"code": CODES[number % len(CODES)]} for number in range(1, 30)}, panels=2)
    make(tables)
    folder = Path(tables.data_root.uri(HUB))
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    checked = {line.removesuffix(": OK") for line in done.stdout.splitlines()}
    assert checked == {name for name in tables.data_root.tree(HUB) if name != "SHA256SUMS"}
    (folder / "README.md").write_text("another")
    assert (
        subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=folder, capture_output=True, check=False).returncode == 1
    )


# what must not be there


def said_by(content: bytes) -> str:
    """Return everything that a file says: what a Parquet file holds, decompressed and with its statistics, or text."""
    if content[:4] != b"PAR1":
        return content.decode()
    metadata = pq.read_metadata(io.BytesIO(content))
    return f"{pq.read_table(io.BytesIO(content)).to_pydict()} {metadata.to_dict()} {metadata.metadata}"


def pictures_in(content: bytes) -> bool:
    return b"\x89PNG" in content or b"WEBP" in content or b"\xff\xd8\xff" in content


@pytest.mark.parametrize(
    "code", [pytest.param(code, marks=() if code in ("CC BY-ND", None) else pytest.mark.slow) for code in CLOSED]
)
def test_no_file_of_the_release_holds_a_forbidden_text_or_picture(code: str | None, tables: Tables) -> None:
    same = {"code": code, "doi": f"10.1000/{LOCAL + 1}"}
    finish(tables, "0001-a", {LOCAL + 1: {"code": code}, LOCAL + 2: same, 7: {"code": code}})
    make(tables, annotations=annotated("PMC7"))
    files = files_below(tables.data_root)
    assert len(files) > 15
    assert b"PMC7_f1" in files["pubmed_ophtha_annotation.json"]
    panel, figure = f"p_{LOCAL + 1}_f1_0", pixels_of(f"{LOCAL + 1} f1", FIGURE_SIDES)
    forbidden = [compact_bytes(pixels_of(panel)), png_bytes(pixels_of(panel)), png_bytes(figure)]
    for name, content in files.items():
        assert SECRET.encode() not in content, name
        assert SECRET not in said_by(content), name
        assert not [picture for picture in forbidden if picture in content], name
        assert not pictures_in(content), name


def test_the_search_for_forbidden_texts_finds_allowed_ones(tables: Tables) -> None:
    """Else the test above would show nothing."""
    finish(tables, "0001-a", {1: {"code": "CC BY"}})
    make(tables)
    files = files_below(tables.data_root)
    assert {name for name, content in files.items() if SECRET in said_by(content)} == {
        "pubmed_ophtha.parquet",
        *(f"hub/data/{config}/train-00000.parquet" for config in ("panels", "figures", "pairs", "instructions")),
    }  # fmt: skip
    assert {name for name, content in files.items() if pictures_in(content)} == {
        "pubmed_ophtha.parquet", "hub/data/panels/train-00000.parquet", "hub/data/figures/train-00000.parquet"
    }  # fmt: skip


@pytest.mark.slow  # two releases
def test_nothing_that_goes_out_says_where_or_when_it_was_made(tables: Tables, tmp_path: Path) -> None:
    finish(tables, "0001-a", {number: {"code": CODES[number % len(CODES)]} for number in range(1, 9)})
    make(tables)
    today = datetime.now(UTC)
    words = [
        str(tmp_path), str(Path.home()) + "/", socket.gethostname(), sys.prefix, str(Path(making.__file__).parents[2]),
        f"{today:%Y-%m-%d}", f"{today:%d %B %Y}", f"{today:%B %d, %Y}", f"{today:%Y%m%d}", "PMO_", "/tmp/",
    ]  # fmt: skip
    if len(getpass.getuser()) > 4:
        words.append(getpass.getuser())
    for name, content in files_below(tables.data_root).items():
        text = said_by(content)
        assert not [word for word in words if word in text], name
        assert not re.search(r"\d\d:\d\d:\d\d", text.replace("2024-01-02T03:04:05Z", "")), name


# the same again


def test_the_same_again_is_the_same_release(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}, 2: {"code": "CC BY-ND"}, 3: {"looks": "1"}}, panels=3)
    first = make(tables)
    before = files_below(tables.data_root)
    again = make(tables)
    assert files_below(tables.data_root) == before
    assert (again.manifest, again.changes) == (first.manifest, first.changes)


@pytest.mark.slow  # three releases
def test_the_same_again_after_another_release_keeps_its_history(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}})
    make(tables)
    finish(tables, "0002-b", {2: {}})
    make(tables)
    before = files_below(tables.data_root)
    make(tables)
    assert files_below(tables.data_root) == before
    assert released_versions(tables.data_root) == ["1.0.0", "1.1.0"]


@pytest.mark.slow  # two releases
def test_another_place_and_another_order_of_making_give_the_same_bytes(tables: Tables, tmp_path: Path) -> None:
    other = Tables(DataRoot(str(tmp_path / "elsewhere" / "data")))
    for where, batches in ((tables, ("0001-a", "0002-b")), (other, ("0002-b", "0001-a"))):
        for batch in batches:
            finish(where, batch, {1: {}, 2: {}} if batch == "0001-a" else {3: {"looks": "x"}, 4: {"looks": "x"}})
        make(where)
    assert files_below(other.data_root) == files_below(tables.data_root)


# what changes


@pytest.mark.slow
def test_a_new_batch_is_a_minor_version_and_a_changed_subcaption_a_patch(tables: Tables) -> None:
    root = tables.data_root
    finish(tables, "0001-a", {1: {}}, panels=2)
    assert make(tables).manifest.version == "1.0.0"
    finish(tables, "0002-b", {2: {}})
    release = make(tables)
    assert (release.manifest.version, release.manifest.previous) == ("1.1.0", "1.0.0")
    assert (release.changes.new, release.changes.gone) == ({NEW_ARTICLE: 1}, {})
    changed_text(tables, "0002-b", "p_2_f1_0", subcaption_text="Another one.")
    release = make(tables)
    assert release.manifest.version == "1.1.1"
    assert (release.changes.changed, release.changes.changed_panels) == ({"text": 1}, 1)
    tables.write("dataset_rows", "0001-a", tables.read("dataset_rows", "0001-a").head(1))
    release = make(tables)
    assert release.manifest.version == "1.2.0"
    assert release.changes.gone == {NOT_MADE: 1}
    assert released_versions(root) == ["1.0.0", "1.1.0", "1.1.1", "1.2.0"]
    headings = re.findall(r"^## (.+)$", root.read(f"{HUB}/CHANGES.md").decode(), re.MULTILINE)
    assert headings == ["1.2.0", "1.1.1", "1.1.0", "1.0.0"]


@pytest.mark.slow  # two releases
def test_a_change_of_columns_is_a_major_version(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(tables, "0001-a", {1: {}})
    with monkeypatch.context() as patched:
        patched.setattr(making, "schema_digest", lambda: "as it was before")
        make(tables)
    changed_text(tables, "0001-a", "p_1_f1_0", subcaption_text="Another one.")
    release = make(tables)
    assert release.manifest.version == "2.0.0"
    assert release.changes.columns
    assert "Columns or their types changed." in tables.data_root.read(f"{HUB}/CHANGES.md").decode()


@pytest.mark.slow  # two releases
def test_other_splits_alone_are_a_patch(tables: Tables) -> None:
    finish(tables, "0001-a", {number: {} for number in range(1, 40)})
    from pmo_assets.pipeline.dataset.splits import SplitOptions

    make(tables)
    release = make(tables, splits=SplitOptions((0.5, 0.25, 0.25)))
    assert release.manifest.version == "1.0.1"
    changes = release.changes
    assert (dict(changes.new), dict(changes.changed), dict(changes.gone)) == ({}, {}, {})
    assert set(changes.moved) == {"train → validation", "train → test", "validation → test"}
    assert "articles moved to another split: train → test" in tables.data_root.read(f"{HUB}/CHANGES.md").decode()


@pytest.mark.slow
def test_leaving_out_noncommercial_rows_is_another_release(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}, 2: {"code": "CC BY-NC"}})
    make(tables)
    release = make(tables, options=ReleaseOptions(noncommercial=False))
    assert release.manifest.version == "1.1.0"
    assert release.facts.noncommercial_left_out == 1
    assert release.expected == release.facts.panels == 1
    assert release.changes.gone == {NONCOMMERCIAL: 1}


def annotated(*names: str) -> pl.DataFrame:
    """Return table `annotations` in which people wrote down what they read in figures of articles."""
    figure = {
        "label": "Figure 1",
        "image_cluster_id": "f1",
        "figure_locations": [{"page": 0, "bbox": [10, 20, 110, 70]}],
        "panels": [{"identifier": "a", "box": [0.0, 0.0, 0.5, 1.0], "subcaption": SECRET}],
    }
    people = [AnnotatedArticle.model_validate({"article_id": name, "figures": [figure]}) for name in names]
    return checked(Annotations, annotation_rows(people))


@pytest.mark.slow
def test_without_noncommercial_rows_no_annotation_of_such_an_article_is_published(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}, 2: {"code": "CC BY-NC"}})
    annotations = annotated("PMC1", "PMC2")
    for noncommercial, expected in ((True, ["PMC1_f1", "PMC2_f1"]), (False, ["PMC1_f1"])):
        make(tables, options=ReleaseOptions(noncommercial=noncommercial), annotations=annotations)
        assert list(json.loads(tables.data_root.read(ANNOTATION_KEY))) == expected


@pytest.mark.slow  # two releases; test_retractions holds it
def test_a_retraction_goes_with_its_reason(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}, 2: {}}, panels=2)
    make(tables)
    finish(tables, "0002-b", {2: {"is_retracted": True}})
    write_retractions(tables, select_articles(tables), date(2026, 1, 15))
    release = make(tables)
    assert release.manifest.version == "1.1.0"
    assert release.changes.gone == {"the article was retracted": 2}
    assert "* 2 gone: the article was retracted" in tables.data_root.read(f"{HUB}/CHANGES.md").decode()
    noted = read_table(tables.data_root, f"{HUB}/retractions.parquet")
    assert noted.select("article_id", "panels").rows() == [(2, ["p_2_f1_0", "p_2_f1_1"])]
    assert 2 not in read_table(tables.data_root, RELEASE_KEY)["article_id"]


@pytest.mark.slow  # two releases
def test_a_package_that_turns_out_to_be_another_ones_article_goes_with_its_reason(tables: Tables) -> None:
    finish(tables, "0001-a", {LOCAL + 1: {"doi": "10.1/x"}})
    make(tables)
    finish(tables, "0002-b", {7: {"pmcid": 7, "doi": "10.1/x", "has_xml": True}})
    release = make(tables)
    assert release.changes.gone == {"the same article as another package": 1}
    assert release.changes.new == {NEW_ARTICLE: 1}
    listed = read_table(tables.data_root, f"{HUB}/duplicate_articles.parquet")
    assert listed["article_id"].to_list() == [LOCAL + 1]


@pytest.mark.slow
def test_everything_may_go(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}})
    make(tables)
    finish(tables, "0002-b", {1: {"is_retracted": True}})
    release = make(tables)
    assert (release.manifest.version, release.facts.panels) == ("1.1.0", 0)
    assert not [name for name in tables.data_root.tree(HUB) if name.startswith("data/")]
    assert read_table(tables.data_root, RELEASE_KEY).is_empty()


@pytest.mark.slow  # two releases
def test_what_is_kept_of_a_version_names_its_articles_with_batch_and_split(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}, 2: {"rows": 0}})
    finish(tables, "0002-b", {3: {}})
    make(tables)
    kept = read_version_table(tables.data_root, "1.0.0", "articles")
    assert kept.rows() == [
        ("0001-a", 1, "train", "train"), ("0001-a", 2, None, None), ("0002-b", 3, "test", "test")
    ]  # fmt: skip
    assert read_version_table(tables.data_root, "1.0.0", "rows")["panel_id"].to_list() == ["p_1_f1_0", "p_3_f1_0"]
    assert read_history(tables.data_root)[0][1].rows_after == 2


# killed


class Killed(BaseException):
    """The process ends here."""


def hub_is_whole(root: DataRoot) -> bool:
    folder = Path(root.uri(HUB))
    done = subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=folder, capture_output=True, check=False)
    return done.returncode == 0


def _killing(name: str) -> Callable[..., Any]:
    def end(*_: Any, **__: Any) -> Any:
        raise Killed

    return end


STEPS = [
    "write_tables",
    *(
        pytest.param(name, marks=pytest.mark.slow)  # two releases each
        for name in ("write_annotations", "_side_tables", "dataset_card", "croissant_file", "write_version")
    ),
    pytest.param("sums_text", marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_release_that_is_killed_leaves_the_one_before_whole(
    tables: Tables, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    root = tables.data_root
    finish(tables, "0001-a", {1: {}, 2: {}}, panels=2)
    make(tables)
    before = files_below(root)
    finish(tables, "0002-b", {3: {}})
    with monkeypatch.context() as patched:
        patched.setattr(making, step, _killing(step))
        with pytest.raises(Killed):
            make(tables)
    assert {name: content for name, content in files_below(root).items() if not name.startswith(".making")} == before
    assert make(tables).manifest.version == "1.1.0"
    assert hub_is_whole(root)
    assert not [name for name in root.tree("release") if name.startswith(".")]


@pytest.fixture(scope="module")
def before_and_after(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tables, Tables]:
    """A release with a batch that it does not have yet, and elsewhere the next release with it: only to be read."""
    before, after = (Tables(DataRoot(str(tmp_path_factory.mktemp(name) / "data"))) for name in ("before", "after"))
    for where in (before, after):
        finish(where, "0001-a", {1: {}, 2: {}}, panels=2)
        make(where)
        finish(where, "0002-b", {3: {}})
    make(after)
    return before, after


@pytest.mark.slow  # many releases
@pytest.mark.parametrize("change", range(1, 12))
def test_killed_at_any_change_of_what_others_read_the_next_one_makes_it_good(
    before_and_after: tuple[Tables, Tables], tables: Tables, monkeypatch: pytest.MonkeyPatch, change: int
) -> None:
    """The release that is made after the killed one has the bytes of one that nobody killed."""
    before, undisturbed = before_and_after
    shutil.copytree(before.data_root.root, tables.data_root.root)
    root, count = tables.data_root, 0
    names = ("write", "replace", "replace_parts", "delete", "delete_tree")

    def counted(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: DataRoot, key: str, *given: Any, **options: Any) -> Any:
            nonlocal count
            if not key.startswith(".making/") or method.__name__ != "write":
                count += 1
                if count == change:
                    raise Killed
            return method(self, key, *given, **options)

        return call

    with monkeypatch.context() as patched:
        for name in names:
            patched.setattr(DataRoot, name, counted(getattr(DataRoot, name)))
        try:
            make(tables)
        except Killed:
            assert count == change
        else:
            assert count < change
            assert count >= 9, "or less is tried than happens"
    assert hub_is_whole(root), "old or new"
    is_new = json.loads(root.read(f"{HUB}/manifest.json"))["version"] == "1.1.0"
    reference = undisturbed if is_new else before
    for key in (RELEASE_KEY, ANNOTATION_KEY, GALLERY_KEY):
        assert root.read(key) == reference.data_root.read(key), "of the same release as the hub"
    make(tables)
    assert files_below(root) == files_below(undisturbed.data_root)


@pytest.mark.slow  # two releases
def test_when_data_change_after_a_killed_release_its_number_is_not_given_twice(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(tables, "0001-a", {1: {}})
    make(tables)
    finish(tables, "0002-b", {2: {}})
    with monkeypatch.context() as patched:
        patched.setattr(DataRoot, "replace_parts", _killing("replace_parts"))
        with pytest.raises(Killed):
            make(tables)
    finish(tables, "0003-c", {3: {}})
    assert make(tables).manifest.version == "1.2.0"
    assert hub_is_whole(tables.data_root)


@pytest.mark.slow
def test_a_disk_without_room_says_so_and_keeps_the_old_release(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(tables, "0001-a", {1: {}})
    make(tables)
    before = files_below(tables.data_root)
    finish(tables, "0002-b", {2: {}})

    def full(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("pmo_assets.storage.parquet._HashingStream.write", full)
        with pytest.raises((StorageError, OSError), match="No space left"):
            make(tables)
    left = files_below(tables.data_root)
    assert {name: left[name] for name in before} == before
    assert make(tables).manifest.version == "1.1.0"


# in a bucket


@pytest.mark.slow  # every file over HTTP
def test_a_release_in_a_bucket_has_the_same_bytes(s3_endpoint: str, tables: Tables, tmp_path: Path) -> None:
    bucket = Tables(DataRoot(f"s3://bucket/{tmp_path.name}-release", s3_endpoint))
    for where in (tables, bucket):
        finish(where, "0001-a", {1: {}, 2: {"code": None}}, panels=2)
        make(where)
        finish(where, "0002-b", {2: {"version": 2}, 3: {}})
        make(where)
    assert files_below(bucket.data_root) == files_below(tables.data_root)


def counted_rows(root: DataRoot) -> Mapping[str, int]:
    return {
        config: sum(
            pq.read_metadata(io.BytesIO(root.read(f"{HUB}/data/{config}/{name}"))).num_rows
            for name in root.keys(f"{HUB}/data/{config}")
        )
        for config in CONFIGS
        if config not in ("pairs", "instructions", "videos")
    }


@pytest.mark.slow  # two releases
def test_no_shard_of_an_older_release_stays(tables: Tables) -> None:
    finish(tables, "0001-a", {number: {} for number in range(1, 40)})
    make(tables)
    assert counted_rows(tables.data_root) == dict.fromkeys(CONFIGS[:3], 39)
    finish(tables, "0002-b", {number: {"is_retracted": True} for number in range(2, 40)})
    make(tables)
    assert counted_rows(tables.data_root) == dict.fromkeys(CONFIGS[:3], 1)


def test_the_index_of_the_published_file_is_that_of_its_rows(tables: Tables) -> None:
    finish(tables, "0001-a", {1: {}}, panels=3)
    release = make(tables)
    found = read_table(tables.data_root, RELEASE_KEY)
    assert isinstance(release.panel_ids, pl.Series)
    assert release.panel_ids.to_list() == found["panel_id"].to_list()
