"""Features of our tables for the package `datasets`: which columns are pictures, and how the others nest.

`datasets` reads the key `huggingface` of a Parquet file's metadata (`datasets.Features.from_arrow_schema`) and the
`dataset_info` of a dataset's card. Both are written here without the package, which only the tests need.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

METADATA_KEY = b"huggingface"
"""Key of the Parquet metadata in which `datasets` looks for features."""

PICTURE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
"""Type in which `datasets` stores its feature Image."""

_VALUES: dict[pa.DataType, str] = {
    pa.string(): "string",
    pa.binary(): "binary",
    pa.bool_(): "bool",
    pa.int64(): "int64",
    pa.float64(): "float64",
}
"""The names that `datasets` has for types of values."""


def _feature(kind: pa.DataType) -> Any:
    """Return a type in the spelling of `datasets`' JSON.

    A list is written as a JSON list of one item: `datasets` 2 to 5 all read it as a list of that, while "Sequence" of a
    struct is a struct of lists, and "List" is new in 4. A split stays a string: a ClassLabel would be a number in the
    file, which no other reader could tell the meaning of.

    Raises:
        ValueError: if a type is not known here.
    """
    if kind == PICTURE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return [_feature(kind.value_type)]
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.type) for field in kind}
    if kind not in _VALUES:
        raise ValueError(f"no feature of the package datasets is known for the type {kind}: name it in `_VALUES`")
    return {"dtype": _VALUES[kind], "_type": "Value"}


def features(schema: pa.Schema) -> dict[str, Any]:
    """Return the features of a table in the spelling of `datasets.Features.from_dict`.

    Raises:
        ValueError: if a column's type is not known here.
    """
    return {field.name: _feature(field.type) for field in schema}


def _card_feature(kind: pa.DataType) -> dict[str, Any]:
    """Return a type in the spelling of a card's `dataset_info`."""
    if kind == PICTURE:
        return {"dtype": "image"}
    if pa.types.is_list(kind):
        item = _card_feature(kind.value_type)
        # a list of plain values, or of structs, has their only entry itself as its value
        short = next(iter(item.values())) if set(item) in ({"dtype"}, {"struct"}) else item
        return {"list": short}
    if pa.types.is_struct(kind):
        return {"struct": [{"name": field.name, **_card_feature(field.type)} for field in kind]}
    return {"dtype": _VALUES[kind]}


def card_features(schema: pa.Schema) -> list[dict[str, Any]]:
    """Return the features of a table in the spelling of a card's `dataset_info`."""
    return [{"name": field.name, **_card_feature(field.type)} for field in schema]


def feature_metadata(schema: pa.Schema) -> dict[bytes, bytes]:
    """Return the Parquet metadata by which `datasets` shows a table's pictures as pictures.

    Raises:
        ValueError: if a column's type is not known here.
    """
    return {METADATA_KEY: json.dumps({"info": {"features": features(schema)}}).encode()}
