"""Reading files in the published form (PubMed-Ophtha, Table 2) as others made them: streamed, without the pictures.

What is read is not always what the paper's table says: the published code writes JSON into strings, and JSON into that
JSON; labels as lists and as words; scores as numbers and as lists of one; ids as numbers and as `p_17`. Whatever can
only mean one thing is taken.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow as pa

from pmo_assets.records.geometry import as_box
from pmo_assets.records.stores import SystemicError
from pmo_assets.storage.foreign_parquet import ForeignParquet, TooLarge
from pmo_assets.tables.published import ReadPanels
from pmo_assets.tables.release import PublishedPanels
from pmo_assets.tables.schemas import empty_table

REQUIRED: Final = ("panel_id", "article_id", "image_cluster_id", "position")
"""Columns without which a file is not in the published form: nothing could be matched."""

ROWS_AT_ONCE: Final = 2_000
_READ_AHEAD: Final = 1 << 20
"""Bytes that are read of a column at once; without it a whole column chunk, and all rows may be one row group."""

_ARROW: Final = empty_table(ReadPanels).to_arrow().schema
_LARGEST: Final = 2**63 - 1


class NotPublished(SystemicError):
    """A file is not in the published form; the message says what is missing."""


def _json(value: Any) -> Any:
    """Return the value of a cell, parsed if it is a string of JSON.

    Raises:
        ValueError: for a string that is no JSON.
    """
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is no JSON ({value[:60]!r})") from error
    return _whole_characters(found) if "\\ud" in value or "\\uD" in value else found


def _whole_characters(value: Any) -> Any:
    """Return a parsed value with halves of characters (lone surrogates), which no table can hold, replaced."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    return value


def _number(value: Any) -> float | None:
    """Return a finite number; a list of one is its number, everything else None."""
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _box(value: Any) -> list[float] | None:
    if isinstance(value, Mapping):
        value = [value.get(side) for side in ("x0", "y0", "x1", "y1")]
    if not isinstance(value, (list, tuple)) or len(value) != 4:
        return None
    numbers = [_number(side) for side in value]
    return None if None in numbers else list(as_box(number for number in numbers if number is not None))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


_TRUTH: Final[Mapping[str, bool]] = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def _truth(value: Any) -> bool | None:
    """Return a truth value, also of a text or a number.

    Raises:
        ValueError: for another text.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isnan(value):
        return None
    word = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip().lower()
    if word in ("", "none", "null", "nan"):
        return None
    if word not in _TRUTH:
        raise ValueError(f"is neither true nor false ({word[:20]!r})")
    return _TRUTH[word]


def _article_id(value: Any) -> int:
    """Return a PMC number; of "PMC123" the number.

    Raises:
        ValueError: if it is none.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    word = str(value).strip().upper().removeprefix("PMC")
    if isinstance(value, bool) or not (word.isascii() and word.isdigit()) or not 1 <= len(word) <= 18 or not int(word):
        raise ValueError(f"is no PMC number ({value!r:.40})")
    return int(word)


def _name(value: Any) -> str | None:
    name = _text(value)
    return None if name is None or name.strip() in ("", "None") else name


def _places(value: Any) -> list[dict[str, Any]]:
    """Return page and box of {page: {x0, y0, x1, y1}}, pages in order."""
    if not isinstance(value, Mapping):
        return []
    found = [(int(page), _box(box)) for page, box in value.items() if str(page).isdecimal() and len(str(page)) <= 9]
    return [{"page": page, "bbox": box} for page, box in sorted(found, key=lambda item: item[0]) if box is not None]


def _entries(value: Any) -> list[Mapping[str, Any]] | None:
    entries = _json(value)
    if entries is None:
        return None
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise ValueError("is no list of objects")
    return entries


