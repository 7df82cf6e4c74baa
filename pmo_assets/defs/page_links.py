"""Links from the UI to pages: addresses that a browser opens, in place of paths of the machine that made them."""

from __future__ import annotations

import re

import dagster as dg

from pmo_assets.serving.addresses import page_url
from pmo_assets.settings import Settings

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&])")


def page_link(settings: Settings, key: str) -> dg.UrlMetadataValue:
    """Return the link to a page below the data root, at PMO_PAGES_URL."""
    return dg.MetadataValue.url(page_url(settings.pages_url, key))


def plain_markdown(text: str) -> str:
    """Return Markdown that shows the text as it is, in one line: it may come from an article."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def shortened(text: str, characters: int) -> str:
    """Return the text in one line, cut at a word when it is longer."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    return line[: characters - 1].rsplit(" ", 1)[0].rstrip() + " …"
