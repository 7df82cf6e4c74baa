"""Draw which room imports which, and count lines per room: `docs/rooms.svg` and a table in `docs/design.md`.

    python docs/rooms.py [--package pmo_assets] [--out docs/rooms.svg] [--table docs/design.md]

A room is a folder of the package, or a part of one (`PARTS`). An arrow says that a module of the upper room imports
one of the lower; of arrows that follow from others (a → b → c) only the short ones are drawn, the table counts all.
A room's floor is one above the highest room that it imports. Imports for the type checker alone do not count. What
stands in `docs/design.md` between `<!-- rooms -->` and `<!-- /rooms -->` is replaced.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
from scipy.optimize import isotonic_regression

ROOT = Path(__file__).resolve().parents[1]

PARTS = ("pipeline",)
"""Folders whose sub-folders are rooms of their own; files that lie in such a folder itself are one more room."""

WIDE, HIGH, GAP, LANE, RISE, MARGIN = 140, 44, 20, 18, 100, 20
"""Of the picture, in pixels: a room's width and height, the space beside it, the width of an arrow that passes between
rooms, the height of a floor, and the border."""

HUES = {"pipeline": "#dcebf7", "defs": "#fbe3d6", "records": "#e4f0dc"}
"""Colours of rooms by their first folder; the others are grey."""

GREY = "#eeeeee"


@dataclass
class Room:
    """A folder of the package.

    Attributes:
        modules: its modules with their lines.
        code: lines of code in all of them, see `code_lines`.
        imports: rooms that it imports.
    """

    modules: dict[str, int] = field(default_factory=dict)
    code: int = 0
    imports: set[str] = field(default_factory=set)

    @property
    def lines(self) -> int:
        """Lines of all its modules, comments and blank ones included."""
        return sum(self.modules.values())


def room_of(path: Path) -> str:
    """Return the room of a module, given relative to the package."""
    parts = path.with_suffix("").parts[:-1]
    if not parts:
        return path.stem if path.stem != "__init__" else ""
    for part in sorted(PARTS, key=len, reverse=True):
        if "/".join(parts).startswith(part):
            return "/".join(parts[: part.count("/") + 2])
    return parts[0]


def imported_modules(source: str, package: str) -> Iterator[str]:
    """Yield names of the package that a module imports, also inside functions; each is a module or in one."""

    def walk(node: ast.AST) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Import):
                yield from (alias.name for alias in child.names)
            elif isinstance(child, ast.ImportFrom) and child.module:
                yield from (f"{child.module}.{alias.name}" for alias in child.names)
            yield from walk(child)

    yield from (name for name in walk(ast.parse(source)) if name.split(".")[0] == package)


def code_lines(source: str) -> int:
    """Return the lines of a module that hold code: neither blank nor comment nor documentation string."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documented.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    empty = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in empty:
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - documented)


def read_rooms(package: Path) -> dict[str, Room]:
    """Return the rooms of a package by name."""
    modules = {path: path.relative_to(package) for path in sorted(package.rglob("*.py"))}
    by_name = {
        ".".join((package.name, *relative.with_suffix("").parts)).removesuffix(".__init__"): room_of(relative)
        for relative in modules.values()
    }
    rooms: dict[str, Room] = {}
    for path, relative in modules.items():
        source = path.read_text(encoding="utf-8")
        name = room_of(relative)
        room = rooms.setdefault(name, Room())
        room.modules[relative.as_posix()] = len(source.splitlines())
        room.code += code_lines(source)
        for imported in imported_modules(source, package.name):
            target = by_name.get(imported, by_name.get(imported.rpartition(".")[0]))
            if target is not None and target != name:
                room.imports.add(target)
    return {
        name: Room(room.modules, room.code, {other for other in room.imports if other})
        for name, room in rooms.items()
        if name
    }


def floors(rooms: Mapping[str, Room]) -> dict[str, int]:
    """Return each room's floor, the ground floor being 0.

    Raises:
        SystemExit: naming the rooms when imports run in a circle.
    """
    found: dict[str, int] = {}
    while len(found) < len(rooms):
        ready = [name for name, room in rooms.items() if name not in found and room.imports <= found.keys()]
        if not ready:
            sys.exit(f"imports run in a circle: {', '.join(sorted(rooms.keys() - found.keys()))}")
        for name in ready:
            found[name] = max((found[other] + 1 for other in rooms[name].imports), default=0)
    return found


