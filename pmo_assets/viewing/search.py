"""The page on which panels are looked for by a text, a picture, or another panel; the server answers what it asks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from pmo_assets.viewing.markup import asset_text, content_hash, page_templates


def search_page(
    title: str,
    filters: Mapping[str, Sequence[str]],
    *,
    embeds: bool,
    gallery: str = "",
    lead: str = "",
    facts: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the page as one HTML document; it asks `search/panels` and shows `search/pictures/ID` beside it.

    Args:
        title: heading.
        filters: words of each filter, by its name.
        embeds: texts and pictures can be looked for; else only what a link names (`?panel=ID`).
        gallery: address of the gallery that figures are opened in; "" for none.
        lead: a sentence below the title.
        facts: (label, value) pairs in the header.
    """
    script = asset_text("search.js")
    return (
        page_templates()
        .get_template("search.html.j2")
        .render(
            title=title,
            lead=lead,
            facts=facts,
            filters=filters,
            embeds=embeds,
            settings=Markup(json.dumps({"gallery": gallery}).replace("<", "\\u003c")),
            styles=Markup(asset_text("page.css") + asset_text("search.css")),
            script=Markup(script),
            script_hash=Markup(content_hash(script)),
        )
    )
