"""Plots of how good the pipeline is, as PNG: precision-recall curves, confusion, calibration, coverage, IoU.

matplotlib draws them: axes, ticks and legends of charts with two numeric axes would be much code of our own. Its
object interface is used, without pyplot's global state, and its own fonts, so that pictures are the same everywhere.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

from pmo_assets.viewing.palette import FOUND_COLOUR, KIND_COLOURS, TRUTH_COLOUR, image_type_colour

DPI = 100
_INK = "#1b1f24"
_GRID = "#e3e6ea"
_COLOURS = 64
"""Plots have few colours: with so many, letters are still smooth and the file is a third as large."""


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    # Imported when something is drawn: the code location loads this module at every start.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def _png(figure: Figure) -> bytes:
    raw = io.BytesIO()
    figure.savefig(raw, format="rgba", dpi=DPI)
    size = tuple(round(inches * DPI) for inches in figure.get_size_inches())
    picture = Image.frombytes("RGBA", size, raw.getvalue()).convert("RGB")
    file = io.BytesIO()
    picture.quantize(_COLOURS, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


def _empty(message: str) -> bytes:
    figure, axes = _figure(5, 1)
    axes.set_axis_off()
    axes.text(0.5, 0.5, message, ha="center", va="center", color=_INK)
    return _png(figure)


def _unit_square(axes: Axes, x: str, y: str) -> None:
    axes.set_xlim(0, 1.01)
    axes.set_ylim(0, 1.03)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def precision_recall_plot(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], values: Mapping[str, float], *, title: str
) -> bytes:
    """Return precision against recall, one line per class.

    Args:
        curves: recall and precision by class, recall rising.
        values: average precision by class, for the legend.
        title: heading.
    """
    shown = {name: curve for name, curve in curves.items() if len(curve[0])}
    if not shown:
        return _empty("nothing was found")
    figure, axes = _figure(6.2, 3.9)
    for number, (name, (recall, precision)) in enumerate(shown.items()):
        colour = KIND_COLOURS.get(name) or image_type_colour(name)
        style = ("-", "--", "-.", ":")[number % 4]
        label = f"{name}  {values[name]:.3f}" if name in values else name
        axes.step([0, *recall], [precision[0], *precision], where="post", color=colour, linestyle=style, label=label)
        axes.plot(recall[-1:], precision[-1:], "o", color=colour, markersize=4)
    _unit_square(axes, "recall", "precision")
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(title="average precision", loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return _png(figure)


def confusion_plot(
    counts: Mapping[tuple[str, str], int], rows: Sequence[str], columns: Sequence[str], *, title: str
) -> bytes:
    """Return a confusion matrix with counts; the shade is the share of the row.

    Args:
        counts: by (annotated, found).
        rows: annotated classes, top to bottom.
        columns: found classes, left to right.
        title: heading.
    """
    if not rows or not columns:
        return _empty("nothing is annotated")
    figure, axes = _figure(1.9 + 0.95 * len(columns), 1.5 + 0.45 * len(rows))
    matrix = np.array([[counts.get((row, column), 0) for column in columns] for row in rows], dtype=float)
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (i, j), count in np.ndenumerate(matrix):
        if count:
            axes.text(j, i, f"{count:.0f}", ha="center", va="center", color="white" if shares[i, j] > 0.6 else _INK)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("found")
    axes.set_ylabel("annotated")
    axes.set_title(title, loc="left", fontsize=11)
    return _png(figure)


def calibration_plot(bins: Sequence[Any], *, error: float, title: str) -> bytes:
    """Return a plot of the share that is right against the claimed confidence: one point per bin, with its captions.

    A line through a point says within which bounds the share that is right lies, by the number of captions.

    Args:
        bins: `quality.metrics.captions.ConfidenceBin`.
        error: expected calibration error, for the heading.
        title: heading.
    """
    if not bins:
        return _empty("no caption was scored")
    figure, axes = _figure(5.6, 4.0)
    axes.plot([0, 1], [0, 1], color="#9aa2ad", linewidth=1, linestyle=":", label="perfectly calibrated")
    confidence = [item.mean_confidence for item in bins]
    largest = max(item.captions for item in bins)
    sizes = [30 + 170 * item.captions / largest for item in bins]
    axes.plot(confidence, [b.right_share for b in bins], color=TRUTH_COLOUR, linewidth=1, zorder=2)
    axes.scatter(confidence, [b.right_share for b in bins], s=sizes, color=TRUTH_COLOUR, zorder=3,
                 label="share right (all panels, BLEU ≥ 0.9)")  # fmt: skip
    axes.plot(confidence, [b.mean_bleu for b in bins], color=FOUND_COLOUR, linestyle="--", marker="s", markersize=5,
              label="mean BLEU")  # fmt: skip
    for item in bins:
        low, high = item.likely_right
        axes.plot([item.mean_confidence] * 2, [low, high], color=TRUTH_COLOUR, linewidth=1, alpha=0.5, zorder=1)
        axes.annotate(f"{item.captions}", (item.mean_confidence, low), textcoords="offset points",
                      xytext=(0, -10), ha="center", fontsize=8, color=_INK)  # fmt: skip
    _unit_square(axes, "confidence of the split", "outcome")
    # the claims alone, which lie close together
    axes.set_xlim(max(0.0, min(confidence) - 0.08), 1.01)
    axes.set_ylim(-0.1, 1.08)
    axes.set_title(f"{title} (calibration error {error:.3f})", loc="left", fontsize=11)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(-0.1, -0.16), ncols=3, fontsize=8, columnspacing=1)
    return _png(figure)


def reliability_plot(kinds: Mapping[str, tuple[Sequence[Any], Sequence[Any]]], *, title: str) -> bytes:
    """Return the share of right detections against score and probability, one diagram per kind.

    Args:
        kinds: bins of the scores and of the probabilities (`quality.metrics.reliability.ReliabilityBin`) by kind.
        title: heading.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = {name: pair for name, pair in kinds.items() if pair[0]}
    if not shown:
        return _empty("nothing was found")
    figure = Figure(figsize=(0.6 + 3.0 * len(shown), 3.9), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (name, pair) in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown.items(), strict=True):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color=_GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.plot([0, 1], [0, 1], color="#9aa2ad", linewidth=1, linestyle=":", label="perfectly calibrated")
        largest = max(item.count for bins in pair for item in bins)
        styles = (("score", FOUND_COLOUR, "s", "--"), ("probability", TRUTH_COLOUR, "o", "-"))
        for bins, (label, colour, marker, line) in zip(pair, styles, strict=True):
            claimed, right = [b.mean_claimed for b in bins], [b.right_share for b in bins]
            axes.plot(claimed, right, color=colour, linestyle=line, linewidth=1, zorder=2)
            sizes = [15 + 140 * item.count / largest for item in bins]
            axes.scatter(claimed, right, s=sizes, color=colour, marker=marker, alpha=0.75, zorder=3, label=label)
        for item in pair[1]:
            axes.annotate(f"{item.count}", (item.mean_claimed, item.right_share), textcoords="offset points",
                          xytext=(0, -15), ha="center", fontsize=8, color=_INK)  # fmt: skip
        _unit_square(axes, "claimed", "share that is right (IoU 0.5)" if name == next(iter(shown)) else "")
        axes.set_xlim(0, 1.05)
        axes.set_ylim(-0.1, 1.08)
        axes.set_title(f"{name} ({sum(item.count for item in pair[1])})", fontsize=10)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=3, frameon=False, fontsize=8)
    return _png(figure)


