"""Context of panels: the running text of an article, and what it says about each panel.

Add here: records that pass between the steps of the group `context`, and that the release and its pages read. Keep out:
how anything is found (`pipeline.context`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

SectionClass = Literal[
    "abstract", "introduction", "methods", "results", "discussion", "conclusion", "case", "appendix", "other"
]
"""Class of a section: IMRaD, with what case reports and appendices have beside it."""

SECTION_CLASSES: Final[tuple[SectionClass, ...]] = (
    "abstract", "introduction", "methods", "results", "discussion", "conclusion", "case", "appendix", "other",
)  # fmt: skip

MentionKind = Literal["names panel", "names figure", "follows"]
"""How a sentence speaks of a panel: it names it, it names the figure as a whole, or it carries on from such a one."""

MENTION_KINDS: Final[tuple[MentionKind, ...]] = ("names panel", "names figure", "follows")

MentionSource = Literal["xref", "text", "pdf"]
"""What shows that a sentence speaks of a figure: the XML's cross-reference, the words of the XML, those of the PDF."""

MENTION_SOURCES: Final[tuple[MentionSource, ...]] = ("xref", "text", "pdf")


@dataclass(frozen=True, slots=True)
class CrossReference:
    """A cross-reference of the XML to a figure: offset in its paragraph's text, and the figure."""

    offset: int
    image_cluster_id: str


@dataclass(frozen=True, slots=True)
class RunningParagraph:
    """A paragraph of an article's running text: column `paragraphs` of `articles`, whose positions number them from 0.

    Attributes:
        section: class of its section.
        section_title: of the innermost section with a title, as printed; None without one.
        text: plain, white space collapsed.
        references: its cross-references to figures that the XML lists.
        source: of the text: "xml" or "pdf".
    """

    section: SectionClass
    section_title: str | None
    text: str
    references: tuple[CrossReference, ...] = ()
    source: Literal["xml", "pdf"] = "xml"


@dataclass(frozen=True, slots=True)
class PanelMention:
    """A sentence that speaks of a panel, or of a figure as a whole: a row of `panel_mentions` without its key.

    Attributes:
        identifier: the panel as its figure knows it; None for the figure as a whole.
        paragraph: number of its paragraph among the article's `paragraphs`.
        section, section_title: of the paragraph.
        start, end: range of the sentence in the paragraph's text.
        sentence: verbatim: `paragraph.text[start:end]`.
        kind: how it speaks of it.
        source: what shows it.
    """

    identifier: str | None
    paragraph: int
    section: SectionClass
    section_title: str | None
    start: int
    end: int
    sentence: str
    kind: MentionKind
    source: MentionSource

    @property
    def text(self) -> str:
        """The sentence, as a release calls it."""
        return self.sentence


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A range in the text of a paragraph of the running text."""

    paragraph: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MentionPlace(TextPlace):
    """A mention without words (`PanelMention`): what a release states of it under every licence."""

    identifier: str | None
    section: SectionClass
    kind: MentionKind
    source: MentionSource


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """A short form with the long form that the article gives it: "OCT", "optical coherence tomography"."""

    short: str
    long: str


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence of the running text that a summary rests on, or a clause of one: paragraph, range, verbatim text."""

    paragraph: int
    start: int
    end: int
    sentence: str


@dataclass(frozen=True, slots=True)
class PanelSummary:
    """Summary of what the running text says of one panel: at most 250 words.

    Attributes:
        summary: sentences of the article in its order, joined by blanks, of one that speaks of others, too, the clause
            that is about the panel, if it stands alone; "" where the text says nothing of it.
        sentences: those sentences.
        abbreviations: of subcaption, mentions and summary, as the article itself expands them.
        generated_summary: summary of a language model that every check let pass; None without one.
        model, prompt_version: of that summary.
        refused: why the model's last answer was not taken; None when it was, or when none was asked.
    """

    summary: str
    sentences: tuple[SourceSentence, ...]
    abbreviations: tuple[Abbreviation, ...] = ()
    generated_summary: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    refused: str | None = None


