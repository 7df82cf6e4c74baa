"""Specifications of sample articles and their ground truth: the records of the sample typesetter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pmo_assets.records.image_types import ImageType

FIRST_ARTICLE_NUMBER = 9_000_000_001
"""PMC numbers of sample articles start here, far above the numbers that PMC has given out."""

PictureKind = Literal[
    "cfp", "oct", "angiography", "autofluorescence", "histology", "line_plot", "bar_chart", "scatter_plot"
]
IMAGE_TYPES_OF_KINDS: Mapping[str, ImageType] = {
    "cfp": "CFP",
    "oct": "OCT",
    "angiography": "Retinal Imaging",
    "autofluorescence": "Retinal Imaging",
    "histology": "Other",
    "line_plot": "Other",
    "bar_chart": "Other",
    "scatter_plot": "Other",
}
"""The imaging type (annotation guide) of every kind of picture that can be drawn."""
PLOT_KINDS: frozenset[str] = frozenset({"line_plot", "bar_chart", "scatter_plot"})
"""Kinds drawn with vector strokes and live text instead of pixels."""

MarkKind = Literal["arrow", "arrowhead", "circle", "box", "asterisk"]
Topic = Literal["retina", "cardiology", "intracoronary"]
Damage = Literal["truncated_pdf", "encrypted_pdf", "malformed_xml", "entity_bomb", "no_pdf", "no_xml"]
"""Damage that makes a package hostile or incomplete; applied to the finished files."""


Lettering = Literal["quadrants", "eye", "axis", "arrows"]
"""Letters in a picture that name no panel: S, N, T, I at its sides; OD or OS; A and P at axes; marks named a and b."""


@dataclass(frozen=True, slots=True)
class ImageSpec:
    """One picture of a panel.

    Attributes:
        kind: of the picture.
        aspect: width / height of the picture.
        mark: a mark that points at a region; None for an unmarked picture. Plots cannot be marked.
        mark_drawn: in the picture's pixels, or as vector strokes over the bitmap.
        y_title: title of a plot's y axis; "" chooses one that fits the article.
        part: name printed in the picture's corner, of a part of the panel ("i", "A1"); "" prints none.
        lettering: letters in the picture that name no panel; None for none.
        inset: kind of a small picture over the lower right corner; None for none.
    """

    kind: PictureKind
    aspect: float = 1.0
    mark: MarkKind | None = None
    mark_drawn: Literal["pixels", "vector"] = "pixels"
    y_title: str = ""
    part: str = ""
    lettering: Lettering | None = None
    inset: PictureKind | None = None


Evidence = Literal["decides", "conflicts", "none"]
"""Evidence in figure and caption for a panel's subcaption: it decides; it conflicts (something suggests a subcaption,
something speaks against it), so that the panel may be left undecided; there is none, so that it must be."""


@dataclass(frozen=True, slots=True)
class PanelSpec:
    """One panel: pictures side by side or one below the other, and its identifier.

    Attributes:
        identifier: without brackets and dots, as in the ground truth ("a", "B", "left"); None for the only panel, and
            where nothing is printed and nothing decides.
        images: one or more pictures, left to right or top to bottom.
        printed: text in the place of the identifier; None prints the identifier, "" nothing.
        evidence: for the panel's subcaption. With "none" the truth has no subcaption.
        stacked: pictures lie one below the other.
        gap: white space between the pictures, points; None is narrow.
    """

    identifier: str | None
    images: tuple[ImageSpec, ...]
    printed: str | None = None
    evidence: Evidence = "decides"
    stacked: bool = False
    gap: float | None = None


CaptionStyle = Literal["single", "sentences", "semicolons", "listing", "trailing", "positional"]


@dataclass(frozen=True, slots=True)
class CaptionEntry:
    """Part of a caption about one panel or, with several identifiers, about several.

    Attributes:
        identifiers: of the panels that the text concerns.
        text: without identifiers and without the full stop at its end; the first letter as in a sentence.
    """

    identifiers: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class CaptionSpec:
    """A caption in parts, from which both its text and the true subcaptions follow.

    Attributes:
        introduction: sentences that concern all panels, with their punctuation; may be "" . For style "single" the
            whole caption.
        entries: the panels' own texts, in panel order.
        closing: abbreviations, scale bars; concerns all panels; may be "".
        style: how entries are joined: "(a) X. (b) Y." (sentences), "(a) x; (b) y." (semicolons), "(a) x, (b) y and
            (c) z." (listing), "X (a) and y (b)." (trailing), "Left: x. Right: y." (positional).
        bracket: how an identifier is written, with `{}` in its place: "({})", "{})", "{}:", "{}.".
        noun: follows a positional identifier ("panel": "Left panel: x."), but is no part of it; may be "".
        range_mark: between the ends of three or more identifiers in a row.
        list_mark: between two identifiers, and between those that are no range.
    """

    introduction: str
    entries: tuple[CaptionEntry, ...] = ()
    closing: str = ""
    style: CaptionStyle = "single"
    bracket: str = "({})"
    noun: str = ""
    range_mark: str = "–"
    list_mark: str = ", "


@dataclass(frozen=True, slots=True)
class LabelStyle:
    """Print of a figure's label.

    Attributes:
        template: text with `{}` for the number, e.g. "Figure {}"; "" prints no label at all.
        separator: sign after the label: ":", "." or "".
        bold: the label is bold.
    """

    template: str = "Figure {}"
    separator: str = ":"
    bold: bool = True


IdentifierPlace = Literal[
    "below",
    "below_left",
    "above",
    "above_centre",
    "inside",
    "top_right",
    "bottom_left",
    "bottom_right",
    "beside",
    "none",
]
"""Below the panel (centred or left), above it (left or centred), in a corner of the picture ("inside": top left), left
of it, or not printed."""
Extra = Literal["colour_bar", "legend", "headings"]
"""Drawn things of a figure that belong to no panel: a scale right of the panels, a legend below them, a word above each
column."""


@dataclass(frozen=True, slots=True)
class FigureSpec:
    """One figure.

    Attributes:
        panels: in the order of their places; exactly one with identifier None for a single-panel figure.
        caption: its caption.
        grid_columns: panels per row.
        rows: panels in each row, where rows differ; every row is as wide as the figure. Overrides `grid_columns`.
        stacks: panels in each column, for columns of equal height side by side; overrides `rows`. Panels then stand in
            `panels` column by column.
        block_columns: after so many columns the gutter is wider; 0 for never.
        flat: the figure is one bitmap with everything in its pixels, identifiers too.
        width: over one text column or over the whole page.
        width_share: share of that width that the figure takes, 0..1.
        gutter: white space between panels, points.
        panel_bitmaps: every panel is one bitmap, with its identifier in its pixels.
        identifier_place: place of printed identifiers.
        identifier_print: form of identifiers in the figure, with `{}`.
        identifier_size: their font size, points.
        identifier_bold: None chooses by place and brackets.
        identifier_plate: a filled box behind the identifier; None for none.
        identifier_colour: of identifiers in a picture without a plate; None is white on dark and black on bright kinds.
        identifier_angle: 90 for identifiers beside the panel that run upwards.
        extras: items drawn besides the panels.
        caption_place: place of the caption.
        label: print of the label.
        pages: 2 if the figure is continued on the next page; its panel rows are then shared out.
        features: short names of the features that this figure shows.
    """

    panels: tuple[PanelSpec, ...]
    caption: CaptionSpec
    grid_columns: int = 2
    rows: tuple[int, ...] = ()
    stacks: tuple[int, ...] = ()
    block_columns: int = 0
    flat: bool = False
    panel_bitmaps: bool = False
    width: Literal["column", "page"] = "column"
    width_share: float = 1.0
    gutter: float = 8.0
    identifier_place: IdentifierPlace = "below"
    identifier_print: str = "({})"
    identifier_size: float = 8.0
    identifier_bold: bool | None = None
    identifier_plate: Literal["white", "black"] | None = None
    identifier_colour: tuple[float, float, float] | None = None
    identifier_angle: Literal[0, 90] = 0
    extras: tuple[Extra, ...] = ()
    caption_place: Literal["below", "above", "beside"] = "below"
    label: LabelStyle = LabelStyle()
    pages: Literal[1, 2] = 1
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A small table with rules above and below, no figure.

    Attributes:
        caption: without the label.
        rows: cells; the first row is the header.
    """

    caption: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class JournalStyle:
    """A journal's page design; lengths in points.

    Attributes:
        name: full title.
        abbreviation: title abbreviation.
        code: publisher's code, starts the names of figure files.
        page_width: width of the page.
        page_height: height of the page.
        margin_left: white space left.
        margin_right: white space right.
        margin_top: from the page's top to the first line of text.
        margin_bottom: from the last line of text to the page's bottom.
        columns: 1 or 2.
        column_gap: white space between columns.
        family: of the running text, "Times" or "Helvetica".
        body_size: font size of the running text.
        leading: line distance as a multiple of the font size.
        caption_size: font size of captions.
        logo: a drawn publisher's mark stands at the top of the first page (graphics that are no figure).
    """

    name: str
    abbreviation: str
    code: str
    page_width: float = 600.0
    page_height: float = 800.0
    margin_left: float = 50.0
    margin_right: float = 50.0
    margin_top: float = 72.0
    margin_bottom: float = 60.0
    columns: Literal[1, 2] = 2
    column_gap: float = 20.0
    family: Literal["Times", "Helvetica"] = "Times"
    body_size: float = 10.0
    leading: float = 1.2
    caption_size: float = 8.5
    logo: bool = False


