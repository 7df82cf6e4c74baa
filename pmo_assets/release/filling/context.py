"""What the running text says of a panel, restored: made again of places, the copy's paragraphs, and the restored texts.

The lexicon and the rules grow: each column is held against its own hash, and one that is made otherwise stays null,
while the panel's other values are restored. To restore the text of another table, add its column to `_MAKERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pmo_assets.pipeline.context.abbreviations import defined_abbreviations
from pmo_assets.pipeline.context.entities import panel_entities
from pmo_assets.pipeline.context.panel_mentions import MAX_CHARACTERS
from pmo_assets.pipeline.context.summaries import abbreviations_of
from pmo_assets.records.context import Abbreviation, RunningParagraph
from pmo_assets.records.step_output import Row
from pmo_assets.release.writing import value_digest
from pmo_assets.tables.context import panel_abbreviations
from pmo_assets.tables.rows import record_of, row_of

WRITTEN_BY_A_MODEL: Final = "a language model wrote it, so it cannot be made again from a copy of the article"
OF_PICTURES: Final = "it is made of marks that a run of the pipeline sees in the pictures: `pmo run` makes it"
UNKNOWN: Final = "this version of pmo-assets does not know how it is made from a copy of the article"
DIFFERENT: Final = "made here it is not what the release withholds: another version of pmo-assets, or a person's words"
NEEDS: Final = "it is made of another text that is not restored"


@dataclass(frozen=True)
class ArticleWords:
    """The running text of an article's copy, and the abbreviations that it defines."""

    paragraphs: Sequence[RunningParagraph]
    abbreviations: Sequence[Abbreviation]


def article_words(article: Mapping[str, Any]) -> ArticleWords:
    """Return the words of an article by its row of `articles`."""
    paragraphs = [record_of(RunningParagraph, row) for row in article.get("paragraphs", ())]
    return ArticleWords(paragraphs, defined_abbreviations(paragraph.text for paragraph in paragraphs))


@dataclass(frozen=True, slots=True)
class WantedTexts:
    """Texts of other tables that are null in a panel's row, and the places that the row states of them.

    Attributes:
        sha256: by column, of the columns that hold something.
        mention_places, summary_places: cells of the row.
    """

    sha256: Mapping[str, str]
    mention_places: Sequence[Row] = ()
    summary_places: Sequence[Row] = ()


@dataclass(frozen=True, slots=True)
class RestoredTexts:
    """Restored texts by column, and why the others stay null, by column."""

    values: Mapping[str, Any]
    left: Mapping[str, str]


NO_OTHERS: Final = WantedTexts({})
NOTHING_ELSE: Final = RestoredTexts({}, {})


class _NotMade(Exception):
    """A text cannot be made; its message says why it stays null."""


@dataclass(frozen=True, slots=True)
class _Panel:
    """What a column is made of; `values` are the columns that are restored already."""

    wanted: WantedTexts
    words: ArticleWords
    subcaption: str
    caption: str
    values: Mapping[str, Any]

    def text(self, column: str) -> Any:
        """Return the value of another column; None where the release has none.

        Raises:
            _NotMade: if it is not restored.
        """
        if column in self.wanted.sha256 and column not in self.values:
            raise _NotMade(NEEDS)
        return self.values.get(column)

    def cut(self, places: Sequence[Row]) -> list[tuple[RunningParagraph, str]]:
        """Return paragraph and words of each place.

        Raises:
            _NotMade: if a place lies in no paragraph, or they hold more than an article's mentions do.
        """
        found: list[tuple[RunningParagraph, str]] = []
        room = MAX_CHARACTERS
        for place in places:
            try:
                paragraph = self.words.paragraphs[place["paragraph"]]
                text = paragraph.text[place["start"] : place["end"]]
            except (LookupError, TypeError) as error:  # the file is anybody's
                raise _NotMade(DIFFERENT) from error
            room -= len(text)
            if room < 0:
                raise _NotMade(DIFFERENT)
            found.append((paragraph, text))
        return found


def _mentions(panel: _Panel) -> list[Row]:
    places = panel.wanted.mention_places
    return [
        {**place, "text": text, "section_title": paragraph.section_title}
        for place, (paragraph, text) in zip(places, panel.cut(places), strict=True)
    ]


def _summary(panel: _Panel) -> str:
    return " ".join(text for _, text in panel.cut(panel.wanted.summary_places))


def _abbreviations(panel: _Panel) -> list[Row]:
    summary = panel.text("summary") or ""
    said = [*(item["text"] for item in panel.text("mentions") or ()), summary]
    used = abbreviations_of(panel.subcaption, said, panel.caption, panel.words.abbreviations)
    return [row_of(item) for item in used]


def _entities(panel: _Panel) -> list[Row]:
    defined = {item.short: item.long for item in panel_abbreviations(panel.text("abbreviations") or ())}
    mentions = [item["text"] for item in panel.text("mentions") or ()]
    return [row_of(item) for item in panel_entities(panel.subcaption, mentions, defined)]


_MAKERS: Final[Mapping[str, Callable[[_Panel], Any]]] = {
    "mentions": _mentions,
    "summary": _summary,
    "abbreviations": _abbreviations,
    "entities": _entities,
}
"""Makers of columns, each behind those that it is made of."""


def restored_texts(wanted: WantedTexts, words: ArticleWords, subcaption: str, caption: str) -> RestoredTexts:
    """Return the texts of a panel that can be made again, each verified by its hash.

    Args:
        wanted: what is null.
        words: of the article's copy.
        subcaption: restored and verified.
        caption: of the whole figure, as the copy has it.
    """
    values: dict[str, Any] = {}
    left = {name: UNKNOWN for name in wanted.sha256 if name not in _MAKERS}
    if "generated_summary" in left:
        left["generated_summary"] = WRITTEN_BY_A_MODEL
    left.update(dict.fromkeys({"regions", "phrases"} & left.keys(), OF_PICTURES))
    for name, make in _MAKERS.items():
        if name not in wanted.sha256:
            continue
        try:
            value = make(_Panel(wanted, words, subcaption, caption, values))
        except _NotMade as error:
            left[name] = str(error)
        else:
            if value_digest(value) == wanted.sha256[name]:
                values[name] = value
            else:
                left[name] = DIFFERENT
    return RestoredTexts(values, left)
