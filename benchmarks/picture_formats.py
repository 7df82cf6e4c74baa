"""What a panel's picture costs as PNG and as lossless WebP: bytes, seconds to encode, seconds to decode.

    python benchmarks/picture_formats.py PANELS [--panels N] [--seed S] [--quick] [--only NAME …]

PANELS is a folder of pixel stores, such as `data/pixels/panels`. N panels are drawn from it at random. Each is encoded
by every candidate and decoded again, by Pillow (what people read the dataset with) and by `decoded_bytes` (what the
pipeline reads with: its own reader for what it wrote, OpenCV for the others); a candidate that does not give the same
pixels back ends the benchmark. Seconds are processor time of one thread per 10⁶ pixels, over all panels together. Bytes
are given as total relative to the PNG that is stored (`png_bytes`), as median per panel, and as totals over the grey
panels (R = G = B everywhere) and the coloured ones.
WebP has no grey form of its own: its transforms find out by themselves that a picture is grey.
"""

from __future__ import annotations

import argparse
import io
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from PIL import Image

from pmo_assets.pictures import compact_bytes, decoded_bytes, png_bytes

Pixels = NDArray[np.uint8]
Encoder = Callable[[Pixels], bytes]

FILTERS = {
    "none": cv2.IMWRITE_PNG_FILTER_NONE,
    "sub": cv2.IMWRITE_PNG_FILTER_SUB,
    "up": cv2.IMWRITE_PNG_FILTER_UP,
    "avg": cv2.IMWRITE_PNG_FILTER_AVG,
    "paeth": cv2.IMWRITE_PNG_FILTER_PAETH,
    "fast": cv2.IMWRITE_PNG_FAST_FILTERS,
    "all": cv2.IMWRITE_PNG_ALL_FILTERS,
}
"""OpenCV's filters of PNG rows; "fast" chooses among the first three per row, "all" among all five."""


@dataclass
class Cost:
    """What a candidate cost over all panels: bytes per panel, seconds in all."""

    sizes: list[int] = field(default_factory=list)
    encoding: float = 0.0
    decoding_pillow: float = 0.0
    decoding_here: float = 0.0


def panel_pixels(folder: Path) -> Iterator[Pixels]:
    """Yield the pixels of all panels below a folder, in the order of the files' names."""
    for path in sorted(folder.glob("**/*.parquet")):
        for png in pq.read_table(path, columns=["png"]).column("png").to_pylist():
            yield decoded_bytes(png)


def is_grey(pixels: Pixels) -> bool:
    """Return whether R = G = B in every pixel."""
    return bool(np.array_equal(pixels[..., 0], pixels[..., 1]) and np.array_equal(pixels[..., 0], pixels[..., 2]))


def grey_if_grey(encode: Encoder) -> Encoder:
    """Return an encoder that gives grey pictures one channel; what it takes to find out is part of its time."""
    return lambda pixels: encode(np.ascontiguousarray(pixels[..., 0]) if is_grey(pixels) else pixels)


def opencv_png(level: int, row_filter: int) -> Encoder:
    """Return OpenCV's PNG encoder at a level of zlib with a filter."""
    options = [cv2.IMWRITE_PNG_COMPRESSION, level, cv2.IMWRITE_PNG_FILTER, row_filter]

    def encode(pixels: Pixels) -> bytes:
        picture = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR) if pixels.ndim == 3 else pixels
        done, data = cv2.imencode(".png", picture, options)
        assert done
        return bytes(data)

    return encode


def pillow(**options: object) -> Encoder:
    """Return an encoder of Pillow with its options; its PNG always chooses among the five filters per row."""

    def encode(pixels: Pixels) -> bytes:
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, **options)  # type: ignore[arg-type]
        return file.getvalue()

    return encode


def candidates(quick: bool) -> dict[str, Encoder]:
    """Return all candidates by name, the PNG that is stored first."""
    found: dict[str, Encoder] = {"PNG as stored": png_bytes}
    filters = ("up", "paeth", "all") if quick else tuple(FILTERS)
    for level in (1, 3, 6) if quick else (1, 3, 6, 9):
        for name in filters if level < 9 else ("up", "paeth", "all"):
            found[f"PNG OpenCV level {level} {name}"] = opencv_png(level, FILTERS[name])
        found[f"PNG Pillow level {level}"] = pillow(format="PNG", compress_level=level)
    found |= {f"{name}, grey": grey_if_grey(encode) for name, encode in found.items()}
    found["WebP as stored"] = compact_bytes  # its time holds that of the PNG, which the pipeline has made already
    for method in range(7):
        for quality in (0, 50, 100) if quick else (0, 25, 50, 75, 100):
            found[f"WebP method {method} effort {quality}"] = pillow(
                format="WEBP", lossless=True, method=method, quality=quality
            )
    return found


def measured(encode: Encoder, panels: list[Pixels]) -> Cost:
    """Return what a candidate costs.

    Raises:
        SystemExit: if it does not give the same pixels back.
    """
    cost = Cost()
    for pixels in panels:
        times = [time.process_time()]
        data = encode(pixels)
        times.append(time.process_time())
        back = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
        times.append(time.process_time())
        again = decoded_bytes(data)
        times.append(time.process_time())
        cost.sizes.append(len(data))
        cost.encoding += times[1] - times[0]
        cost.decoding_pillow += times[2] - times[1]
        cost.decoding_here += times[3] - times[2]
        if not (np.array_equal(back, pixels) and np.array_equal(again, pixels)):
            raise SystemExit("a candidate is not lossless")
    return cost


def main() -> int:
    """Print the table, the smallest candidate last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("panels_folder", type=Path, metavar="PANELS")
    parser.add_argument("--panels", type=int, default=60, help="how many are drawn (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="fewer candidates")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these candidates, beside the PNG that is stored")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)

    every = list(panel_pixels(arguments.panels_folder))
    panels = random.Random(arguments.seed).sample(every, min(arguments.panels, len(every)))
    grey = [is_grey(pixels) for pixels in panels]
    megapixels = sum(pixels.shape[0] * pixels.shape[1] for pixels in panels) / 1e6
    print(f"{len(panels)} of {len(every)} panels, {megapixels:.1f} megapixels, {sum(grey)} grey", flush=True)

    costs: dict[str, Cost] = {}
    for name, encode in candidates(arguments.quick).items():
        if arguments.only and name not in ("PNG as stored", *arguments.only):
            continue
        costs[name] = measured(encode, panels)
        print(f"  {name}: {sum(costs[name].sizes):,} bytes, {costs[name].encoding:.1f} s", file=sys.stderr, flush=True)

    stored = costs["PNG as stored"].sizes

    def relative(sizes: list[int], kept: list[bool]) -> str:
        whole = sum(size for size, keep in zip(stored, kept, strict=True) if keep)
        return f"{sum(s for s, keep in zip(sizes, kept, strict=True) if keep) / whole:.3f}" if whole else "–"

    print("| candidate | total | grey | coloured | median bytes | encode s/MP | decode s/MP Pillow | here |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, cost in sorted(costs.items(), key=lambda item: -sum(item[1].sizes)):
        sizes = cost.sizes
        print(
            f"| {name} | {relative(sizes, [True] * len(sizes))} | {relative(sizes, grey)} "
            f"| {relative(sizes, [not each for each in grey])} | {statistics.median(sizes):,.0f} "
            f"| {cost.encoding / megapixels:.3f} | {cost.decoding_pillow / megapixels:.3f} "
            f"| {cost.decoding_here / megapixels:.3f} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