@dataclass(frozen=True, slots=True)
class ArticleSpec:
    """Everything that `typeset` needs; the same record gives the same bytes.

    Attributes:
        number: PMC number, from `FIRST_ARTICLE_NUMBER` upwards.
        seed: of pictures and running text.
        journal: page design.
        title: article title.
        topic: of the sentences in the running text.
        keywords: author keywords.
        mesh_terms: MeSH headings, written as a second keyword group.
        figures: in order.
        tables: in order.
        license_code: "CC BY", "CC BY-NC", "CC BY-ND", "CC0", ….
        article_type: JATS `article-type`; "retraction" makes a short notice.
        retracted: the article was retracted later (a related-article element points to the notice).
        floats_group: the XML keeps figures in `<floats-group>` instead of in the sections.
        paragraphs: paragraphs of running text per section.
        reference_sentences: sentences per figure, in a paragraph of their own, that refer to it in the forms of print.
        damage: of the package.
        features: short names of the features that this article shows, for tests and demonstrations.
        relevant: true if it meets the ophthalmology relevance rules (i)-(iii).
    """

    number: int
    seed: int
    journal: JournalStyle
    title: str
    topic: Topic = "retina"
    keywords: tuple[str, ...] = ()
    mesh_terms: tuple[str, ...] = ()
    figures: tuple[FigureSpec, ...] = ()
    tables: tuple[TableSpec, ...] = ()
    license_code: str = "CC BY"
    article_type: str = "research-article"
    retracted: bool = False
    floats_group: bool = False
    paragraphs: int = 3
    reference_sentences: int = 0
    damage: Damage | None = None
    features: tuple[str, ...] = ()
    relevant: bool = True

    @property
    def name(self) -> str:
        """The article's name, e.g. "PMC9000000001"."""
        return f"PMC{self.number}"


