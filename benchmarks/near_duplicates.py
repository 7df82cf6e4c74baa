"""How well perceptual hashes tell the same picture from another one.

    python benchmarks/near_duplicates.py DATA [--shared ../shared] [--half tuned|held-out|both] [--show FOLDER]
    python benchmarks/near_duplicates.py --generated 1000000

DATA is a data root in which real articles were processed; pictures are their panels and the retinal pictures of
`shared/images`. Sources (articles; folders of pictures) fall into two halves by the hash of their names.

Same: each picture and an altered copy of it; and, of articles whose package brings JPEGs, each figure's rendering from
the PDF and its JPEG, which nobody altered for this. Other: all pairs of pictures of different sources; of one source
(successive frames and B-scans, pictures of both eyes, which are related and no mistake if they are taken for the same).
Articles that have a picture in common byte for byte are one source.

Compared are this project's hash, and imagehash's `phash` of 64 and of 256 bits. `--show` writes the pictures of the
nearest others, and of the worst misses, side by side.

`--generated` groups that many made-up hashes, of which 2 % are copies of others with up to `THRESHOLD` bits changed. It
prints time, memory and the share of the copies that are found, for hashes of independent bits, for five kinds and one
of pictures whose hashes lean towards their kind, and for a single large group.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import imagehash
import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray
from PIL import Image

from pmo_assets.pipeline.dataset.near_duplicates import THRESHOLD, near_duplicate_groups
from pmo_assets.pipeline.figures.perceptual_hash import NO_STRUCTURE, perceptual_hash

Pixels = NDArray[np.uint8]
Bits = NDArray[np.bool_]

LONGEST = 1000
"""Pixels of a side to which pictures are reduced before anything is done with them, to save memory and time."""


@dataclass
class Item:
    """A picture, the source it belongs to, and what kind it is: "panel" or "picture"."""

    kind: str
    source: str
    name: str
    pixels: Pixels


def decoded(data: bytes) -> Pixels | None:
    """Return an encoded picture's pixels, RGB; None if it cannot be decoded."""
    image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_COLOR_RGB)
    return None if image is None else np.asarray(image, dtype=np.uint8)


def reduced(pixels: Pixels) -> Pixels:
    """Return pixels with no side longer than `LONGEST`."""
    by = LONGEST / max(pixels.shape[:2])
    return pixels if by >= 1 else scaled(pixels, by, cv2.INTER_AREA)


def stored(data: Path, store: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield article, key and PNG of the pictures of a store."""
    for path in sorted((data / "pixels" / store).glob("*/*.parquet")):
        for row in pq.read_table(path, columns=["key", "png"]).to_pylist():
            yield path.stem, row["key"], row["png"]


def items(data: Path, shared: Path) -> list[Item]:
    """Return all pictures; articles with a picture in common are one source."""
    found: list[Item] = []
    owner: dict[str, str] = {}
    digests: dict[str, str] = {}
    for article, key, png in stored(data, "panels"):
        first = digests.setdefault(hashlib.sha256(png).hexdigest(), article)
        owner[article] = min(owner.get(article, article), owner.get(first, first))
        pixels = decoded(png)
        assert pixels is not None
        found.append(Item("panel", article, key, reduced(pixels)))
    for item in found:
        item.source = owner[item.source]
    for path in sorted((shared / "images").glob("*/**/*.*")):
        pixels = decoded(path.read_bytes()) if path.suffix.lower() in (".png", ".jpg", ".jpeg") else None
        if pixels is not None:
            relative = path.relative_to(shared / "images")
            found.append(Item("picture", relative.parts[0], str(relative), reduced(pixels)))
    return found


def is_held_out(source: str) -> bool:
    """Return which half a source falls into."""
    return hashlib.sha256(source.encode()).digest()[0] % 2 == 1


# hashes


def bits(pixels: Pixels) -> Bits:
    """Return this project's hash."""
    return np.unpackbits(np.frombuffer(perceptual_hash(pixels), dtype=np.uint8)).astype(np.bool_)


def plain(size: int) -> Callable[[Pixels], Bits]:
    """Return imagehash's `phash` with `size` frequencies on a side."""
    return lambda pixels: np.asarray(imagehash.phash(Image.fromarray(pixels), hash_size=size).hash.ravel())


HASHES: dict[str, Callable[[Pixels], Bits]] = {"this": bits, "phash 64": plain(8), "phash 256": plain(16)}


# alterations


def scaled(pixels: Pixels, by: float, how: int) -> Pixels:
    """Return pixels in another size."""
    size = (max(1, round(pixels.shape[1] * by)), max(1, round(pixels.shape[0] * by)))
    return np.asarray(cv2.resize(pixels, size, interpolation=how), dtype=np.uint8)


def jpeg(pixels: Pixels, quality: int) -> Pixels:
    """Return pixels after compression."""
    return np.asarray(cv2.imdecode(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], 1), np.uint8)


