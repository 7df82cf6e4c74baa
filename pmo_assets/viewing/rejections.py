"""The page of what a batch could not process: stage, article, figure, reason, and the traceback folded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from pmo_assets.viewing.markup import asset_text, number_text, page_templates, web_url
from pmo_assets.viewing.overlays import data_uri, picture_mime


@dataclass(frozen=True, slots=True)
class ShownRejection:
    """Something that could not be processed.

    Attributes:
        anchor: its place on the page, unique.
        stage: asset that gave up.
        article: name of the article.
        article_url: its page; shown only if it is http(s).
        figure: name of the figure; "" when the whole article is affected.
        error_class: exception or decision.
        message: the error, in full.
        traceback: its last lines; "" for a decision.
        picture: PNG, JPEG or WebP of the figure; None without.
    """

    anchor: str
    stage: str
    article: str
    article_url: str | None
    figure: str
    error_class: str
    message: str
    traceback: str = ""
    picture: bytes | None = None


def _view(item: ShownRejection) -> dict[str, object]:
    mime = picture_mime(item.picture) if item.picture else None
    source = Markup(data_uri(item.picture, mime)) if item.picture and mime else None
    return {"item": item, "url": web_url(item.article_url), "picture": source}


def rejections_page(
    title: str,
    rejections: Iterable[ShownRejection],
    *,
    lead: str = "",
    facts: Sequence[tuple[str, str]] = (),
    note: str = "",
) -> str:
    """Return the page as one HTML document that loads nothing and needs no script.

    Args:
        title: heading.
        rejections: in order; those of a stage in a row.
        lead: a sentence below the title.
        facts: (label, value) pairs in the header.
        note: what of them is not shown.
    """
    stages = []
    for stage, members in groupby(rejections, key=lambda item: item.stage):
        items = [_view(item) for item in members]
        stages.append({"stage": stage, "count": number_text(len(items)), "items": items})
    return (
        page_templates()
        .get_template("rejections.html.j2")
        .render(
            title=title,
            lead=lead,
            facts=facts,
            stages=stages,
            note=note,
            styles=Markup(asset_text("page.css") + asset_text("rejections.css")),
        )
    )
