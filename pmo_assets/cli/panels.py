"""`pmo panels`: compound pictures without captions, split into panels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from pmo_assets.cli.console import CommandError, counted, messages
from pmo_assets.records.defaults import SCORE_THRESHOLD
from pmo_assets.records.packages import PICTURE_SUFFIXES
from pmo_assets.system.aside import text_aside, write_bytes

if TYPE_CHECKING:
    from pmo_assets.pipeline.detection.detector_set import DetectorSet
    from pmo_assets.records.detections import FigureView, PanelDetection

DetectorSource = Literal["structure", "network", "both"]  # `protocols.DetectorSource`, without the time it takes

MAX_PICTURE_BYTES: Final = 256 * 2**20
"""Files are not read beyond: a picture of as many pixels as may be has some 10^8 bytes."""


def panels(
    *,
    pictures: Annotated[Path, typer.Argument(help="Folder of pictures (PNG, JPEG, TIFF, GIF), or one picture.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for panels.jsonl, and for the panels with --cut.")],
    detector: Annotated[
        DetectorSource, typer.Option(help="structure, the network alone, or both as one: the pipeline's.")
    ] = "both",
    weights: Annotated[
        Path | None, typer.Option(help="Figure network: an ONNX file, or open-pmc-18m for drawn grids of pictures.")
    ] = None,
    threshold: Annotated[float, typer.Option(min=0, max=1, help="Weaker panels are dropped.")] = SCORE_THRESHOLD,
    cut: Annotated[bool, typer.Option("--cut", help="Write every panel as a PNG, too.")] = False,
) -> None:
    """Split pictures that have no caption into panels, by what is to be seen in them.

    OUT/panels.jsonl has a row per picture, in the order of their names: file, width, height, and panels in reading
    order, each with its box in pixels [l, t, r, b], score and probability; or an error. An article's figures are split
    by their captions: `pmo article`, `pmo run`.
    """
    from pmo_assets.pipeline.detection.detector_set import detector_set
    from pmo_assets.pipeline.detection.networks.named_weights import named_weights

    cuts = (out / "panels").resolve()  # of an earlier run, perhaps: a panel is no picture to split
    named = pictures.rglob("*") if pictures.is_dir() else [pictures]
    paths = sorted(p for p in named if _is_picture(p) and cuts not in p.resolve().parents)
    if not paths:
        raise CommandError(f"no picture in {pictures}: PNG, JPEG, TIFF and GIF files are looked for")
    file = named_weights(weights)
    if file is not None and not file.is_file():
        raise CommandError(f"there is no file {file}")
    root = pictures if pictures.is_dir() else pictures.parent
    chosen = detector_set(detector, detector_file=file)
    found = unread = 0
    with text_aside(out / "panels.jsonl") as target:
        for path in paths:
            row, pixels = _row(path, root, chosen, threshold)
            found += len(row.get("panels", ()))
            unread += "error" in row
            target.write(json.dumps(row, ensure_ascii=False) + "\n")
            if cut and pixels is not None:
                _write_panels(out / "panels", Path(row["file"]), row["panels"], pixels)
    messages.print(f"{counted(found, 'panel')} in {counted(len(paths) - unread, 'picture')}")
    if unread == len(paths):
        raise CommandError(f"no picture in {pictures} could be read: {out / 'panels.jsonl'} says why")


def _is_picture(path: Path) -> bool:
    return path.suffix.lower() in PICTURE_SUFFIXES and path.is_file() and not path.is_symlink()


def _row(path: Path, root: Path, detectors: DetectorSet, threshold: float) -> tuple[dict[str, Any], Any]:
    """Return the row of a picture, and its pixels unless it cannot be read."""
    from pmo_assets.pictures import PictureUnreadable, decode_rgb
    from pmo_assets.pipeline.detection.detect import detect_panels
    from pmo_assets.records.detections import FigureView
    from pmo_assets.records.faults import raise_fault

    row: dict[str, Any] = {"file": path.relative_to(root).as_posix()}
    try:
        if path.stat().st_size > MAX_PICTURE_BYTES:
            raise PictureUnreadable(f"it has more than {MAX_PICTURE_BYTES:,} bytes")
        pixels = decode_rgb(path.read_bytes())
    except (PictureUnreadable, OSError) as error:
        raise_fault(error)
        return row | {"error": str(error)}, None
    tall, wide = pixels.shape[:2]
    view = FigureView(pixels, caption_known=False)
    boxes = detect_panels(view, detectors.panels, score_threshold=threshold)
    return row | {"width": wide, "height": tall, "panels": list(_panels(boxes, view))}, pixels


def _panels(found: tuple[PanelDetection, ...], view: FigureView) -> Iterator[dict[str, Any]]:
    from pmo_assets.records.geometry import crop_box

    tall, wide = view.pixels.shape[:2]
    for panel in found:
        if panel.kind == "panel":
            yield {
                "box": list(crop_box(panel.box, wide, tall)), "score": round(panel.score, 4),
                "probability": round(panel.probability, 4), "source": panel.source,
            }  # fmt: skip


def _write_panels(folder: Path, name: Path, rows: list[dict[str, Any]], pixels: Any) -> None:
    """Write panels as NAME.SUFFIX-1.png …; the suffix keeps a.png and a.jpg apart."""
    from pmo_assets.pictures import png_bytes

    for number, row in enumerate(rows, start=1):
        left, top, right, bottom = row["box"]
        target = folder / f"{name.as_posix()}-{number}.png"
        write_bytes(target, png_bytes(pixels[top:bottom, left:right]), durable=False)
