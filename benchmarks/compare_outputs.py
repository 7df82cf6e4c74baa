"""Keep what the pipeline makes of samples, corpus and annotated articles, and compare two such folders byte for byte.

    python benchmarks/compare_outputs.py save FOLDER [--shared ../shared]
    python benchmarks/compare_outputs.py compare BEFORE AFTER

`save` runs, each in a process of its own: `pmo demo`; the corpus as a batch (`pmo batches add`, `pmo run` with the
specialty "everything"); `pmo article` on every annotated article, with and without its XML. Tables, pages and JSON are
copied to FOLDER; of pictures, objects and the release only checksums are kept.

`compare` lists every file that differs, of tables the columns and rows, and exits with 1 if there is one. A change of
the code's layout must leave everything as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

PMO = [sys.executable, "-c", "from pmo_assets.cli.main import main; main()"]
CHECKSUMS = "checksums.json"
LARGEST_COPY = 16 * 2**20
"""Bytes; a larger file is compared by its checksum only."""


PLACES = ("source",)
"""Columns that say where on this machine something lay."""


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a run that shares nothing with the data roots of this machine."""
    own = {key: value for key, value in os.environ.items() if not key.startswith(("PMO_", "DAGSTER_"))}
    return {**own, "PMO_DATA_ROOT": str(folder / "data"), "PMO_DAGSTER_HOME": str(folder / "dagster")}


def keep_data_root(root: Path, target: Path) -> None:
    """Write the checksums of all files below a data root, and copies of those that a person would look at."""
    sums = {}
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        name = path.relative_to(root).as_posix()
        sums[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        if not name.startswith(("pixels/", "objects/")) and path.stat().st_size <= LARGEST_COPY:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / name)
    target.mkdir(parents=True, exist_ok=True)
    (target / CHECKSUMS).write_text(json.dumps(sums, indent=1))


def save(target: Path, shared: Path) -> None:
    """Run everything and keep what came of it below `target`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([*PMO, "demo", str(folder / "demo")], env=environment(folder), check=True)
        keep_data_root(folder / "data", target / "demo")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = {**environment(folder), "PMO_SPECIALTY": "everything"}
        for command in (["batches", "add", "--source", str(shared / "corpus")], ["run"]):
            subprocess.run([*PMO, *command], env=env, check=True)
        keep_data_root(folder / "data", target / "corpus")
    script = Path(__file__).with_name("score_articles.py")
    for name, options in (("articles", []), ("articles_without_xml", ["--ignore-xml"])):
        command = [sys.executable, str(script), "--shared", str(shared), "--out", str(target / name), *options]
        scores = subprocess.run(command, env=environment(target), check=True, stdout=subprocess.PIPE, text=True).stdout
        print(scores)
        (target / f"{name}.txt").write_text(scores)


def table_differences(before: Path, after: Path) -> list[str]:
    """Return in words how two Parquet files differ."""
    old, new = pl.read_parquet(before), pl.read_parquet(after)
    words = [f"column {name} is gone" for name in old.columns if name not in new.columns]
    words += [f"column {name} is new" for name in new.columns if name not in old.columns]
    if old.height != new.height:
        return [*words, f"{old.height} rows became {new.height}"]
    for name in (name for name in old.columns if name in new.columns and name not in PLACES):
        # As text: Polars compares nested columns as one value, and NaN with itself as different.
        pairs = zip(old[name].to_list(), new[name].to_list(), strict=True)
        changed = [(place, a, b) for place, (a, b) in enumerate(pairs) if repr(a) != repr(b)]
        if changed:
            place, a, b = changed[0]
            words.append(f"column {name}: {len(changed)} rows, first {place}: {str(a)[:160]} -> {str(b)[:160]}")
    same = old.drop(PLACES, strict=False).equals(new.drop(PLACES, strict=False))
    return words or ([] if same and set(PLACES) & set(old.columns) else ["same values, other bytes"])


def differences(before: Path, after: Path) -> list[str]:
    """Return a line for each file that is not the same in both folders."""
    found = []
    for part in ("demo", "corpus"):
        old, new = (json.loads((folder / part / CHECKSUMS).read_text()) for folder in (before, after))
        for name in sorted({*old, *new}):
            if old.get(name) == new.get(name):
                continue
            place = f"{part}/{name}"
            if name not in old or name not in new:
                found.append(f"{place}: only {'after' if name in new else 'before'}")
            elif name.endswith(".parquet") and (before / place).exists() and (after / place).exists():
                found.extend(f"{place}: {words}" for words in table_differences(before / place, after / place))
            else:
                found.append(f"{place}: differs")
    for part in ("articles", "articles_without_xml"):
        names = {path.name for folder in (before, after) for path in (folder / part).glob("*.json")}
        for name in sorted(names):
            files = [folder / part / name for folder in (before, after)]
            if not all(file.exists() for file in files) or files[0].read_bytes() != files[1].read_bytes():
                found.append(f"{part}/{name}: differs")
    return found


def main() -> None:
    """Save or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    saving = commands.add_parser("save", help="run everything and keep it")
    saving.add_argument("folder", type=Path)
    saving.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    comparing = commands.add_parser("compare", help="list what differs")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "save":
        save(arguments.folder.absolute(), arguments.shared.absolute())
        return
    found = differences(arguments.before, arguments.after)
    print("\n".join(found) or "no difference")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