def coverage_plot(parts: Sequence[Any], *, title: str) -> bytes:
    """Return both caption figures against the share of captions that is kept, the most confident first.

    Args:
        parts: `quality.metrics.captions.Coverage`.
        title: heading.
    """
    if not parts:
        return _empty("no caption was scored")
    ordered = sorted(parts, key=lambda item: item.share)
    figure, axes = _figure(5.6, 3.6)
    shares = [100 * item.share for item in ordered]
    lines = (
        ("mean average sentence BLEU", [item.summary.mab for item in ordered], TRUTH_COLOUR, "-o"),
        ("processed (identifiers all right)", [1 - item.summary.unprocessed_share for item in ordered], FOUND_COLOUR,
         "--s"),
    )  # fmt: skip
    for label, values, colour, style in lines:
        axes.plot(shares, values, style, color=colour, markersize=5, label=label)
    lowest = min(min(values) for _, values, _, _ in lines)
    axes.set_ylim(max(0.0, min(0.8, lowest - 0.05)), 1.01)
    for item, share in zip(ordered, shares, strict=True):
        axes.annotate(f"≥ {item.lowest_confidence:.2f}", (share, axes.get_ylim()[0]), textcoords="offset points",
                      xytext=(0, 4), ha="center", fontsize=8, color="#5b6470")  # fmt: skip
    axes.set_xlim(min(shares) - 5, 105)
    axes.set_xlabel("% of captions kept, most confident first (numbers: lowest confidence)")
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=8, loc="center left")
    return _png(figure)


