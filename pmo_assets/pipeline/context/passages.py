"""Passages: sentences around one that points at a figure and that tell of the same examination or result.

Authors name a figure once and speak of it in several sentences: behind a finding ("… arterialized flow. Velocities of
up to 692 cm/s were obtained (Figure 1)."), or before it ("Figure 2 shows … Of those, 11 had …"). Add here: which
sentences belong to such a passage. Keep out: sentences that name the panel or carry on in set words (`panel_mentions`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from pmo_assets.pipeline.articles.references import figure_references
from pmo_assets.pipeline.context.article_text import (
    GENERAL_TERMS,
    TELLING_SECTIONS,
    ArticleText,
    TextSentence,
    depends,
    is_ended,
    is_fragment,
    tells_of_others,
)
from pmo_assets.pipeline.context.subcaption_terms import SubcaptionTerms, is_foreign, shared_weight

BEFORE: Final = 2
BEHIND: Final = 3
"""Sentences of a passage at most on either side."""

BEHIND_INTRODUCING: Final = 5
"""Sentences behind one that only introduces the figure: "Figure 2 shows the changes of each group."."""

BEFORE_POINTING: Final = 4
"""Sentences before one that itself only points at the figure: "Figure 3 summarizes these results."."""

_COHESIVE: Final = 0.5
"""Weight of the terms that a sentence shares with the mention or the subcaption, to be of their passage: one that
occurs in one sentence of twenty, or two that are less rare."""

_GOES_BACK: Final = re.compile(
    r"\b(?:this|these|those|such)\s\w|\bthe\s(?:first|second|former|latter|same|other|two|three|resulting|corresponding)\b",
    re.IGNORECASE,
)
_TELLING: Final = 2
"""Terms of a sentence that tells something without the one before it: "There were no lesions at all." has one."""

_EXAMINES: Final = re.compile(
    r"\bwe\s(?:also\s|then\s|next\s|first\s)?(?:examin|compar|analy[sz]|evaluat|test|plot|quantif|assess|investigat"
    r"|calculat|determin|explor|ask|tr(?:y|ied)\b)",
    re.IGNORECASE,
)
_OPENING: Final = 24
"""Characters before a reference that opens its sentence: "As shown in Figure 2, …"; then what it shows comes behind."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A sentence of a passage: sentences from the mention, negative before it, and weight of the terms it shares."""

    distance: int
    shared: float
    sentence: TextSentence


def passage(
    n: int, terms: SubcaptionTerms, article: ArticleText, spoken_of: Collection[tuple[int, int]], *, points: bool
) -> list[Neighbour]:
    """Return the sentences of the passage around a mention, without it.

    A passage ends at a sentence that names a figure, and where the topic is another one; what stands between two
    sentences that name figures belongs to the one it shares more with. Literature, and findings of other panels of the
    figure, are of none. It may reach into the next paragraph below the same title.

    Args:
        n: position of the mention among the article's sentences.
        terms: of the panel.
        article: its text.
        spoken_of: (paragraph, start) of all mentions of the figure: these need no passage to be found.
        points: the mention says nothing about the panel itself, so that what does stands before it.
    """
    behind = _along(n, 1, BEHIND, terms, article, spoken_of, points=points)
    before = _along(n, -1, BEFORE_POINTING if points else BEFORE, terms, article, spoken_of, points=points)
    return [*before, *behind]


