"""Statements of licences as publishers write them, with the code of each: `licence_statements.tsv`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class KnownStatement:
    """A statement and its code; None where it states no licence that is known, or says more than is understood."""

    code: str | None
    note: str
    text: str


def known_statements() -> list[KnownStatement]:
    """Return all of them, in order."""
    with Path(__file__).with_name("licence_statements.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [KnownStatement(None if row["code"] == "-" else row["code"], row["note"], row["statement"]) for row in rows]
