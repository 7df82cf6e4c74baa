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
from itertools import pairwise
from typing import Final

from pmo_assets.pipeline.captions.bracket_lists import add_bracket_lists, bracket_lists
from pmo_assets.pipeline.captions.closing import LastSection, glossary_starts, shared_from
from pmo_assets.pipeline.captions.election import IdentifierSeries, PanelMention
from pmo_assets.pipeline.captions.mention import Form, Mention
from pmo_assets.pipeline.captions.phrases import (
    BINDING,
    CONJUNCTIONS,
    PREPOSITIONS,
    VERBS,
    is_adjectival,
    lacks_noun,
    shared_end,
)
from pmo_assets.pipeline.captions.pieces import Doubt, Piece, PieceList
from pmo_assets.pipeline.captions.roles import role_of, settled_roles
from pmo_assets.pipeline.captions.series import Series
from pmo_assets.pipeline.captions.tails import (
    Role,
    add_tailed,
    add_tailed_sentence,
    after_separator,
    announced_end,
    distribute,
)
from pmo_assets.pipeline.captions.tokens import Tokens


@dataclass(frozen=True, slots=True)
class ParsedCaption:
    """Pieces in caption order, and the parser's doubts."""

    pieces: tuple[Piece, ...]
    doubts: tuple[Doubt, ...]


# What stands before the second and later heads of a list.
_LIST_LINKS: Final = frozenset({",", ";", ":", "and", "or", "&", "but", "while", "whereas"})

_NOTES: Final = frozenset({"scale", "bar", "bars", "magnification", "magnifications", "original"})

_COMPARING: Final = frozenset({"than", "unlike", "like", "compared", "similar", "same", "versus", "vs"})
_PRONOUNS: Final = frozenset({"it", "they", "these", "this", "those"})
_BEFORE_SUBJECT: Final = frozenset({"in", "the"})

# How far a rule looks, in tokens; bounds keep the work linear in the caption's length.
_SUBJECT: Final = 4
"""Tokens before an identifier in the subject of its sentence: "Values for panels A and C ..."."""
_ALMOST_END: Final = 3
"""Tokens behind a caption's last identifier that are more than a full stop: heads have text behind the last one."""
_COMPARISON: Final = 6
"""Tokens back from panels named before to the word that compares with them: "less than that of the angiogram (a–c)"."""
_LONGEST_CLAUSE: Final = 14
"""Tokens back from an identifier to the comma where its clause begins: ", with quantification in (c)"."""
_LONGEST_PHRASE: Final = 8
"""Tokens back from an identifier to the preposition of its phrase: "of the right (A, C) and left (B, D) eyes"."""


@dataclass(slots=True)
class _Sentence:
    start: int
    end: int
    first: int
    stop: int  # token after the last one
    mentions: list[tuple[PanelMention, Role]] = field(default_factory=list)


def parsed(tokens: Tokens, series: IdentifierSeries) -> ParsedCaption:
    """The pieces of a caption with the given series of identifiers."""
    return _Parser(tokens, series).parse()


