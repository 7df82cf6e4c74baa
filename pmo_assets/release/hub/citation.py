"""Citation of a release: `CITATION.cff`, and the entries in its card; the version stands where others put a date."""

from __future__ import annotations

from typing import Any, Final

import yaml

from pmo_assets.release.facts import ReleaseFacts

CITATION_FILE = "CITATION.cff"

PAPER_TITLE: Final = (
    "PubMed-Ophtha: An open resource for training ophthalmology vision-language models on scientific literature"
)
PAPER_AUTHORS: Final = (("Hallitschke", "Verena Jasmin"), ("Eickhoff", "Carsten"), ("Berens", "Philipp"))
"""Family and given names."""
PAPER_ARXIV: Final = "2605.02720"
PAPER_URL: Final = f"https://arxiv.org/abs/{PAPER_ARXIV}"
PAPER_YEAR: Final = 2026

SOFTWARE: Final = "pmo-assets"
SOFTWARE_AUTHORS: Final = "The pmo-assets maintainers"


def citation_file(facts: ReleaseFacts) -> str:
    """Return `CITATION.cff` (Citation File Format 1.2.0) of a release; software and paper stand as references."""
    content: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use this dataset, please cite it, the paper whose method and columns it follows, and the "
        "articles whose figures you show (column attribution).",
        "type": "dataset",
        "title": facts.specialty.title,
        "abstract": facts.specialty.description or facts.specialty.title,
        "version": facts.version,
        "authors": [{"name": facts.creator}],
        "keywords": ["PubMed Central", "figures", "panels", "captions", "vision-language", facts.specialty.name],
        "references": [
            {
                "type": "article",
                "title": PAPER_TITLE,
                "authors": [{"family-names": family, "given-names": given} for family, given in PAPER_AUTHORS],
                "year": PAPER_YEAR,
                "identifiers": [{"type": "other", "value": f"arXiv:{PAPER_ARXIV}"}],
                "url": PAPER_URL,
            },
            {
                "type": "software",
                "title": SOFTWARE,
                "authors": [{"name": SOFTWARE_AUTHORS}],
                "version": facts.software,
                "license": "AGPL-3.0-or-later",
            },
        ],
    }
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
    return text


def bibtex(facts: ReleaseFacts) -> str:
    """Return the BibTeX entries of the release and the paper."""
    authors = " and ".join(f"{family}, {given}" for family, given in PAPER_AUTHORS)
    return (
        f"@misc{{{_bibtex_key(facts)},\n"
        f"  title = {{{{{facts.specialty.title}}}}},\n"
        f"  author = {{{{{facts.creator}}}}},\n"
        f"  version = {{{facts.version}}},\n"
        f"  note = {{Made with {SOFTWARE} {facts.software}}}\n"
        "}\n\n"
        "@article{hallitschke2026pubmed,\n"
        f"  title = {{{{{PAPER_TITLE}}}}},\n"
        f"  author = {{{authors}}},\n"
        f"  journal = {{arXiv preprint arXiv:{PAPER_ARXIV}}},\n"
        f"  year = {{{PAPER_YEAR}}}\n"
        "}"
    )


def _bibtex_key(facts: ReleaseFacts) -> str:
    name = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in facts.specialty.name)
    return f"{name}_{facts.version}"
