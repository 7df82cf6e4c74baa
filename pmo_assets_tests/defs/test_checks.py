"""Asset checks: what must hold fails them when it does not."""

from __future__ import annotations

import dagster as dg

from pmo_assets.defs import checks
from pmo_assets.defs.assets.dataset import dataset_report
from pmo_assets.records.rejections import Rejection


def test_what_no_step_accounts_for_fails_the_report() -> None:
    result = checks.accounted_result({"articles": 0, "figures": 2, "panels": 0})
    assert not result.passed
    assert result.severity == dg.AssetCheckSeverity.ERROR
    assert "2 figures are gone" in (result.description or "")
    assert checks.accounted_result({"articles": 0, "figures": 0, "panels": 0}).passed


def test_the_reports_invariant_ends_its_run() -> None:
    (spec,) = dataset_report.check_specs
    assert (spec.name, spec.blocking) == (checks.ACCOUNTED, True)


def test_rejected_articles_are_named_by_their_packages_up_to_a_number() -> None:
    one = [Rejection("articles", 7, None, "NoPdf", "There is no PDF.")]
    assert checks.rejected_words(one, {7: "smith_2020"}, 10).startswith(
        "1 of 10 articles were rejected here: smith_2020 (NoPdf). Why"
    )
    many = [Rejection("articles", number, None, "NoPdf", "", owner=f"a{number}") for number in range(7)]
    assert "a0 (NoPdf), a1 (NoPdf), a2 (NoPdf), a3 (NoPdf), a4 (NoPdf), 2 more." in checks.rejected_words(many, {}, 9)
