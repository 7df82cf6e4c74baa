"""Small JATS articles for tests."""

from __future__ import annotations

from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.records.article import Article

NAMESPACES = (
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML" '
    'xmlns:ali="http://www.niso.org/schemas/ali/1.0/"'
)
DOCTYPE = (
    '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.1 20151215//EN" '
    '"JATS-archivearticle1.dtd">'
)


def parsed(body: str = "", *, meta: str = "", journal: str = "", rest: str = "", attributes: str = "") -> Article:
    return parse_jats(
        f"{DOCTYPE}<article {NAMESPACES} {attributes}><front><journal-meta>{journal}</journal-meta>"
        f"<article-meta>{meta}</article-meta></front><body>{body}</body>{rest}</article>".encode()
    )


def figures(body: str = "", *, rest: str = "") -> list[tuple[str, str, str]]:
    """(image_cluster_id, label, caption) of every figure."""
    return [(fig.image_cluster_id, fig.label, fig.caption) for fig in parsed(body, rest=rest).figures]


def fig(inner: str, *, href: str = "g1", attributes: str = 'id="f1"') -> str:
    return f'<fig {attributes}>{inner}<graphic xlink:href="{href}"/></fig>'


def caption_of(inner: str) -> str:
    ((_, _, caption),) = figures(fig(f"<label>Figure 1</label><caption>{inner}</caption>"))
    return caption
