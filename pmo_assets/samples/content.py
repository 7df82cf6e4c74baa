"""The article as content, before any layout: the PDF and the JATS XML are both written from it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from pmo_assets.samples import prose
from pmo_assets.samples.caption_text import caption_text
from pmo_assets.samples.reference_sentences import reference_sentences
from pmo_assets.samples.spec import ArticleSpec, FigureSpec, NamedInText, SentenceTruth
from pmo_assets.samples.type_metrics import Run

YEAR = 2024
REFERENCES = 12
_CAPTION_ITALICS = re.compile(r"\b(?:in vivo|[Pp](?= [=<]))\b")
_TOKEN = re.compile(r"\[\[(?P<target>[^|\[\]]+)\|(?P<text>[^\]]+)\]\]|\*(?P<italic>[^*]+)\*")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Runs of text."""

    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class FigurePlace:
    """Here the figure with this index (0-based) enters the text."""

    index: int


@dataclass(frozen=True, slots=True)
class TablePlace:
    """Here the table with this index (0-based) enters the text."""

    index: int


@dataclass(frozen=True, slots=True)
class Section:
    """A titled section and its blocks."""

    title: str
    blocks: tuple[Paragraph | FigurePlace | TablePlace, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A bibliography entry."""

    authors: tuple[tuple[str, str], ...]
    title: str
    source: str
    year: int
    volume: int
    first_page: int
    last_page: int


@dataclass(frozen=True, slots=True)
class Content:
    """All text of an article.

    Attributes:
        authors: (given name, surname).
        affiliation: of all authors.
        abstract: one paragraph.
        sections: of the body.
        references: numbered from 1.
        license_text: the licence statement.
        citation: "Journal. 2024; 12: 1-4".
        doi: with the prefix that is reserved for examples.
        named: sentences of the sections that name figures, or seem to.
    """

    authors: tuple[tuple[str, str], ...]
    affiliation: str
    abstract: Paragraph
    sections: tuple[Section, ...]
    references: tuple[Reference, ...]
    license_text: str
    license_url: str
    citation: str
    doi: str
    volume: int
    named: tuple[SentenceTruth, ...] = ()


_LICENSES = {
    "CC BY": ("by", "Attribution License, which permits unrestricted use, distribution, and reproduction in any "
              "medium, provided the original work is properly cited"),
    "CC BY-NC": ("by-nc", "Attribution-NonCommercial License, which permits non-commercial use, distribution, and "
                 "reproduction in any medium, provided the original work is properly cited"),
    "CC BY-ND": ("by-nd", "Attribution-NoDerivatives License, which permits redistribution, commercial and "
                 "non-commercial, as long as the work is passed along unchanged and in whole"),
    "CC BY-NC-ND": ("by-nc-nd", "Attribution-NonCommercial-NoDerivatives License, which permits non-commercial "
                    "redistribution of the unchanged work"),
    "CC BY-SA": ("by-sa", "Attribution-ShareAlike License, which permits reuse under the same license"),
}  # fmt: skip


def license_statement(code: str) -> tuple[str, str]:
    """Return (statement, URL) for a licence code as PMC writes it.

    Raises:
        KeyError: for an unknown code.
    """
    if code == "CC0":
        return (
            "This is an open access article, free of all copyright, and made available under the Creative Commons CC0 "
            "public domain dedication.",
            "https://creativecommons.org/publicdomain/zero/1.0/",
        )
    path, terms = _LICENSES[code]
    return (
        f"This is an open access article distributed under the Creative Commons {terms}.",
        f"https://creativecommons.org/licenses/{path}/4.0/",
    )


def runs_of(markup: str) -> tuple[Run, ...]:
    """Parse `*italic*` and `[[target|text]]`; everything else is plain text."""
    runs: list[Run] = []
    end = 0
    for match in _TOKEN.finditer(markup):
        if match.start() > end:
            runs.append(Run(markup[end : match.start()]))
        if match["italic"]:
            runs.append(Run(match["italic"], italic=True))
        else:
            runs.append(Run(match["text"], target=match["target"]))
        end = match.end()
    if end < len(markup):
        runs.append(Run(markup[end:]))
    return tuple(runs)


def caption_runs(caption: str) -> tuple[Run, ...]:
    """Return a caption's text as runs; statistical letters and Latin terms are italic, as journals print them."""
    return runs_of(_CAPTION_ITALICS.sub(lambda match: f"*{match[0]}*", caption))


def plain(runs: tuple[Run, ...]) -> str:
    """Return the runs' text."""
    return "".join(run.text for run in runs)


def figure_label(figure: FigureSpec, number: int) -> str:
    """Return the label in the XML; a figure printed without the word keeps "Figure n" there."""
    template = figure.label.template
    return template.format(number) if re.search("[A-Za-z]", template) else f"Figure {number}"


def printed_label(figure: FigureSpec, number: int) -> str:
    """Return the label as printed in the PDF, without separator; "" if none is printed."""
    return figure.label.template.format(number)


def _mention(figure: FigureSpec, number: int, rng: np.random.Generator) -> tuple[str, NamedInText]:
    """Return a link such as "Figure 2(a)" and what it names; only lettered panels are named."""
    word = "Fig." if "Fig." in figure.label.template else "Figure"
    names = [p.identifier for p in figure.panels if p.identifier is not None and len(p.identifier) == 1]
    name = str(rng.choice(names)) if names and rng.random() < 0.6 else ""
    named = NamedInText(number, (name,) if name else ())
    if name and "(" in figure.caption.bracket:
        name = f"({name})"
    return f"[[fig{number}|{word} {number}{name}]]", named


def _referenced(text: str, rng: np.random.Generator) -> str:
    number = int(rng.integers(1, REFERENCES + 1))
    return text.replace("{ref}", f" [[[B{number}|{number}]]]")


def _body(
    spec: ArticleSpec, rng: np.random.Generator, disease: str
) -> tuple[tuple[Section, ...], tuple[SentenceTruth, ...]]:
    """Return the sections, and what their sentences name."""
    # Figures are shared out over the last three sections, most of them in the results.
    homes = [
        (1 + min(2, i * 3 // max(1, len(spec.figures)))) if len(spec.figures) > 2 else 2
        for i in range(len(spec.figures))
    ]
    sections = []
    named: list[SentenceTruth] = []
    own = np.random.default_rng([spec.seed, 2])
    for s, title in enumerate(prose.SECTION_TITLES):
        stream = prose.sentences(title, spec.topic, rng, disease)
        numbers = [i for i, home in enumerate(homes) if home == s]
        blocks: list[Paragraph | FigurePlace | TablePlace] = []
        for p in range(max(spec.paragraphs, len(numbers))):
            lines = [_referenced(next(stream), rng) for _ in range(int(rng.integers(4, 7)))]
            if s == 2 and p == 0 and spec.tables:
                lines.append("Baseline characteristics are summarised in [[tab1|Table 1]].")
            if p < len(numbers):
                template = prose.MENTIONS[spec.topic][numbers[p] % 4]
                sentence = prose.filled(template, spec.topic, rng)
                link, what = _mention(spec.figures[numbers[p]], numbers[p] + 1, rng)
                sentence = sentence.replace("{fig}", link)
                lines.insert(len(lines) // 2, sentence)
                named.append(SentenceTruth(plain(runs_of(sentence)), (what,)))
            blocks.append(Paragraph(runs_of(" ".join(lines))))
            if p < len(numbers):
                blocks.append(FigurePlace(numbers[p]))
            if s == 2 and p == 0:
                blocks += [TablePlace(t) for t in range(len(spec.tables))]
        for index in numbers if spec.reference_sentences else ():
            said = reference_sentences(spec.figures, index, spec.reference_sentences, own)
            blocks.append(Paragraph(runs_of(" ".join(item.markup for item in said))))
            named += [SentenceTruth(plain(runs_of(item.markup)), item.named) for item in said]
        sections.append(Section(f"{s + 1}. {title}", tuple(blocks)))
    return tuple(sections), tuple(named)


def article_content(spec: ArticleSpec) -> Content:
    """Write the article's text."""
    rng = np.random.default_rng([spec.seed, 1])
    authors = prose.people(rng, int(rng.integers(3, 6)))
    volume, page = int(rng.integers(5, 40)), int(rng.integers(11, 900))
    disease = prose.article_disease(spec.title, spec.topic, rng)
    notice = spec.article_type == "retraction"
    if notice:
        text = (
            "The above article has been retracted by agreement between the authors and the editor. After publication, "
            "an investigation found that pictures of different patients had been exchanged, so that the conclusions "
            "are no longer supported by the data."
        )
        abstract = Paragraph((Run(text),))
    else:
        lines = []
        for title in prose.SECTION_TITLES:
            stream = prose.sentences(title, spec.topic, rng, disease)
            lines += [next(stream).replace("{ref}", "") for _ in range(2)]
        abstract = Paragraph(runs_of(" ".join(lines)))
    sections, named = ((), ()) if notice else _body(spec, rng, disease)
    statement, url = license_statement(spec.license_code)
    return Content(
        authors=authors,
        affiliation=prose.affiliation(spec.topic, rng),
        abstract=abstract,
        sections=sections,
        references=() if notice else tuple(_reference(spec, rng) for _ in range(REFERENCES)),
        license_text=statement,
        license_url=url,
        citation=f"{spec.journal.abbreviation}. {YEAR}; {volume}: {page}-{page + 3}",
        doi=f"10.5555/pmo.{spec.number}",  # 10.5555 is Crossref's prefix for examples
        volume=volume,
        named=named,
    )


def _reference(spec: ArticleSpec, rng: np.random.Generator) -> Reference:
    page = int(rng.integers(2, 990))
    return Reference(
        authors=prose.people(rng, int(rng.integers(1, 4))),
        title=prose.reference_title(spec.topic, rng),
        source=str(rng.choice(["Annals of Clinical Imaging", "European Clinical Reports", "Nordic Medical Letters"])),
        year=int(rng.integers(2004, YEAR)),
        volume=int(rng.integers(3, 90)),
        first_page=page,
        last_page=page + int(rng.integers(3, 12)),
    )


def article_text(spec: ArticleSpec, content: Content) -> str:
    """Return the article as plain text, one paragraph per line."""
    lines = [spec.title, ", ".join(f"{g} {s}" for g, s in content.authors), plain(content.abstract.runs)]
    for section in content.sections:
        lines.append(section.title)
        for block in section.blocks:
            if isinstance(block, Paragraph):
                lines.append(plain(block.runs))
            elif isinstance(block, FigurePlace):
                figure = spec.figures[block.index]
                lines.append(f"{figure_label(figure, block.index + 1)}: {caption_text(figure.caption)}")
            else:
                lines.append(f"Table {block.index + 1}: {spec.tables[block.index].caption}")
    return "\n\n".join(lines) + "\n"
