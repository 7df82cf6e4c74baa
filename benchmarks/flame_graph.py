"""Draw a small flame graph of the steps of a batch, from what py-spy saw.

    python benchmarks/flame_graph.py STACKS docs/flame_graph.svg

STACKS is made as `run_batch.py` says. Shown is what runs within a step, the step at the bottom: functions of this
package, and on top of them the library's function that was at work. What took less than half a percent is left out.
"""

from __future__ import annotations

import argparse
import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

WIDTH, ROW, FONT = 1200, 17, 11
"""Pixels: of the picture, of a frame's height, of its letters."""

LEAST = 0.005
"""Part of all samples below which a frame is left out."""

INNERMOST = re.compile(r"^(?:<|_|\.)|wrapper|<lambda>|<locals>")
"""Frames that say little by their names."""

_STACK = re.compile(r"^(?P<frames>.*) (?P<count>\d+)$")


@dataclass
class Frame:
    """A function and what it called, with how often each was seen."""

    count: int = 0
    called: dict[str, Frame] = field(default_factory=dict)

    def add(self, names: Iterable[str], count: int) -> None:
        """Add a stack, outermost first, that was seen so often."""
        frame = self
        frame.count += count
        for name in names:
            frame = frame.called.setdefault(name, Frame())
            frame.count += count


def within_step(stack: str) -> list[str] | None:
    """Return the frames of a stack that are shown, beginning with the step; None if it is in no step."""
    frames = stack.split(";")
    places = [number for number, frame in enumerate(frames) if frame.startswith("step_output (")]
    if not places or places[-1] + 1 == len(frames):
        return None
    inner = frames[places[-1] + 1 :]
    names = [frame.split(" ")[0] for frame in inner if "pmo_assets/" in frame]
    names = [name for number, name in enumerate(names) if number == 0 or not INNERMOST.search(name)]
    if "pmo_assets/" not in inner[-1]:
        name, _, place = inner[-1].partition(" (")
        names.append(f"{name} · {place.split('/')[0].split(':')[0].removesuffix('.py')}")
    return names


def drawn(frame: Frame, name: str, x: float, depth: int, total: int) -> Iterator[tuple[str, float, int, float, int]]:
    """Give (name, left, depth, width in pixels, samples) of a frame and of all above it."""
    width = WIDTH * frame.count / total
    if depth >= 0:
        yield name, x, depth, width, frame.count
    for below, called in sorted(frame.called.items(), key=lambda item: -item[1].count):
        if called.count >= LEAST * total:
            yield from drawn(called, below, x, depth + 1, total)
        x += WIDTH * called.count / total


def picture(root: Frame) -> str:
    """Return the flame graph as SVG."""
    bars = list(drawn(root, "", 0.0, -1, root.count))
    height = ROW * (1 + max(depth for _, _, depth, _, _ in bars))
    shapes = []
    for name, x, depth, width, count in bars:
        y = height - ROW * (depth + 1)
        colour = f"hsl({(sum(map(ord, name)) * 7) % 40 + 15},{'35' if ' · ' in name else '75'}%,72%)"
        letters = name[: max(0, int((width - 4) / (0.58 * FONT)))]
        shown = f'<text x="{x + 2:.1f}" y="{y + 12}">{html.escape(letters)}</text>' if len(letters) > 3 else ""
        title = f"<title>{html.escape(name)}: {100 * count / root.count:.1f} %</title>"
        shapes.append(
            f'<g>{title}<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 1}" fill="{colour}"/>{shown}</g>'
        )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
    return head + f'font-size="{FONT}">\n' + "\n".join(shapes) + "\n</svg>\n"


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stacks", type=Path)
    parser.add_argument("picture", type=Path)
    arguments = parser.parse_args()
    root = Frame()
    for line in arguments.stacks.read_text().splitlines():
        match = _STACK.match(line)
        names = within_step(match["frames"]) if match else None
        if match and names:
            root.add(names, int(match["count"]))
    if not root.count:
        raise SystemExit(f"{arguments.stacks} holds no stack within a step")
    arguments.picture.write_text(picture(root))
    for name, step in sorted(root.called.items(), key=lambda item: -item[1].count):
        print(f"{100 * step.count / root.count:5.1f} %  {name}")


if __name__ == "__main__":
    main()
