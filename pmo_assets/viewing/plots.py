"""Charts for pages: inline SVG that follows the page's width, font and colour scheme.

Each chart returns escaped HTML. Bars have their label and number as text above them, so nothing is read off an axis
and long labels wrap on a phone; columns have a text alternative with all numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pmo_assets.viewing.markup import number_text, plain_text

MAX_NUMBERED_COLUMNS = 8
"""More columns than this have no room for their numbers on a phone."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar.

    Attributes:
        label: what is counted.
        value: how many, at least 0; other values are drawn as 0.
        note: a few words beside the label, e.g. "312 marked".
        colour: `#rrggbb`; None for the page's accent colour.
    """

    label: str
    value: float
    note: str = ""
    colour: str | None = None


def _amount(value: float) -> float:
    return value if math.isfinite(value) and value > 0 else 0.0


def _largest(bars: Sequence[Bar]) -> float:
    return max((_amount(bar.value) for bar in bars), default=0.0) or 1.0


def share_text(part: float, whole: float) -> str:
    """Return part / whole in percent with a sensible number of digits; "" when there is no whole."""
    if not (math.isfinite(part) and math.isfinite(whole) and whole > 0):
        return ""
    percent = 100 * part / whole
    if 0 < percent < 0.1:
        return "<0.1 %"
    if percent >= 99.95 or percent == round(percent):
        return f"{percent:.0f} %"
    return f"{percent:.1f} %"


def _row(bar: Bar, largest: float, ratio: str) -> Markup:
    return Markup(
        '<li><div class="line"><span>{label}{note}</span><span class="value"><b>{value}</b>{ratio}</span></div>'
        '<svg class="bar" width="100%" aria-hidden="true"><rect class="track" width="100%" height="100%" rx="2"/>'
        '<rect width="{width:.2f}%" height="100%" rx="2" style="fill:{colour}"/></svg></li>'
    ).format(
        label=plain_text(bar.label),
        note=Markup(" <small>{}</small>").format(plain_text(bar.note)) if bar.note else "",
        value=number_text(_amount(bar.value)),
        ratio=Markup(" <small>{}</small>").format(ratio) if ratio else "",
        width=100 * _amount(bar.value) / largest,
        colour=bar.colour or "var(--accent)",
    )


def bar_chart(title: str, bars: Sequence[Bar], *, total: float | None = None) -> Markup:
    """Return horizontal bars, one below the other, each with label, number and share.

    Args:
        title: the text alternative.
        bars: in the order of drawing.
        total: what the shares refer to; None leaves the shares out.
    """
    rows = (
        _row(bar, _largest(bars), "" if total is None else share_text(_amount(bar.value), total) or "–") for bar in bars
    )
    return Markup('<ul class="bars" aria-label="{}">{}</ul>').format(plain_text(title), Markup("").join(rows))


def funnel_chart(title: str, steps: Sequence[Bar]) -> Markup:
    """Return one thick bar per step, each with its ratio to the step before.

    Steps may count different things (articles, then figures): what is lost shows as a share ("41.2 %"), what is
    multiplied as a factor ("× 2.5").
    """
    rows = []
    previous = 0.0
    for step in steps:
        value, ratio = _amount(step.value), ""
        if previous:
            ratio = f"× {value / previous:.1f}" if value > previous else share_text(value, previous)
        rows.append(_row(step, _largest(steps), ratio))
        previous = value
    return Markup('<ol class="bars funnel" aria-label="{}">{}</ol>').format(plain_text(title), Markup("").join(rows))


def column_chart(title: str, columns: Sequence[Bar], *, height: int = 170) -> Markup:
    """Return upright bars on a common ground line with labels below, e.g. a histogram, `height` pixels high.

    With many columns only some labels, and only the number of the highest column, are written out; the others are
    tool tips.
    """
    highest = _largest(columns)
    ground = height - 22
    step = 100 / max(1, len(columns))
    every = max(1, math.ceil(len(columns) / 10))
    text = Markup('<text x="{:.3f}%" y="{:.1f}" text-anchor="middle">{}</text>')
    body = []
    for number, column in enumerate(columns):
        value, label = _amount(column.value), plain_text(column.label)
        extent = (ground - 18) * value / highest
        centre = (number + 0.5) * step
        body.append(
            Markup(
                '<rect x="{x:.3f}%" y="{y:.1f}" width="{w:.3f}%" height="{h:.1f}" rx="2" style="fill:{colour}">'
                "<title>{label}: {value}</title></rect>"
            ).format(
                x=number * step + step * 0.12,
                y=ground - extent,
                w=step * 0.76,
                h=extent,
                colour=column.colour or "var(--accent)",
                label=label,
                value=number_text(value),
            )
        )
        if value and (len(columns) <= MAX_NUMBERED_COLUMNS or value == highest):
            body.append(text.format(centre, ground - extent - 5, number_text(value)))
        if number % every == 0:
            body.append(text.format(centre, height - 5, label))
    body.append(Markup('<line x1="0" x2="100%" y1="{0}" y2="{0}"/>').format(ground + 0.5))
    numbers = "; ".join(f"{column.label}: {number_text(_amount(column.value))}" for column in columns)
    return Markup('<svg class="columns" role="img" width="100%" height="{}" aria-label="{}: {}">{}</svg>').format(
        height, plain_text(title), plain_text(numbers), Markup("").join(body)
    )
