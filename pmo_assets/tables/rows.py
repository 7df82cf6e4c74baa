"""The border between tables and records: a row in, a typed record out.

Inside the pipeline there are records, which the type checker sees through; rows, dicts by column name, exist where a
step reads them and where it gives them back.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import fields
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

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
