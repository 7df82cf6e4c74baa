"""The standard set, typeset once for all tests of this room."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pmo_assets.samples import TypesetArticle, sample_specs, typeset


@pytest.fixture(scope="session")
def articles() -> tuple[TypesetArticle, ...]:
    """All articles of the standard set, seed 0."""
    return tuple(typeset(spec) for spec in sample_specs())


@pytest.fixture(scope="session")
def by_feature(articles: tuple[TypesetArticle, ...]) -> Mapping[str, TypesetArticle]:
    """The first article that shows a feature."""
    found: dict[str, TypesetArticle] = {}
    for article in articles:
        for feature in article.expected.features:
            found.setdefault(feature, article)
    return found
