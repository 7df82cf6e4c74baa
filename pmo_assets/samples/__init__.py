"""Sample articles: typeset from a seed, packaged like PMC's, with exact ground truth for every figure.

`typeset` turns an `ArticleSpec` into a PDF, a JATS file, figure JPEGs, metadata and an annotation that is known from
the layout instead of measured. `sample_specs` is the standard set (layouts, captions, licences, retractions, hostile
files), `random_spec` draws layouts for property tests, `assembly_spec` figures whose identifiers mislead.
`write_sample_articles` and `write_pmc_cloud_layout` put packages on disk. Pictures are drawn stand-ins: nothing here
shows a patient. What reads articles belongs in the other rooms.
"""

from pmo_assets.samples.assembly_specs import assembly_spec
from pmo_assets.samples.packages import (
    WrittenSample,
    pmc_cloud_objects,
    sample_articles,
    write_pmc_cloud_layout,
    write_sample_articles,
)
from pmo_assets.samples.random_specs import random_spec
from pmo_assets.samples.samples import sample_specs
from pmo_assets.samples.spec import ArticleSpec, Expected, TypesetArticle
from pmo_assets.samples.typesetter import typeset

__all__ = [
    "ArticleSpec",
    "Expected",
    "TypesetArticle",
    "WrittenSample",
    "assembly_spec",
    "pmc_cloud_objects",
    "random_spec",
    "sample_articles",
    "sample_specs",
    "typeset",
    "write_pmc_cloud_layout",
    "write_sample_articles",
]
