"""How many examples Hypothesis tries: few in `make test`, all in `make test-all` (`--hypothesis-profile=thorough`)."""

from __future__ import annotations

import os
from typing import Any

import hypothesis

FEWEST = 5
"""So many examples a test tries at least, if it asks for as many."""


def register_profiles() -> None:
    """Register both profiles. How fast a machine is, is no property of the code: neither sets a time limit.

    Where `CI` is set, a change is judged, and by the same examples each time, as by Hypothesis's own profile "ci".
    Elsewhere they are drawn anew, which is how rare faults are found.
    """
    same = bool(os.environ.get("CI"))
    hypothesis.settings.register_profile("few", deadline=None, derandomize=same, max_examples=25)
    hypothesis.settings.register_profile("thorough", deadline=None, derandomize=same, max_examples=100)


def examples(count: int, **options: Any) -> hypothesis.settings:
    """Return the settings of a test that tries `count` examples in the profile `thorough`, in others fewer.

    Args:
        count: examples, as many as find what the test is for.
        options: other settings of Hypothesis.
    """
    profile = hypothesis.settings.default
    scaled = count * (profile.max_examples if profile is not None else 100) // 100
    return hypothesis.settings(max_examples=max(scaled, min(count, FEWEST)), **options)
