"""Sample articles: typeset from a seed, packaged like PMC's, with exact ground truth for every figure.

`typeset` turns an `ArticleSpec` into a PDF, a JATS file, figure JPEGs, metadata and an annotation that is known from
the layout instead of measured. `sample_specs` is the standard set (layouts, captions, licences, retractions, hostile
files), `write_sample_articles` puts it on disk. Pictures are drawn stand-ins: nothing here shows a patient. What draws
synthetic training figures, too, is in `drawing`. What reads articles belongs in the other rooms, specifications that
only tests and benchmarks typeset beside the tests.
"""

from pmo_assets.samples.packages import WrittenSample, sample_articles, write_sample_articles
from pmo_assets.samples.samples import sample_specs
from pmo_assets.samples.spec import ArticleSpec, Expected, TypesetArticle
from pmo_assets.samples.typesetter import typeset

__all__ = [
    "ArticleSpec",
    "Expected",
    "TypesetArticle",
    "WrittenSample",
    "sample_articles",
    "sample_specs",
    "typeset",
    "write_sample_articles",
]