def short_arrows(rooms: Mapping[str, Room]) -> list[tuple[str, str]]:
    """Return the arrows that do not follow from others."""
    reach: dict[str, set[str]] = {}
    level = floors(rooms)
    for name in sorted(rooms, key=lambda room: level[room]):
        reach[name] = set(rooms[name].imports).union(*(reach[other] for other in rooms[name].imports))
    return [
        (name, other)
        for name, room in rooms.items()
        for other in sorted(room.imports)
        if not any(other in reach[between] for between in room.imports)
    ]


Chain = list[tuple[str, int]]
"""An arrow's way: the upper room, a gap on every floor that it passes, the lower room, each with its floor."""


def chains(level: Mapping[str, int], arrows: Sequence[tuple[str, str]]) -> list[Chain]:
    """Return the way of each arrow, floor by floor downwards."""
    return [
        [
            (upper, level[upper]),
            *((f"{upper} > {lower}", floor) for floor in range(level[upper] - 1, level[lower], -1)),
            (lower, level[lower]),
        ]
        for upper, lower in arrows
    ]


def in_floors(level: Mapping[str, int], ways: Sequence[Chain]) -> dict[int, dict[str, float]]:
    """Return the horizontal middle, in pixels, of what lies on each floor: rooms and gaps for arrows.

    Everything goes to the middle of what it is joined with, floor after floor; of all rounds the one with the fewest
    crossings counts.
    """
    rows: dict[int, list[str]] = {floor: [] for floor in sorted(set(level.values()))}
    for name in sorted(level):
        rows[level[name]].append(name)
    joined: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for way in ways:
        for item, (name, floor) in enumerate(way):
            if name not in rows[floor]:
                rows[floor].append(name)
            joined.setdefault((name, floor), []).extend(way[max(item - 1, 0) : item] + way[item + 1 : item + 2])
    places = {floor: _spread(row, range(0, len(row) * WIDE, WIDE)) for floor, row in rows.items()}
    best, fewest = places, float("inf")
    for round_ in range(60):
        places = {floor: dict(row) for floor, row in places.items()}
        for floor in sorted(rows, reverse=bool(round_ % 2)):
            wish = {
                name: float(
                    np.mean([places[there][other] for other, there in joined.get((name, floor), [])] or [place])
                )
                for name, place in places[floor].items()
            }
            ordered = sorted(wish, key=lambda name: (wish[name], name))
            places[floor] = _spread(ordered, [wish[name] for name in ordered])
        crossings = _crossings(places, ways) + 1e-4 * max(map(max, map(dict.values, places.values())))
        if crossings < fewest:
            best, fewest = places, crossings
    return best


def _spread(ordered: Sequence[str], wishes: Sequence[float]) -> dict[str, float]:
    """Return places in this order, far enough from each other, as near as possible to the wishes."""
    halves = np.array([LANE / 2 if " > " in name else (WIDE + GAP) / 2 for name in ordered])
    offsets = np.concatenate([[0], np.cumsum(halves[:-1] + halves[1:])])
    return dict(
        zip(ordered, (isotonic_regression(np.asarray(wishes, float) - offsets).x + offsets).tolist(), strict=True)
    )


def _crossings(places: Mapping[int, Mapping[str, float]], ways: Sequence[Chain]) -> int:
    steps: dict[int, set[tuple[float, float]]] = {}
    for way in ways:
        for (above, floor), (below, under) in pairwise(way):
            steps.setdefault(floor, set()).add((places[floor][above], places[under][below]))
    return sum(
        (one[0] - other[0]) * (one[1] - other[1]) < 0
        for floor in steps.values()
        for one, other in combinations(sorted(floor), 2)
    )


