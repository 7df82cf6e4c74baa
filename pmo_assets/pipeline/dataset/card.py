"""The dataset card: a README for Hugging Face with the release's facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.dataset.licensing import HOLDS, Holding


@dataclass(frozen=True)
class ReleaseFacts:
    """Counts of a release.

    Attributes:
        rows: panels.
        withheld: panels without picture and subcaption because of their licence.
        articles: articles with a panel.
        figures: figures with a panel.
        licences: panels by licence code.
        contains: panels by what they contain (cfp, oct, retinal, other, marked).
        assembly: panels by how the subcaption was assigned.
        columns: (name, type, description) of the Parquet file's columns.
        specialty: what the dataset is about.
        version: of pmo-assets.
        deeds: (licence code, deed's address, panels); None where no licence or no version of it is stated.
        duplicates: packages that are not published because another package is the same article.
        searched_on: day (UTC) on which PMC was searched last; None if its articles came from elsewhere.
    """

    rows: int
    withheld: int
    articles: int
    figures: int
    licences: Mapping[str, int]
    contains: Mapping[str, int]
    assembly: Mapping[str, int]
    columns: Sequence[tuple[str, str, str]]
    specialty: Specialty
    version: str
    deeds: Sequence[tuple[str | None, str | None, int]] = ()
    duplicates: int = 0
    searched_on: date | None = None


LICENSE_FILE = "LICENSE.md"
"""File beside the card that its head links to: the hub takes a URL, or a file of the name LICENSE or LICENSE.md."""

LICENSE_NAME = "per-article-licences"
"""The hub's `license_name` of a licence that is none of its own: lower case with hyphens."""


def _table(header: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> str:
    lines = [" | ".join(header), " | ".join("---" for _ in header)]
    lines += [" | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def _withheld_names() -> str:
    return ", ".join(f"`{name}`" for name, holding in HOLDS.items() if holding is not Holding.FACTS)


def dataset_card(facts: ReleaseFacts) -> str:
    """Return the card as Markdown with the YAML head that Hugging Face reads."""
    size = next((name for limit, name in _SIZES if facts.rows < limit), "100M<n<1B")
    return f"""---
pretty_name: {facts.specialty.title}
license: other
license_name: {LICENSE_NAME}
license_link: {LICENSE_FILE}
task_categories: [image-to-text, zero-shot-image-classification]
language: [en]
tags: [medical, figures, pubmed-central]
size_categories: [{size}]
configs:
- config_name: default
  data_files: pubmed_ophtha.parquet
---

# {facts.specialty.title}

{facts.specialty.description}

{facts.rows} panels of {facts.figures} figures from {facts.articles} open-access articles of PubMed Central, extracted
from the article PDFs at full resolution, one row per panel. Made with pmo-assets {facts.version}; the columns are those
of PubMed-Ophtha (Hallitschke, Eickhoff and Berens, arXiv:2605.02720), and behind them whom to credit.

Every article is in here once: {facts.duplicates} packages with an article that another package holds as well are left
out and listed in `duplicates.parquet`. Retracted articles, and those that PubMed Central removed, are left out;
`retractions.parquet` lists those that a batch held, with the rows of earlier releases.{_currency(facts.searched_on)}

## Licences

Every row carries its article's licence (`license`, its deed `license_url` where a version is stated) and whom to
credit (`attribution`, and apart `title`, `authors`, `journal`, `year`, `doi`, `article_url`). {facts.withheld} rows lie
under a licence that does not allow adapted material to be passed on (ND, text mining only, or none stated): their
{_withheld_names()} are null. `commercial_use` is true for CC0, CC BY, CC BY-SA and CC BY-ND.
[{LICENSE_FILE}]({LICENSE_FILE}) lists the licences. Source of the articles: U.S. National Library of Medicine, PubMed
Central.

{_table(("licence", "panels"), list(facts.licences.items()))}

## Contents

{_table(("panels that contain", "count"), list(facts.contains.items()))}

{_table(("subcaption assigned by", "panels"), list(facts.assembly.items()))}

## Columns

{_table(("column", "type", "meaning"), list(facts.columns))}
"""


def _currency(searched_on: date | None) -> str:
    """Return the sentence on how current the articles are, which NLM asks of whoever passes them on."""
    return f" PubMed Central was last searched on {searched_on}." if searched_on is not None else ""


def license_file(facts: ReleaseFacts) -> str:
    """Return the file that the card's `license_link` names: which licences hold, for how many panels."""
    rows = [(code or "none stated", url or "no version stated", count) for code, url, count in facts.deeds]
    return f"""# Licences of {facts.specialty.title}

There is no one licence: each row is under the licence of the article that it was cut from. It stands in the row's
column `license`, its deed in `license_url`, whom to credit in `attribution`. The panels are cut from the articles'
figures and the subcaptions from their captions; say so when you pass them on.

{_table(("licence", "deed", "panels"), rows)}

* **CC0**: no conditions.
* **CC BY**: credit the authors, link to the licence, say what was changed.
* **SA**: pass adaptations on under the same licence.
* **NC**: not for commercial purposes.
* **ND, TDM, none stated**: adaptations may not be passed on; {_withheld_names()} are null in these rows.

What was added to the articles (boxes, types, which subcaption belongs to which panel) are facts and judgements about
them, on which no rights are claimed.
"""


_SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"),
)
"""Hugging Face's size categories by their upper limit."""
