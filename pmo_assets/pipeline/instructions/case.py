"""A panel with all evidence that instructions may rest on, as one record.

Add here: what several modules ask of a panel's evidence. Keep out: questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from pmo_assets.pipeline.instructions.phrasings import MODALITY_WORDS, contradicts
from pmo_assets.records.context import Entity, Eye, PanelMention
from pmo_assets.records.geometry import UNIT_BOX, Box
from pmo_assets.records.instructions import CueText, Evidence, PanelCues, Scene
from pmo_assets.records.panels import Panel, PanelImage
from pmo_assets.records.regions import Mark, Region, RegionPhrase
from pmo_assets.tables.context import panel_entities, panel_mentions
from pmo_assets.tables.regions import marks_of_row, phrases_of_row, regions_of_row

SURE_CLASS: Final = 0.9
"""Probability of a modality's class from which a panel counts as a picture of a body."""


@dataclass(frozen=True)
class PanelCase:
    """A panel's words and pictures.

    Attributes:
        panel_id: of the panel.
        subcaption: of the panel; "" without one.
        mentions: of the panel, and of its figure as a whole.
        is_alone: it is the only panel of its figure, so that what is said of the figure is said of it.
        entities: of subcaption and mentions.
        is_pictured: it is surely a picture of a body (`SURE_CLASS`), and none of data.
        modality: of the picture, where words name it and pixels do not contradict them; None where it is not sure.
        modality_probability: of its class.
        eye: that the panel's words name; None without, or where they name several.
        confidence: 0..1: that the subcaption is the panel's.
        box: content box, normalised to the figure.
        ratio: width of the figure's picture by its height, so that distances in x and y can be compared.
        images: of the panel, with boxes normalised to the figure.
        marks: of its images, each with the position of its image.
        phrases: that name marks.
        regions: that marks show.
        is_spoken: it is a picture of a lecture, and its mentions are the sentences that are said; those that speak of
            it "name the panel".
    """

    panel_id: str
    subcaption: str
    mentions: tuple[PanelMention, ...]
    is_alone: bool
    entities: tuple[Entity, ...] = ()
    is_pictured: bool = False
    modality: str | None = None
    modality_probability: float = 0.0
    eye: Eye | None = None
    confidence: float = 1.0
    box: Box = UNIT_BOX
    ratio: float = 1.0
    images: tuple[PanelImage, ...] = ()
    marks: tuple[tuple[int, Mark], ...] = ()
    phrases: tuple[RegionPhrase, ...] = ()
    regions: tuple[Region, ...] = ()
    is_spoken: bool = False

    def text_of(self, mention: int | None) -> str:
        """Return the text of a mention; the subcaption for None."""
        return self.subcaption if mention is None else self.mentions[mention].text

    def texts(self) -> Iterator[tuple[CueText, int | None, str]]:
        """Yield the kind, position and words of each text, the subcaption first."""
        if self.subcaption:
            yield "subcaption", None, self.subcaption
        for number, mention in enumerate(self.mentions):
            yield "mention", number, mention.text

    def is_own(self, mention: int | None) -> bool:
        """Say whether a text speaks of this panel, and not of its figure as a whole."""
        return mention is None or self.is_alone or self.mentions[mention].kind == "names panel"

    @cached_property
    def entities_by_text(self) -> Mapping[int | None, Sequence[Entity]]:
        """Entities by the position of their mention, None for the subcaption, in the order of the text."""
        found: dict[int | None, list[Entity]] = {}
        for entity in self.entities:
            found.setdefault(entity.mention, []).append(entity)
        return found


@dataclass(frozen=True)
class CuedCase:
    """A panel's evidence with its cues told apart."""

    case: PanelCase
    cues: PanelCues

    @cached_property
    def scene_entities(self) -> tuple[tuple[Scene, Entity], ...]:
        """The entities that lie within a scene, each with it."""
        return tuple(
            (scene, entity)
            for scene in self.cues.scenes
            for entity in self.case.entities_by_text.get(scene.mention, ())
            if scene.start <= entity.start and entity.end <= scene.end
        )

    @cached_property
    def scene_words(self) -> str:
        """The words of all scenes, a line for each."""
        return "\n".join(scene.text for scene in self.cues.scenes)


