"""Score what is read from the PDFs' front pages against the articles' XML, which is hidden from the reader.

    python benchmarks/score_front_pages.py [--shared ../shared] [--printed-only] [--wrong] [--held-out PREFIX ...]
        [ARTICLE ...]

Only facts that an XML states are compared. Per fact: articles whose XML states it, how many are read, how many of
these are right, precision (right / read) and recall (right / stated). "same article" counts as right where the package
with the XML and one with another copy of the PDF and no XML would be published once. `--held-out` names the beginnings
of the folders that were not looked at when the rules were written; they are scored apart from the others.
"""

from __future__ import annotations

import argparse
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import pymupdf
from rapidfuzz import fuzz

from pmo_assets.pipeline.articles.dois import doi_key
from pmo_assets.pipeline.articles.front_page import FrontMatter, read_front_matter
from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.articles.licences import license_code, license_statements, license_url
from pmo_assets.pipeline.dataset.identity import ArticlePackage, shared_identifier
from pmo_assets.records.article import Article


def _letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text).lower() if c.isalnum())


def _similar(found: str, stated: str) -> bool:
    return fuzz.ratio(_letters(found), _letters(stated)) >= 90


def _same_authors(found: Sequence[str], stated: Sequence[str]) -> bool:
    return [_letters(name) for name in found] == [_letters(name) for name in stated]


def _surnames(names: Sequence[str]) -> list[str]:
    return [_letters(re.sub(r",? (?:Jr|Sr|I{2,3})\.?$", "", name).split()[-1]) for name in names]


def _text(pdf: bytes) -> str:
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        return " ".join(page.get_text() for page in document)


def without_metadata(pdf: bytes) -> bytes:
    """Return the PDF without XMP and document information."""
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        document.set_metadata({})
        document.del_xml_metadata()
        return bytes(document.tobytes())


def _is_recognised(article: Article, found: FrontMatter) -> bool:
    with_xml = ArticlePackage(1, "XML", doi=article.doi, doi_is_stated=True, title=article.title)
    return shared_identifier(with_xml, ArticlePackage(2, "PDF", doi=found.doi, title=found.title)) is not None


def compared(article: Article, found: FrontMatter, text: str) -> dict[str, tuple[object, object, bool]]:
    """Return (read, stated, right) for every fact that the XML states."""
    code = license_code(" ".join([*found.licences, license_statements(text)]))
    rules: dict[str, tuple[object, object, Callable[..., bool]]] = {
        "title, exact": (found.title, article.title, lambda a, b: _letters(a) == _letters(b)),
        "title, 0.9 similar": (found.title, article.title, _similar),
        "DOI": (found.doi, article.doi, lambda a, b: doi_key(a) == doi_key(b)),
        "same article": (found.doi, article.doi, lambda a, b: _is_recognised(article, found)),
        "authors, all names": (found.authors, article.authors, _same_authors),
        "authors, all surnames": (found.authors, article.authors, lambda a, b: _surnames(a) == _surnames(b)),
        "journal": (found.journal, article.journal, lambda a, b: _letters(a) == _letters(b)),
        "year": (found.year, article.year, lambda a, b: a == b),
        "licence code": (code, article.license_code, lambda a, b: a == b),
        "licence deed": (
            license_url(code, *found.licences, license_statements(text), found.license_links),
            article.license_url,
            lambda a, b: a == b,
        ),
    }
    return {
        name: (read, stated, bool(read) and same(read, stated))
        for name, (read, stated, same) in rules.items()
        if stated
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("articles", nargs="*", help="folders' names; all with an XML if none is given")
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--held-out", nargs="*", default=[], metavar="PREFIX")
    parser.add_argument("--printed-only", action="store_true", help="remove XMP and document information first")
    parser.add_argument("--wrong", action="store_true", help="print what is wrong or missing")
    options = parser.parse_args()
    counts: dict[tuple[str, str], tuple[int, int, int]] = defaultdict(lambda: (0, 0, 0))
    for folder in sorted((options.shared / "corpus").iterdir()):
        if not (folder / "article.xml").exists() or (options.articles and folder.name not in options.articles):
            continue
        pdf = (folder / "article.pdf").read_bytes()
        if options.printed_only:
            pdf = without_metadata(pdf)
        group = "held out" if folder.name.startswith(tuple(options.held_out)) else "looked at"
        facts = compared(parse_jats((folder / "article.xml").read_bytes()), read_front_matter(pdf), _text(pdf))
        for name, (read, stated, right) in facts.items():
            for key in ((group, name), ("all", name)):
                before = counts[key]
                counts[key] = (before[0] + 1, before[1] + bool(read), before[2] + right)
            if options.wrong and not right:
                print(f"{folder.name} {name}:\n    read   {read}\n    stated {stated}")
    for group in ("looked at", "held out", "all"):
        rows = [(name, *numbers) for (of, name), numbers in counts.items() if of == group]
        if rows:
            print(f"\n| {group} | stated | read | right | precision | recall |\n| --- | --- | --- | --- | --- | --- |")
        for fact, of_xml, count, agree in rows:
            print(f"| {fact} | {of_xml} | {count} | {agree} | {agree / max(count, 1):.3f} | {agree / of_xml:.3f} |")


if __name__ == "__main__":
    main()
