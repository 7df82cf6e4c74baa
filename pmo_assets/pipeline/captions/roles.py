"""Roles of a sentence's mentions: whether a panel's name stands before, after or within the text about it."""

from __future__ import annotations

from pmo_assets.pipeline.captions.election import PanelMention
from pmo_assets.pipeline.captions.mention import Form, Mention
from pmo_assets.pipeline.captions.phrases import BINDING, CONJUNCTIONS, STOPS, SUSPENDED
from pmo_assets.pipeline.captions.tails import AFTER_TAIL, Role
from pmo_assets.pipeline.captions.tokens import Tokens

Roled = tuple[PanelMention, Role]
"""A mention and its role."""


def role_of(tokens: Tokens, mention: Mention, first: int, stop: int) -> Role:
    """Return a mention's role, before, after or within its text, judged by its neighbours in tokens [first, stop)."""
    texts = tokens.texts
    before = texts[mention.first - 1].lower() if mention.first > first else ""
    after = texts[mention.last + 1].lower() if mention.last + 1 < stop else ""
    content_before = bool(before) and before not in STOPS and before != "," and before not in BINDING
    ends_after = not after or after in AFTER_TAIL or after in CONJUNCTIONS
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
    if before == "in" and mention.form is Form.BRACKETS and mention.first - 1 == first and after[:1].isalnum():
        return Role.INLINE  # "In (A) the wound is open"
    if not before or before in STOPS:
        headed = after == "." and mention.last + 2 < stop  # "(b–d). Micrographs": see `_Parser._sentences`
        return Role.TAIL if not after or (after in {".", ";"} and not headed) else Role.HEAD
    if not content_before:
        return Role.TAIL if ends_after else Role.HEAD
    return Role.TAIL if ends_after else Role.INLINE


def settled_roles(tokens: Tokens, first: int, mentions: list[Roled]) -> list[Roled]:
    """Return a sentence's mentions, those between two content words decided by the others.

    Args:
        tokens: the caption.
        first: the sentence's first token.
        mentions: with their roles, each for itself.
    """
    mentions = _referred(tokens, first, _paired(tokens, first, mentions))
    roles = [role for _, role in mentions]
    if Role.INLINE in roles and Role.HEAD in roles and Role.TAIL not in roles:
        return [
            (item, Role.HEAD if role is Role.INLINE and item.mention.form is Form.BRACKETS else role)
            for item, role in mentions
        ]
    return mentions


def _referred(tokens: Tokens, first: int, mentions: list[Roled]) -> list[Roled]:
    """The mentions with those of "X (a) and Y (b); the arrow in (b) marks Z" within their text.

    A head would be the first time that its panels are named.
    """
    settled: list[Roled] = []
    named: set[str] = set()
    for item, role in mentions:
        before = tokens.texts[item.mention.first - 1].lower() if item.mention.first > first else ""
        refers = role is Role.HEAD and before in {"in", "of"} and named >= set(item.identifiers)
        settled.append((item, Role.INLINE if refers and settled[0][1] is not Role.HEAD else role))
        named.update(item.identifiers)
    return settled


def _paired(tokens: Tokens, first: int, mentions: list[Roled]) -> list[Roled]:
    """The mentions with those of "before (A) and after (B) treatment" all within their text.

    Alone, the second looks like a head; the first, behind a word of the same kind, says that it is none.
    """
    settled: list[Roled] = []
    suspended = False
    for item, role in mentions:
        before = tokens.texts[item.mention.first - 1].lower() if item.mention.first > first else ""
        binds = item.mention.form is Form.BRACKETS and before in SUSPENDED
        settled.append((item, Role.INLINE if role is Role.HEAD and binds and suspended else role))
        suspended = binds and role is not Role.HEAD
    return settled