def margins(share: float, seed: int = 1) -> Callable[[Pixels], Pixels]:
    """Return what cuts up to a share off each side or, if it is negative, adds white."""
    generator = np.random.default_rng(seed)

    def altered(pixels: Pixels) -> Pixels:
        tall, wide = pixels.shape[:2]
        sides = generator.uniform(0, abs(share), 4) * (tall, tall, wide, wide)
        top, bottom, left, right = (round(side) for side in sides)
        if share < 0:
            return np.pad(pixels, ((top, bottom), (left, right), (0, 0)), constant_values=255)
        return np.ascontiguousarray(pixels[top : tall - bottom, left : wide - right])

    return altered


def channel(number: int) -> Callable[[Pixels], Pixels]:
    """Return what keeps one colour as grey, as red-free pictures are made."""
    return lambda pixels: np.repeat(pixels[..., number : number + 1], 3, axis=2)


def grey(pixels: Pixels) -> Pixels:
    """Return pixels as grey."""
    return np.repeat(np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.uint8)[..., None], 3, axis=2)


def lettered(part: int) -> Callable[[Pixels], Pixels]:
    """Return what puts a white box of a part of the shorter side into the corner."""

    def altered(pixels: Pixels) -> Pixels:
        side = max(8, min(pixels.shape[:2]) // part)
        return np.asarray(cv2.rectangle(pixels.copy(), (0, 0), (side, side), (255, 255, 255), -1), np.uint8)

    return altered


def arrow(pixels: Pixels) -> Pixels:
    """Return pixels with an arrow in the middle."""
    tall, wide = pixels.shape[:2]
    points = (int(wide * 0.6), int(tall * 0.7)), (int(wide * 0.45), int(tall * 0.5))
    return np.asarray(cv2.arrowedLine(pixels.copy(), *points, (255, 255, 0), max(2, min(tall, wide) // 60)), np.uint8)


_cut = margins(0.02, seed=2)

ALTERATIONS: dict[str, Callable[[Pixels], Pixels]] = {
    "half as large": lambda pixels: scaled(pixels, 0.5, cv2.INTER_AREA),
    "half as large, bilinear": lambda pixels: scaled(pixels, 0.5, cv2.INTER_LINEAR),
    "0.7 as large, bicubic": lambda pixels: scaled(pixels, 0.7, cv2.INTER_CUBIC),
    "twice as large": lambda pixels: scaled(pixels, 2.0, cv2.INTER_CUBIC),
    "JPEG 50": lambda pixels: jpeg(pixels, 50),
    "JPEG 95": lambda pixels: jpeg(pixels, 95),
    "grey": grey,
    "green channel": channel(1),
    "gamma 0.7": lambda pixels: (255 * (pixels / 255.0) ** 0.7).astype(np.uint8),
    "cut up to 1 % each side": margins(0.01),
    "cut up to 2 % each side": margins(0.02),
    "white up to 3 % each side": margins(-0.03),
    "cut 2 %, half as large, JPEG 50": lambda pixels: jpeg(scaled(_cut(pixels), 0.5, cv2.INTER_AREA), 50),
    "a letter's box, a tenth": lettered(10),
    "a letter's box, a fifth": lettered(5),
    "an arrow in the middle": arrow,
}


def real_pairs(data: Path) -> Iterator[tuple[str, str, Pixels, Pixels]]:
    """Yield article, figure, its rendering and its JPEG where the package brings one."""
    tables = {name: pl.read_parquet(data / "tables" / name / "*.parquet") for name in ("package_figures", "figures")}
    renderings = {(article, key): png for article, key, png in stored(data, "figures")}
    files = tables["package_figures"].filter(pl.col("file").is_not_null())
    joined = tables["figures"].filter(pl.col("matched")).join(files, on=["article_id", "image_cluster_id"])
    for row in joined.sort("article_id", "image_cluster_id").iter_rows(named=True):
        png = renderings.get((str(row["article_id"]), row["pdf_figure_id"]))
        path = data / row["file"] if (data / row["file"]).is_file() else data / "objects" / row["file"]
        pictures = [decoded(data) for data in (png, path.read_bytes()) if data is not None]
        if len(pictures) == 2 and pictures[0] is not None and pictures[1] is not None:
            yield str(row["article_id"]), row["image_cluster_id"], reduced(pictures[0]), reduced(pictures[1])


# results


def distances(hashes: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the differing bits of all pairs."""
    ones = hashes.astype(np.float32)
    return np.rint(ones @ (1 - ones).T + (1 - ones) @ ones.T).astype(np.int64)


def same_table(found: list[Item], pairs: list[tuple[str, str, Pixels, Pixels]], show: Path | None) -> None:
    """Print how far the same picture in another form is, and which share a threshold takes."""
    steps = (16, 24, THRESHOLD, 40)
    print(
        "| same picture | pairs | median | 95 % | 99 % | "
        + " | ".join(f"≤ {step}" for step in steps)
        + " | phash 64 ≤ 8 | phash 256 ≤ 32 |"
    )
    print("| --- |" + " ---: |" * (len(steps) + 6))
    originals = {name: [make(item.pixels) for item in found] for name, make in HASHES.items()}

    def line(name: str, apart: dict[str, NDArray[np.int64]]) -> None:
        mine = apart["this"]
        print(
            f"| {name} | {len(mine)} | "
            + " | ".join(f"{np.quantile(mine, share):.0f}" for share in (0.5, 0.95, 0.99))
            + " | "
            + " | ".join(f"{np.mean(mine <= step):.3f}" for step in steps)
            + f" | {np.mean(apart['phash 64'] <= 8):.3f} | {np.mean(apart['phash 256'] <= 32):.3f} |",
            flush=True,
        )

    for name, alter in ALTERATIONS.items():
        altered = [np.ascontiguousarray(alter(item.pixels)) for item in found]
        apart = {
            kind: np.array([int((make(one) != old).sum()) for one, old in zip(altered, originals[kind], strict=True)])
            for kind, make in HASHES.items()
        }
        line(name, apart)
        if show is not None and name in ("cut up to 2 % each side", "gamma 0.7"):
            for place in np.argsort(-apart["this"])[:3]:
                side_by_side(show, f"miss {apart['this'][place]} {name}", found[place].pixels, altered[place])
    if pairs:
        apart = {
            kind: np.array([int((make(one) != make(other)).sum()) for _, _, one, other in pairs])
            for kind, make in HASHES.items()
        }
        line("figure: PDF and JPEG", apart)
        if show is not None:
            for place in np.argsort(-apart["this"])[:4]:
                side_by_side(show, f"miss {apart['this'][place]} JPEG", pairs[place][2], pairs[place][3])


def other_table(found: list[Item], show: Path | None) -> None:
    """Print how near different pictures are."""
    print("| other pictures | pairs | hash | least | 1 in 10,000 | 1 in 1,000 | links |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    first, second = np.triu_indices(len(found), 1)
    sources = np.array([item.source for item in found])
    is_panel = np.array([item.kind == "panel" for item in found])
    same = sources[first] == sources[second]
    both, none = is_panel[first] & is_panel[second], ~is_panel[first] & ~is_panel[second]
    kinds = {
        "panels of different articles": both & ~same,
        "retinal pictures of different sources": none & ~same,
        "all of different sources": ~same,
        "panels of one article": both & same,
        "retinal pictures of one source": none & same,
    }
    limits = {"this": THRESHOLD, "phash 64": 8, "phash 256": THRESHOLD}
    for name, make in HASHES.items():
        apart = distances(np.array([make(item.pixels) for item in found]))[first, second]
        for kind, kept in kinds.items():
            mine = apart[kept]
            quantiles = " | ".join(f"{np.quantile(mine, share):.0f}" for share in (0, 1e-4, 1e-3))
            links = int((mine <= limits[name]).sum())
            print(f"| {kind} | {len(mine):,} | {name} ≤ {limits[name]} | {quantiles} | {links} |")
        if name == "this" and show is not None:
            for kind in ("all of different sources", "panels of one article", "retinal pictures of one source"):
                places = np.flatnonzero(kinds[kind])
                for place in places[np.argsort(apart[places], kind="stable")[:4]]:
                    one, other = found[first[place]], found[second[place]]
                    side_by_side(show, f"other {apart[place]} {kind} {one.name} {other.name}", one.pixels, other.pixels)


def side_by_side(folder: Path, name: str, first: Pixels, second: Pixels) -> None:
    """Write two pictures, 400 pixels high, as one PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = [scaled(pixels, 400 / pixels.shape[0], cv2.INTER_AREA) for pixels in (first, second)]
    shown = [cv2.copyMakeBorder(p, 0, 0, 8, 8, cv2.BORDER_CONSTANT, value=(255, 0, 255)) for p in shown]
    safe = "".join(letter if letter.isalnum() else "_" for letter in name)[:140]
    cv2.imwrite(str(folder / f"{safe}.png"), cv2.cvtColor(np.hstack(shown), cv2.COLOR_RGB2BGR))


def generated(count: int, kinds: int, leaning: float) -> NDArray[np.uint8]:
    """Return hashes whose bits differ from those of their kind with a probability; the last 2 % copy the first ones."""
    generator = np.random.default_rng(1)
    prototypes = generator.integers(0, 2, (kinds, 256), dtype=np.uint8)
    copies = count // 50
    hashes = np.empty((count, 32), dtype=np.uint8)
    for start in range(0, count, 50_000):
        kind = generator.integers(0, kinds, len(hashes[start : start + 50_000]))
        flips = generator.random((len(kind), 256)) < leaning
        hashes[start : start + 50_000] = np.packbits(prototypes[kind] ^ flips, axis=1)
    changed = np.unpackbits(hashes[:copies], axis=1)
    for row, number in zip(changed, generator.integers(0, THRESHOLD + 1, copies), strict=True):
        row[generator.permutation(256)[:number]] ^= 1
    hashes[count - copies :] = np.packbits(changed, axis=1)
    return hashes


def scale_table(count: int) -> None:
    """Print what grouping many panels takes."""
    print("| hashes | panels | seconds | peak MB | copies found | groups | largest |\n| --- |" + " ---: |" * 6)
    kinds = {
        "independent": (1, 0.5),
        "of five kinds": (5, 0.35),
        "of one kind": (1, 0.25),
        "one large group": (1, 0.03),
    }
    for name, (number, leaning) in kinds.items():
        hashes = generated(count, number, leaning)
        digests = [f"{place:064x}" for place in range(count)]
        copies = count // 50
        start = time.process_time()
        groups = near_duplicate_groups(hashes, digests, np.arange(count)).group
        seconds = time.process_time() - start
        found = np.mean((groups[:copies] == groups[count - copies :]) & (groups[:copies] >= 0))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        largest = np.bincount(groups[groups >= 0], minlength=1).max()
        print(
            f"| {name} | {count:,} | {seconds:.0f} | {peak:.0f} | {found:.4f} | {groups.max() + 1:,} | {largest:,} |",
            flush=True,
        )


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", metavar="DATA")
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--half", choices=("tuned", "held-out", "both"), default="held-out")
    parser.add_argument("--show", type=Path, metavar="FOLDER")
    parser.add_argument("--generated", type=int, metavar="N")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    if arguments.generated:
        scale_table(arguments.generated)
        return 0
    if arguments.data is None:
        parser.error("DATA is missing")

    def wanted(source: str) -> bool:
        return bool(arguments.half == "both") or is_held_out(source) == (arguments.half == "held-out")

    every = [item for item in items(arguments.data, arguments.shared) if wanted(item.source)]
    found = [item for item in every if perceptual_hash(item.pixels) != NO_STRUCTURE]
    pairs = [pair for pair in real_pairs(arguments.data) if wanted(pair[0])]
    print(
        f"{arguments.half}: {sum(item.kind == 'panel' for item in found)} panels, "
        f"{sum(item.kind == 'picture' for item in found)} retinal pictures, {len({item.source for item in found})} "
        f"sources; {len(every) - len(found)} without structure\n",
        flush=True,
    )
    same_table(found, pairs, arguments.show)
    print()
    other_table(found, arguments.show)
    return 0


if __name__ == "__main__":
    sys.exit(main())