def _along(
    n: int,
    step: int,
    most: int,
    terms: SubcaptionTerms,
    article: ArticleText,
    spoken_of: Collection[tuple[int, int]],
    *,
    points: bool,
) -> list[Neighbour]:
    """The passage on one side: at most so many sentences away, and only one of another topic stepped over."""
    mention = article.sentences[n]
    topic = mention.terms | terms.own
    introduces = introduces_figure(mention.text)
    most = BEHIND_INTRODUCING if introduces and step > 0 else most
    end = _figure_sentence(n, step, article)
    is_telling = mention.section in TELLING_SECTIONS
    found: list[Neighbour] = []
    left_out = 0
    for distance, k in enumerate(_places(n, step, most, article), start=1):
        sentence = article.sentences[k]
        if sentence.names_figure or left_out > 1:
            break
        if (sentence.paragraph, sentence.start) in spoken_of or not is_ended(sentence.text):
            continue
        shared = shared_weight(sentence.terms, topic, article.weight)
        is_own = (
            not is_foreign(sentence.terms, terms, article.weight)
            and (end is None or _is_nearer(sentence, shared, mention, end, step, article))
            and not (step < 0 and depends(sentence.text) and k > 0 and article.sentences[k - 1].names_figure)
        )
        goes_on = step > 0 and depends(sentence.text) and len(found) == distance - 1
        leads = (
            (points and step < 0) or (distance == 1 and step < 0 and depends(mention.text)) or (introduces and step > 0)
        )
        is_next = (
            distance == 1
            and mention.section == "case"
            and sentence.paragraph == mention.paragraph
            and len(sentence.terms - GENERAL_TERMS) >= _TELLING
        )
        is_of_others = tells_of_others(sentence.text)
        is_of_it = (goes_on and (is_telling or not is_of_others)) or (
            is_own and (leads or ((is_next or shared >= _COHESIVE) and not is_of_others and not sentence.refers))
        )
        if is_of_it:
            found.append(Neighbour(step * distance, shared, sentence))
        else:
            left_out += 1
    return found


def _places(n: int, step: int, most: int, article: ArticleText) -> Iterator[int]:
    """Positions of the nearest sentences of the paragraph and, where it ends, of the next one below the same title.

    A next paragraph that names a figure is that figure's, unless the mention introduces what stands there.
    """
    sentences = article.sentences
    paragraph = sentences[n].paragraph
    crossed = False
    for k in range(n + step, n + step * (most + 1), step):
        if not 0 <= k < len(sentences):
            return
        if sentences[k].paragraph != paragraph:
            title = sentences[k].section, sentences[k].section_title
            if crossed or title != (sentences[n].section, sentences[n].section_title) or (step < 0 and k != n - 1):
                return
            is_led_to = step > 0 and introduces_figure(sentences[n].text)
            if not is_led_to and _names_figure(k, step, article):
                return
            paragraph, crossed = sentences[k].paragraph, True
        yield k


def _names_figure(k: int, step: int, article: ArticleText) -> bool:
    """Say whether the paragraph that begins (or, backwards, ends) at a sentence names a figure nearby."""
    for place in range(k, k + step * (BEFORE_POINTING + BEHIND), step):
        if (
            not 0 <= place < len(article.sentences)
            or article.sentences[place].paragraph != article.sentences[k].paragraph
        ):
            return False
        if article.sentences[place].names_figure:
            return True
    return False


def _figure_sentence(n: int, step: int, article: ArticleText) -> TextSentence | None:
    """The next sentence of the paragraph that names a figure, as far as a passage reaches; None without one."""
    for k in _places(n, step, BEFORE_POINTING + BEHIND, article):
        if article.sentences[k].names_figure:
            return article.sentences[k]
    return None


def _is_nearer(
    sentence: TextSentence, shared: float, mention: TextSentence, other: TextSentence, step: int, article: ArticleText
) -> bool:
    """Say whether a sentence between two that name figures belongs to the mention and not to the other one."""
    theirs = shared_weight(sentence.terms, other.terms, article.weight)
    if shared != theirs:
        return shared > theirs
    first, second = (mention, other) if step > 0 else (other, mention)
    is_of_first = opens_with_figure(first.text) or opens_with_figure(second.text)
    return is_of_first == (step > 0)


def introduces_figure(text: str) -> bool:
    """Say whether what a figure shows is told behind a sentence: it only points at the figure, opens with it, says what
    was examined, or ends with a colon.
    """
    return (
        is_fragment(text)
        or opens_with_figure(text)
        or _EXAMINES.search(text) is not None
        or text.rstrip().endswith(":")
    )


def opens_with_figure(text: str) -> bool:
    """Say whether a sentence begins with the figure that it names, so that it goes on to speak of it."""
    found = figure_references(text)
    return bool(found) and found[0][0] <= _OPENING and "(" not in text[: found[0][0]]
