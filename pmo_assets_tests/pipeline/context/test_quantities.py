"""Times as ISO 8601 durations, ages, stages and grades."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.context.entities import entities_of


@pytest.mark.parametrize(
    ("text", "group", "terms"),
    [
        ("6 months after surgery", "time", ["P6M", "after surgery"]),
        ("six weeks later", "time", ["P6W"]),
        ("at 3 months", "time", ["P3M"]),
        ("1, 3 and 6 months after injection", "time", ["P1M", "P3M", "P6M"]),
        ("3-month follow-up", "time", ["P3M", "follow-up"]),
        ("day 7, POD 1, week 12", "time", ["P7D", "P1D", "P12W"]),
        ("on the first postoperative day", "time", ["P1D"]),
        ("at the 7th day", "time", ["P7D"]),
        ("1 week postoperatively", "time", ["P1W", "after surgery"]),
        ("2 weeks before the scan; 3 years ago", "time", ["-P2W", "-P3Y"]),
        ("a 3-week history", "time", ["-P3W"]),
        ("image at 30 seconds and at 5 min", "time", ["PT30S", "PT5M"]),
        ("at baseline and at the last visit", "time", ["baseline", "last follow-up"]),
        ("(6 months)", "time", ["P6M"]),
        ("3 mm wide, T1W image, 2 years of data", "time", []),
        ("a 67-year-old woman, aged 3 months", "demographic", ["67 years", "female", "3 months"]),
        ("67 y/o male; age 45; 70 years of age", "demographic", ["67 years", "male", "45 years", "70 years"]),
        ("born at 26 weeks' gestation", "demographic", ["gestational age 26 weeks"]),
        ("stage 3 ROP", "stage", ["stage 3"]),
        ("grade II, stage 4A", "stage", ["grade 2", "stage 4A"]),
        ("ETDRS level 47, AREDS category 3", "stage", ["ETDRS level 47", "AREDS category 3"]),
        ("Gass stage 3 macular hole", "stage", ["Gass stage 3"]),
        ("at the level 3 of the stage", "stage", []),
    ],
)
def test_what_is_said_with_a_number(text: str, group: str, terms: list[str]) -> None:
    assert [entity.term for entity in entities_of(text, {}) if entity.group == group] == terms