def _labels(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [label for label in value if isinstance(label, str)] if isinstance(value, (list, tuple)) else []


_MARKED: Final[Mapping[str, bool]] = {"marked": True, "annotated": True, "unmarked": False, "plain": False}


def _labelled(value: Any) -> tuple[Any, float | None]:
    """Return label and score of {label, prediction_score}, or of a label alone."""
    if isinstance(value, Mapping):
        return value.get("label"), _number(value.get("prediction_score"))
    return value, None


def _position(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    position = _json(entry.get("position"))
    return position if isinstance(position, Mapping) else {}


def _image(entry: Mapping[str, Any]) -> dict[str, Any]:
    labels, type_score = _labelled(entry.get("imaging_type"))
    mark, mark_score = _labelled(entry.get("mark_status"))
    position = _position(entry)
    return {
        "id": _text(entry.get("id")),
        "box": _box(position.get("predicted_box")),
        "score": _number(position.get("prediction_score")),
        "image_types": _labels(labels),
        "type_score": type_score,
        "marked": _MARKED.get(str(mark).lower()),
        "mark_score": mark_score,
        "is_gt": _truth(entry.get("is_gt")),
    }


def _identifier(entry: Mapping[str, Any]) -> dict[str, Any]:
    position = _position(entry)
    return {
        "id": _text(entry.get("id")),
        "box": _box(position.get("predicted_box")),
        "score": _number(position.get("prediction_score")),
        "text": _text(entry.get("text")),
        "is_gt": _truth(entry.get("is_gt")),
    }


def _part(segment: Any) -> dict[str, Any]:
    """Return a segment: [start, length] of the caption, or [text], as the published `fill-null` reads them.

    Raises:
        ValueError: if it is neither.
    """
    if isinstance(segment, str):
        segment = [segment]
    if isinstance(segment, (list, tuple)):
        if len(segment) == 1 and isinstance(segment[0], str):
            return {"start": None, "end": None, "text": segment[0]}
        numbers = [_number(int(value) if _is_digits(value) else value) for value in segment]
        if len(numbers) == 2 and numbers[0] is not None and numbers[1] is not None:
            start, length = int(numbers[0]), int(numbers[1])
            if 0 <= start <= start + length <= _LARGEST:
                return {"start": start, "end": start + length, "text": None}
    raise ValueError(f"holds neither [start, length] nor [text] ({segment!r:.60})")


def _is_digits(value: Any) -> bool:
    """Say whether a number stands as a text, as it does where ranges and texts share a column."""
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18


def _parts(value: Any) -> list[dict[str, Any]] | None:
    segments = _json(value)
    if segments is None:
        return None
    if not isinstance(segments, list):
        raise ValueError("is no list")
    return [_part(segment) for segment in segments]


def _paragraphs(value: Any) -> list[str] | None:
    try:
        found = _json(value)
    except ValueError:
        return [value]
    if found is None:
        return None
    return [str(item) for item in found if item is not None] if isinstance(found, list) else [str(found)]


def _annotation(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_Reader = Callable[[Any], Any]

_FLAGS: Final = (
    "is_multi_page_figure", "contains_cfp", "contains_oct", "contains_retinal", "contains_other", "contains_marked",
    "commercial_use",
)  # fmt: skip

_READERS: Final[Mapping[str, tuple[str, _Reader]]] = {
    "panel_id": ("panel_id", str),
    "article_id": ("article_id", _article_id),
    "image_cluster_id": ("image_cluster_id", str),
    "panel_name": ("panel_name", _name),
    "subcaption_text": ("subcaption_text", _text),
    "subcaption_parts": ("subcaption_segments", _parts),
    "in_text_mention": ("in_text_mention", _paragraphs),
    **{name: (name, _truth) for name in _FLAGS},
    "figure_page_boxes": ("position", lambda place: _places(place.get("figure_page_coordinates"))),
    "panel_box": ("position", lambda place: _box(place.get("predicted_box"))),
    "content_box": ("position", lambda place: _box(place.get("content_box"))),
    "panel_score": ("position", lambda place: _number(place.get("prediction_score"))),
    "images": ("image_data", lambda value: None if (e := _entries(value)) is None else [_image(x) for x in e]),
    "identifiers": (
        "identifier_data",
        lambda value: None if (e := _entries(value)) is None else [_identifier(x) for x in e],
    ),
    **{name: (name, _text) for name in ("assembly", "license", "attribution")},
    "annotation": ("annotation", _annotation),
}
"""For each column of `ReadPanels` the published column and how it is read."""


def _whole_position(value: Any) -> Mapping[str, Any]:
    position = _json(value)
    if position is None:
        return {}
    if not isinstance(position, Mapping):
        raise ValueError("is no object")
    return position


def _read_column(name: str, cells: Mapping[str, Sequence[Any]], first: int, place: str) -> list[Any]:
    source, reader = _READERS[name]
    values: list[Any] = []
    for offset, cell in enumerate(cells[source]):
        try:
            values.append(reader(cell))
        except (ValueError, TypeError, AttributeError) as error:
            raise _damaged(place, source, first + offset, cells, offset, error) from error
    return values


def _damaged(
    place: str, column: str, row: int, cells: Mapping[str, Sequence[Any]], offset: int, error: Exception
) -> NotPublished:
    panel = cells["panel_id"][offset]
    return NotPublished(f"{place}, row {row} (panel {panel!r:.40}): column {column} {error}")


def _read_part(part: pa.Table, names: Sequence[str], first: int, place: str) -> pl.DataFrame:
    cells = {name: part[name].to_pylist() for name in part.column_names}
    positions = []
    for offset, cell in enumerate(cells["position"]):
        try:
            positions.append(_whole_position(cell))
        except ValueError as error:
            raise _damaged(place, "position", first + offset, cells, offset, error) from error
    for name in ("panel_id", "image_cluster_id"):
        if None in cells[name]:
            raise NotPublished(f"{place}, row {first + cells[name].index(None)}: column {name} is empty")
    cells["position"] = positions
    columns = [
        _read_column(name, cells, first, place) if _READERS[name][0] in cells else [None] * part.num_rows
        for name in names
    ]
    # by way of Arrow, which takes nested Python values several times as fast as Polars
    arrays = [pa.array(values, _ARROW.field(name).type) for name, values in zip(names, columns, strict=True)]
    return pl.DataFrame(pa.Table.from_arrays(arrays, names=list(names)))


def _check_columns(names: Collection[str], place: str) -> None:
    missing = [name for name in REQUIRED if name not in names]
    if not missing:
        return
    hint = (
        "it is a file of the hub's folder: take pubmed_ophtha.parquet beside it"
        if "panel_box" in names
        else f"it has {', '.join(list(names)[:30]) or 'no column'}"
    )
    raise NotPublished(
        f"{place} is not in the published form of PubMed-Ophtha ({len(PublishedPanels.columns())} columns, Table 2 of "
        f"the paper): {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; {hint}"
    )


def read_published(
    source: str | Path | pa.NativeFile | pa.Table | pl.DataFrame,
    columns: Sequence[str] | None = None,
    *,
    place: str | None = None,
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a file in the published form, some thousand at once, as tables of `ReadPanels`.

    Pictures are never read, and of the rest only the columns that are asked for.

    Args:
        source: path of the Parquet file, the open file, or the table itself.
        columns: of `ReadPanels`; all if not given.
        place: name of the source in errors; its path if not given.

    Raises:
        NotPublished: if it is no such file, or a row of it cannot be read; nothing is yielded before the columns are
            known to be there.
    """
    place = place or (str(source) if isinstance(source, (str, Path)) else "the table")
    names = list(columns if columns is not None else _ARROW.names)
    wanted = {_READERS[name][0] for name in names} | set(REQUIRED)
    first = 0
    for part in _parts_of(source, wanted, place):
        yield _read_part(part, names, first, place)
        first += part.num_rows


def _parts_of(
    source: str | Path | pa.NativeFile | pa.Table | pl.DataFrame, wanted: Collection[str], place: str
) -> Iterator[pa.Table]:
    if isinstance(source, pl.DataFrame):
        source = source.to_arrow()
    if isinstance(source, pa.Table):
        _check_columns(source.column_names, place)
        table = source.select([name for name in source.column_names if name in wanted])
        yield from (pa.Table.from_batches([batch]) for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE))
        return
    try:
        with ForeignParquet(source, place, buffer_size=_READ_AHEAD) as file:
            known = file.schema_arrow.names
            _check_columns(known, place)
            chosen = [name for name in known if name in wanted]
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=chosen):
                yield pa.Table.from_batches([batch])
    except TooLarge as error:
        raise NotPublished(str(error)) from error
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise NotPublished(f"{place} is no Parquet file that can be read: {error}") from error
    except OSError as error:
        raise NotPublished(f"{place} cannot be read: {error}") from error
