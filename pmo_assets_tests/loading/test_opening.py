"""Finding a release: every place that may be meant, and what is said when there is none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

import pmo_assets
from pmo_assets.loading import Release, ReleaseError
from pmo_assets_tests.loading.conftest import Written
from pmo_assets_tests.loading.small_release import write_sums
from pmo_assets_tests.storage.conftest import s3_endpoint  # noqa: F401


@pytest.fixture
def hub(written: Written, tmp_path: Path) -> Path:
    """A copy that may be damaged."""
    return Path(shutil.copytree(written.hub, tmp_path / "copy"))


@pytest.mark.slow  # a process
def test_importing_the_package_loads_nothing_else() -> None:
    question = "import sys, pmo_assets; print(pmo_assets.__version__, *sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", question], check=True, stdout=subprocess.PIPE, text=True)
    version, *modules = done.stdout.split()
    assert version == pmo_assets.__version__
    assert not {"numpy", "polars", "pyarrow", "PIL", "pmo_assets.loading"} & set(modules)
    question = "import sys, pmo_assets; pmo_assets.load; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", question], check=True, stdout=subprocess.PIPE, text=True)
    assert not {"dagster", "torch", "cv2", "onnxruntime", "pymupdf", "boto3", "matplotlib"} & set(done.stdout.split())
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        pmo_assets.lod  # noqa: B018


@pytest.mark.parametrize("below", ["", "release", "release/hub"])
def test_data_root_release_and_hub_folder_are_the_same_release(written: Written, below: str) -> None:
    for where in (written.data_root / below, str(written.data_root / below) + "/"):
        release = pmo_assets.load(where, verify=True)
        assert release.version == "2026.11"
        assert len(release.panels) == len(written.rows["panels"])
        assert repr(release).startswith("<Release 2026.11 in ")
        assert release.duplicates["kind"].to_list() == ["identical"]


def test_the_default_is_the_data_root_of_the_working_directory(
    written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").symlink_to(written.data_root)
    monkeypatch.chdir(tmp_path)
    assert pmo_assets.load().version == "2026.11"


def test_a_folder_in_the_cache_of_the_hub_is_links(written: Written, tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshots" / "abc"
    for number, path in enumerate(sorted(path for path in written.hub.rglob("*") if path.is_file())):
        blob = tmp_path / "blobs" / str(number)
        blob.parent.mkdir(exist_ok=True)
        shutil.copy(path, blob)
        link = snapshot / path.relative_to(written.hub)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    release = pmo_assets.load(snapshot, verify=True)
    assert [panel.panel_id for panel in release.panels] == [row["panel_id"] for row in written.rows["panels"]]


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_one_split(written: Written, split: str) -> None:
    release = pmo_assets.load(written.data_root, split=split)  # type: ignore[arg-type]
    expected = [row["panel_id"] for row in written.rows["panels"] if row["split"] == split]
    assert [panel.panel_id for panel in release.panels] == expected != []
    assert all(panel.figure.split == split and panel.article.split == split for panel in release.panels)
    other = next(row for row in written.rows["articles"] if row["split"] != split)
    with pytest.raises(ReleaseError, match="in the splits that were opened"):
        release.article_of(other["article_id"])


def test_a_split_without_rows_is_empty(hub: Path) -> None:
    for path in hub.glob("data/*/test-*"):
        path.unlink()
    write_sums(hub)
    release = pmo_assets.load(hub, split="test")
    assert len(release.panels) == len(release.panels.filter(contains_oct=True)) == 0
    assert list(release.panels) == []
    assert release.to_polars().shape == (0, len(release.panels.columns))
    assert release.lazy().collect().height == 0
    with pytest.raises(ValueError, match="no split 'tset': one of train, validation, test"):
        pmo_assets.load(hub, split="tset")  # type: ignore[arg-type]


def test_what_is_no_release_says_what_to_do(written: Written, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="is not there: give a data root"):
        pmo_assets.load(tmp_path / "nowhere")
    with pytest.raises(ReleaseError, match="is no folder"):
        pmo_assets.load(written.hub / "manifest.json")
    with pytest.raises(ReleaseError, match=f"nothing is released in {tmp_path} yet: `pmo run`"):
        pmo_assets.load(tmp_path)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "pubmed_ophtha.parquet").write_bytes(b"")
    for where in (tmp_path, tmp_path / "release"):
        with pytest.raises(ReleaseError, match="no folder for the hub"):
            pmo_assets.load(where)


def test_half_written_and_half_fetched_releases_are_refused(hub: Path) -> None:
    sums = (hub / "SHA256SUMS").read_bytes()
    (hub / "SHA256SUMS").unlink()
    with pytest.raises(ReleaseError, match="half-written"):
        pmo_assets.load(hub)
    (hub / "SHA256SUMS").write_bytes(sums)
    (hub / "data" / "panels" / "train-00001.parquet").unlink()
    with pytest.raises(ReleaseError, match=r"1 files .* first data/panels/train-00001\.parquet"):
        pmo_assets.load(hub)
    assert len(pmo_assets.load(hub, split="test").panels) > 0


def test_a_config_that_was_not_fetched_is_missed_when_it_is_asked_for(hub: Path) -> None:
    shutil.rmtree(hub / "data" / "figures")
    release = pmo_assets.load(hub)
    assert release.panels[0].article.title
    assert "figures" not in repr(release)
    with pytest.raises(ReleaseError, match="no files data/figures"):
        release.panels[0].mask()
    (hub / "duplicates.parquet").unlink()
    with pytest.raises(ReleaseError, match=r"duplicates\.parquet is not there"):
        release.duplicates  # noqa: B018


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("manifest.json", b"{", "manifest.json is damaged"),
        ("manifest.json", b"[]", "states no version"),
        ("manifest.json", None, "manifest.json cannot be read"),
        ("SHA256SUMS", b"no sums", "SHA256SUMS is damaged at 'no sums'"),
        ("SHA256SUMS", b"0" * 64 + b"  ../../secret", "SHA256SUMS is damaged"),
        ("data/panels/test-00000.parquet", b"PAR1 no", r"test-00000\.parquet is damaged"),
    ],
)
def test_damaged_files_are_named(hub: Path, name: str, content: bytes | None, message: str) -> None:
    if content is None:
        (hub / name).unlink()
    else:
        (hub / name).write_bytes(content)
    with pytest.raises(ReleaseError, match=message):
        pmo_assets.load(hub)


def test_verify_finds_what_changed(hub: Path) -> None:
    path = hub / "data" / "figures" / "train-00000.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    (hub / "duplicates.parquet").unlink()
    pmo_assets.load(hub)
    wrong = r"2 files .*figures/train-00000\.parquet \(changed\).*fetch them again"
    with pytest.raises(ReleaseError, match=wrong) as raised:
        pmo_assets.load(hub, verify=True)
    assert "duplicates.parquet (not there)" in str(raised.value)


def test_a_file_damaged_inside_is_named_when_it_is_read(hub: Path) -> None:
    path = hub / "data" / "panels" / "train-00000.parquet"
    content = path.read_bytes()
    path.write_bytes(content[:4] + bytes(len(content) // 2) + content[4 + len(content) // 2 :])
    release = pmo_assets.load(hub)
    with pytest.raises(ReleaseError, match=r"train-00000\.parquet cannot be read.*verify=True"):
        [panel.picture() for panel in release.panels]


def test_other_columns_are_named(hub: Path) -> None:
    path = hub / "data" / "panels" / "validation-00000.parquet"
    table = pq.read_table(path)
    position = table.column_names.index("images")
    texts = pa.array([json.dumps(images) for images in table["images"].to_pylist()])
    pq.write_table(table.drop_columns(["content_box"]).set_column(position, "images", texts), path)
    with pytest.raises(ReleaseError, match=r"no column content_box, another type of images \(string instead of list"):
        pmo_assets.load(hub)


def test_columns_of_a_later_version_and_longer_offsets_are_read(hub: Path, written: Written) -> None:
    for path in hub.glob("data/panels/*.parquet"):
        table = pq.read_table(path)
        position = table.column_names.index("license")
        table = table.set_column(position, "license", table["license"].cast(pa.large_string()))
        pq.write_table(table.append_column("new", pa.array(range(len(table)))), path)
    write_sums(hub)
    release = pmo_assets.load(hub, verify=True)
    assert [panel.license for panel in release.panels] == [row["license"] for row in written.rows["panels"]]
    assert "new" not in release.panels.columns
    assert len(release.panels.filter(license="CC BY")) == len(release.panels[::-1].filter(license="CC BY").to_arrow())


@pytest.fixture
def in_a_bucket(written: Written, s3_endpoint: str) -> str:  # noqa: F811
    host = s3_endpoint.rpartition("/")[2]
    remote = pafs.S3FileSystem(endpoint_override=host, scheme="http", region="us-east-1")
    pafs.copy_files(
        str(written.data_root), "bucket/root", source_filesystem=pafs.LocalFileSystem(), destination_filesystem=remote
    )
    return s3_endpoint


@pytest.mark.slow  # a bucket
def test_a_release_in_a_bucket(
    written: Written, release: Release, in_a_bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PMO_S3_ENDPOINT", in_a_bucket)
    remote = pmo_assets.load("s3://bucket/root", verify=True)
    assert remote.folder == "s3://bucket/root/release/hub"
    assert list(remote.panels) == list(release.panels)
    assert [panel.picture() for panel in remote.panels] == [panel.picture() for panel in release.panels]
    assert [p.panel_id for p in remote.panels.filter(contains_oct=True)] == [
        p.panel_id for p in release.panels.filter(contains_oct=True)
    ]
    assert remote.lazy().collect().equals(release.lazy().collect())
    monkeypatch.delenv("PMO_S3_ENDPOINT")
    assert pmo_assets.load("s3://bucket/root/", endpoint=in_a_bucket).version == "2026.11"
    with pytest.raises(ReleaseError, match="nothing is released in s3://bucket/empty"):
        pmo_assets.load("s3://bucket/empty", endpoint=in_a_bucket)


def test_a_forked_process_refuses_a_bucket_instead_of_hanging(in_a_bucket: str) -> None:
    remote = pmo_assets.load("s3://bucket/root", endpoint=in_a_bucket)
    remote._panels_table._held.process -= 1
    with pytest.raises(ReleaseError, match='multiprocessing_context="spawn"'):
        remote.panels[0]
