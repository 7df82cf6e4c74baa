"""`LICENSE.md`: the licences of a release's rows, counted, and what each asks for."""

from __future__ import annotations

from collections.abc import Sequence

from pmo_assets.release.facts import LicenceCount, ReleaseFacts
from pmo_assets.release.hub.markdown import markdown_table
from pmo_assets.tables.release import CONFIGS, holdings, release_tables
from pmo_assets.tables.released import FACTS

LICENSE_NAME = "per-article-licences"
"""The hub's `license_name` of a licence that is none of its own: lower case with hyphens."""

LICENSE_FILE = "LICENSE.md"
"""File beside the card that its head links to: the hub takes a URL, or a file of the name LICENSE or LICENSE.md."""


def withheld_names() -> str:
    """Return the hub's columns that are null where a licence forbids redistribution, for a sentence."""
    columns = {name: column for config in CONFIGS for name, column in release_tables()[config].columns().items()}
    # `text` of pairs is never null: what is withheld makes no pair
    return ", ".join(
        f"`{name}`" for name, column in columns.items() if column.nullable and holdings()[name] is not FACTS
    )


def licence_rows(licences: Sequence[LicenceCount]) -> list[tuple[object, ...]]:
    """Return licence, deed and panels for a table."""
    return [(item.code or "none stated", item.deed or "no version stated", item.panels) for item in licences]


def license_file(facts: ReleaseFacts) -> str:
    """Return the file that the card's `license_link` names: which licences hold, for how many panels."""
    return f"""# Licences of {facts.specialty.title}

There is no one licence: each row is under the licence of the article that it was cut from. It stands in the row's
column `license`, its deed in `license_url`, whom to credit in `attribution`. The panels are cut from the articles'
figures and the subcaptions from their captions; say so when you pass them on.

{markdown_table(("licence", "deed", "panels"), licence_rows(facts.licences))}

* **CC0**: no conditions.
* **CC BY**: credit the authors, link to the licence, say what was changed.
* **SA**: pass adaptations on under the same licence.
* **NC**: not for commercial purposes.
* **ND, TDM, none stated**: adaptations may not be passed on; {withheld_names()} are null in these rows.

What was added to the articles (boxes, types, which subcaption belongs to which panel) are facts and judgements about
them, on which no rights are claimed.
"""
