"""Rejections: inputs that could not be processed, with the reason; the rows of the failure model.

A bad article, figure or caption never fails its batch: it becomes a `Rejection`. A systemic error (source down, disk
full) is raised instead.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass

TRACEBACK_LINES = 12
"""Lines of a traceback that a rejection keeps: enough to find the place, few enough for a table."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """One thing that a stage could not process.

    Attributes:
        stage: name of the asset that gave up, e.g. `pdf_figures`.
        unit_id: number of the unit (`records.units`): of the article.
        part: the part of it, an article's figure; None when the whole unit is affected.
        error_class: name of the exception class, or a short CamelCase word for a decision such as `NoPdf`.
        message: one sentence for a person, saying what is wrong and, where possible, what to do.
        traceback_tail: the last lines of the traceback; empty for a decision.
        owner: name by which people know the unit, of an article its package; None leaves it to the batch's manifest.
    """

    stage: str
    unit_id: int
    part: str | None
    error_class: str
    message: str
    traceback_tail: str = ""
    owner: str | None = None


class ArticleError(Exception):
    """Raised by a pipeline step when an article cannot go on; becomes an article-level rejection.

    Subclasses name the reason; their class name is the rejection's `error_class`.
    """


def rejection_from(error: BaseException, *, stage: str, unit_id: int, part: str | None = None) -> Rejection:
    """Turn an exception into a rejection; an `ArticleError` is a decision and keeps no traceback."""
    tail = ""
    if not isinstance(error, ArticleError):
        lines = "".join(traceback.format_exception(error)).strip().splitlines()
        tail = "\n".join(lines[-TRACEBACK_LINES:])
    return Rejection(
        stage=stage,
        unit_id=unit_id,
        part=part,
        error_class=type(error).__name__,
        message=" ".join(str(error).split()) or type(error).__name__,
        traceback_tail=tail,
    )
