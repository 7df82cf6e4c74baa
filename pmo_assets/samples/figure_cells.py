"""Cells of a figure's panels: rows, columns of equal height, and a panel's height in a given width.

Lengths in points, origin at the figure's top left corner. Drawing into a cell belongs into `figure_layout`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pmo_assets.samples import type_metrics
from pmo_assets.samples.spec import FigureSpec, PanelSpec

IMAGE_GAP = 3.0
"""White space between the pictures of one panel, points."""
_BLOCK_GUTTERS = 2.0
"""Number of further gutters between blocks of columns."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Room for a panel: left and top edge, width."""

    left: float
    top: float
    width: float


def band(figure: FigureSpec) -> float:
    """Return the height that an identifier above or below the picture needs."""
    outside = figure.identifier_place in ("below", "below_left", "above", "above_centre")
    return 1.5 * figure.identifier_size if outside else 0.0


def printed_identifier(figure: FigureSpec, panel: PanelSpec) -> str:
    """Return the panel's identifier as it is printed; "" if none is."""
    name = panel.identifier if panel.printed is None else panel.printed
    return figure.identifier_print.format(name) if name and figure.identifier_place != "none" else ""


def side_band(figure: FigureSpec) -> float:
    """Return the width that identifiers beside their pictures need."""
    if figure.identifier_place != "beside":
        return 0.0
    size = figure.identifier_size
    if figure.identifier_angle == 90:
        return 1.5 * size
    font = type_metrics.font_name("Helvetica", bold=True)
    texts = [printed_identifier(figure, panel) for panel in figure.panels]
    return max(type_metrics.text_width(text, font, size) for text in texts) + 0.5 * size


def gap_of(panel: PanelSpec) -> float:
    """Return the white space between the panel's pictures."""
    return IMAGE_GAP if panel.gap is None else panel.gap


def pictures_height(panel: PanelSpec, width: float) -> float:
    """Return how high the panel's pictures are together when they are `width` wide together."""
    gaps = (len(panel.images) - 1) * gap_of(panel)
    if panel.stacked:
        return width * sum(1 / image.aspect for image in panel.images) + gaps
    return (width - gaps) / sum(image.aspect for image in panel.images)


def _panel_height(figure: FigureSpec, panel: PanelSpec, width: float) -> float:
    return pictures_height(panel, width - side_band(figure)) + band(figure)


def rows_of(figure: FigureSpec, panels: Sequence[PanelSpec]) -> list[Sequence[PanelSpec]]:
    """Return the panels row by row, as many in each as the figure says."""
    if not figure.rows:
        return [panels[i : i + figure.grid_columns] for i in range(0, len(panels), figure.grid_columns)]
    ends = [sum(figure.rows[: n + 1]) for n in range(len(figure.rows))]
    return [panels[end - count : end] for end, count in zip(ends, figure.rows, strict=True)]


def _block_gap(figure: FigureSpec, columns: int) -> float:
    return _BLOCK_GUTTERS * figure.gutter if 0 < figure.block_columns < columns else 0.0


def _row_cell(figure: FigureSpec, row: Sequence[PanelSpec], width: float) -> float:
    columns = len(row) if figure.rows else figure.grid_columns
    return (width - (columns - 1) * figure.gutter - _block_gap(figure, columns)) / columns


def _row_heights(figure: FigureSpec, rows: Sequence[Sequence[PanelSpec]], width: float) -> list[float]:
    return [max(_panel_height(figure, panel, _row_cell(figure, row, width)) for panel in row) for row in rows]


def _stack_widths(figure: FigureSpec, stacks: Sequence[Sequence[PanelSpec]], width: float) -> list[float]:
    """Return the widths at which all columns are equally high; a column's height is a linear function of its width."""

    def height(stack: Sequence[PanelSpec], width: float) -> float:
        return sum(_panel_height(figure, panel, width) for panel in stack) + figure.gutter * (len(stack) - 1)

    slopes = [(height(stack, 200.0) - height(stack, 100.0)) / 100.0 for stack in stacks]
    offsets = [height(stack, 100.0) - 100.0 * slope for stack, slope in zip(stacks, slopes, strict=True)]
    room = width - figure.gutter * (len(stacks) - 1)
    shares = sum(offset / slope for offset, slope in zip(offsets, slopes, strict=True))
    common = (room + shares) / sum(1 / slope for slope in slopes)
    return [(common - offset) / slope for offset, slope in zip(offsets, slopes, strict=True)]


def _stacks(figure: FigureSpec) -> list[Sequence[PanelSpec]]:
    ends = [sum(figure.stacks[: n + 1]) for n in range(len(figure.stacks))]
    return [figure.panels[end - count : end] for end, count in zip(ends, figure.stacks, strict=True)]


def total_height(figure: FigureSpec, panels: Sequence[PanelSpec], width: float) -> float:
    """Return how high the panels are together."""
    if figure.stacks:
        stack = _stacks(figure)[0]
        cell = _stack_widths(figure, _stacks(figure), width)[0]
        return sum(_panel_height(figure, panel, cell) for panel in stack) + figure.gutter * (len(stack) - 1)
    heights = _row_heights(figure, rows_of(figure, panels), width)
    return sum(heights) + figure.gutter * (len(heights) - 1)


def panel_cells(figure: FigureSpec, panels: Sequence[PanelSpec], width: float) -> list[Cell]:
    """Return where the panels lie, same order.

    Args:
        figure: specification, which says how they are arranged.
        panels: all of its panels, or those of one page.
        width: that they may take.
    """
    if figure.stacks:
        cells = []
        left = 0.0
        for stack, cell in zip(_stacks(figure), _stack_widths(figure, _stacks(figure), width), strict=True):
            top = 0.0
            for panel in stack:
                cells.append(Cell(left, top, cell))
                top += _panel_height(figure, panel, cell) + figure.gutter
            left += cell + figure.gutter
        return cells
    rows = rows_of(figure, panels)
    cells = []
    top = 0.0
    for row, height in zip(rows, _row_heights(figure, rows, width), strict=True):
        cell = _row_cell(figure, row, width)
        for column in range(len(row)):
            block = _block_gap(figure, len(row)) if column >= figure.block_columns else 0.0
            cells.append(Cell(column * (cell + figure.gutter) + block, top, cell))
        top += height + figure.gutter
    return cells
