"""Parses a tokenised caption into pieces of text and the panels each piece belongs to.

    caption   := sentence*
    sentence  := shared                                     a sentence without identifiers
               | item+                                      "(a) X; (b) Y"         heads open sections
               | lead item+ [rest]                          "MRI shows (a) X and (b) Y of Z"
               | (text tail)+ [rest]                        "X (a) and Y (b) of Z"
    item      := head text                                  the text runs to the next head
A section runs on over the sentences without a head until the next head.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import Final

from pmo_assets.pipeline.captions.identifiers import Form, IdentifierSeries, LabelledMention, Mention, Series
from pmo_assets.pipeline.captions.tokens import Tokens, words


class Role(Enum):
    """Where a mention's text stands."""

    HEAD = "before its text"
    TAIL = "after its text"
    INLINE = "within its text"


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters [start, end) of the caption and the labels of the panels they concern; no labels means all panels."""

    start: int
    end: int
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParsedCaption:
    """Pieces in caption order, and what the parser was not sure about."""

    pieces: tuple[Piece, ...]
    doubts: tuple[str, ...]


_CONJUNCTIONS: Final = frozenset({"and", "or", "but", "while", "whereas", "&", "as", "however"})
# Words that bind to what follows, so that an identifier after them stands before its text.
_BINDING: Final = words(
    "and or but while whereas & a an the of in on at by for from to with without both either neither showing "
    "shows show shown revealed demonstrating demonstrates demonstrated using is are was were between versus vs "
    "under via per than during after before following including include includes represents indicates into "
    "through also then"
)
_STOPS: Final = frozenset({".", ";", ":", "!", "?"})
# What stands before the second and later heads of a list.
_LIST_LINKS: Final = frozenset({",", ";", ":", "and", "or", "&", "but", "while", "whereas"})
_BACK_REFERENCES: Final = words("note this these it they the he she here in there some")
# Tokens of a panel's text that is a title rather than a description.
_BRIEF_ITEM: Final = 12
_ARTICLES: Final = frozenset({"a", "an", "the"})
_ITEM_LINKS: Final = _CONJUNCTIONS | {"also", "well"}
_VERBS: Final = words("is are was were showed shows show revealed reveals demonstrated demonstrates had has")
_AFTER_TAIL: Final = frozenset({".", ";", ",", ":", ")", "!", "?", "]"})
# A phrase of the last item that begins with one of these may concern all items: "(a) X and (b) Y of Z".
_PREPOSITIONS: Final = words("of in from for at with versus vs under during after before on by among")
# Openings of closing sentences that concern the whole figure.
_CLOSING_CUES: Final = (
    ("scale",), ("bar",), ("bars",), ("magnification",), ("magnifications",), ("original", "magnification"),
    ("original", "magnifications"), ("abbreviations",), ("abbreviation",), ("error", "bars"), ("error", "bar"),
    ("all", "images"), ("all", "panels"), ("all", "figures"), ("all", "photos"), ("all", "scale"), ("all", "bars"),
    ("all", "photographs"), ("all", "data"), ("all", "sections"), ("all", "experiments"), ("these", "images"),
    ("these", "figures"), ("these", "data"), ("the", "images"), ("images",), ("photographs",), ("adapted",),
    ("reprinted",), ("reproduced",), ("modified",), ("data", "are"), ("data", "represent"), ("data", "were"),
    ("data", "shown"), ("values", "are"), ("values", "represent"), ("results", "are"), ("asterisk",), ("asterisks",),
    ("arrow",), ("arrows",), ("arrowhead",), ("arrowheads",), ("white", "arrow"), ("white", "arrows"),
    ("black", "arrow"), ("black", "arrows"), ("red", "arrows"), ("yellow", "arrows"),
    ("statistics",), ("significance",), ("statistical",), ("nuclei", "were"), ("sections", "were"), ("source",),
    ("immunohistochemistry", "with"), ("shown", "are"), ("for", "details"), ("see",), ("bm",), ("n", "="), ("p", "<"),
    ("in", "all"), ("for", "each"), ("for", "all"), ("each",), ("dashed",), ("dotted",), ("solid",), ("(", "1"),
    ("in", "conclusion"), ("together",), ("taken", "together"), ("these", "two"), ("both",),
)  # fmt: skip
# Openings after which nothing returns to a single panel.
_FINAL_CUES: Final = frozenset({"data", "abbreviations", "abbreviation", "statistics", "values"})
_OWN_CUES: Final = words("glossary scale bar bars magnification original arrow arrows note error * ∗")
_FOOTNOTES: Final = frozenset({"*", "∗", "(", "†", "‡", "#", "§"})
_CUES: Final = frozenset(_CLOSING_CUES)


@dataclass(slots=True)
class _Sentence:
    start: int
    end: int
    first: int
    stop: int  # token after the last one
    mentions: list[tuple[LabelledMention, Role]] = field(default_factory=list)


def parsed(tokens: Tokens, series: IdentifierSeries) -> ParsedCaption:
    """The pieces of a caption with the given series of identifiers."""
    return _Parser(tokens, series).parse()


def role_of(tokens: Tokens, mention: Mention, first: int, stop: int) -> Role:
    """Whether a mention stands before, after or within its text, judged by its neighbours in tokens [first, stop)."""
    texts = tokens.texts
    before = texts[mention.first - 1].lower() if mention.first > first else ""
    after = texts[mention.last + 1].lower() if mention.last + 1 < stop else ""
    content_before = bool(before) and before not in _STOPS and before != "," and before not in _BINDING
    ends_after = not after or after in _AFTER_TAIL or after in _CONJUNCTIONS
    if mention.form is Form.NOUN:
        return Role.INLINE
    if mention.form in {Form.DELIMITED, Form.BARE}:
        return Role.HEAD
    if mention.form is Form.HALF:
        return Role.TAIL if content_before and ends_after else Role.HEAD
    if mention.form is Form.PARTIAL:
        return Role.TAIL if before or not after else Role.INLINE
    if not content_before and after == ":":
        return Role.HEAD
    if not before or before in _STOPS:
        return Role.TAIL if not after or after in {".", ";"} else Role.HEAD
    if not content_before:
        return Role.TAIL if ends_after else Role.HEAD
    return Role.TAIL if ends_after else Role.INLINE


class _Parser:
    def __init__(self, tokens: Tokens, series: IdentifierSeries) -> None:
        self.tokens = tokens
        self.series = series
        self.order = {label: index for index, label in enumerate(series.labels)}
        self.pieces: list[Piece] = []
        self.doubts: list[str] = []
        self.defined: set[str] = set()
        self.owner: tuple[str, ...] = ()  # labels that a sentence without identifiers belongs to; empty: all
        self.mode = "lead"
        self.pending: list[int] = []  # pieces after a labelled sentence that may belong to the next one
        self.trailing: list[tuple[int, int, int]] = []  # (piece, first token, stop) since the last head
        self.extra_sentences = False  # a section before the last has more than one sentence
        self.cuts: list[tuple[int, int]] = []
        self.last_labels: tuple[str, ...] = ()
        self.last_group: tuple[str, ...] = ()
        self.headed: set[str] = set()
        self.earlier_words: set[str] | None = None
        self.longest_item = 0  # tokens of the longest section's first sentence

    # -- sentences -----------------------------------------------------------------------------------------------

    def parse(self) -> ParsedCaption:
        sentences = self._sentences()
        self.headed = self._headed(sentences)
        for sentence in sentences:
            structural = self._structural(sentence)
            if structural:
                self._labelled(sentence, structural)
            else:
                self._unlabelled(sentence)
        self._close()
        return ParsedCaption(tuple(self._finished()), tuple(dict.fromkeys(self.doubts)))

    def _sentences(self) -> list[_Sentence]:
        """Sentences with their mentions; also split before a head that follows an unfinished sentence."""
        tokens = self.tokens
        starts = set(tokens.sentence_starts)
        count = len(tokens.texts)
        for labelled in self.series.mentions:
            mention = labelled.mention
            follower = mention.last + 1
            if mention.first in starts or mention.first == 0 or follower >= count:
                continue
            if mention.form not in {Form.BRACKETS, Form.HALF, Form.BARE, Form.DELIMITED}:
                continue
            before = tokens.texts[mention.first - 1].lower()
            next_word = tokens.texts[follower]
            unfinished = before not in _BINDING and before not in {",", ";", ":"}
            if unfinished and (next_word[0].isupper() and _is_sentence_word(next_word)):
                starts.add(mention.first)
        ordered = sorted(starts)
        sentences = [
            _Sentence(tokens.starts[first], tokens.ends[stop - 1], first, stop)
            for first, stop in zip(ordered, [*ordered[1:], count], strict=True)
            if stop > first
        ]
        position = 0
        for labelled in self.series.mentions:
            while position + 1 < len(sentences) and sentences[position].stop <= labelled.mention.first:
                position += 1
            sentence = sentences[position]
            role = role_of(tokens, labelled.mention, sentence.first, sentence.stop)
            sentence.mentions.append((labelled, role))
        for sentence in sentences:
            _settled(sentence)
        return sentences

    def _headed(self, sentences: list[_Sentence]) -> set[str]:
        """Labels with a head that opens a sentence or continues a list of such heads."""
        headed: set[str] = set()
        mentioned: set[str] = set()
        for sentence in sentences:
            chain = False
            for labelled, role in sentence.mentions:
                mention = labelled.mention
                if role is Role.HEAD and mention.first == sentence.first:
                    headed.update(labelled.labels)
                    chain = True
                elif role is Role.HEAD and (chain or self._before(mention) == ";"):
                    headed.update(set(labelled.labels) - mentioned)
                    chain = True
                mentioned.update(labelled.labels)
        return headed

    def _before(self, mention: Mention) -> str:
        return self.tokens.texts[mention.first - 1].lower() if mention.first else ""

    def _structural(self, sentence: _Sentence) -> list[tuple[LabelledMention, Role]]:
        """The mentions that say whose text this is; the others refer to other panels and stay in the text."""
        kept: list[tuple[LabelledMention, Role]] = []
        owner = set(self.owner)
        listing = False
        complete = self.defined >= self.headed and len(self.defined) == len(self.order)
        for labelled, role in sentence.mentions:
            mention, labels = labelled.mention, set(labelled.labels)
            if kept and kept[-1][1] is Role.HEAD:
                owner = set(kept[-1][0].labels)
            at_start = mention.first == sentence.first
            if role is Role.HEAD:
                if at_start:
                    accepted = True
                elif listing and (self._before(mention) in _LIST_LINKS or not labels <= (self.headed | self.defined)):
                    accepted = labels != owner
                elif labels <= self.headed:
                    accepted = (
                        self.mode == "lead"
                        or labels < owner
                        or self._before(mention) in {";", ":"}
                        or (complete and self._early(mention, sentence))
                    )
                else:
                    accepted = not labels <= self.defined or complete
            elif labels <= self.headed and self.series.series is not Series.POSITION:
                inside = len(owner) > 1 and labels < owner and mention.form is not Form.NOUN
                leading = self.mode == "lead" and mention.form is Form.BRACKETS
                second = complete and self._early(mention, sentence) and not labels <= owner
                accepted = inside or leading or second
            else:
                accepted = mention.form is not Form.NOUN or not labels <= self.defined or self._early(mention, sentence)
            if accepted:
                kept.append((labelled, role))
                listing = listing or role is Role.HEAD
            elif labels == owner and mention.form is Form.BRACKETS and self.mode != "lead":
                self.cuts.append((mention.start, mention.end))  # the panel's own identifier once more
            elif len(labels) > 1 and mention.form is not Form.NOUN:
                self.doubts.append("several panels named inside another's text")
        return kept

    def _early(self, mention: Mention, sentence: _Sentence) -> bool:
        """Within the first words of a sentence, where its subject stands: "In (a) ...", "Values for panels A and C"."""
        return mention.first - sentence.first <= 4

    # -- one sentence --------------------------------------------------------------------------------------------

    def _add(self, start: int, end: int, labels: tuple[str, ...]) -> None:
        start, end = self._trimmed(start, end)
        if start < end:
            self.pieces.append(Piece(start, end, labels))

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        caption = self.tokens.caption
        while start < end and caption[start].isspace():
            start += 1
        while end > start and caption[end - 1].isspace():
            end -= 1
        return start, end

    def _unlabelled(self, sentence: _Sentence) -> None:
        before = len(self.pieces)
        self._add(sentence.start, sentence.end, self.owner)
        if len(self.pieces) == before:
            return
        if self.mode == "tail":
            self.pending.append(before)
        elif self.mode in {"section", "group"}:
            self.trailing.append((before, sentence.first, sentence.stop))

    def _labelled(self, sentence: _Sentence, structural: list[tuple[LabelledMention, Role]]) -> None:
        new = any(set(labelled.labels) - self.defined for labelled, _ in structural)
        if self.trailing and new:
            self.extra_sentences = True
        if new or self.mode != "section":
            self._settle_pending(structural[0][0].labels, structural[0][1])
            self.trailing.clear()
        second_pass = not new
        if second_pass:
            self.doubts.append("identifiers named again")
        resumed = (self.owner, self.mode)
        heads = [labelled for labelled, role in structural if role is Role.HEAD]
        if heads:
            self._headed_sentence(sentence, structural, heads)
        else:
            self._doubt_tails(structural)
            if resumed[1] in {"section", "group"}:
                self.doubts.append("identifiers before and after their text")
            if "respectively" in self.tokens.texts[sentence.first : sentence.stop]:
                self.doubts.append("panels distributed by 'respectively'")
            for start, end, tails in self._clauses(sentence, structural):
                self._tailed_span(start, end, tails, ())
            self.owner, self.mode = (), "tail"
        for labelled, _ in structural:
            self.defined.update(labelled.labels)
        if second_pass and resumed[1] == "section":
            self.owner, self.mode = (), "closing"

    def _doubt_tails(self, structural: list[tuple[LabelledMention, Role]]) -> None:
        if any(labelled.mention.form is Form.NOUN for labelled, _ in structural):
            self.doubts.append("identifier in running text")
        elif any(role is Role.INLINE for _, role in structural) and len(structural) > 1:
            self.doubts.append("identifier within its text")
        elif len(structural) > 1:
            self.doubts.append("several identifiers after their text in one sentence")

    def _clauses(
        self, sentence: _Sentence, structural: list[tuple[LabelledMention, Role]]
    ) -> list[tuple[int, int, list[LabelledMention]]]:
        """The sentence cut at semicolons when its identifiers stand inside clauses: "X (a) shows Y; Z (b) shows W"."""
        tails = [labelled for labelled, _ in structural]
        whole = [(sentence.start, sentence.end, tails)]
        if len(tails) < 2 or all(role is not Role.INLINE for _, role in structural):
            return whole
        clauses: list[tuple[int, int, list[LabelledMention]]] = []
        start, group = sentence.start, [tails[0]]
        for left, right in pairwise(tails):
            texts = self.tokens.texts[left.mention.last + 1 : right.mention.first]
            if ";" in texts:
                stop = left.mention.last + 1 + texts.index(";")
                clauses.append((start, self.tokens.ends[stop], group))
                start, group = self.tokens.ends[stop], []
            group.append(right)
        clauses.append((start, sentence.end, group))
        return clauses

    def _settle_pending(self, labels: tuple[str, ...], role: Role) -> None:
        """Sentences between two labelled ones: text precedes a tail, so they belong to the next one."""
        for index in self.pending:
            if role is Role.TAIL and not set(labels) <= self.defined:
                self.pieces[index] = Piece(self.pieces[index].start, self.pieces[index].end, labels)
                self.doubts.append("a sentence without identifier between labelled ones")
        self.pending.clear()
        if self.mode == "group" and self.trailing:
            owner = self.last_group
            for index, _, _ in self.trailing:
                self.pieces[index] = Piece(self.pieces[index].start, self.pieces[index].end, owner)

    def _headed_sentence(
        self, sentence: _Sentence, structural: list[tuple[LabelledMention, Role]], heads: list[LabelledMention]
    ) -> None:
        tokens = self.tokens
        first = heads[0].mention
        earlier = [labelled for labelled, _ in structural if labelled.mention.first < first.first]
        union = self._union(heads)
        lead = self._trimmed(sentence.start, first.start)
        has_lead = False
        if earlier:
            self._tailed_span(*lead, earlier, ())
        elif lead[0] < lead[1] and first.first > sentence.first:
            before = self._before(first)
            continues = self.mode in {"section", "group"} and (
                before in {",", ";", "and", "or", "&"} or before not in _BINDING | {":"}
            )
            if continues:
                self.extra_sentences = True
                self._add(*self._without_conjunction(sentence.first, first.first), self.last_labels)
            else:
                has_lead = True
                self.doubts.append("list inside a sentence")
                self._add(*lead, union)
        cut: int | None = None
        if len(heads) > 1 and (has_lead or len(heads) == len(self.order)):
            cut = self._shared_end(heads, self._text_from(heads[-1].mention), sentence)
        tails = [labelled for labelled, role in structural if role is not Role.HEAD]
        tail = 0
        for index, labelled in enumerate(heads):
            mention = labelled.mention
            following = heads[index + 1].mention if index + 1 < len(heads) else None
            token_from, token_to = self._text_from(mention), following.first if following else sentence.stop
            if token_from >= token_to:
                continue
            span = (
                self._without_conjunction(token_from, token_to, comma=cut is not None)
                if following
                else (tokens.starts[token_from], sentence.end)
            )
            self.longest_item = max(self.longest_item, token_to - token_from)
            while tail < len(tails) and tails[tail].mention.first < mention.last:
                tail += 1
            inner: list[LabelledMention] = []
            while tail < len(tails) and tails[tail].mention.first < token_to:
                inner.append(tails[tail])
                tail += 1
            if inner:
                self.doubts.append("identifiers within a section")
                self._tailed_span(*span, inner, labelled.labels)
            elif following is None and cut is not None:
                # the items before the last one need the rest, too: it is one piece that belongs to all of them
                self._add(span[0], tokens.ends[cut - 1], labelled.labels)
                self._add(tokens.starts[cut], span[1], union)
            else:
                self._add(*span, labelled.labels)
        self.last_labels = heads[-1].labels
        self.last_group = union if has_lead else heads[-1].labels
        if len(heads) > 1 and not has_lead:
            self.doubts.append("several panels in one sentence")
        if has_lead or (len(heads) > 1 and not self.extra_sentences and first.first == sentence.first):
            self.owner, self.mode = (), "group"
            if not has_lead and len(union) < len(self.order):
                self.owner, self.mode = heads[-1].labels, "section"
        else:
            self.owner, self.mode = heads[-1].labels, "section"

    def _text_from(self, mention: Mention) -> int:
        """Index of the first token of a head's text."""
        texts = self.tokens.texts
        if not mention.cuts:
            return mention.first  # the name of a part stays in the text
        after = mention.last + 1
        if mention.form is Form.BRACKETS and after < len(texts) and texts[after] in {":", ","}:
            after += 1
        return after

    def _without_conjunction(self, first: int, stop: int, comma: bool = False) -> tuple[int, int]:
        """Offsets of tokens [first, stop) without the conjunction (and comma) that leads over to the next item."""
        texts = self.tokens.texts
        while comma and stop - 1 > first and texts[stop - 1].lower() in {",", "and", "or", "&"}:
            stop -= 1
        while stop - 1 > first and texts[stop - 1].lower() in {"and", "or", "&", "but", "while", "whereas"}:
            stop -= 1
        return self.tokens.starts[first], self.tokens.ends[stop - 1]

    def _shared_end(self, heads: list[LabelledMention], token_from: int, sentence: _Sentence) -> int | None:
        """Index of the token where the end that all items share begins."""
        texts = self.tokens.texts
        lengths: list[int] = []
        suspended = quoted = True
        plain = True
        for left, right in pairwise(heads):
            words = [text for text in texts[left.mention.last + 1 : right.mention.first] if text != ","]
            while words and words[-1].lower() in {"and", "or", "&"}:
                words.pop()
            if not words or len(words) > 8 or ";" in words:
                return None
            suspended &= words[-1] == "-"
            quoted &= words[-1] in "\"'’”" and words[0] in "\"'‘’“"
            plain &= not any(word.lower() in _PREPOSITIONS for word in words)
            lengths.append(len(words))
        stop = sentence.stop - 1 if texts[sentence.stop - 1] in _STOPS else sentence.stop
        longest, shortest = max(lengths), min(lengths)
        if suspended:
            for index in range(token_from, stop - 1):
                if texts[index] == "-":
                    return index + 1
            return None
        if quoted:
            for index in range(token_from + 1, stop - 1):
                if texts[index] in "\"'’”":
                    return index + 1
            return None
        if not plain or longest > 5:
            return None
        if longest == shortest and longest <= 2 and token_from + longest < stop:
            return token_from + longest
        for index in range(token_from + 1, min(stop, token_from + longest + 4)):
            if texts[index].lower() in _PREPOSITIONS:
                return index
        return None

    def _tailed_span(self, start: int, end: int, tails: list[LabelledMention], context: tuple[str, ...]) -> None:
        """Pieces of "X (a), Y (b) and Z (c) of W" in characters [start, end)."""
        tokens = self.tokens
        if len(tails) == 1:
            mention, labels = tails[0].mention, tails[0].labels
            rest_labels = labels
            self._cut_piece(start, mention, end, labels, rest_labels)
            return
        position = start
        seen: LabelledMention | None = None
        known: set[str] = set()
        texts = tokens.texts
        for index, labelled in enumerate(tails):
            mention, labels = labelled.mention, labelled.labels
            here = self._after_separator(position, mention.start)
            owners = labels
            if seen is not None:
                after = texts[seen.mention.last + 1].lower() if seen.mention.last + 1 < len(texts) else ""
                joined = after in _AFTER_TAIL or after in _CONJUNCTIONS
                short = mention.first - seen.mention.last <= 7 and mention.end >= end - 1
                if not joined and not set(labels) & known and not short:
                    # "(a) and Y (b) of W, with Z (c)": W belongs to the panels before, Z to the next one
                    comma = tokens.caption.rfind(", ", here, mention.start)
                    owners = self._ordered(known | set(labels)) if comma < 0 else labels
                    if comma >= 0:
                        self._add(here, comma + 1, self._ordered(known))
                        here = self._after_separator(comma, mention.start)
                    self.doubts.append("text between identifiers without a separator")
            if index == 0:
                lead = self._lead_end(here, tails)
                if lead is not None:
                    self._add(here, lead, self._union(tails))
                    here = lead
            self._add(here, mention.start, owners)
            if mention.form in {Form.PARTIAL, Form.NOUN} or self._referring(mention):
                self._partial_pieces(mention, labels)
            position = mention.end
            seen = labelled
            known.update(labels)
        rest = self._trimmed(position, end)
        if rest[0] < rest[1]:
            text = tokens.caption[rest[0] : rest[1]]
            union = self._union(tails)
            if not any(letter.isalnum() for letter in text[:40]):
                self._add(*rest, union)
            else:
                self._add(*rest, union)
                self.doubts.append("text after the last identifier of a sentence")

    def _cut_piece(
        self, start: int, mention: Mention, end: int, labels: tuple[str, ...], rest: tuple[str, ...]
    ) -> None:
        position = start
        for cut_start, cut_end in () if self._referring(mention) else mention.cuts:
            self._add(position, cut_start, labels)
            position = cut_end
        self._add(position, end, rest)

    def _partial_pieces(self, mention: Mention, labels: tuple[str, ...]) -> None:
        """What is left of "(C, 200x)" without the identifier."""
        position = mention.start
        for cut_start, cut_end in () if self._referring(mention) else mention.cuts:
            self._add(position, cut_start, labels)
            position = cut_end
        self._add(position, mention.end, labels)

    def _referring(self, mention: Mention) -> bool:
        """Whether the sentence needs the identifier: "are shown in (d)", "In (A), the arrow ..."."""
        texts = self.tokens.texts
        after = texts[mention.last + 1].lower() if mention.last + 1 < len(texts) else ""
        ends = not after or after in _AFTER_TAIL or after in _CONJUNCTIONS
        return mention.form is Form.BRACKETS and self._before(mention) in {"in", "as", "of", "to", "than"} and ends

    def _after_separator(self, position: int, limit: int) -> int:
        """`position` moved over the separator and conjunction between two items."""
        caption = self.tokens.caption
        moved = position
        while moved < limit and (caption[moved].isspace() or caption[moved] in ",;"):
            moved += 1
        if moved == position or moved == 0:
            return moved
        for word in ("and ", "or ", "as well as ", "& ", "but also ", "but "):
            if caption.startswith(word, moved) and moved + len(word) < limit:
                return moved + len(word)
        return moved

    def _lead_end(self, start: int, tails: list[LabelledMention]) -> int | None:
        """Where the text that all items share ends in "Relationship of Q and X (a), Y (b) and Z (c)".

        Only when the other items are short phrases: the first item is then as short, and what precedes it is shared.
        """
        tokens, texts = self.tokens, self.tokens.texts
        first = tails[0].mention
        sizes: list[int] = []
        opening = ""
        for left, right in pairwise(tails):
            words = [text for text in texts[left.mention.last + 1 : right.mention.first] if text[0].isalnum()]
            while words and words[0].lower() in _ITEM_LINKS:
                words = words[1:]
            if not words or len(words) > 9 or any(word.lower() in _VERBS for word in words):
                return None  # clauses of their own
            opening = opening or words[0].lower()
            sizes.append(len(words))
        if not sizes:
            return None
        mean = sum(sizes) / len(sizes)
        best: tuple[float, int] | None = None
        lowest = max(first.first - 14, 1)
        for index in range(first.first - 1, lowest - 1, -1):
            if tokens.starts[index] <= start:
                break
            word = texts[index - 1].lower()
            alike = opening in _BINDING and texts[index].lower() in (
                _ARTICLES if opening in _ARTICLES else _BINDING - _ARTICLES - {"of", "and"}
            )
            if word == "and" and len(tails) < 3:
                continue
            if not alike and word not in _BINDING and word != ":" and not word.endswith("ing"):
                continue
            distance = abs((first.first - index) - mean) - (3 if alike else 0)
            if best is None or distance < best[0]:
                best = (distance, index)
        if best is None or best[0] > 3 or tokens.starts[best[1]] <= start:
            return None
        cut = best[1]
        if texts[cut].lower() in _ARTICLES and opening not in _ARTICLES and cut + 1 < first.first:
            cut += 1  # "in the cornea (A) and lens (B)"
        return tokens.starts[cut]

    def _union(self, labelled: list[LabelledMention]) -> tuple[str, ...]:
        return self._ordered({label for item in labelled for label in item.labels})

    def _ordered(self, labels: set[str]) -> tuple[str, ...]:
        return tuple(sorted(labels, key=self.order.__getitem__))

    # -- end of the caption --------------------------------------------------------------------------------------

    def _close(self) -> None:
        """Sentences after the last head: those about the whole figure go to all panels."""
        if self.mode != "section" or not self.trailing:
            return
        self.doubts.append("sentences after the last panel's first")
        texts = self.tokens.texts
        own_cues = self._own_cues()
        shared_from = len(self.trailing)
        for index in range(len(self.trailing) - 1, -1, -1):
            if self._closing(self.trailing[index], own_cues):
                shared_from = index
            elif texts[self.trailing[index][1]] not in _FOOTNOTES:
                break  # a footnote ("*p < 0.05") is shared when a closing sentence before it is
        for index, (_, first, _) in enumerate(self.trailing[:shared_from]):
            if texts[first].lower() in _FINAL_CUES and texts[first].lower() not in own_cues:
                shared_from = index  # everything after it is about the figure, too
                break
        several = len(self.order) >= 3 and len(self.last_labels) < len(self.order) - 1
        brief = self.longest_item <= _BRIEF_ITEM and len(self.trailing) > 1
        if (several or brief) and not self.extra_sentences:
            # every other panel has one sentence; more after the last one are about the figure unless they refer back
            back = texts[self.trailing[0][1]].lower() in _BACK_REFERENCES
            if not back:
                if shared_from:
                    self.doubts.append("closing sentences may concern one panel or all")
                shared_from = 0
        for index, _, _ in self.trailing[shared_from:]:
            self.pieces[index] = Piece(self.pieces[index].start, self.pieces[index].end, ())

    def _own_cues(self) -> set[str]:
        """First words of closing formulas that occur inside earlier sections: there they are a panel's own."""
        found: set[str] = set()
        lowest = self.trailing[0][1]
        texts = self.tokens.texts
        heads = {labelled.mention.first for labelled in self.series.mentions}
        first_head = min(heads)
        started = False
        for start in self.tokens.sentence_starts:
            started = started or start in heads
            if start >= lowest:
                break
            if started:
                found.add(texts[start].lower())
        if started and any(
            self._is_glossary(start, min(start + 6, len(texts)))
            for start in self.tokens.sentence_starts
            if first_head < start < lowest
        ):
            found.add("glossary")
        return found & _OWN_CUES

    def _closing(self, trailing: tuple[int, int, int], own_cues: set[str]) -> bool:
        _, first, stop = trailing
        words = tuple(text.lower() for text in self.tokens.texts[first : min(first + 2, stop)])
        if words[:1] and words[0] in own_cues:
            return False
        if words[:1] in _CUES or words in _CUES:
            return True
        return "glossary" not in own_cues and self._is_glossary(first, stop) and self._known_before(first, stop)

    def _known_before(self, first: int, stop: int) -> bool:
        """Whether one of a glossary's abbreviations occurs in the text before the last head."""
        texts = self.tokens.texts
        if self.earlier_words is None:
            last = set(self.last_labels)
            heads = [item.mention.first for item in self.series.mentions if last.intersection(item.labels)]
            self.earlier_words = set(texts[: min([*heads, first])])
        keys = [
            texts[index]
            for index in range(first, stop - 1)
            if texts[index + 1] in {",", ":", "="} and (index == first or texts[index - 1] in {";", "."})
        ]
        return any(key in self.earlier_words for key in keys)

    def _is_glossary(self, first: int, stop: int) -> bool:
        """ "LV, left ventricle; RV, right ventricle" or "LV: left ventricle"."""
        texts = self.tokens.texts
        if stop - first < 3:
            return False
        word, separator = texts[first], texts[first + 1]
        short = len(word) <= 8 and sum(letter.isupper() for letter in word) >= 1 and (word.isupper() or len(word) <= 6)
        return (
            short and separator in {",", ":", "="} and (word.isupper() or ";" in texts[first : min(stop, first + 40)])
        )

    def _finished(self) -> list[Piece]:
        """Pieces in caption order without the cuts collected on the way."""
        pieces = sorted(self.pieces, key=lambda piece: (piece.start, piece.end))
        if not self.cuts:
            return pieces
        finished: list[Piece] = []
        cuts = sorted(self.cuts)
        position = 0
        for piece in pieces:
            while position < len(cuts) and cuts[position][1] <= piece.start:
                position += 1
            start = piece.start
            index = position
            while index < len(cuts) and cuts[index][0] < piece.end:
                if cuts[index][0] > start:
                    finished.append(Piece(start, cuts[index][0], piece.labels))
                start = max(start, cuts[index][1])
                index += 1
            if start < piece.end:
                finished.append(Piece(start, piece.end, piece.labels))
        return finished


def _is_sentence_word(word: str) -> bool:
    """A capitalised word such as opens a sentence: "High", "A", "H"; also acronyms."""
    return word[0].isupper()


def _settled(sentence: _Sentence) -> None:
    """Decides the mentions between two content words by the others of the sentence."""
    roles = [role for _, role in sentence.mentions]
    if Role.INLINE not in roles:
        return
    if Role.HEAD in roles and Role.TAIL not in roles:
        sentence.mentions = [
            (item, Role.HEAD if role is Role.INLINE and item.mention.form is Form.BRACKETS else role)
            for item, role in sentence.mentions
        ]
