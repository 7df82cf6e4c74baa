"""Asset checks: what must hold fails them when it does not."""

from __future__ import annotations

import dagster as dg

from pmo_assets.defs import checks
from pmo_assets.defs.assets.dataset import dataset_report


def test_what_no_step_accounts_for_fails_the_report() -> None:
    result = checks.accounted_result({"articles": 0, "figures": 2, "panels": 0})
    assert not result.passed
    assert result.severity == dg.AssetCheckSeverity.ERROR
    assert "2 figures are gone" in (result.description or "")
    assert checks.accounted_result({"articles": 0, "figures": 0, "panels": 0}).passed


def test_the_reports_invariant_ends_its_run() -> None:
    (spec,) = dataset_report.check_specs
    assert (spec.name, spec.blocking) == (checks.ACCOUNTED, True)
