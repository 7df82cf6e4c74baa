"""Hostile inputs by the hundred, made from a seed, through the steps of the pipeline (`make test-faults`).

Whatever an input is, it gives rows that fulfil their schema or a rejection whose reason was decided on; nothing else is
an answer. A case that fails is named by kind, seed and number, and repeated by

    pytest -m faults pmo_assets_tests/faults -k pdf --faults-seed 0 --faults-first 123 --faults-count 1
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

import pytest

from pmo_assets.workers.pool import WorkerPool
from pmo_assets_tests.faults.steps import CASES, run_case

pytestmark = pytest.mark.faults

COUNTS = {"xml": 400, "pdf": 150, "caption": 600, "picture": 60, "package": 60, "wrong_pdf": 80}
"""Cases of a run: five to ten minutes on two cores."""

TIMEOUT = 60.0
"""Seconds per case; a case that needs more is one that PMO_ARTICLE_TIMEOUT would end."""

MEMORY_MB = 4096

MAY_BE_ENDED = {"pdf": 0.03}
"""Share of cases that a limit may end: a bomb may take its time, and being ended is a decided answer. Two cases of
any kind may be slow where the machine is busy."""


@pytest.mark.parametrize("kind", list(CASES))
def test_hostile_inputs_give_rows_or_a_decided_rejection(
    kind: str, fault_sources: Sequence[str], pytestconfig: pytest.Config
) -> None:
    seed, first = pytestconfig.getoption("--faults-seed"), pytestconfig.getoption("--faults-first")
    count = pytestconfig.getoption("--faults-count")
    numbers = range(first, first + (COUNTS[kind] if count is None else count))
    troubles, ended = [], []
    outcomes: Counter[str] = Counter()
    with WorkerPool(max(1, os.cpu_count() or 1), TIMEOUT, MEMORY_MB) as pool:
        cases = [(number + 1, (kind, seed, number, tuple(fault_sources))) for number in numbers]
        outputs = pool.map_units(f"hostile {kind}", run_case, cases)
    for number, output in zip(numbers, outputs, strict=True):
        place = f"{kind}, seed {seed}, case {number}"
        for row in output.rows:
            outcomes[row["outcome"].partition(": ")[2] or "rows"] += 1
            if row["trouble"]:
                troubles.append(f"{place}:\n{row['trouble']}")
        ended += [f"{place}: {item.error_class}: {item.message}" for item in output.rejections]
    print(f"\n{kind}: {dict(outcomes.most_common())}", *ended, sep="\n")
    assert not troubles, f"{len(troubles)} of {len(numbers)}\n\n" + "\n\n".join(troubles)
    assert len(ended) <= max(2, MAY_BE_ENDED.get(kind, 0.0) * len(numbers)), "\n".join(ended)
