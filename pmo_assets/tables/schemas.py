"""Finding the schema of an asset, and holding rows against it.

dataframely was chosen over patito, pandera and plain Arrow schemas: it is made for Polars, declares nested lists and
structs, primary keys and value ranges next to the column, carries a description per column (which the UI shows),
validates whole columns in Rust instead of row objects, and converts to an Arrow schema for streaming writers.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

import pmo_assets.tables


@functools.cache
def table_schemas() -> Mapping[str, type[dy.Schema]]:
    """Return the schema of every asset that is a table: what the modules beside this one name in `SCHEMAS`."""
    found: dict[str, type[dy.Schema]] = {}
    for module in pkgutil.iter_modules(pmo_assets.tables.__path__, "pmo_assets.tables."):
        found.update(getattr(importlib.import_module(module.name), "SCHEMAS", {}))
    return found


def schema_of(asset: str) -> type[dy.Schema]:
    """Return the schema of an asset's table.

    Raises:
        KeyError: if no module of `pmo_assets.tables` names one.
    """
    return table_schemas()[asset]


def column_descriptions(schema: type[dy.Schema]) -> list[tuple[str, str, str]]:
    """Return (name, data type, description) for every column, for the UI and the documents."""
    return [(name, _type_in_words(column.dtype), column.description or "") for name, column in schema.columns().items()]


def _type_in_words(kind: pl.DataType | type[pl.DataType]) -> str:
    """Return a data type as people read it: an Enum within another type without its words."""
    return str(kind) if isinstance(kind, pl.Enum) else re.sub(r"Enum\(categories=\[[^]]*\]\)", "Enum", str(kind))


def unchecked(schema: type[dy.Schema], rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Return rows as a table with the schema's columns and types; its rules are not looked at.

    Raises:
        Exception: of Polars or Python, if a value does not fit its column's type: a number out of range, text that is
            no Unicode.
    """
    columns = list(schema.columns())
    return pl.DataFrame([{name: row.get(name) for name in columns} for row in rows], schema=empty_table(schema).schema)


def checked(schema: type[dy.Schema], rows: pl.DataFrame | Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Return rows as a table that fulfils the schema, columns in its order, sorted by its primary key.

    Raises:
        dataframely.exc.ValidationError: if a rule is broken, saying which and how often.
    """
    if not isinstance(rows, pl.DataFrame):
        rows = unchecked(schema, rows)
    table = schema.validate(rows.select(list(schema.columns())), cast=True)
    keys = schema.primary_key()
    return table.sort(keys, maintain_order=True) if keys else table


def empty_table(schema: type[dy.Schema]) -> pl.DataFrame:
    """Return a table of the schema without rows."""
    return _empty(schema).clone()


@functools.cache  # of a nested table it takes 10 ms, and every read and write of one asks
def _empty(schema: type[dy.Schema]) -> pl.DataFrame:
    return schema.create_empty()