EntityGroup = Literal[
    "eye", "disease", "finding", "anatomy", "imaging", "device", "treatment", "stage", "time", "demographic"
]
"""Kind of thing that an entity is; `imaging` is an imaging method, `device` the machine that did it."""

ENTITY_GROUPS: Final[tuple[EntityGroup, ...]] = (
    "eye", "disease", "finding", "anatomy", "imaging", "device", "treatment", "stage", "time", "demographic",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that a panel's words speak of.

    Attributes:
        group: its kind.
        term: normal form: the lexicon's name of a term ("neovascular age-related macular degeneration"), "OD", "OS" or
            "OU" for eyes ("fellow eye" where nothing says which), ISO 8601 durations for times ("P6M"), "72 years"
            and "female" for demographics.
        broader: the terms above it in the lexicon, nearest first: what a filter by a wider term finds it by.
        text: verbatim.
        start, end: range in the text that it was found in.
        found_in: that text: the panel's subcaption, or one of its mentions.
        mention: position among the panel's mentions; None for the subcaption.
        negated: the words say that it is absent.
        uncertain: the words say that it is only suspected, possible or to be excluded.
    """

    group: EntityGroup
    term: str
    broader: tuple[str, ...]
    text: str
    start: int
    end: int
    found_in: Literal["subcaption", "mention"]
    mention: int | None = None
    negated: bool = False
    uncertain: bool = False


Eye = Literal["OD", "OS", "OU"]
"""Right eye, left eye, both."""

EYES: Final[tuple[Eye, ...]] = ("OD", "OS", "OU")

EYE_NAMES: Final[Mapping[str, str]] = {"OD": "right eye", "OS": "left eye", "OU": "both eyes"}


@dataclass(frozen=True, slots=True)
class PanelTerms:
    """Terms by which panels are chosen: `diseases` and `findings` with all wider ones, sorted; `eye` if named."""

    diseases: tuple[str, ...]
    findings: tuple[str, ...]
    eye: Eye | None


ModalityClass = Literal["R", "V", "M", "N", "ambiguous"]
"""OPEN-PMC's classes: radiology, visible light (ophthalmic imaging among it), microscopy, none of them, ambiguous."""

MODALITY_CLASSES: Final[tuple[ModalityClass, ...]] = ("R", "V", "M", "N", "ambiguous")

MODALITY_CLASS_NAMES: Final[Mapping[str, str]] = {
    "R": "radiology", "V": "visible light and retinal imaging", "M": "microscopy", "N": "none of these",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FigureFilters:
    """What Open-PMC-18M's filters of figures would keep; None where the figure's label is undecided.

    Attributes:
        clinical_or_laboratory: filter 1: mostly clinical imaging, microscopy, immunoassays or chemical structures.
        clinical_or_microscopy: filter 2: mostly clinical imaging or microscopy.
    """

    clinical_or_laboratory: bool | None
    clinical_or_microscopy: bool | None


@dataclass(frozen=True, slots=True)
class PanelModality:
    """The modality of a panel, by its pixels and its words together.

    Attributes:
        modality_class: OPEN-PMC's class.
        modality: the finer modality (`records.modalities`); None when undecided.
        probability: 0..1, calibrated, that `modality_class` is right; of the likeliest class where it is ambiguous.
        pixel_modality, pixel_probability: as its images' pixels have it; None without an image.
        word_modality, word_probability: as caption and mentions have it; None when they name none.
        agrees: pixels and words give the same class; None when one of them says nothing.
        medical: the panel shows a medical picture, as the filters of the papers ask.
    """

    modality_class: ModalityClass
    modality: str | None
    probability: float
    pixel_modality: str | None
    pixel_probability: float | None
    word_modality: str | None
    word_probability: float | None
    agrees: bool | None
    medical: bool
