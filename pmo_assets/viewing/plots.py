"""Charts for pages: inline SVG that follows the page's width, font and colour scheme.

Each chart returns escaped HTML. Bars have their label and number as text above them, so nothing is read off an axis
and long labels wrap on a phone; columns have a text alternative with all numbers.

matplotlib draws what has two numeric axes (`quality_plots`), not these: a waterfall of ten steps is 4.5 kB here and
takes 0.3 ms; as SVG by matplotlib 19 kB (41 kB with letters as paths) and 90 ms after an import of 0.9 s, with a
fixed width and one colour scheme.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pmo_assets.viewing.markup import number_text, plain_text, slug

MAX_NUMBERED_COLUMNS = 8
"""More columns than this have no room for their numbers on a phone."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar.

    Attributes:
        label: name of the counted things.
        value: number of them, at least 0; other values are drawn as 0.
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
        total: number that the shares refer to; None leaves the shares out.
    """
    rows = (
        _row(bar, _largest(bars), "" if total is None else share_text(_amount(bar.value), total) or "–") for bar in bars
    )
    return Markup('<ul class="bars" aria-label="{}">{}</ul>').format(plain_text(title), Markup("").join(rows))


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


@dataclass(frozen=True, slots=True)
class Drop:
    """A step of a waterfall at which something left.

    Attributes:
        label: what happened.
        before: how many there were; not less than `after`.
        after: how many there are.
        note: closer reasons, in small print.
    """

    label: str
    before: int
    after: int
    note: str = ""


def waterfall_chart(title: str, start: tuple[str, int], drops: Sequence[Drop], end: str) -> Markup:
    """Return a waterfall: numbers of those that came in, of those that left at each step, and of the rest.

    What left is hatched beside what stayed, and its number has a minus: colour alone says nothing.

    Args:
        title: the text alternative.
        start: name and number of those that came in.
        drops: the steps; each begins with what the one before left.
        end: name of the rest.
    """
    hatch = f"hatch-{slug(title)}"
    rows = [
        _way_row(label, number, ratio, note, kept, lost, hatch)
        for label, number, ratio, note, kept, lost in _way(start, drops, end)
    ]
    pattern = Markup(
        '<svg width="0" height="0" aria-hidden="true" class="vh"><pattern id="{}" width="5" height="5" '
        'patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch" width="2.5" height="5"/>'
        "</pattern></svg>"
    ).format(hatch)
    return pattern + Markup('<ol class="bars way" aria-label="{}">{}</ol>').format(
        plain_text(title), Markup("").join(rows)
    )


def _way(start: tuple[str, int], drops: Sequence[Drop], end: str) -> Iterator[tuple[str, str, str, str, float, float]]:
    """Yield the rows of a waterfall: label, number, share, note, and percent of what came in that stays and leaves."""
    total = start[1] or 1
    yield start[0], number_text(start[1]), "", "", 100.0 if start[1] else 0.0, 0.0
    for drop in drops:
        lost = drop.before - drop.after
        ratio = share_text(lost, drop.before)
        yield (
            drop.label,
            f"\N{MINUS SIGN}{number_text(lost)}",
            ratio,
            drop.note,
            100 * drop.after / total,
            100 * lost / total,
        )
    left = drops[-1].after if drops else start[1]
    yield end, number_text(left), share_text(left, start[1]), "", 100 * left / total, 0.0


def _way_row(label: str, number: str, ratio: str, note: str, kept: float, lost: float, hatch: str) -> Markup:
    """Return a row of a waterfall: label, number and share above a bar of what stays and, hatched, what leaves."""
    return Markup(
        '<li><div class="line"><span>{label}</span><span class="value"><b>{number}</b>{ratio}</span></div>'
        '<svg class="bar" width="100%" aria-hidden="true"><rect class="track" width="100%" height="100%" rx="2"/>'
        '<rect class="kept" width="{kept:.3f}%" height="100%" rx="2"/>'
        '<rect class="lost" x="{kept:.3f}%" width="{lost:.3f}%" height="100%" fill="url(#{hatch})"/></svg>{note}</li>'
    ).format(
        label=plain_text(label),
        number=number,
        ratio=Markup(" <small>{}</small>").format(ratio) if ratio else "",
        kept=kept,
        lost=lost,
        hatch=hatch,
        note=Markup('<p class="note">{}</p>').format(plain_text(note)) if note else "",
    )


_PICTURE_WIDTH = 720
_PICTURE_ROW = 34


def waterfall_picture(title: str, start: tuple[str, int], drops: Sequence[Drop], end: str) -> str:
    """Return the same as an SVG document of its own, for places that show pictures only; arguments as there.

    Some 3 kB; readable on a light and on a dark page.
    """
    height = _PICTURE_ROW * (len(drops) + 2) + 44
    inner = _PICTURE_WIDTH - 32
    body = []
    words = []
    for place, (label, number, ratio, _, kept, lost) in enumerate(_way(start, drops, end)):
        top = 44 + place * _PICTURE_ROW
        words.append(f"{label}: {number}")
        body.append(
            Markup(
                '<text x="16" y="{y}">{label}</text><text x="{right}" y="{y}" text-anchor="end">'
                '<tspan font-weight="600">{number}</tspan>{ratio}</text>'
                '<rect x="16" y="{bar}" width="{inner}" height="9" fill="#e9ecf0"/>'
                '<rect x="16" y="{bar}" width="{kept:.2f}" height="9" fill="#0072B2"/>'
                '<rect x="{at:.2f}" y="{bar}" width="{lost:.2f}" height="9" fill="url(#h)"/>'
            ).format(
                y=top + 10, bar=top + 15, right=16 + inner, inner=inner, label=plain_text(label), number=number,
                ratio=f" {ratio}" if ratio else "", kept=inner * kept / 100, at=16 + inner * kept / 100,
                lost=inner * lost / 100,
            )
        )  # fmt: skip
    return str(
        Markup(
            '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{alternative}" width="{width}" '
            'height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12.5" fill="#171b21">'
            '<pattern id="h" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            '<rect width="3" height="5" fill="#D55E00"/></pattern><rect width="100%" height="100%" rx="8" fill="#fff"/>'
            '<text x="16" y="26" font-size="15" font-weight="600">{title}</text>{body}</svg>'
        ).format(
            alternative=plain_text(f"{title}: {'; '.join(words)}"), width=_PICTURE_WIDTH, height=height,
            title=plain_text(title), body=Markup("").join(body),
        )
    )  # fmt: skip