def picture(rooms: Mapping[str, Room]) -> str:
    """Return the drawing as SVG: the ground floor at the bottom, arrows downwards, never behind a room."""
    level = floors(rooms)
    ways = chains(level, short_arrows(rooms))
    places = in_floors(level, ways)
    left = min(min(row.values()) for row in places.values()) - WIDE / 2 - MARGIN
    wide = max(max(row.values()) for row in places.values()) + WIDE / 2 + MARGIN - left
    top = max(level.values())
    high = 2 * MARGIN + top * RISE + HIGH

    def middle(name: str, floor: int) -> tuple[float, float]:
        return places[floor][name] - left, MARGIN + (top - floor) * RISE

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" '
        f'height="{high:.0f}" font-family="Helvetica, Arial, sans-serif">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#777"/></marker></defs>',
        f'<rect width="{wide:.0f}" height="{high:.0f}" fill="white"/>',
    ]
    for way in ways:
        path = ""
        for (above, floor), (below, under) in pairwise(way):
            (x1, y1), (x2, y2) = middle(above, floor), middle(below, under)
            y1, bend = y1 + HIGH, (RISE - HIGH) / 2
            path += (f"L{x1:.0f},{y1:.0f} " if path else f"M{x1:.0f},{y1:.0f} ") + (
                f"C{x1:.0f},{y1 + bend:.0f} {x2:.0f},{y2 - bend:.0f} {x2:.0f},{y2 - (2 if below in rooms else 0):.0f} "
            )
        lines.append(f'<path d="{path.strip()}" fill="none" stroke="#777" stroke-width="1.2" marker-end="url(#tip)"/>')
    for name, room in rooms.items():
        x, y = middle(name, level[name])
        fill = HUES.get(name.split("/")[0], GREY)
        lines += [
            f'<rect x="{x - WIDE / 2:.0f}" y="{y:.0f}" width="{WIDE}" height="{HIGH}" rx="6" fill="{fill}" '
            'stroke="#555"/>',
            f'<text x="{x:.0f}" y="{y + 19:.0f}" text-anchor="middle" font-size="13">{name}</text>',
            f'<text x="{x:.0f}" y="{y + 35:.0f}" text-anchor="middle" font-size="11" fill="#555">'
            f"{room.lines:,} lines</text>",
        ]
    return "\n".join([*lines, "</svg>", ""])


def tables(rooms: Mapping[str, Room]) -> str:
    """Return the tables of rooms, top floor first, and of the ten largest modules, as Markdown."""
    level = floors(rooms)
    lines = ["| floor | room | modules | lines | code | imports |", "| ---: | --- | ---: | ---: | ---: | --- |"]
    for name in sorted(rooms, key=lambda room: (-level[room], room)):
        room = rooms[name]
        imports = ", ".join(sorted(room.imports, key=lambda other: (-level[other], other))) or "–"
        lines.append(f"| {level[name]} | `{name}` | {len(room.modules)} | {room.lines:,} | {room.code:,} | {imports} |")
    arrows = sum(len(room.imports) for room in rooms.values())
    lines += [
        "",
        f"{len(rooms)} rooms on {len(set(level.values()))} floors, {arrows} arrows between them, "
        f"{sum(room.lines for room in rooms.values()):,} lines, {sum(room.code for room in rooms.values()):,} of them "
        "code: neither blank nor comment nor documentation. The ten largest modules:",
        "",
        "| module | lines |",
        "| --- | ---: |",
    ]
    sizes = {module: count for room in rooms.values() for module, count in room.modules.items()}
    largest = sorted(sizes, key=lambda module: (-sizes[module], module))[:10]
    lines += [f"| {module} | {sizes[module]} |" for module in largest]
    return "\n".join(lines)


def main() -> None:
    """Write the picture and renew the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path, default=ROOT / "pmo_assets")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "rooms.svg")
    parser.add_argument("--table", type=Path, default=ROOT / "docs" / "design.md")
    options = parser.parse_args()
    rooms = read_rooms(options.package)
    options.out.write_text(picture(rooms), encoding="utf-8")
    text = options.table.read_text(encoding="utf-8")
    renewed = re.sub(
        r"(<!-- rooms -->\n).*?(<!-- /rooms -->)",
        lambda match: f"{match[1]}{tables(rooms)}\n{match[2]}",
        text,
        flags=re.DOTALL,
    )
    options.table.write_text(renewed, encoding="utf-8")
    print(f"{options.out}, {options.table}")


if __name__ == "__main__":
    main()
