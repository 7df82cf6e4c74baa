"""Folders that claim to be article packages."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

from pmo_assets_tests.faults.hostile_pictures import hostile_picture
from pmo_assets_tests.faults.material import ATTACKS, Package, flipped

NAMES = (
    "PMC1", "pmc0002.3", "PMC0", "PMC99999999999", "PMC999999999999", "PMC12.", "PMC12.9999999", "article", "a b",
    "é", "e\u0301", "x" * 200,
    "-rf", "..x", ".hidden", "a\nb", "a\tb", "\u202egnp", "CON", "%2e%2e", "{x}", "$HOME", "*", "~", "PMC٣",
    "a'b\"c", "<b>",
    os.fsdecode(b"not-utf-8-\xff\xfe"),
)  # fmt: skip


def _write(folder: Path, package: Package) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "article.pdf").write_bytes(package.pdf)
    (folder / "article.xml").write_bytes(package.xml)
    (folder / "figures").mkdir(exist_ok=True)
    for name, content in package.pictures.items():
        (folder / "figures" / name).write_bytes(content)
    facts = {"pmcid": folder.name, "license_code": "CC BY", "title": "T", "citation": "C", "is_retracted": False}
    (folder / "metadata.json").write_text(json.dumps(facts, ensure_ascii=True))


def odd_metadata(folder: Path, rng: random.Random) -> None:
    deep = "[" * 100_000
    values = ("null", "[]", "1", '"x"', "", "{", deep, '{"title": "\\ud800"}', '{"version": 1e400}',
              '{"pmcid": {"a": [1]}}',
              '{"license_code": ["CC BY"], "is_retracted": "yes"}', '{"version": -5, "pmcid": "PMC5"}',
              '{"pmcid": "PMC00000000000"}',
              json.dumps({"title": ATTACKS[1], "citation": "x" * 10**6}), "\ufeff{}", '{"a": 1, "a": 2}',
              "NaN")  # fmt: skip
    (folder / "metadata.json").write_bytes(rng.choice(values).encode(errors="surrogatepass"))


def metadata_is_a_folder(folder: Path, rng: random.Random) -> None:
    (folder / "metadata.json").unlink()
    (folder / "metadata.json").mkdir()


def metadata_is_binary(folder: Path, rng: random.Random) -> None:
    (folder / "metadata.json").write_bytes(bytes(rng.randrange(256) for _ in range(1000)))


def files_missing(folder: Path, rng: random.Random) -> None:
    for name in rng.sample(["article.pdf", "article.xml", "metadata.json"], rng.choice((1, 2, 3))):
        (folder / name).unlink()


def empty_files(folder: Path, rng: random.Random) -> None:
    for name in ("article.pdf", "article.xml", "metadata.json"):
        if rng.random() < 0.6:
            (folder / name).write_bytes(b"")


def pages_in_place_of_files(folder: Path, rng: random.Random) -> None:
    for name in ("article.pdf", "article.xml"):
        (folder / name).write_bytes(b"<!DOCTYPE html><html><body>Are you a robot?<br></body></html>")


def several_documents(folder: Path, rng: random.Random) -> None:
    for name in ("supplement.pdf", "A.PDF", "article.nxml", "other.xml", "article.PDF"):
        (folder / name).write_bytes(rng.choice((b"", b"%PDF-1.4", b"<article/>")))


def links(folder: Path, rng: random.Random) -> None:
    target = rng.choice(("article.pdf", "/etc/hostname", "nowhere", "..", "/dev/zero", "/dev/stdin", "/proc/self/mem"))
    for name in rng.sample(["article.pdf", "article.xml", "figures/x.jpg", "metadata.json"], 2):
        place = folder / name
        place.unlink(missing_ok=True)
        place.symlink_to(target)


def loops(folder: Path, rng: random.Random) -> None:
    (folder / "figures" / "loop").symlink_to("..")
    (folder / "again.pdf").symlink_to("again.pdf")
    (folder / "figures" / "again.jpg").symlink_to("again.jpg")


def pipes(folder: Path, rng: random.Random) -> None:
    name = rng.choice(("article.pdf", "article.xml", "figures/pipe.jpg", "metadata.json"))
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)


def folders_in_place_of_files(folder: Path, rng: random.Random) -> None:
    for name in ("article.pdf", "article.xml"):
        if rng.random() < 0.5:
            (folder / name).unlink()
            (folder / name).mkdir()
    (folder / "figures" / "dir.jpg").mkdir()


def figures_is_a_file(folder: Path, rng: random.Random) -> None:
    for item in (folder / "figures").iterdir():
        item.unlink()
    (folder / "figures").rmdir()
    (folder / "figures").write_bytes(b"x")


def odd_pictures(folder: Path, rng: random.Random) -> None:
    pictures = sorted((folder / "figures").iterdir())
    for item in pictures:
        if rng.random() < 0.7:
            item.write_bytes(hostile_picture(rng)[1])
    for name in (
        "x.JPG",
        "é.png",
        "a b.gif",
        ".jpg",
        "..jpg",
        "x.jpg.png",
        "\u202egpj.jpg",
        os.fsdecode(b"\xff.jpg"),
        "n\nl.jpg",
    ):
        if rng.random() < 0.4:
            (folder / "figures" / name).write_bytes(hostile_picture(rng)[1])


def many_pictures(folder: Path, rng: random.Random) -> None:
    for number in range(1500):
        (folder / "figures" / f"{number}.jpg").write_bytes(b"")


def damaged_documents(folder: Path, rng: random.Random) -> None:
    for name in ("article.pdf", "article.xml"):
        place = folder / name
        place.write_bytes(flipped(place.read_bytes(), rng, 100))


def nothing(folder: Path, rng: random.Random) -> None:
    """Leave a sound package, whose name alone is odd."""


MUTATIONS: tuple[Callable[[Path, random.Random], None], ...] = (
    odd_metadata, odd_metadata, metadata_is_a_folder, metadata_is_binary, files_missing, empty_files,
    pages_in_place_of_files,
    several_documents, links, loops, pipes, folders_in_place_of_files, figures_is_a_file, odd_pictures, many_pictures,
    damaged_documents, nothing,
)  # fmt: skip


def hostile_package(source: Path, package: Package, rng: random.Random) -> tuple[str, Path]:
    """Write a package below `source` and spoil it; returns what was done, and the package's folder."""
    name = rng.choice((*NAMES, *["PMC77"] * len(NAMES)))
    folder = source / name
    _write(folder, package)
    done = [f"named {name!r}"]
    for mutation in rng.sample(MUTATIONS, rng.choice((1, 1, 2))):
        try:
            mutation(folder, rng)
        except OSError:  # what came before left no such file
            continue
        done.append(mutation.__name__)
    return " + ".join(done), folder
