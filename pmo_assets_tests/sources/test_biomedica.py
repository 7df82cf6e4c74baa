"""Reading BIOMEDICA: tar, Parquet and Hugging Face, other column names, and what is broken or hostile."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from pmo_assets.records.biomedica import BiomedicaFigure, MalformedRow
from pmo_assets.records.packages import SourceError
from pmo_assets.sources import biomedica
from pmo_assets.sources.biomedica import HubCopy, LocalCopy, Outcome, open_biomedica, read_shard
from pmo_assets.sources.biomedica_rows import MAX_ITEMS, MAX_TEXT, biomedica_figure, text_list
from pmo_assets_tests.sources.biomedica_set import LABELS, SetRow, add_member, write_parquet, write_tar


def picture(width: int = 120, height: int = 80) -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((width, height), 60).convert("RGB").save(buffer, "JPEG")
    return buffer.getvalue()


ROWS = [
    SetRow(111, "fig-1", "OCT of the macula.", picture(), LABELS[0], "", None),
    SetRow(222, "fig-1", "Flow of patients.", picture(), LABELS[4], "", None),
    SetRow(111, "fig.002", "Fundus of the eye.", picture(200, 50), LABELS[1], "", None),
]

FACTS: dict[str, Any] = {
    "article_accession_id": "PMC111",
    "image_cluster_id": "fig-1",
    "image_primary_label": ["Clinical Imaging"],
    "image_secondary_label": ["optical coherence tomography"],
}


def outcomes(path: Path, *wanted: int) -> list[Outcome]:
    return [item for shard in open_biomedica(str(path)).shards() for item in read_shard(shard, set(wanted))]


def figures(path: Path, *wanted: int) -> list[BiomedicaFigure]:
    return [item for item in outcomes(path, *wanted) if isinstance(item, BiomedicaFigure)]


def malformed(path: Path, *wanted: int) -> list[MalformedRow]:
    return [item for item in outcomes(path, *wanted) if isinstance(item, MalformedRow)]


def tar_of(path: Path, *members: tuple[str, bytes]) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, content in members:
            add_member(tar, name, content)
    return path


# what is read


@pytest.mark.parametrize("form", ["tar", "tar.gz", "parquet", "parquet without pictures"])
def test_every_form_gives_the_same_rows_of_the_wanted_articles(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"set.{form.partition(' ')[0]}"
    if form.startswith("tar"):
        write_tar(path, ROWS)
        if form == "tar.gz":
            path.write_bytes(gzip.compress(path.read_bytes()))
    else:
        write_parquet(path, ROWS, pictures="without" not in form, group=2)
    found = outcomes(path, 111)
    read = [item for item in found if isinstance(item, BiomedicaFigure)]
    assert [item for item in found if item not in read] == [222]
    assert [(item.article_id, item.image_cluster_id, item.caption) for item in read] == [
        (111, "fig-1", "OCT of the macula."), (111, "fig.002", "Fundus of the eye."),
    ]  # fmt: skip
    assert [item.secondary_labels for item in read] == [("optical coherence tomography",), ("eye",)]
    assert {item.primary_labels for item in read} == {("Clinical Imaging",)}
    assert [item.row_id for item in read] == [f"{path.name}#0", f"{path.name}#2"]
    assert {item.context for item in read} == {("A paragraph.",)} or form == "parquet"
    assert {item.license for item in read} == {"CC BY"}
    pictures = "without" not in form
    assert [item.perceptual_hash is not None for item in read] == [pictures, pictures]
    assert [item.aspect_ratio for item in read] == ([1.5, 4.0] if pictures else [None, None])


def test_a_folder_is_read_at_any_depth_and_other_files_are_not(tmp_path: Path) -> None:
    (tmp_path / "commercial").mkdir()
    write_tar(tmp_path / "commercial" / "000001.tar", ROWS[:1])
    write_parquet(tmp_path / "rest.parquet", ROWS[1:])
    (tmp_path / "README.md").write_text("# read me")
    assert [shard.name for shard in LocalCopy(tmp_path).shards()] == ["commercial/000001.tar", "rest.parquet"]
    assert [item.row_id for item in figures(tmp_path, 111)] == ["commercial/000001.tar#0", "rest.parquet#1"]


def test_a_webdataset_that_was_turned_into_parquet_is_read(tmp_path: Path) -> None:
    rows = [{"__key__": "x", "json": json.dumps(FACTS), "txt": "OCT.", "jpg": {"bytes": picture(), "path": None}}]
    pq.write_table(pa.Table.from_pylist([*rows, {**rows[0], "json": "{"}]), tmp_path / "a.parquet")
    (found,) = figures(tmp_path, 111)
    assert (found.caption, found.aspect_ratio) == ("OCT.", 1.5)
    assert [item.row_id for item in malformed(tmp_path, 111)] == ["a.parquet#1"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["bar plot", "table"], ("bar plot", "table")),
        ("['bar plot', 'table']", ("bar plot", "table")),
        ('["bar plot"]', ("bar plot",)),
        ("bar plot", ("bar plot",)),
        (None, ()),
        ("[" * 5000 + "]" * 5000, None),
    ],
)
def test_labels_are_lists_or_texts(written: object, read: tuple[str, ...] | None) -> None:
    found = text_list(written)
    assert found == read if read is not None else len(found) == 1


def test_texts_are_limited_and_can_be_stored() -> None:
    facts = {**FACTS, "txt": "a \ud800 b\n" + "x" * 10**6, "image_primary_label": ["plot"] * 10_000}
    found = biomedica_figure(facts, "x#0")
    assert found.caption.startswith("a ? b x")
    assert len(found.caption) == MAX_TEXT
    assert len(found.primary_labels) == MAX_ITEMS


def test_no_caption_found_is_no_caption() -> None:
    assert biomedica_figure({**FACTS, "txt": "No caption found"}, "x#0").caption == ""


# what is malformed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"article_accession_id": "../../etc"}, "no PMC number"),
        ({"article_accession_id": True}, "no PMC number"),
        ({"article_accession_id": "PMC0"}, "no PMC number"),
        ({"image_cluster_id": None}, "no name"),
        ({"image_primary_label": 7}, "where a list belongs"),
        ({"image_secondary_label": {"a": 1}}, "where a list belongs"),
        ({"image_primary_label": [["a"]]}, "where a text belongs"),
        ({"image_primary_label": [], "image_secondary_label": []}, "no labels"),
    ],
)
def test_a_row_that_cannot_be_used_is_counted_and_the_others_are_read(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    sound = ("a.json", json.dumps(FACTS).encode()), ("a.txt", b"OCT.")
    broken = ("b.json", json.dumps({**FACTS, **change}).encode()), ("b.txt", b"OCT.")
    tar_of(tmp_path / "a.tar", *broken, *sound)
    (fault,) = malformed(tmp_path, 111)
    assert fault.row_id == "a.tar#0"
    assert said in fault.message
    assert fault.article_id == (None if "article_accession_id" in change else 111)
    assert len(figures(tmp_path, 111)) == 1


def test_hostile_samples_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(biomedica, "MEMBER_LIMITS", {"json": 5000, "txt": 100, "jpg": 5000})
    sound = json.dumps(FACTS).encode()
    tar_of(
        tmp_path / "a.tar",
        ("no json.txt", b"OCT."),
        ("deep.json", b"[" * 4000),
        ("digits.json", b'{"a": ' + b"1" * 4900 + b"}"),
        ("list.json", b"[1]"),
        ("latin.json", b'{"a": "\xff"}'),
        ("large.json", sound + b" " * 5000),
        ("caption.json", sound), ("caption.txt", b"x" * 101),
        ("picture.json", sound), ("picture.txt", b"OCT."), ("picture.jpg", b"x" * 5001),
        ("/etc/../good.json", sound), ("/etc/../good.txt", b"OCT."), ("/etc/../good.jpg", b"no picture"),
    )  # fmt: skip
    assert len(malformed(tmp_path, 111)) == 8
    (found,) = figures(tmp_path, 111)
    assert found.perceptual_hash is None, "a picture that cannot be read: the row goes on without"


def test_a_bomb_of_a_picture_is_no_picture(tmp_path: Path) -> None:
    bomb = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(bomb, "PNG")
    tar_of(tmp_path / "a.tar", ("a.json", json.dumps(FACTS).encode()), ("a.txt", b"OCT."), ("a.png", bomb.getvalue()))
    (found,) = figures(tmp_path, 111)
    assert found.perceptual_hash is None


def test_members_that_are_no_files_are_passed_over(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        link = tarfile.TarInfo("a.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
        add_member(tar, "b.json", json.dumps(FACTS).encode())
        add_member(tar, "b.txt", b"OCT.")
    assert len(outcomes(tmp_path, 111)) == 1


# what cannot be read at all


def test_a_missing_column_is_named_with_those_there_are(tmp_path: Path) -> None:
    columns = {"pmcid": ["PMC111"], "image_id": ["a"], "caption": ["b"], "colour": ["c"]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(SourceError, match=r"a\.parquet has no column image_primary_label or primary_label .*colour"):
        outcomes(tmp_path, 111)
    (tmp_path / "a.parquet").unlink()
    tar_of(tmp_path / "b.tar", ("a.json", b'{"pmcid": "PMC111", "colour": 1}'), ("a.txt", b"OCT."))
    with pytest.raises(SourceError, match=r"b\.tar has no column image_cluster_id.*colour, jpg, pmcid, txt"):
        outcomes(tmp_path, 111)


@pytest.mark.parametrize("content", [b"", b"<html>404</html>" * 100, b"PAR1", b"\x1f\x8b broken"])
@pytest.mark.parametrize("suffix", [".tar", ".parquet"])
def test_a_damaged_file_is_named(content: bytes, suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"a{suffix}").write_bytes(content)
    with pytest.raises(SourceError, match=f"a{suffix} cannot be read"):
        outcomes(tmp_path, 111)


@pytest.mark.parametrize("suffix", [".tar", ".parquet"])
def test_half_a_file_is_not_half_read(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    (write_tar if suffix == ".tar" else write_parquet)(path, ROWS)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])
    with pytest.raises(SourceError, match="fetch it again"):
        outcomes(tmp_path, 111)


def test_what_names_no_copy_is_said(tmp_path: Path) -> None:
    for place, said in (
        (str(tmp_path), "holds no file that ends in .parquet"),
        (str(tmp_path / "absent"), "is no folder"),
        ("s3://bucket/x", "give a path"),
        ("hf://datasets", "names no dataset"),
    ):
        with pytest.raises(SourceError, match=said):
            open_biomedica(place).shards()


def test_a_dataset_is_named_in_three_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for place in ("owner/name", "hf://owner/name", "hf://datasets/owner/name"):
        assert open_biomedica(place) == HubCopy("owner/name")
    assert open_biomedica("hf://datasets/owner/name/commercial") == HubCopy("owner/name", "commercial")
    (tmp_path / "owner" / "name").mkdir(parents=True)
    assert open_biomedica("owner/name") == LocalCopy(Path("owner/name")), "what is there goes first"


# Hugging Face


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(SourceError, match=r"pip install 'pmo-assets\[biomedica\]'"):
        HubCopy("owner/name").shards()


@contextmanager
def hub(files: dict[str, bytes], *, gated: bool = False, there: bool = True) -> Iterator[str]:
    """Serve what the client asks a hub for, on loopback; yields the address."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    listed = [{"type": "file", "path": name, "size": len(data), "oid": f"oid-{name}"} for name, data in files.items()]

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            path = self.path.partition("?")[0]
            held = next((name for name in files if path.endswith(f"/{name}")), None)
            if not there:
                self.reply(404, b"{}", {"X-Error-Code": "RepoNotFound"})
            elif "/tree/" in path:
                self.reply(200, json.dumps(listed).encode(), {"Content-Type": "application/json"})
            elif "/resolve/" in path and gated and "Authorization" not in self.headers:
                self.reply(401, b"{}", {"X-Error-Code": "GatedRepo"})
            elif held is not None and "/resolve/" in path:
                self.reply_file(files[held])
            elif "/api/datasets/" in path:
                if "/paths-info/" in path:
                    self.reply(200, json.dumps(listed).encode(), {"Content-Type": "application/json"})
                else:
                    self.reply(200, json.dumps({"id": "owner/name", "sha": "a" * 40, "siblings": []}).encode(), {})
            else:
                self.reply(404, b"{}", {"X-Error-Code": "EntryNotFound"})

        do_GET = do_HEAD = do_POST = answer

        def reply_file(self, data: bytes) -> None:
            span = self.headers.get("Range", "").removeprefix("bytes=")
            headers = {"ETag": '"e"', "X-Repo-Commit": "a" * 40, "Accept-Ranges": "bytes"}
            if not span:
                return self.reply(200, data, headers)
            start, _, end = span.partition("-")
            first, last = int(start), min(int(end or len(data) - 1), len(data) - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
            return self.reply(206, data[first : last + 1], headers)

        def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            if length := int(self.headers.get("Content-Length") or 0):
                self.rfile.read(length)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def ask_hub(address: str, tmp_path: Path, **variables: str) -> str:
    """Read a dataset in a process of its own, in which the client's address is the server's.

    The client asks a hub that is down again and again, with pauses of 23 seconds in all: here without them.
    """
    import os
    import subprocess

    program = (
        "from pmo_assets.sources.biomedica import *\n"
        "import time; time.sleep = lambda seconds: None\n"
        "try:\n"
        "    for shard in open_biomedica('hf://owner/name').shards():\n"
        "        for item in read_shard(shard, {111}): print(shard.name, getattr(item, 'row_id', item))\n"
        "except SourceError as error: print(error)\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment |= {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1", **variables}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow  # a hub is served
def test_a_dataset_of_the_hub_is_read_as_a_local_copy_is(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    files = {
        "a.tar": write_tar(tmp_path / "a.tar", ROWS).read_bytes(),
        "b.parquet": write_parquet(tmp_path / "b.parquet", ROWS).read_bytes(),
        "README.md": b"# read me",
    }
    expected = "a.tar a.tar#0\na.tar 222\na.tar a.tar#2\nb.parquet b.parquet#0\nb.parquet b.parquet#2\nb.parquet 222\n"
    with hub(files) as address:
        assert ask_hub(address, tmp_path) == expected
    with hub(files, gated=True) as address:
        assert ask_hub(address, tmp_path, HF_TOKEN="hf_abc") == expected


@pytest.mark.slow
def test_a_gated_dataset_says_where_to_ask_for_access(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    with hub({"a.tar": write_tar(tmp_path / "a.tar", ROWS).read_bytes()}, gated=True) as address:
        said = ask_hub(address, tmp_path)
    assert "owner/name is gated or private, and there is no token" in said
    assert "https://huggingface.co/datasets/owner/name" in said
    assert "HF_TOKEN" in said


@pytest.mark.slow  # it waits for a port that is dead
def test_a_dataset_that_is_not_there_and_a_hub_that_is_down_are_said(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    with hub({}, there=False) as address:
        assert "there is no https://huggingface.co/datasets/owner/name" in ask_hub(address, tmp_path)
    assert "cannot be read" in ask_hub("http://127.0.0.1:9", tmp_path)
