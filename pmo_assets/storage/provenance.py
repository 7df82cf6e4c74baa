"""Provenance of a batch's table, written into the table itself: every Dagster home, on every machine, reads the same.

The key-value metadata of the Parquet file (key `pmo-assets`) hold the version of the code, the settings that change the
result, a digest of the decisions of people that were applied, a digest of the rows, and the identity of each table that
it was made of. The identity is a digest of all that: whoever makes a table with the same code and settings of the same
inputs, and gets the same rows, gets the same identity, wherever and however often. It holds no time and no machine's
name.

Keep out: the code and settings in force, and the consequences of a difference (`pmo_assets.defs.staleness`).
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

METADATA_KEY: Final = "pmo-assets"
"""Key of the metadata."""


@dataclass(frozen=True)
class Provenance:
    """Code, settings and inputs that made a table of a batch.

    Attributes:
        code_version: of code and settings, as the code location declared it; "" when it declared none.
        settings: options that change the result, with their values as JSON (files by digest).
        inputs: identity of each table of the batch that it was made of, by asset; None for a table without provenance
            (an older version wrote it).
        applied: digest of the decisions of people that were applied; None for an asset that applies none.
        rows: SHA-256 of the rows as Parquet without metadata.
    """

    code_version: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str | None] = field(default_factory=dict)
    applied: str | None = None
    rows: str = ""

    @functools.cached_property
    def identity(self) -> str:
        """Name of this table in the provenance of tables made of it: 32 hexadecimal digits."""
        return hashlib.sha256(self.as_json().encode()).hexdigest()[:32]

    def as_json(self) -> str:
        """Return it as it stands in the metadata: the same provenance gives the same text."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def provenance_in(metadata: Mapping[str, str]) -> Provenance | None:
    """Return how a table was made by its file's metadata; None where they do not say it, or not in words known here."""
    text = metadata.get(METADATA_KEY)
    if text is None:
        return None
    try:
        read = json.loads(text)
        return Provenance(
            str(read["code_version"]), dict(read["settings"]), dict(read["inputs"]), read["applied"], str(read["rows"])
        )
    except (ValueError, KeyError, TypeError):
        return None
