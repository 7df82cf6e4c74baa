"""A Markdown file (the dataset's card, its changes, its licences) as a page."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markupsafe import Markup

from pmo_assets.viewing.markup import asset_text, page_templates, plain_text

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)

_WIDE = re.compile(r"<(pre|table)>")
"""Elements that scroll where they are too wide for the page: who has no mouse reaches them with the tab key."""


def document_page(name: str, text: str) -> str:
    """Return a Markdown file as one HTML document that loads nothing.

    HTML in the text is shown, not obeyed; links other than to the web and to files beside it are no links.

    Args:
        name: of the file, the title where the text has no heading.
        text: Markdown with tables; metadata in front (YAML between `---`) are left out.
    """
    body = _FRONT_MATTER.sub("", plain_text(text.replace("\r\n", "\n")), count=1)
    # commonmark without HTML: markdown-it escapes tags and refuses links with javascript:, vbscript:, file:, data:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    heading = re.search(r"^# +(.+)$", body, re.MULTILINE)
    return (
        page_templates()
        .get_template("document.html.j2")
        .render(
            title=heading.group(1).strip() if heading else name,
            body=Markup(_WIDE.sub(r'<\1 tabindex="0">', reader.render(body))),
            styles=Markup(asset_text("page.css") + asset_text("document.css")),
        )
    )
