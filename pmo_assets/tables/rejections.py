"""The tables of what could not be processed: one schema for each unit, with the unit's own column names."""

from __future__ import annotations

import functools
from typing import Any

import dataframely as dy

from pmo_assets.records.rejections import Rejection
from pmo_assets.records.units import ARTICLE, Unit


class Rejections(dy.Schema):
    """What could not be processed, and why."""

    stage = dy.String(description="Asset that gave up")
    article_id = dy.Int64(min=1, description='PMC number without "PMC"')
    package = dy.String(nullable=True, description="Name of the article's package; null where none is known")
    image_cluster_id = dy.String(nullable=True, description="Figure; null when the whole article is affected")
    error_class = dy.String(description="Exception class, or the name of a decision")
    message = dy.String(description="What is wrong, in a sentence")
    traceback_tail = dy.String(description="Last lines of the traceback; empty for a decision")


@functools.cache
def rejections_schema(unit: Unit) -> type[dy.Schema]:
    """Return the schema of what could not be processed of a unit's batches."""
    if unit == ARTICLE:
        return Rejections
    own = {
        "__doc__": Rejections.__doc__,
        "__module__": __name__,  # the code that makes it, for the code version of its asset
        "__qualname__": rejections_schema.__name__,
        "stage": dy.String(description="Asset that gave up"),
        unit.key: dy.Int64(min=1, description=f"Number of the {unit.name}"),
        unit.owner: dy.String(nullable=True, description=f"Name of the {unit.name}; null where none is known"),
        unit.part: dy.String(
            nullable=True, description=f"{unit.part_name.capitalize()}; null when the whole {unit.name} is affected"
        ),
    }
    same = {name: Rejections.columns()[name] for name in ("error_class", "message", "traceback_tail")}
    return type(f"{unit.name.capitalize()}Rejections", (dy.Schema,), {**own, **same})


def rejection_row(rejection: Rejection, unit: Unit) -> dict[str, Any]:
    """Return a rejection as a row of its unit's table."""
    return {
        "stage": rejection.stage,
        unit.key: rejection.unit_id,
        unit.owner: rejection.owner,
        unit.part: rejection.part,
        "error_class": rejection.error_class,
        "message": rejection.message,
        "traceback_tail": rejection.traceback_tail,
    }


SCHEMAS: dict[str, type[dy.Schema]] = {"rejections": Rejections}
"""The schema of each asset of the group that is a table."""