def words_as_evidence(scene: Scene, start: int, end: int) -> Evidence:
    """Return words of a scene as evidence; `start` and `end` are offsets in the scene's text source."""
    return Evidence(
        "scene",
        scene.text[start - scene.start : end - scene.start],
        found_in=scene.found_in,
        mention=scene.mention,
        start=start,
        end=end,
    )


def capitalised(words: str) -> str:
    """Return words as an answer: a capital first and a full stop."""
    return f"{words[:1].upper()}{words[1:].rstrip(' .,;:')}."


def scene_sentences(cued: CuedCase) -> list[tuple[str, list[Scene]]]:
    """Return a panel's scenes as sentences to read: the parts of one sentence of the source are joined again."""
    groups: list[list[Scene]] = []
    for scene in cued.cues.scenes:
        last = groups[-1][-1] if groups else None
        between = cued.case.text_of(scene.mention)[last.end : scene.start] if last is not None else ""
        if last is not None and last.mention == scene.mention and not re.search(r"[.;:!?]\s|\(", between):
            groups[-1].append(scene)
        else:
            groups.append([scene])
    return [(capitalised(" ".join(scene.text for scene in group)), group) for group in groups]


def panel_case(
    panel: Panel,
    key: Mapping[str, Any],
    *,
    panels: int,
    ratio: float = 1.0,
    summary: Mapping[str, Any] | None = None,
    entities: Mapping[str, Any] | None = None,
    modality: Mapping[str, Any] | None = None,
    marks: Mapping[str, Any] | None = None,
    phrases: Mapping[str, Any] | None = None,
    regions: Mapping[str, Any] | None = None,
) -> PanelCase:
    """Return the evidence of a panel; a table that has no row of it gives none.

    Args:
        panel: of `reviewed_panels`.
        key: of the panel (`tables.context.PanelKey`).
        panels: number of panels of its figure.
        ratio: width of the figure's picture by its height.
        summary: its row of `panel_summaries`.
        entities: its row of `panel_entities`.
        modality: its row of `panel_modality`.
        marks: its row of `marks`.
        phrases: its row of `region_phrases`.
        regions: its row of `regions`.
    """
    seen = modality is not None and modality["medical"] and modality["probability"] >= SURE_CLASS
    named = named_modality(modality, panel.subcaption or "") if modality is not None and seen else None
    return PanelCase(
        panel_id=key["panel_id"],
        subcaption=panel.subcaption or "",
        mentions=panel_mentions(summary["mentions"]) if summary is not None else (),
        is_alone=panels == 1,
        entities=panel_entities(entities["entities"]) if entities is not None else (),
        is_pictured=seen and modality is not None and modality["modality"] in MODALITY_WORDS,
        modality=named,
        modality_probability=modality["probability"] if modality is not None else 0.0,
        eye=entities["eye"] if entities is not None else None,
        confidence=panel.confidence,
        box=panel.content_box,
        ratio=ratio,
        images=panel.images,
        marks=tuple(marks_of_row(marks)) if marks is not None else (),
        phrases=tuple(phrases_of_row(phrases)) if phrases is not None else (),
        regions=tuple(regions_of_row(regions)) if regions is not None else (),
    )


_OTHER_TECHNIQUES: Final = re.compile(
    r"\b(?:PET|SPECT|DSA|\w*scintigra\w+|positron|subtraction|fluoroscop\w+)\b", re.IGNORECASE
)
"""Words for techniques that `panel_modality` has no name of: it calls them after what they are combined with."""

_OF_VESSELS: Final = re.compile(r"\b\w*(?:angiogr|arteriogr|venogr|aortogr)\w+", re.IGNORECASE)
"""Words for radiographs of vessels, which nobody calls radiography."""


def named_modality(row: Mapping[str, Any], words: str) -> str | None:
    """Return the modality that words name, that pixels do not contradict, and that has a name; None without.

    Args:
        row: of `panel_modality`, or fields of `PanelModality`.
        words: about the picture.
    """
    modality, pixels = row["modality"], row["pixel_modality"]
    if _OTHER_TECHNIQUES.search(words) or (modality == "radiograph" and _OF_VESSELS.search(words)):
        return None
    if modality is None or modality != row["word_modality"] or row["agrees"] is False:
        return None
    return None if pixels is not None and contradicts(modality, pixels) else str(modality)
