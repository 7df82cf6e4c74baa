"""A page of links to everything that can be looked at, or advice where there is nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pmo_assets.viewing.markup import asset_text, page_templates


@dataclass(frozen=True, slots=True)
class Link:
    """A place to go to.

    Attributes:
        name: of the link.
        address: of the page; on the same server, beginning with "/".
        note: one sentence of what is to be seen there.
    """

    name: str
    address: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class LinkGroup:
    """Links of one kind.

    Attributes:
        title: heading.
        links: in order.
        note: one or two sentences below the heading.
        short: many links with names only, in lines instead of boxes.
    """

    title: str
    links: tuple[Link, ...] = ()
    note: str = ""
    short: bool = False


def links_page(
    title: str, groups: Sequence[LinkGroup], *, lead: str = "", facts: Sequence[tuple[str, str]] = ()
) -> str:
    """Return a page of links as one HTML document that loads nothing and needs no script."""
    return (
        page_templates()
        .get_template("links.html.j2")
        .render(
            title=title,
            lead=lead,
            facts=facts,
            groups=groups,
            styles=Markup(asset_text("page.css") + asset_text("links.css")),
        )
    )
