"""Sentences of the running text that speak of a figure or of its panels.

Add here: which sentences they are, and which panel each one speaks of. Keep out: how a text names figures and panels
(`articles.references`), and whose name that is (`panel_names`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from pmo_assets.pipeline.articles.mentions import sentence_spans
from pmo_assets.pipeline.articles.references import FigureReference, label_key, reference_at, references
from pmo_assets.pipeline.context.panel_names import PanelNames, panel_names
from pmo_assets.records.context import MentionKind, MentionSource, PanelMention, RunningParagraph
from pmo_assets.records.identifiers import normalised_identifier

MAX_SENTENCE: Final = 4_000
"""Characters of a sentence; longer text is none, and is cut at a blank."""

MAX_MENTIONS: Final = 1_000
"""Mentions kept per figure, sentence by panel; the figures of real articles have some dozens."""

MAX_CHARACTERS: Final = 5_000_000
"""Characters of all mentions of an article together: more than twice its whole text (`articles.mentions.MAX_TEXT`)."""

MAX_FOLLOWING: Final = 3
"""Sentences that carry on from a mention: what is farther away has mostly left the picture."""

SAME_LIST: Final = 120
"""Characters between a cross-reference and a figure of the list that it stands for ("Figs. 2, 3 and 4")."""

# What begins a sentence that carries on about a picture. Precision first: a sentence that is left out is less harm than
# one that speaks of something else.
_PICTURE: Final = (
    r"(?:(?:image|picture|photograph|(?:b-)?scan|section|slice|panel|example)s?|figure|angiogram|tomogram|radiograph"
    r"|micrograph|plot|graph|map|view|frame|specimen)"
)
_MARK: Final = (
    r"(?:arrows?|arrow\s?heads?|asterisks?|stars?|circles?|triangles?|squares?|rectangles?|box|boxes|(?:scale|error)\s?bars?"
    r"|(?:dashed|dotted|solid|broken|vertical|horizontal)\s(?:lines?|curves?|circles?))"
)
_COLOUR: Final = (
    r"(?:(?:red|green|blue|white|black|yellow|orange|cyan|magenta|purple|gr[ae]y|open|filled|large|small|long|short)\s)"
)
_CARRIES_ON: Final = re.compile(
    rf"(?:(?:in|on|for)\s(?:this|these|the\ssame)\s(?:\w+\s)?(?:{_PICTURE}|eye|eyes|case|patient|subject)\b"
    rf"|(?:this|these|the\ssame)\s(?:\w+\s)?{_PICTURE}\b"
    rf"|the\s(?:\w+\s)?(?:lesions?|mass|tumou?rs?|nodules?|masses|inset|insets)\b"
    rf"|(?:the\s)?{_COLOUR}?{_MARK}\b"
    r"|note\s(?:the|that|also)\b|notice\sthe\b|it\s(?:shows|depicts|illustrates|can\sbe\sseen)\b|here,?\s"
    r"|this\s(?:shows|depicts|illustrates|demonstrates)\b)",
    re.IGNORECASE,
)
_ON_MARKS: Final = re.compile(rf"(?:the\s)?{_COLOUR}?{_MARK}\b", re.IGNORECASE)
_NEW_TOPIC: Final = re.compile(r"\[\d|\btables?\s\d|\bet\sal\b|\b(?:19|20)\d\d\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedFigure:
    """A figure as the running text can name it.

    Attributes:
        image_cluster_id: of the figure.
        label: as printed; None without one.
        identifiers: of its panels, in its order, as far as known.
    """

    image_cluster_id: str
    label: str | None
    identifiers: tuple[str | None, ...] = ()


@dataclass(slots=True)
class FigureMentions:
    """Mentions of a figure, in the text's order, and the number of those left out for their number or size."""

    mentions: list[PanelMention] = field(default_factory=list)
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class _Hit:
    """A reference of a paragraph, resolved: the figure, None for one that is not known, and what shows it."""

    reference: FigureReference
    figure: str | None
    is_xref: bool


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A figure as a whole, or a panel of it, that a sentence speaks of, and what shows that."""

    figure: str
    identifier: str | None
    source: MentionSource


def panel_mentions(paragraphs: Iterable[RunningParagraph], figures: Sequence[NamedFigure]) -> dict[str, FigureMentions]:
    """Return the mentions of each figure by image_cluster_id: one for every sentence and panel, or figure as a whole.

    A sentence that names panels of a figure speaks of these; one that also names the figure alone speaks of the whole
    figure, too. A name that fits no panel stays as printed. Sentences that carry on directly after ("In this eye …",
    "Arrows mark …") speak of what the sentence before them does, up to the next figure or another topic.

    Args:
        paragraphs: running text of the article, in order.
        figures: its figures. Where two bear the same number, the text means the first.
    """
    names = {figure.image_cluster_id: panel_names(figure.identifiers, _key(figure)) for figure in figures}
    by_key: dict[str, str] = {}
    for figure in figures:
        key = _key(figure)
        if key is not None:
            by_key.setdefault(key, figure.image_cluster_id)
    found = {figure.image_cluster_id: FigureMentions() for figure in figures}
    room = MAX_CHARACTERS
    for number, paragraph in enumerate(paragraphs):
        for cluster, mention in _of_paragraph(number, paragraph, by_key, names):
            own = found[cluster]
            if len(own.mentions) >= MAX_MENTIONS or len(mention.sentence) > room:
                own.left_out += 1
                continue
            room -= len(mention.sentence)
            own.mentions.append(mention)
    return found


def mentions_of_panel(
    mentions: Iterable[PanelMention], identifier: str | None, *, is_only: bool = False
) -> tuple[PanelMention, ...]:
    """Return what of a figure's mentions speaks of one panel, in the text's order, each sentence once.

    These are the sentences that name it, those that name the figure as a whole, and those that carry on from either.
    The panels of a figure without names (None) have the second kind alone. A figure's only panel has all mentions: a
    text that names panels of it means parts of this one.

    Args:
        mentions: of the figure.
        identifier: of the panel.
        is_only: the figure has no other panel.
    """
    own = normalised_identifier(identifier)
    chosen: dict[tuple[int, int], PanelMention] = {}
    for mention in mentions:
        is_own = mention.identifier is not None and normalised_identifier(mention.identifier) == own
        if is_own or is_only or mention.identifier is None:
            place = (mention.paragraph, mention.start)
            if is_own or place not in chosen:
                chosen[place] = mention
    return tuple(chosen[place] for place in sorted(chosen))


def _key(figure: NamedFigure) -> str | None:
    return label_key(figure.label) if figure.label else None


def _of_paragraph(
    number: int, paragraph: RunningParagraph, by_key: Mapping[str, str], names: Mapping[str, PanelNames]
) -> Iterator[tuple[str, PanelMention]]:
    """The mentions of a paragraph with their figures, in order."""
    hits = _hits(paragraph, by_key, names)
    if not any(hit.figure in names for hit in hits):
        return
    spans = list(_sentences(paragraph.text))
    starts = [start for start, _ in spans]
    by_sentence: dict[int, list[_Hit]] = {}
    for hit in hits:
        by_sentence.setdefault(max(0, bisect_right(starts, hit.reference.start) - 1), []).append(hit)

    def mention(n: int, spoken: _Spoken, kind: MentionKind) -> tuple[str, PanelMention]:
        start, end = spans[n]
        section, title = paragraph.section, paragraph.section_title
        sentence = paragraph.text[start:end]
        return spoken.figure, PanelMention(
            spoken.identifier, number, section, title, start, end, sentence, kind, spoken.source
        )

    for n, own in sorted(by_sentence.items()):
        spoken_of = list(_spoken_of(own, names, paragraph.source))
        for spoken in spoken_of:
            yield mention(n, spoken, "names figure" if spoken.identifier is None else "names panel")
        if len({hit.figure for hit in own}) > 1:
            continue
        for k in range(n + 1, min(len(spans), n + 1 + MAX_FOLLOWING)):
            sentence = paragraph.text[slice(*spans[k])]
            if k in by_sentence or not _CARRIES_ON.match(sentence) or _NEW_TOPIC.search(sentence):
                break
            # Of several panels, only marks are spoken of together: "Arrows mark …".
            if len(spoken_of) == 1 or _ON_MARKS.match(sentence):
                yield from (mention(k, spoken, "follows") for spoken in spoken_of)


def _spoken_of(
    hits: Sequence[_Hit], names: Mapping[str, PanelNames], paragraph_source: Literal["xml", "pdf"]
) -> Iterator[_Spoken]:
    """What a sentence speaks of by its references: figures in their order, each as a whole before its panels."""
    for figure in dict.fromkeys(hit.figure for hit in hits):
        if figure is None or figure not in names:
            continue
        own = [hit for hit in hits if hit.figure == figure]
        by_words: MentionSource = "pdf" if paragraph_source == "pdf" else "text"
        source: MentionSource = "xref" if any(hit.is_xref for hit in own) else by_words
        if any(not hit.reference.names for hit in own):
            yield _Spoken(figure, None, source)
        printed = (name for hit in own for name in hit.reference.names)
        for identifier in dict.fromkeys(names[figure].named(printed)):
            yield _Spoken(figure, identifier, source)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """[start, end) of the sentences of a paragraph, none longer than `MAX_SENTENCE`."""
    for start, end in sentence_spans(text):
        while end - start > MAX_SENTENCE:
            blank = text.rfind(" ", start + 1, start + MAX_SENTENCE)
            cut = blank if blank > start else start + MAX_SENTENCE
            yield start, cut
            start = cut + (text[cut : cut + 1] == " ")
        if end > start:
            yield start, end


def _hits(paragraph: RunningParagraph, by_key: Mapping[str, str], names: Mapping[str, PanelNames]) -> list[_Hit]:
    """References of a paragraph by its words and by its cross-references, in order."""
    text = paragraph.text
    hits = [_Hit(found, by_key.get(found.key) if found.key else None, False) for found in references(text)]
    hits = _confirmed(text, hits, paragraph)
    resolved: list[_Hit] = []
    last: str | None = None
    for hit in sorted(hits, key=lambda hit: (hit.reference.start, hit.reference.end)):
        if hit.reference.key is not None or hit.is_xref:
            last = hit.figure
            resolved.append(hit)
        elif (
            last is not None
            and last in names
            and all(names[last].known(name) for ends in hit.reference.names for name in ends if name)
        ):
            resolved.append(replace(hit, figure=last))
    return resolved


def _confirmed(text: str, hits: list[_Hit], paragraph: RunningParagraph) -> list[_Hit]:
    """The references with the XML's word for them, and those that cross-references alone show.

    Where a cross-reference leads to another figure than its words say, the words count: they are what is printed.
    """
    starts = [hit.reference.start for hit in hits]
    places: dict[str | None, list[int]] = {}
    for n, hit in enumerate(hits):
        places.setdefault(hit.figure, []).append(n)
    alone: dict[tuple[int, str], _Hit] = {}
    for mark in paragraph.references:
        offset, cluster = mark.offset, mark.image_cluster_id
        n = bisect_right(starts, offset) - 1
        covering = n if n >= 0 and offset < max(hits[n].reference.end, starts[n] + 1) else None
        same = places.get(cluster, [])
        first = bisect_right(same, n - 1 if covering is None else covering - 1)
        confirmed = [k for k in same[first : first + 2] if starts[k] - offset <= SAME_LIST]
        if confirmed:
            hits[confirmed[0]] = replace(hits[confirmed[0]], is_xref=True)
        elif covering is not None and hits[covering].figure is None:
            hits[covering] = replace(hits[covering], figure=cluster, is_xref=True)
        elif covering is None:
            alone.setdefault((offset, cluster), _Hit(reference_at(text, offset, cluster), cluster, True))
    return [*hits, *alone.values()]
