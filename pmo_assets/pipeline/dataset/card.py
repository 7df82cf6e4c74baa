"""The dataset card: a README for Hugging Face with the release's facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pmo_assets.pipeline.articles.relevance import Specialty


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


def _table(header: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> str:
    lines = [" | ".join(header), " | ".join("---" for _ in header)]
    lines += [" | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def dataset_card(facts: ReleaseFacts) -> str:
    """Return the card as Markdown with the YAML head that Hugging Face reads."""
    size = next((name for limit, name in _SIZES if facts.rows < limit), "100M<n<1B")
    return f"""---
pretty_name: {facts.specialty.title}
license: other
license_name: per-row
license_link: LICENSE
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
of PubMed-Ophtha (Hallitschke, Eickhoff and Berens, arXiv:2605.02720).

## Licences

Every row carries its article's licence and attribution. {facts.withheld} rows lie under a licence that does not allow
adapted material to be passed on (ND, or none stated): their `panel_image_bytes` and `subcaption_text` are null.
`commercial_use` is true for CC0, CC BY, CC BY-SA and CC BY-ND. Source of the articles: U.S. National Library of
Medicine, PubMed Central.

{_table(("licence", "panels"), list(facts.licences.items()))}

## Contents

{_table(("panels that contain", "count"), list(facts.contains.items()))}

{_table(("subcaption assigned by", "panels"), list(facts.assembly.items()))}

## Columns

{_table(("column", "type", "meaning"), list(facts.columns))}
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
