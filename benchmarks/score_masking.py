"""Count what the masking of exported pictures finds in pictures without people, and how long it takes.

    OMP_NUM_THREADS=1 python benchmarks/score_masking.py FOLDER [--limit 100] [--faces] [--retinal] [--out DIR]

Takes PNG, JPEG, TIFF and WebP files below the folder, evenly spread, as `pmo release instructions` takes a panel's
picture (`release.deidentification`). `--faces` looks for faces alone, without reading print; `--retinal` as in pictures
that are known to show the retina. `--out` keeps a copy of each picture with its parts outlined, to be looked at:
whether a part tells who somebody is, a person decides.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

import cv2

from pmo_assets.pictures import PictureUnreadable, decode_rgb, png_bytes
from pmo_assets.pipeline.videos.faces import LEAST_SCORE, face_boxes, load_faces
from pmo_assets.records.geometry import crop_box
from pmo_assets.release.deidentification import SURE_FACE, Masked, identifying_parts, load_masker

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp"})


def main() -> None:
    """Print pictures, those with parts of each kind, and seconds a picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--faces", action="store_true")
    parser.add_argument("--retinal", action="store_true")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    paths = sorted(path for path in arguments.folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    paths = paths[:: max(1, len(paths) // arguments.limit)][: arguments.limit]
    least = SURE_FACE if arguments.retinal else LEAST_SCORE
    load_faces()
    masker = None if arguments.faces else load_masker()
    held: Counter[str] = Counter()
    seconds, read = 0.0, 0
    for path in paths:
        try:
            pixels = decode_rgb(path.read_bytes())
        except PictureUnreadable:
            continue
        start = time.process_time()
        found = (
            tuple(Masked(box, "face") for box in face_boxes(pixels, least))
            if masker is None
            else identifying_parts(pixels, masker.reader, least_face=least)
        )
        seconds, read = seconds + time.process_time() - start, read + 1
        held.update({item.what for item in found})
        if found and arguments.out is not None:
            arguments.out.mkdir(parents=True, exist_ok=True)
            shown = pixels.copy()
            for item in found:
                left, top, right, bottom = crop_box(item.box, pixels.shape[1], pixels.shape[0])
                cv2.rectangle(shown, (left, top), (right, bottom), (255, 0, 0), max(2, pixels.shape[1] // 200))
            (arguments.out / f"{path.parent.name}-{path.stem}.png").write_bytes(png_bytes(shown))
    faces, lines = held["face"], held["print"]
    said = "not read" if arguments.faces else f"{lines} with identifying print"
    print(f"{read} pictures: {faces} with a face, {said}; {seconds / max(1, read):.2f} s of processor time each")


if __name__ == "__main__":
    main()
