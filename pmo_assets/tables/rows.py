"""The border between tables and records: a row in, a typed record out, and back.

Inside the pipeline there are records, which the type checker sees through; rows, dicts by column name, exist where a
step reads them and where it gives them back.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import fields
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

from pmo_assets.records.step_output import Row

Record = TypeVar("Record")


@functools.cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast(Any, kind))


def record_of(kind: type[Record], row: Mapping[str, Any]) -> Record:
    """Return a row of a table as a record: its columns with the names of the record's fields, nested ones as well.

    Args:
        kind: a dataclass.
        row: of a table that has a column for each field without a default.

    Raises:
        pydantic.ValidationError: when a column is missing or holds something else than the field.
    """
    names = [field.name for field in fields(cast(Any, kind))]
    record: Record = _adapter(cast(Hashable, kind)).validate_python({name: row[name] for name in names if name in row})
    return record


def row_of(record: object, left_out: Mapping[str, Any] | None = None) -> Row:
    """Return a record as a row of a table: its fields, nested ones as well, by name; sequences are lists.

    Args:
        record: a dataclass.
        left_out: fields that the table has not, as pydantic's `exclude`.
    """
    row: Row = _adapter(cast(Hashable, type(record))).dump_python(record, mode="json", exclude=left_out)
    return row
