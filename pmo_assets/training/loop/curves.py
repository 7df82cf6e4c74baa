"""Curves of a training run: `curves.csv`, TensorBoard event files, and both drawn as a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from pmo_assets.system.aside import write_text

EVENTS = "events"
"""Sub-folder of a run for TensorBoard: `tensorboard --logdir RUN` finds it."""


def add_to_curves(path: Path, record: Mapping[str, Any]) -> None:
    """Append a record; columns are those of the first one. An empty file counts as new."""
    new = not path.exists() or not path.stat().st_size
    columns = list(record) if new else path.read_text("utf-8").splitlines()[0].split(",")
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", restval="")
        if new:
            writer.writeheader()
        writer.writerow(record)


def read_curves(path: Path) -> list[dict[str, float]]:
    """Return the records of a run in order of their steps, without empty cells and lines of another number of cells."""
    with path.open(encoding="utf-8", newline="") as file:
        # DictReader gives cells too many the key None, and cells that are missing the value None.
        whole = [row for row in csv.DictReader(file) if None not in row and None not in row.values()]
        rows = [{key: float(value) for key, value in row.items() if value} for row in whole]
    return sorted(rows, key=lambda row: row["step"])


def forget_after(path: Path, step: int) -> None:
    """Drop the records of later steps, which a run that was killed after its last checkpoint makes again.

    Lines with too few or too many cells go as well: a full disk or a kill cuts them off.
    """
    text = path.read_text("utf-8") if path.exists() else ""
    if not text:
        return
    header, *lines = text.splitlines()
    columns = header.split(",")
    place = columns.index("step")
    whole = [cells for cells in (line.split(",") for line in lines) if len(cells) == len(columns)]
    kept = "\n".join([header, *(",".join(cells) for cells in whole if int(float(cells[place])) <= step), ""])
    if kept != text:
        write_text(path, kept)


def open_event_writer(run: Path, step: int) -> Any:
    """Open TensorBoard's writer of a run that goes on after `step`; later events of a killed run are hidden."""
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(run / EVENTS), purge_step=step + 1 if step else None)


def add_to_events(writer: Any, group: str, values: Mapping[str, Any], step: int) -> None:
    """Write numbers as scalars `group/name`, at once."""
    for name, value in values.items():
        writer.add_scalar(f"{group}/{name}", value, step)
    writer.flush()


def curves_png(path: Path, measured: Sequence[str]) -> bytes:
    """Return the curves of a run as PNG: its loss on the left, its scores (0..1) on the right.

    Args:
        path: `curves.csv`.
        measured: columns on the right; those the file lacks are left out.
    """
    # matplotlib takes a second to load: only for those who draw.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = read_curves(path)
    figure = Figure(figsize=(9, 3.2), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    for axes, names in ((left, ("loss",)), (right, tuple(measured))):
        for name in names:
            points = [(row["step"], row[name]) for row in rows if name in row]
            if points:
                x, y = zip(*points, strict=True)
                axes.plot(x, y, label=name, marker="o" if len(points) < 40 else None, markersize=3, linewidth=1.5)
        axes.set_xlabel("step")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e3e6ea", linewidth=0.8)
        axes.set_axisbelow(True)
    left.set_title("training loss", fontsize=10)
    left.set_ylim(bottom=0)
    right.set_title("validation", fontsize=10)
    right.set_ylim(0, 1)
    if not left.lines:  # runs from before the whole loss was a column
        left.set_axis_off()
    if right.lines:
        right.legend(fontsize=8, frameon=False)
    raw, file = io.BytesIO(), io.BytesIO()
    figure.savefig(raw, format="png")
    # Few colours are enough for lines and letters, and the picture lives in the event log's row.
    few = Image.open(raw).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    few.save(file, "PNG", optimize=True)
    return file.getvalue()
