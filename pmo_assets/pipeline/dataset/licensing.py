"""What a release may carry of an article under its licence."""

from __future__ import annotations

from pmo_assets.pipeline.articles.licences import allows_redistribution


def withheld(license_code: str | None) -> bool:
    """Say whether a release leaves out the panel's picture and subcaption (they stay below the data root).

    A panel cut from a figure, with a caption cut to match, is adapted material: it may be passed on under CC0 and
    the CC licences without "ND", and not where no licence is stated. `subcaption_segments`, boxes and page
    coordinates are facts and stay, so that the owner of a copy of the article can restore both.
    """
    return license_code is None or not allows_redistribution(license_code)