@dataclass(frozen=True, slots=True)
class NamedInText:
    """A figure that a sentence names, by its number, and the identifiers of its panels; none for it as a whole."""

    figure: int
    identifiers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SentenceTruth:
    """A sentence of the running text with the figures that it names; None: it carries on from the sentence before."""

    sentence: str
    named: tuple[NamedInText, ...] | None


@dataclass(frozen=True, slots=True)
class Expected:
    """Facts that a correct pipeline finds out about the package.

    Attributes:
        relevant: the relevance rules hold; False also where they cannot be checked (no XML, or XML that no strict
            parser accepts).
        license_code: as PMC writes it.
        is_retracted: the article was retracted or is a retraction notice.
        pdf_readable: there is a PDF that opens without a password and has pages.
        xml_readable: there is XML that is well-formed and expands no entities beyond any bound.
        features: as in the specification.
    """

    relevant: bool
    license_code: str
    is_retracted: bool
    pdf_readable: bool
    xml_readable: bool
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TypesetArticle:
    """A finished package with its ground truth.

    Attributes:
        name: "PMC9000000001".
        article_id: the number without "PMC".
        pdf: the PDF file; None if the package has none.
        xml: the JATS file; None if the package has none.
        text: the article as plain text (PMC's `.txt`).
        figures: file name to JPEG bytes, in figure order; empty without XML.
        metadata: record as in PMC's metadata JSON, without the URLs of files.
        truth: annotation of all figures. Normalised boxes of a figure that spans pages refer to its parts stacked top
            to bottom, left edges aligned: width of the widest part, sum of the heights. An article without a readable
            PDF has no figures in its truth.
        expected: facts that a correct pipeline finds out.
        references: sentences of the running text that name figures, carry on from such, or only seem to name any.
    """

    name: str
    article_id: int
    pdf: bytes | None
    xml: bytes | None
    text: str
    figures: Mapping[str, bytes]
    metadata: Mapping[str, Any]
    truth: Mapping[str, Any]
    expected: Expected
    references: tuple[SentenceTruth, ...] = ()
