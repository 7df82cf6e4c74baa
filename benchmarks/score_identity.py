"""Score the comparison of PDF and XML: true pairs that are lost, and crossed pairs that pass, on the real articles.

    python benchmarks/score_identity.py [--shared ../shared] [--wrong]

Each XML is compared with its own PDF and with every other one. Then hard pairs are made of the longer real texts: a
notice about the article, the second part of its study, its right first page before another article's body, pages
without text, and a preprint under another title, which is the same work. Last, the share of text from which two are
one article is chosen from the journals of one half and tried on those of the other. Printed besides: how the evidence
is spread, and what the comparison costs.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import mean, median

import pymupdf

from pmo_assets.pipeline.articles.front_page import FrontMatter, read_front_matter
from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.articles.pdf_identity import (
    LONG_TEXT,
    OTHER_TEXT,
    SAME_TEXT,
    PdfOfAnotherArticle,
    PdfText,
    bare_letters,
    identity_of_text,
    identity_with_xml,
    overlap_with,
    pieces_of,
    read_pdf_text,
)
from pmo_assets.records.article import Article

REJECTED = "rejected"


@dataclass(frozen=True)
class Pdf:
    """A PDF of the corpus, read once for all pairs."""

    name: str
    data: bytes

    @cached_property
    def text(self) -> PdfText:
        """All its pages: a piece that no page has makes the reading go on to the end."""
        return read_pdf_text(self.data, ["\0"])

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """Its pages as they are searched."""
        return tuple(bare_letters(page) for page in self.text.pages)

    @cached_property
    def front(self) -> FrontMatter:
        """What its front pages say."""
        return read_front_matter(self.data)


@dataclass(frozen=True)
class Xml:
    """An XML of the corpus."""

    name: str
    article: Article

    @cached_property
    def letters(self) -> str:
        """Its text as it is searched for."""
        return bare_letters(self.article.text)

    @cached_property
    def pieces(self) -> list[str]:
        """What of it is searched for."""
        return pieces_of(self.letters)


def compared(xml: Xml, pdf: Pdf) -> tuple[str, float]:
    """Return the verdict, or "rejected", and the overlap with all pages."""
    overlap, least = overlap_with(pdf.letters, xml.pieces)
    text = replace(pdf.text, overlap=overlap, least=least)
    try:
        found = identity_of_text(xml.article, text, lambda: pdf.front, len(xml.letters))
    except PdfOfAnotherArticle:
        return REJECTED, overlap
    return found.verdict, overlap


def typeset(title: str, doi: str, text: str) -> bytes:
    """Return a plain PDF of a text."""
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((60, 40), f"doi:{doi}", fontsize=8)
    page.insert_textbox((60, 70, 540, 200), title, fontsize=18)
    lines = [text[at : at + 100] for at in range(0, len(text), 100)]
    for number in range(0, len(lines), 50):
        page = page if number == 0 else document.new_page()
        page.insert_text((60, 220), lines[number : number + 50], fontsize=9)
    return bytes(document.tobytes())


def hard_pairs(xml: Xml, own: Pdf, other: Pdf, other_xml: Xml) -> Iterator[tuple[str, set[str], Pdf]]:
    """Yield (kind, what may come out, PDF) of pairs that are made of an article and another one."""
    article, text, others = xml.article, xml.article.text, other_xml.article.text
    notice = f"In the article titled “{article.title}”, there was an error. {others[:400]}"
    for kind in ("Correction to: ", "Author response to: "):
        yield kind.strip(" :"), {REJECTED}, Pdf(kind, typeset(kind + article.title, "10.9999/notice", notice))
    methods = text[: len(text) // 4]
    yield (
        "second part of the study", {REJECTED, "unverified"},
        Pdf("part", typeset(f"{article.title}: Part II", "10.9999/part.2", methods + others)),
    )  # fmt: skip
    yield "preprint", {"verified"}, Pdf("preprint", typeset("A first look at it all", "10.9999/preprint", text))
    with pymupdf.open(stream=own.data) as mine, pymupdf.open(stream=other.data) as theirs:
        joined = pymupdf.open()
        joined.insert_pdf(mine, to_page=0)
        joined.insert_pdf(theirs)
        yield "right first page", {REJECTED, "unverified"}, Pdf("joined", bytes(joined.tobytes()))
        blank = pymupdf.open()
        for page in mine:
            blank.new_page(width=page.rect.width, height=page.rect.height)
        yield "no text", {"unverified"}, Pdf("blank", bytes(blank.tobytes()))


def half_by_journal(xmls: Sequence[Xml]) -> tuple[list[Xml], list[Xml]]:
    """Return the articles of every other journal, and the rest."""
    journals = sorted({xml.article.journal for xml in xmls})
    chosen = set(journals[::2])
    return [xml for xml in xmls if xml.article.journal in chosen], [
        xml for xml in xmls if xml.article.journal not in chosen
    ]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared")
    parser.add_argument("--wrong", action="store_true", help="print the pairs that come out wrong")
    options = parser.parse_args()
    folders = sorted(folder for folder in (options.shared / "corpus").iterdir() if (folder / "article.pdf").exists())
    pdfs = {folder.name: Pdf(folder.name, (folder / "article.pdf").read_bytes()) for folder in folders}
    xmls = [
        Xml(folder.name, parse_jats((folder / "article.xml").read_bytes()))
        for folder in folders
        if (folder / "article.xml").exists()
    ]

    evidence: Counter[str] = Counter()
    seconds = []
    for xml in xmls:
        start = time.perf_counter()
        found = identity_with_xml(xml.article, pdfs[xml.name].data, lambda name=xml.name: pdfs[name].front)  # type: ignore[misc]
        seconds.append(time.perf_counter() - start)
        evidence[f"{found.verdict}: {', '.join(found.evidence)}"] += 1
    print(f"milliseconds per article: mean {1000 * mean(seconds):.0f}, median {1000 * median(seconds):.0f}")
    for words, count in evidence.most_common():
        print(f"{count:5d} {words}")

    overlaps: dict[tuple[str, str], float] = {}
    verdicts: dict[tuple[str, str], str] = {}
    for xml in xmls:
        for name, pdf in pdfs.items():
            verdicts[xml.name, name], overlaps[xml.name, name] = compared(xml, pdf)
    journal = {xml.name: xml.article.journal for xml in xmls}
    kinds = {
        "true pairs": [pair for pair in verdicts if pair[0] == pair[1]],
        "crossed, same journal": [p for p in verdicts if p[0] != p[1] and journal[p[0]] == journal.get(p[1])],
        "crossed, other journal": [p for p in verdicts if p[0] != p[1] and journal[p[0]] != journal.get(p[1])],
    }
    print("\n| pairs | | verified | unverified | rejected | overlap min | median | max |\n| --- " + "| ---: " * 7 + "|")
    for kind, pairs in kinds.items():
        came, shares = Counter(verdicts[pair] for pair in pairs), [overlaps[pair] for pair in pairs]
        print(
            f"| {kind} | {len(pairs)} | {came['verified']} | {came['unverified']} | {came[REJECTED]} "
            f"| {min(shares):.3f} | {median(shares):.3f} | {max(shares):.3f} |"
        )
        if options.wrong:
            print(*(p for p in pairs if verdicts[p] != ("verified" if p[0] == p[1] else REJECTED)), sep="\n")

    made: dict[str, Counter[str]] = {}
    long = [xml for xml in xmls if len(xml.letters) >= LONG_TEXT]
    for xml, other in zip(long, [*long[1:], long[0]], strict=True):
        for kind, _, pdf in hard_pairs(xml, pdfs[xml.name], pdfs[other.name], other):
            verdict, overlap = compared(xml, pdf)
            made.setdefault(kind, Counter())[verdict] += 1
            if options.wrong:
                print(f"{xml.name} {kind}: {verdict} {overlap:.2f}")
    wanted = {kind: may for kind, may, _ in hard_pairs(xmls[0], pdfs[xmls[0].name], pdfs[xmls[1].name], xmls[1])}
    print("\n| hard pairs | | verified | unverified | rejected | wrong |\n| --- " + "| ---: " * 5 + "|")
    for kind, came in made.items():
        wrong = sum(count for verdict, count in came.items() if verdict not in wanted[kind])
        print(f"| {kind} | {came.total()} | {came['verified']} | {came['unverified']} | {came[REJECTED]} | {wrong} |")

    print(f"\nshipped: other below {OTHER_TEXT}, same from {SAME_TEXT}")
    halves = half_by_journal(xmls)
    for fitted, tried in (halves, halves[::-1]):
        names = {xml.name for xml in fitted}
        highest = max(v for p, v in overlaps.items() if p[0] in names and p[1] in names and p[0] != p[1])
        lowest = min(overlaps[name, name] for name in names)
        between = (highest + lowest) / 2
        others = {xml.name for xml in tried}
        lost = sum(overlaps[name, name] < between for name in others)
        passed = sum(v >= between for p, v in overlaps.items() if p[0] in others and p[0] != p[1])
        print(
            f"fitted to {len(fitted)} articles of {len({x.article.journal for x in fitted})} journals: crossed at most "
            f"{highest:.3f}, true at least {lowest:.3f}; at {between:.2f} of the other {len(tried)} true pairs {lost} "
            f"are lost, of {sum(p[0] in others and p[0] != p[1] for p in overlaps)} crossed {passed} pass"
        )


if __name__ == "__main__":
    main()
