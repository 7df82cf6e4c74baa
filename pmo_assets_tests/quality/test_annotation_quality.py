"""What people's audit says of a release."""

from __future__ import annotations

from collections import Counter

import pytest

from pmo_assets.annotation.cases import UNDECIDED
from pmo_assets.quality.annotation_quality import audit_facts, release_audits
from pmo_assets.records.reviews import VERDICTS
from pmo_assets.release.facts import Audits
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables


def test_an_audit_counts_each_way_of_assigning_as_often_as_it_occurs() -> None:
    verdicts = {
        "automatic": Counter(right=9, wrong=1),
        "a model": Counter({"right": 5, "not evaluable": 5}),
        UNDECIDED: Counter(wrong=20),
    }
    sizes = {"automatic": 900, "a model": 100, "nobody looked": 50, UNDECIDED: 500}
    found = audit_facts(verdicts, sizes, VERDICTS)
    assert found is not None
    assert found.judged == 20, "what is undecided is in no release"
    assert dict(found.shares) == pytest.approx({"right": 0.86, "wrong": 0.09, "not evaluable": 0.05})
    assert list(found.shares) == list(VERDICTS), "told in their order"


def test_without_an_audit_nothing_is_said(tmp_path) -> None:
    assert audit_facts({UNDECIDED: Counter(right=1)}, {UNDECIDED: 3}, VERDICTS) is None
    assert audit_facts({"a model": Counter(right=1)}, {}, VERDICTS) is None, "what was audited is not there any more"
    assert release_audits(Tables(DataRoot(str(tmp_path)))) == Audits()
