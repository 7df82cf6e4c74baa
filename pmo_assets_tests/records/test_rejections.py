"""Exceptions become rejections that a person can act on."""

from __future__ import annotations

from pmo_assets.records.rejections import TRACEBACK_LINES, ArticleError, rejection_from


class Unfit(ArticleError):
    """A decision."""


def test_a_decision_keeps_its_name_and_no_traceback() -> None:
    rejection = rejection_from(Unfit("two\n  lines"), stage="articles", unit_id=7)
    assert (rejection.error_class, rejection.message, rejection.traceback_tail) == ("Unfit", "two lines", "")
    assert rejection.part is None


def test_a_fault_keeps_the_end_of_its_traceback() -> None:
    try:
        raise KeyError("x")
    except KeyError as error:
        rejection = rejection_from(error, stage="figures", unit_id=7, part="f1")
    assert rejection.error_class == "KeyError"
    assert "raise KeyError" in rejection.traceback_tail
    assert len(rejection.traceback_tail.splitlines()) <= TRACEBACK_LINES


def test_an_empty_message_falls_back_to_the_class() -> None:
    assert rejection_from(ValueError(), stage="s", unit_id=1).message == "ValueError"