class _Parser:
    def __init__(self, tokens: Tokens, series: IdentifierSeries) -> None:
        self.tokens = tokens
        self.series = series
        self.order = {identifier: index for index, identifier in enumerate(series.identifiers)}
        self.found = PieceList(tokens, self.order)
        self.defined: set[str] = set()
        self.owner: tuple[str, ...] = ()  # panels that a sentence without identifiers belongs to; empty: all
        self.mode = "lead"
        self.pending: list[int] = []  # pieces after a sentence with identifiers that may belong to the next one
        self.section = LastSection()
        self.last_group: tuple[str, ...] = ()
        self.last_tails: list[PanelMention] = []
        self.headed: set[str] = set()
        self.told: set[str] = set()  # panels that a head has named so far

    # -- sentences -----------------------------------------------------------------------------------------------

    def parse(self) -> ParsedCaption:
        sentences = self._sentences()
        self.headed = self._headed(sentences)
        for sentence in sentences:
            structural = self._structural(sentence)
            if structural:
                self._identified(sentence, structural)
            else:
                self._unidentified(sentence)
        self._close()
        return ParsedCaption(self.found.finished(), tuple(dict.fromkeys(self.found.doubts)))

    def _sentences(self) -> list[_Sentence]:
        """Sentences with their mentions; also split before a head that follows an unfinished sentence."""
        tokens = self.tokens
        starts = set(tokens.sentence_starts)
        count = len(tokens.texts)
        # whether the identifier before stands after its text: "preoperative (A) and postoperative (B) OCT"
        follows_tail = False
        ends_with_text = bool(self.series.mentions) and self.series.mentions[-1].mention.last + _ALMOST_END < count
        for naming in self.series.mentions:
            mention = naming.mention
            follower = mention.last + 1
            if mention.first in starts and ends_with_text and mention.form in {Form.BRACKETS, Form.HALF}:
                if follower < count and tokens.texts[follower] == ".":
                    starts.discard(follower + 1)  # "(a) Counts. (b–d). Micrographs": a head with a full stop
                continue
            if mention.first in starts or mention.first == 0 or follower >= count:
                continue
            if mention.form not in {Form.BRACKETS, Form.HALF, Form.BARE, Form.DELIMITED}:
                continue
            if mention.form is Form.DELIMITED:
                starts.discard(follower)  # "a. Oedema and b. Oedema resolved"
            before = tokens.texts[mention.first - 1].lower()
            next_word = tokens.texts[follower]
            unfinished = before not in BINDING and before not in {",", ";", ":"}
            listed = is_adjectival(before) and mention.form is Form.BRACKETS
            if tokens.partners[mention.first] > mention.last:
                continue  # "Fundus photograph (A: OD, B: OS)"
            if unfinished and next_word[0].isupper() and not (listed and follows_tail):
                starts.add(mention.first)
            follows_tail = next_word.lower() in CONJUNCTIONS or next_word == ","
        ordered = sorted(starts.union(glossary_starts(tokens, self.series)))
        sentences = [
            _Sentence(tokens.starts[first], tokens.ends[stop - 1], first, stop)
            for first, stop in zip(ordered, [*ordered[1:], count], strict=True)
            if stop > first
        ]
        position = 0
        for naming in self.series.mentions:
            while position + 1 < len(sentences) and sentences[position].stop <= naming.mention.first:
                position += 1
            sentence = sentences[position]
            role = role_of(tokens, naming.mention, sentence.first, sentence.stop)
            sentence.mentions.append((naming, role))
        for sentence in sentences:
            sentence.mentions = settled_roles(tokens, sentence.first, sentence.mentions)
        return sentences

    def _headed(self, sentences: list[_Sentence]) -> set[str]:
        """Labels with a head that opens a sentence or continues a list of such heads."""
        headed: set[str] = set()
        mentioned: set[str] = set()
        for sentence in sentences:
            chain = False
            for naming, role in sentence.mentions:
                mention = naming.mention
                if role is Role.HEAD and mention.first == sentence.first:
                    headed.update(naming.identifiers)
                    chain = True
                elif role is Role.HEAD and (chain or self._before(mention) == ";"):
                    headed.update(set(naming.identifiers) - mentioned)
                    chain = True
                mentioned.update(naming.identifiers)
        return headed

    def _before(self, mention: Mention) -> str:
        return self.tokens.texts[mention.first - 1].lower() if mention.first else ""

    def _structural(self, sentence: _Sentence) -> list[tuple[PanelMention, Role]]:
        """The mentions that say whose text this is; the others refer to other panels and stay in the text."""
        kept: list[tuple[PanelMention, Role]] = []
        owner = set(self.owner)
        listing = False
        complete = self.defined >= self.headed and len(self.defined) == len(self.order)
        anew = self._divides_anew(sentence)
        for naming, role in sentence.mentions:
            mention, identifiers = naming.mention, set(naming.identifiers)
            if kept and kept[-1][1] is Role.HEAD:
                owner = set(kept[-1][0].identifiers)
            at_start = mention.first == sentence.first
            if role is Role.HEAD:
                if at_start:
                    accepted = True
                elif listing and (
                    self._before(mention) in _LIST_LINKS or not identifiers <= (self.headed | self.defined)
                ):
                    accepted = identifiers != owner
                elif identifiers <= self.headed:
                    accepted = (
                        self.mode == "lead"
                        or identifiers < owner
                        or self._before(mention) in {";", ":"}
                        or (complete and self._early(mention, sentence))
                    )
                else:
                    accepted = not identifiers <= self.defined or complete
            elif identifiers <= self.headed and self.series.series is not Series.POSITION:
                inside = len(owner) > 1 and identifiers < owner and mention.form is not Form.NOUN
                leading = self.mode == "lead" and mention.form is Form.BRACKETS and not listing
                second = complete and self._early(mention, sentence) and not identifiers <= owner
                accepted = inside or leading or second or anew
            else:
                accepted = (
                    mention.form is not Form.NOUN or not identifiers <= self.defined or self._early(mention, sentence)
                ) and not self._compares(mention, identifiers, sentence)
            if accepted:
                kept.append((naming, role))
                listing = listing or role is Role.HEAD
            elif self._before(mention) in {"in", "of", "from"}:
                pass  # "arrows in (B)": the sentence needs the identifier
            elif self._repeats(mention, identifiers == owner, listing):
                self.found.cuts.append((mention.start, mention.end))
            elif len(identifiers) > 1 and mention.form is not Form.NOUN:
                self.found.doubts.append("several panels named inside another's text")
        return kept

    def _repeats(self, mention: Mention, own: bool, listing: bool) -> bool:
        """Say whether a mention is the panel's own identifier once more, and no name of a part, which stays: "(A1)"."""
        again = own and mention.form is Form.BRACKETS and not mention.is_part
        return again and (listing or self.mode != "lead")

    def _compares(self, mention: Mention, identifiers: set[str], sentence: _Sentence) -> bool:
        """Say whether a sentence about new panels compares them with some named before: "less than in OCTA (a–c)"."""
        if not identifiers <= self.defined:
            return False
        if all(set(naming.identifiers) <= self.defined for naming, _ in sentence.mentions):
            return False
        words_before = self.tokens.texts[max(sentence.first, mention.first - _COMPARISON) : mention.first]
        return not _COMPARING.isdisjoint(text.lower() for text in words_before)

    def _divides_anew(self, sentence: _Sentence) -> bool:
        """Say whether a sentence divides all panels into groups: "Genotypes are wild type (A, C) and mutant (B, D)"."""
        if self.tokens.texts[sentence.first].lower() in _NOTES:
            return False  # "Scale bars, 100 µm (a–d) and 20 µm (e–h)" stays whole
        groups = [
            naming.identifiers
            for naming, role in sentence.mentions
            if role is not Role.HEAD and naming.mention.form is Form.BRACKETS
        ]
        named = [identifier for group in groups for identifier in group]
        several = len(groups) > 1 and all(len(group) > 1 for group in groups)
        return several and len(named) == len(self.order) == len(set(named))

    def _early(self, mention: Mention, sentence: _Sentence) -> bool:
        """Within the first words of a sentence, where its subject stands: "In (a) ...", "Values for panels A and C"."""
        return mention.first - sentence.first <= _SUBJECT

    # -- one sentence --------------------------------------------------------------------------------------------

    def _unidentified(self, sentence: _Sentence) -> None:
        before = len(self.found.pieces)
        if self.mode == "tail" and self._goes_on(sentence):
            self.found.add(sentence.start, sentence.end, self.found.union(self.last_tails))
            return
        self.found.add(sentence.start, sentence.end, self.owner)
        if self.mode == "tail":
            self.pending.append(before)
        elif self.mode in {"section", "group"}:
            self.section.trailing.append((before, sentence.first, sentence.stop))

    def _goes_on(self, sentence: _Sentence) -> bool:
        """Say whether a sentence goes on about the subject of the one before: "These were dilated", "It is thin"."""
        opening = [text.lower() for text in self.tokens.texts[sentence.first : min(sentence.first + 2, sentence.stop)]]
        return len(opening) > 1 and opening[0] in _PRONOUNS and opening[1] in VERBS

    def _identified(self, sentence: _Sentence, structural: list[tuple[PanelMention, Role]]) -> None:
        new = any(set(naming.identifiers) - self.defined for naming, _ in structural)
        told = self._tells_first(sentence, structural)
        if self.section.trailing and (new or told):
            self.section.extra_sentences = True
        if new or told or self.mode != "section":
            self._settle_pending(structural[0][0].identifiers, structural[0][1])
            self.section.trailing.clear()
        second_pass = not new
        taken_up = second_pass and self._takes_up_all(structural)
        if second_pass and not taken_up:
            self.found.doubts.append("identifiers named again")
        resumed = (self.owner, self.mode)
        since = len(self.found.pieces)
        heads = [naming for naming, role in structural if role is Role.HEAD]
        tails = [naming for naming, role in structural if role is not Role.HEAD]
        led = bool(heads) and heads[0].mention.first > sentence.first
        lists = bracket_lists(self.tokens, heads, sentence.stop) if led else []
        if lists and all(tail.mention.last < heads[0].mention.first for tail in tails):
            self.found.doubts.append("list inside brackets")
            add_bracket_lists(self.found, (sentence.start, sentence.end), tails, lists)
            self.owner, self.mode = (), "tail"
        elif heads:
            self._headed_sentence(sentence, structural, heads)
        else:
            if not taken_up:
                self._doubt_tails(structural)
            subject = new and len(structural) == 1 and self._is_subject(structural[0][0].mention, sentence)
            if resumed[1] in {"section", "group"} and not subject:
                self.found.doubts.append("identifiers before and after their text")
            add_tailed_sentence(self.found, (sentence.start, sentence.end), structural)
            self.last_tails = tails
            self.owner, self.mode = (), "tail"
            if subject:
                self.owner, self.mode = structural[0][0].identifiers, "section"
                self.section.identifiers, self.section.first = self.owner, structural[0][0].mention.first
                self.section.longest_item = max(self.section.longest_item, sentence.stop - sentence.first)
        groups = [naming.identifiers for naming, _ in structural]
        distributed = distribute(self.found, since, (sentence.first, sentence.stop), groups)
        if not heads and not distributed and "respectively" in self.tokens.texts[sentence.first : sentence.stop]:
            self.found.doubts.append("panels distributed by 'respectively'")
        for naming, _ in structural:
            self.defined.update(naming.identifiers)
        self.told.update(self.found.union(heads))
        if second_pass and resumed[1] == "section" and not told and not self._lists_parts(heads, tails):
            self.owner, self.mode = (), "closing"

    def _tells_first(self, sentence: _Sentence, structural: list[tuple[PanelMention, Role]]) -> bool:
        """Say whether a head opens the first text of a panel that had its name behind: "X (A), Y (B). (A) It is …"."""
        first, _ = structural[0]
        heads = all(other is Role.HEAD for _, other in structural)
        return heads and first.mention.first == sentence.first and self.told.isdisjoint(first.identifiers)

    def _takes_up_all(self, structural: list[tuple[PanelMention, Role]]) -> bool:
        """Say whether a sentence names all panels again without brackets: "The images in A and B are of one eye"."""
        named = self.found.union(naming for naming, _ in structural)
        return len(named) == len(self.order) and all(not naming.mention.cuts for naming, _ in structural)

    def _lists_parts(self, heads: list[PanelMention], tails: list[PanelMention]) -> bool:
        """Say whether a sentence is about a part of a panel, "(a2) OCT": what follows is about that panel as before."""
        if tails or not heads or not all(naming.mention.is_part for naming in heads):
            return False
        self.section.extra_sentences = True
        self.section.trailing.clear()
        return True

    def _is_subject(self, mention: Mention, sentence: _Sentence) -> bool:
        """Say whether a sentence opens with its panel's name: "Panel A shows", "In Figure 1B the choroid"."""
        opening = self.tokens.texts[sentence.first : mention.first]
        return (
            mention.form is Form.NOUN and len(opening) <= 2 and all(text.lower() in _BEFORE_SUBJECT for text in opening)
        )

    def _doubt_tails(self, structural: list[tuple[PanelMention, Role]]) -> None:
        if any(naming.mention.form is Form.NOUN for naming, _ in structural):
            self.found.doubts.append("identifier in running text")
        elif any(role is Role.INLINE for _, role in structural) and len(structural) > 1:
            self.found.doubts.append("identifier within its text")
        elif len(structural) > 1:
            self.found.doubts.append("several identifiers after their text in one sentence")

    def _settle_pending(self, identifiers: tuple[str, ...], role: Role) -> None:
        """Sentences between two with identifiers: text precedes a tail, so they belong to the next one."""
        for index in self.pending:
            if set(identifiers) <= self.defined:
                break
            if role is Role.TAIL:
                self.found.reassign(index, identifiers)
            else:  # "X (A) and Y (B). Both are thin. C: Z"
                self.found.reassign(index, self.found.ordered(self.defined))
                self.section.extra_sentences = True
            self.found.doubts.append("a sentence without identifier between labelled ones")
        self.pending.clear()
        if self.mode == "group" and self.section.trailing:
            for index, _, _ in self.section.trailing:
                self.found.reassign(index, self.last_group)

    def _add_lead(
        self, sentence: _Sentence, structural: list[tuple[PanelMention, Role]], heads: list[PanelMention]
    ) -> bool:
        """Add the text before a sentence's first head; say whether it is shared by all heads."""
        first = heads[0].mention
        lead = self.found.trimmed(sentence.start, first.start)
        earlier = [naming for naming, _ in structural if naming.mention.first < first.first]
        if earlier:
            add_tailed(self.found, *lead, earlier)
            return False
        if lead[0] >= lead[1] or first.first <= sentence.first:
            return False
        before = self._before(first)
        clause = len(heads) > 1 and before not in {",", ";", "and", "or", "&"}  # "Scans at about (c) 60 and (d) 100 µm"
        clause = clause and all(self._before(head.mention) in _LIST_LINKS for head in heads[1:])
        if (
            self.mode in {"section", "group"}
            and not clause
            and (before in {",", ";", "and", "or", "&"} or before not in BINDING | {":"})
        ):
            self.section.extra_sentences = True
            self.found.add(*self._without_conjunction(sentence.first, first.first), self.section.identifiers)
            return False
        self.found.doubts.append("list inside a sentence")
        self.found.add(*lead, () if self._opens_all(heads) else self.found.union(heads))
        return True

    def _opens_all(self, heads: list[PanelMention]) -> bool:
        """Say whether what stands before the first head leads to all: "Films showing (a) A fracture (b) A cyst"."""
        every = len(self.headed.union(heads[0].identifiers)) == len(self.order)
        return self.mode == "lead" and len(heads) == 1 and every

    def _headed_sentence(
        self, sentence: _Sentence, structural: list[tuple[PanelMention, Role]], heads: list[PanelMention]
    ) -> None:
        tokens = self.tokens
        union = self.found.union(heads)
        has_lead = self._add_lead(sentence, structural, heads)
        ends = self._shared_ends(heads, sentence.stop, has_lead or len(heads) == len(self.order))
        tails = [naming for naming, role in structural if role is not Role.HEAD]
        tail = 0
        for index, naming in enumerate(heads):
            mention = naming.mention
            following = heads[index + 1].mention if index + 1 < len(heads) else None
            token_from, token_to = self._text_from(mention), following.first if following else sentence.stop
            if token_from >= token_to:
                continue
            span = (
                self._without_conjunction(token_from, token_to, comma=index in ends)
                if following
                else (tokens.starts[token_from], sentence.end)
            )
            self.section.longest_item = max(self.section.longest_item, token_to - token_from)
            while tail < len(tails) and tails[tail].mention.first < mention.last:
                tail += 1
            inner: list[PanelMention] = []
            while tail < len(tails) and tails[tail].mention.first < token_to:
                inner.append(tails[tail])
                tail += 1
            if inner:
                self.found.doubts.append("identifiers within a section")
                own = self._own_end(token_from, inner, naming.identifiers)
                if own is not None:
                    self.found.add(span[0], tokens.starts[own], naming.identifiers)
                    span = (after_separator(tokens, tokens.ends[own - 1], span[1]), span[1])
                self._add_inner(span, inner, naming.identifiers)
            elif (shared := ends.get(index)) is not None:
                # the items before the last one need the rest, too: it is one piece that belongs to all of them
                cut, holders = shared
                self.found.doubts.append("end shared by several panels")
                self.found.add(span[0], tokens.ends[cut - 1], naming.identifiers)
                self.found.add(tokens.starts[cut], span[1], self.found.union(holders))
            else:
                self.found.add(*span, naming.identifiers)
        self.section.identifiers, self.section.first = heads[-1].identifiers, heads[-1].mention.first
        self.last_group = union if has_lead else heads[-1].identifiers
        if len(heads) > 1 and not has_lead:
            self.found.doubts.append("several panels in one sentence")
        if has_lead or len(heads) > 1:
            self.owner, self.mode = (), "group"
            if not has_lead and len(union) < len(self.order):
                # "(A–C) Scans of (A) X, (B) Y and (C) Z": the first head is for all, and what follows is as well
                every = set(heads[0].identifiers) == set(union) or any(shared is not None for shared in ends.values())
                self.owner, self.mode = union if every else heads[-1].identifiers, "section"
        else:
            self.owner, self.mode = heads[-1].identifiers, "section"

    def _add_inner(self, span: tuple[int, int], inner: list[PanelMention], owners: tuple[str, ...]) -> None:
        """Add the text of a head for several panels within which names tell some of them apart.

        "(B, C) The limit, as shown for | strain 1 (B) and strain 2 (C) |.": what is shared within is all the head's.
        """
        union = self.found.union(inner)
        if len(owners) < 2 or not set(union) <= set(owners):
            add_tailed(self.found, *span, inner)
            return
        since = len(self.found.pieces)
        cut = announced_end(self.tokens, span[0], inner)
        if cut is not None:
            self.found.add(span[0], cut, owners)
            span = (after_separator(self.tokens, cut, span[1]), span[1])
        add_tailed(self.found, *span, inner)
        for index in range(since, len(self.found.pieces)):
            piece = self.found.pieces[index]
            whole = len(inner) == 1 or set(piece.identifiers) == set(union)
            if whole and set(piece.identifiers) < set(owners):
                self.found.reassign(index, owners)

    def _own_end(self, first: int, inner: list[PanelMention], identifiers: tuple[str, ...]) -> int | None:
        """Return the token at which an item's own text ends when a phrase that divides all panels anew follows it.

        "(A, B) Photographs; (C, D) scans of the right (A, C) and left (B, D) eyes": only "scans" is the item's own.
        """
        named = set(self.found.union(inner))
        until = inner[0].mention.first
        if len(inner) == 1 and named.isdisjoint(identifiers):
            # "(b) β-actin, with quantification in (c)"
            for index in range(until - 1, max(first, until - _LONGEST_CLAUSE), -1):
                if self.tokens.texts[index].lower() in {",", ";", "and"}:
                    return index
        if len(inner) < 2 or named <= set(identifiers):
            return None
        for index in range(until - 1, max(first, until - _LONGEST_PHRASE), -1):
            if self.tokens.texts[index].lower() in PREPOSITIONS:
                return index
        return None

    def _text_from(self, mention: Mention) -> int:
        """Index of the first token of a head's text."""
        texts = self.tokens.texts
        if mention.is_part:
            return mention.first  # the name of a part stays in the text
        after = mention.last + 1
        if mention.form in {Form.BRACKETS, Form.HALF} and after + 1 < len(texts) and texts[after] in {":", ",", "."}:
            after += 1
        return after

    def _without_conjunction(self, first: int, stop: int, comma: bool = False) -> tuple[int, int]:
        """Offsets of tokens [first, stop) without the conjunction (and comma) that leads over to the next item."""
        texts = self.tokens.texts
        while comma and stop - 1 > first and texts[stop - 1].lower() in {",", ";", "and", "or", "&"}:
            stop -= 1
        while stop - 1 > first and texts[stop - 1].lower() in {"and", "or", "&", "but", "while", "whereas"}:
            stop -= 1
        return self.tokens.starts[first], self.tokens.ends[stop - 1]

    def _shared_ends(
        self, heads: list[PanelMention], stop: int, expected: bool
    ) -> dict[int, tuple[int, list[PanelMention]] | None]:
        """Return (token where the end that several items share begins, the items) by the last item; None by the others.

        "(A) FAF and (B) OCT | of the right eye; (C) FAF and (D) OCT | of the left eye" has two such lists.

        Args:
            stop: token after the last item.
            expected: whether one list without "and" may share an end, too.
        """
        texts = self.tokens.texts
        starts = [0]
        for index, naming in enumerate(heads[1:], 1):
            at = naming.mention.first - 1
            if texts[at].lower() in {"and", "or", "&"}:
                at -= 1
            item = texts[heads[index - 1].mention.last + 1 : at]
            if texts[at] == ";" and not all(map(lacks_noun, item)):  # "A, dorsal; and B, ventral views of the skull"
                starts.append(index)
        if len(starts) == len(heads):
            starts = [0]  # nothing but single items: one list
        found: dict[int, tuple[int, list[PanelMention]] | None] = {}
        for first, end in pairwise([*starts, len(heads)]):
            group = heads[first:end]
            linked = texts[group[-1].mention.first - 1].lower() in {"and", "or", "&"}
            if len(group) < 2 or not (linked or (expected and len(starts) == 1)):
                continue
            until = heads[end].mention.first if end < len(heads) else stop
            while texts[until - 1].lower() in {";", "and", "or", "&"} and end < len(heads):
                until -= 1
            items = [(left.mention.last + 1, right.mention.first) for left, right in pairwise(group)]
            cut = shared_end(self.tokens, items, self._text_from(group[-1].mention), until)
            if cut is not None:
                found.update(dict.fromkeys(range(first, end - 1)))
                found[end - 1] = cut, group
        return found

    # -- end of the caption --------------------------------------------------------------------------------------

    def _close(self) -> None:
        """Sentences after the last head: those about the whole figure go to all panels."""
        if self.mode != "section" or not self.section.trailing:
            return
        self.found.doubts.append("sentences after the last panel's first")
        shared, unsure = shared_from(self.tokens, self.series, self.section)
        if unsure:
            self.found.doubts.append("closing sentences may concern one panel or all")
        for index, _, _ in self.section.trailing[shared:]:
            self.found.reassign(index, ())
