"""What articles say of panels, as the page reads it: each sentence of a figure once, panels name them by number.

Belongs here: the data of `data/context/`. Does not belong here: how it is drawn
(`viewing/templates/gallery/context.js`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from pmo_assets.records.context import ENTITY_GROUPS, MENTION_KINDS, SECTION_CLASSES, Entity, SourceSentence
from pmo_assets.viewing.gallery.columns import Coded
from pmo_assets.viewing.gallery.entries import Entry
from pmo_assets.viewing.gallery.records import GalleryContext, GalleryFigure
from pmo_assets.viewing.markup import plain_text

NEGATED = 1
UNCERTAIN = 2
"""Bits of a mark's last number."""

Marks = tuple[int, ...]
"""Entities of a text, five numbers each: start and end as JavaScript counts, group, term, and bits."""


def script_offsets(text: str) -> Sequence[int]:
    """Return where each character of a text, and its end, lies as JavaScript counts: in units of UTF-16."""
    if text.isascii() or max(text) <= "\uffff":
        return range(len(text) + 1)
    return list(accumulate((1 + (character > "\uffff") for character in text), initial=0))


@dataclass
class _Figure:
    """Sentences and terms of a figure, numbered in the order of their appearance."""

    terms: Coded = field(default_factory=Coded)
    sentences: Coded = field(default_factory=Coded)
    places: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def marks(self, text: str, entities: Iterable[Entity], cut: int = 0) -> Marks:
        """Return entities of a text as marks in it; `cut` characters of its beginning are not shown."""
        offsets = script_offsets(text)
        found: list[int] = []
        last = cut
        for entity in sorted(entities, key=lambda entity: entity.start):
            if last <= entity.start < entity.end <= len(text):
                last = entity.end
                bits = NEGATED * entity.negated + UNCERTAIN * entity.uncertain
                term = self.terms.number(plain_text(entity.term))
                ends = (offsets[at] - offsets[cut] for at in (entity.start, entity.end))
                found += (*ends, ENTITY_GROUPS.index(entity.group), term, bits)
        return tuple(found)

    def panel(self, context: GalleryContext, subcaption: str) -> Entry:
        of_mentions: dict[int | None, list[Entity]] = {}
        for entity in context.entities:
            of_mentions.setdefault(entity.mention, []).append(entity)
        said: list[int] = []
        for number, mention in enumerate(context.mentions):
            marks = self.marks(mention.sentence, of_mentions.get(number, ()))
            section = SECTION_CLASSES.index(mention.section)
            key = (plain_text(mention.sentence), section, plain_text(mention.section_title or ""), marks)
            number_of_sentence = self.sentences.number(key)
            self.places[mention.paragraph, mention.start, mention.end] = number_of_sentence
            said += (number_of_sentence, MENTION_KINDS.index(mention.kind))
        summary = [self._in_summary(part, context, of_mentions) for part in context.summary.sentences]
        cut = len(subcaption) - len(subcaption.lstrip())
        return {
            "marks": self.marks(subcaption, of_mentions.get(None, ()), cut),
            "said": said,
            "summary": summary,
            "generated": plain_text(context.summary.generated_summary or ""),
        }

    def _in_summary(
        self, part: SourceSentence, context: GalleryContext, of_mentions: Mapping[int | None, Sequence[Entity]]
    ) -> int:
        """Return the number of a summary's sentence: that of the mention, with its marks, or of its own as a part."""
        known = self.places.get((part.paragraph, part.start, part.end))
        if known is not None:
            return known
        marks: Marks = ()
        for number, mention in enumerate(context.mentions):
            if mention.paragraph == part.paragraph and mention.start <= part.start < part.end <= mention.end:
                at = part.start - mention.start
                moved = [replace(one, start=one.start - at, end=one.end - at) for one in of_mentions.get(number, ())]
                marks = self.marks(part.sentence, moved)
        return self.sentences.number((plain_text(part.sentence), None, "", marks))


def context_entry(figure: GalleryFigure) -> Entry | None:
    """Return what an article says of a figure's panels, for the page; None where nothing is known or shown."""
    if all(panel.context is None for panel in figure.panels):
        return None
    told = _Figure()
    panels = [
        None if panel.context is None else told.panel(panel.context, panel.subcaption or "") for panel in figure.panels
    ]
    return {"panels": panels, "sentences": told.sentences.values, "terms": told.terms.values}
