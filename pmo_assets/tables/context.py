"""Tables of the group `context`: what the article's running text says of each panel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, cast

import dataframely as dy

from pmo_assets.records.context import (
    ENTITY_GROUPS,
    EYE_NAMES,
    EYES,
    MENTION_KINDS,
    MENTION_SOURCES,
    MODALITY_CLASS_NAMES,
    MODALITY_CLASSES,
    SECTION_CLASSES,
    Abbreviation,
    Entity,
    FigureFilters,
    MentionPlace,
    PanelMention,
    PanelModality,
    PanelSummary,
    PanelTerms,
    TextPlace,
)
from pmo_assets.records.modalities import MODALITIES
from pmo_assets.records.step_output import Row
from pmo_assets.tables.columns import FigureKey
from pmo_assets.tables.released import FACTS, TEXT, released
from pmo_assets.tables.rows import Record, row_of

_PLACE: dict[str, dy.Column] = {"paragraph": dy.Int64(), "start": dy.Int64(), "end": dy.Int64()}

MENTION_FIELDS = {
    "text": dy.String(),
    "identifier": dy.String(nullable=True),
    "paragraph": dy.Int64(),
    "start": dy.Int64(),
    "end": dy.Int64(),
    "section": dy.Enum(SECTION_CLASSES),
    "section_title": dy.String(nullable=True),
    "kind": dy.Enum(MENTION_KINDS),
    "source": dy.Enum(MENTION_SOURCES),
}
"""Fields of a sentence that speaks of a panel, as a release has it."""

ENTITY_FIELDS = {
    "group": dy.Enum(ENTITY_GROUPS),
    "term": dy.String(),
    "broader": dy.List(dy.String()),
    "text": dy.String(),
    "start": dy.Int64(),
    "end": dy.Int64(),
    "found_in": dy.Enum(["subcaption", "mention"]),
    "mention": dy.Int64(nullable=True),
    "negated": dy.Bool(),
    "uncertain": dy.Bool(),
}
"""Fields of an entity (`records.context.Entity`)."""


class PanelMentions(FigureKey):
    """Sentences of the running text that speak of a panel, or of a figure as a whole."""

    ordinal = dy.Int64(primary_key=True, min=0, description="Position among the figure's mentions, in the text's order")
    identifier = dy.String(nullable=True, description="Panel that it speaks of; null for the figure as a whole")
    paragraph = dy.Int64(min=0, description="Number of its paragraph in `paragraphs` of `articles`, from 0")
    section = dy.Enum(SECTION_CLASSES, description="Class of the section")
    section_title = dy.String(nullable=True, description="Title of the section; null without one")
    sentence = dy.String(description="Sentence, verbatim")
    start = dy.Int64(min=0, description="Where the sentence begins in its paragraph")
    end = dy.Int64(min=1, description="Where it ends")
    kind = dy.Enum(
        MENTION_KINDS, description="It names the panel, names the figure, or carries on from such a sentence"
    )
    source = dy.Enum(
        MENTION_SOURCES, description="What shows it: the XML's cross-reference, the XML's words, the PDF's words"
    )


class PanelKey(FigureKey):
    """Key of a table with a row per panel of `reviewed_panels`."""

    ordinal = dy.Int64(primary_key=True, min=0, description="Of the panel's row in `reviewed_panels`")
    panel_id = dy.String(unique=True, description="Stable and unique over all articles")


class PanelSummaries(PanelKey):
    """What the running text says of each panel: its sentences, and a summary of at most 250 words."""

    mentions = dy.List(
        dy.Struct(MENTION_FIELDS),
        description="Sentences of the running text that speak of the panel or of its figure as a whole: text, panel "
        "that it names, paragraph and range in it, section, how it speaks of it and what shows that",
        metadata=released(TEXT, "panels", facet="text"),
    )
    mention_places = dy.List(
        dy.Struct({name: kind for name, kind in MENTION_FIELDS.items() if name not in ("text", "section_title")}),
        description="`mentions` without words: what restores them from a copy of the article",
        metadata=released(FACTS, "panels", facet="text"),
    )
    summary = dy.String(
        nullable=True,
        description="Sentences of the article that say what is needed to understand the panel, at most 250 words in "
        "its order; null where none does",
        metadata=released(TEXT, "panels", facet="text"),
    )
    summary_places = dy.List(
        dy.Struct(_PLACE),
        description="Paragraph of each sentence of the summary, or of its clause that speaks of the panel, and the "
        "range in there",
        metadata=released(FACTS, "panels", facet="text"),
    )
    abbreviations = dy.List(
        dy.Struct({"short": dy.String(), "long": dy.String()}),
        description="Abbreviations of subcaption, mentions and summary with the long form that the article gives them",
        metadata=released(TEXT, "panels", facet="text"),
    )
    generated_summary = dy.String(
        nullable=True,
        description="Summary of a language model that all checks against the article let pass; null without one",
        metadata=released(TEXT, "panels", facet="text"),
    )
    model = dy.String(nullable=True, description="Name of that model")
    prompt_version = dy.String(nullable=True, description="Versions and hashes of its prompts")
    refused = dy.String(nullable=True, description="Why the model's last answer was not taken; null when it was")


def _terms_column(description: str, title: str) -> dy.List:
    return dy.List(dy.String(), description=description, metadata=released(FACTS, "panels", facet="text", filter=title))


class PanelEntities(PanelKey):
    """Things that each panel's subcaption and mentions speak of, in normal form."""

    entities = dy.List(
        dy.Struct(ENTITY_FIELDS),
        description="Eye, diseases, findings, anatomy, imaging, devices, treatments, stages, times, demographics: "
        "normal form, wider terms, verbatim text with its range, where it was found, negated, uncertain",
        metadata=released(TEXT, "panels", facet="text"),
    )
    diseases = _terms_column("Diseases that its words speak of, with all wider terms, none that they negate", "Disease")
    findings = _terms_column("Findings that its words speak of, with all wider terms, none that they negate", "Finding")
    eye = dy.Enum(
        EYES,
        nullable=True,
        description="Eye that its words name: OD right, OS left, OU both; null where they name none, or say nothing",
        metadata=released(FACTS, "panels", facet="text", filter="Eye", names=EYE_NAMES),
    )


