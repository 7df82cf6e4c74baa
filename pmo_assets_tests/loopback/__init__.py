"""A stand-in of PubMed Central on loopback: its bucket behind a real S3 server, and its search.

Tests and benchmarks talk to it over HTTP as programs talk to PMC. `layout` says how articles lie in the bucket,
`server` serves them, with a log of all requests and faults on demand, `esearch` answers Entrez's ESearch, for which
`entrez_evaluator` evaluates queries. `python -m pmo_assets_tests.loopback FOLDER` serves packages to try by hand.
"""

from pmo_assets_tests.loopback.layout import (
    BUCKET,
    CloudArticle,
    article_from_package,
    article_from_sample,
    articles_from_folder,
    inventory_objects,
    objects_of,
)
from pmo_assets_tests.loopback.server import LoopbackPmc
from pmo_assets_tests.loopback.traffic import Answer, Faults, LoggedRequest

__all__ = [
    "BUCKET",
    "Answer",
    "CloudArticle",
    "Faults",
    "LoggedRequest",
    "LoopbackPmc",
    "article_from_package",
    "article_from_sample",
    "articles_from_folder",
    "inventory_objects",
    "objects_of",
]
