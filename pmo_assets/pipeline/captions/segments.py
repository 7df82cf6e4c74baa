"""A subcaption's text from its character ranges: the repairs that removing panel identifiers makes necessary."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pmo_assets.pipeline.captions.phrases import is_adjectival
from pmo_assets.pipeline.captions.tokens import words

_TERMINAL: Final = ".!?"
_SEPARATORS: Final = ",;"
_CLOSING: Final = ".,;:!?)]"
# A text that ends with one of these is continued by what follows; after any other word, a capital opens a sentence.
_CONTINUED_BY: Final = words(
    "a an the of in on at by for from to with and or both either showing shows show revealed demonstrating using as is "
    "are was were between versus vs under via per than models in: during after before following including"
)

# What continues a phrase whose end several panels share.
_EYES: Final = frozenset({"OD", "OS", "OU"})
_JOINING: Final = words("of in from for at with under during after before on by and")


def join_segments(caption: str, segments: Iterable[tuple[int, int]]) -> str:
    """The text of the [start, end) ranges of `caption`, joined in order.

    Repairs only what leaving out an identifier breaks: one space between ranges, none before closing punctuation; no
    punctuation at the start of a sentence; a capital at a sentence start when its word is plain lower case; a full
    stop in place of a dangling comma or semicolon at the end of a sentence. A single range that covers the whole
    caption comes back unchanged.
    """
    ranges = list(segments)
    if len(ranges) == 1 and ranges[0] == (0, len(caption)):
        return caption
    parts: list[str] = []
    tail = ""  # the last non-empty part
    last = 0  # where it ends in the caption
    for start, end in ranges:
        piece = caption[start:end].strip()
        if not piece:
            continue
        fresh = not tail or tail[-1] in _TERMINAL
        if fresh and piece[0] in ".,;:!?)-–—":
            piece = piece.lstrip(".,;:!?)-–— ")
            if not piece:
                continue
        listed = piece[0] == "(" and tail != "" and tail[-1] in _SEPARATORS
        if not fresh and (listed or piece[0].isupper()) and _ends_sentence(tail, piece, caption, start):
            parts[-1] = tail.rstrip(_SEPARATORS + " ") + "."
            fresh = True
        elif not fresh and piece[0] in _CLOSING and tail[-1] in _SEPARATORS + ":":
            parts[-1] = tail.rstrip(_SEPARATORS + ": ")
        elif not fresh and tail[-1] == ";" and start > last + 1 and piece.split(None, 1)[0] in _JOINING:
            parts[-1] = tail.rstrip("; ")  # "(A) Photographs; (B) scans of the right eye"
        if fresh and start > 0:
            piece = _capitalised(piece)
        if parts and piece[0] not in _CLOSING and not _suspended(tail, piece):
            parts.append(" ")
        parts.append(piece)
        tail, last = piece, end
    text = "".join(parts).strip()
    trimmed = text.rstrip(_SEPARATORS + " ")
    if trimmed and caption.rstrip()[-1:] in _TERMINAL and trimmed[-1] not in _TERMINAL:
        text = trimmed + "."
    return text


def _ends_sentence(tail: str, piece: str, caption: str, start: int) -> bool:
    """Say whether the capital of `piece` opens a new sentence behind `tail` and a removed identifier."""
    if start > 0 and caption[start - 1].isalnum():
        return False
    if tail[-1] in _SEPARATORS:
        return True
    word = tail.rsplit(None, 1)[-1].lower()
    finished = tail[-1].isalnum() or tail[-1] in ")]%\"'”’"
    if piece.split(None, 1)[0].rstrip(_CLOSING) in _EYES:
        return False  # "Corneal topography" + "OD"
    return finished and word not in _CONTINUED_BY and not is_adjectival(word)  # "postoperative" + "OCT images"


def _suspended(tail: str, piece: str) -> bool:
    """ "T1-" + "weighted": the suspended hyphen takes no space; nor does an opening bracket's content."""
    return (tail[-1] == "-" and piece[0].isalnum()) or tail[-1] in "(["


def _capitalised(piece: str) -> str:
    """First letter in upper case when the first word is plain lower case ("resting", not "mRNA" or "p53")."""
    length = 0
    while length < len(piece) and length < 40 and piece[length].isalpha():
        length += 1
    word = piece[:length]
    follower = piece[length : length + 2]
    symbol = follower[:1].isdigit() or follower[:1] == "/" or (follower[:1] == "." and follower[1:].isalnum())
    # "b-wave" and "p53-" stay, "red-free" does not
    symbol = symbol or (follower[:1] == "-" and not (length > 2 and (follower == "-" or follower[1:].islower())))
    if not word or not word.islower() or symbol:
        return piece
    upper = word[0].upper()
    return upper + piece[1:] if len(upper) == 1 else piece