def recall_plot(overlaps: Sequence[float], *, title: str, thresholds: Sequence[float] = (0.5, 0.75, 0.9)) -> bytes:
    """Return the share of annotated figures that is found at every IoU threshold.

    Args:
        overlaps: IoU of every annotated figure with the one found for it; 0 when missed.
        title: heading.
        thresholds: marked with their value.
    """
    if not overlaps:
        return _empty("no figure is annotated")
    figure, axes = _figure(5.6, 3.4)
    values = np.asarray(overlaps)
    grid = np.linspace(0.5, 1, 101)
    axes.plot(grid, [(values >= t).mean() for t in grid], color=TRUTH_COLOUR)
    for threshold in thresholds:
        share = float((values >= threshold).mean())
        axes.plot([threshold], [share], "o", color=TRUTH_COLOUR, markersize=5)
        axes.annotate(f"{share:.3f}", (threshold, share), textcoords="offset points", xytext=(0, -14), ha="center",
                      fontsize=9)  # fmt: skip
    axes.set_xlim(0.47, 1.005)
    axes.set_ylim(0, 1.04)
    axes.set_xlabel("IoU from which a figure counts as found")
    axes.set_ylabel("figure recall")
    axes.set_title(title, loc="left", fontsize=11)
    return _png(figure)


def stacked_shares_plot(parts: Mapping[str, Mapping[str, int]], colours: Mapping[str, str], *, title: str) -> bytes:
    """Return one horizontal bar per group, cut into the shares of its states, with counts.

    Args:
        parts: group → state → count, drawn top to bottom.
        colours: `#rrggbb` by state, in the order of drawing.
        title: heading.
    """
    groups = [name for name, counts in parts.items() if sum(counts.values())]
    if not groups:
        return _empty("no panel is annotated")
    figure, axes = _figure(6.6, 1.5 + 0.42 * len(groups))
    heights = range(len(groups))
    left = np.zeros(len(groups))
    for state, colour in colours.items():
        counts = np.array([parts[group].get(state, 0) for group in groups], dtype=float)
        shares = counts / np.array([sum(parts[group].values()) for group in groups])
        axes.barh(heights, shares, left=left, height=0.66, color=colour, edgecolor="white", label=state)
        for y, x, width, count in zip(heights, left, shares, counts, strict=True):
            if width > 0.045:
                axes.text(x + width / 2, y, f"{count:.0f}", ha="center", va="center", color="white", fontsize=9)
        left += shares
    axes.set_yticks(heights, [f"{group} ({sum(parts[group].values())})" for group in groups])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.set_title(title, loc="left", fontsize=11)
    below = (0, -0.18 if len(groups) > 3 else -0.3)
    axes.legend(frameon=False, ncols=len(colours), loc="upper left", bbox_to_anchor=below, fontsize=9)
    return _png(figure)


def scatter_plot(parts: Sequence[tuple[str, str, str, Sequence[tuple[float, float]]]], *, title: str) -> bytes:
    """Return points of several classes, both axes in one scale and without numbers, with a legend.

    Args:
        parts: name, `#rrggbb`, matplotlib's marker and places of each class; later ones are drawn above.
        title: heading.
    """
    if not any(points for *_, points in parts):
        return _empty("no point to draw")
    figure, axes = _figure(8.4, 6)
    for name, colour, marker, points in parts:
        x, y = zip(*points, strict=True) if points else ((), ())
        axes.scatter(
            x, y, s=22, c=colour, marker=marker, linewidths=1.2 if marker in "_|" else 0, alpha=0.85, label=name
        )
    axes.set_aspect("equal", adjustable="datalim")
    axes.tick_params(labelbottom=False, labelleft=False, length=0)
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=8, markerscale=1.3)
    return _png(figure)