class PanelModalities(PanelKey):
    """Modality of each panel, by its pixels and its words together."""

    modality_class = dy.Enum(
        MODALITY_CLASSES,
        description="R radiology, V visible light and retinal imaging, M microscopy, N none of them, ambiguous",
        metadata=released(FACTS, "panels", facet="boxes", filter="Modality class", names=MODALITY_CLASS_NAMES),
    )
    modality = dy.Enum(
        MODALITIES,
        nullable=True,
        description="Finer modality, by pixels and words together; null when undecided",
        metadata=released(FACTS, "panels", facet="boxes", filter="Modality"),
    )
    probability = dy.Float64(
        min=0, max=1, description="That the class is right, calibrated; of the likeliest where it is ambiguous"
    )
    pixel_modality = dy.Enum(MODALITIES, nullable=True, description="By the pixels of its images; null without one")
    pixel_probability = dy.Float64(nullable=True, min=0, max=1, description="Of that modality's class")
    word_modality = dy.Enum(MODALITIES, nullable=True, description="By its words; null when they name none")
    word_probability = dy.Float64(nullable=True, min=0, max=1, description="Of that modality's class")
    agrees = dy.Bool(nullable=True, description="Pixels and words give one class; null when one of them says nothing")
    medical = dy.Bool(description="It shows a medical picture", metadata=released(FACTS, "panels", facet="boxes"))
    clinical_or_laboratory = dy.Bool(
        nullable=True,
        description="Its figure is mostly clinical imaging, microscopy, immunoassays or chemical structures, by "
        "BIOMEDICA's label or its panels (Open-PMC-18M's filter 1); null when undecided",
        metadata=released(FACTS, "panels", facet="boxes"),
    )
    clinical_or_microscopy = dy.Bool(
        nullable=True,
        description="Its figure is mostly clinical imaging or microscopy (Open-PMC-18M's filter 2; filter 3 is "
        "`medical`); null when undecided",
        metadata=released(FACTS, "panels", facet="boxes"),
    )


SCHEMAS: dict[str, type[dy.Schema]] = {
    "panel_mentions": PanelMentions,
    "panel_summaries": PanelSummaries,
    "panel_entities": PanelEntities,
    "panel_modality": PanelModalities,
}
"""The schema of each asset of the group that is a table."""


def summary_row(panel: Mapping[str, Any], mentions: Iterable[PanelMention], summary: PanelSummary) -> Row:
    """Return a panel's row of `panel_summaries`.

    Args:
        panel: any row with the key of a panel (`PanelKey`).
        mentions: of the panel, and of its figure as a whole.
        summary: of the panel.
    """
    told: list[Row] = [{name: getattr(item, name) for name in MENTION_FIELDS} for item in mentions]
    return {
        **_panel_key(panel),
        "mentions": told,
        "mention_places": [
            {name: item[name] for name in item if name not in ("text", "section_title")} for item in told
        ],
        **row_of(summary, {"sentences": True}),
        "summary": summary.summary or None,
        "summary_places": [{name: getattr(item, name) for name in _PLACE} for item in summary.sentences],
    }


def entities_row(panel: Mapping[str, Any], entities: Sequence[Entity], named: PanelTerms) -> Row:
    """Return a panel's row of `panel_entities`; `panel` as above."""
    return {**_panel_key(panel), "entities": [row_of(entity) for entity in entities], **row_of(named)}


def modality_row(panel: Mapping[str, Any], modality: PanelModality, filters: FigureFilters) -> Row:
    """Return a panel's row of `panel_modality`; `panel` as above, `filters` of its figure."""
    return {**_panel_key(panel), **row_of(modality), **row_of(filters)}


def panel_mentions(cells: Iterable[Mapping[str, Any]]) -> tuple[PanelMention, ...]:
    """Return the cell `mentions` of a row as records."""
    return tuple(_record(PanelMention, {**cell, "sentence": cell["text"]}) for cell in cells)


def mention_places(cells: Iterable[Mapping[str, Any]]) -> tuple[MentionPlace, ...]:
    """Return the cell `mention_places` of a row as records."""
    return tuple(_record(MentionPlace, cell) for cell in cells)


def text_places(cells: Iterable[Mapping[str, Any]]) -> tuple[TextPlace, ...]:
    """Return the cell `summary_places` of a row as records."""
    return tuple(_record(TextPlace, cell) for cell in cells)


def panel_entities(cells: Iterable[Mapping[str, Any]]) -> tuple[Entity, ...]:
    """Return the cell `entities` of a row as records."""
    return tuple(_record(Entity, {**cell, "broader": tuple(cell["broader"])}) for cell in cells)


def _record(kind: type[Record], cell: Mapping[str, Any]) -> Record:
    """Return a part of a cell as a record; fields that a later version added stay out."""
    return kind(**{item.name: cell[item.name] for item in fields(cast(Any, kind))})


def panel_abbreviations(cells: Iterable[Mapping[str, Any]]) -> tuple[Abbreviation, ...]:
    """Return the cell `abbreviations` of a row as records."""
    return tuple(_record(Abbreviation, cell) for cell in cells)


def _panel_key(panel: Mapping[str, Any]) -> Row:
    return {name: panel[name] for name in ("article_id", "image_cluster_id", "ordinal", "panel_id")}
