"""Sentences of lecturers that point at the picture that is shown, told from all others by grammar.

A lecturer also speaks of other pictures and patients, of the rule, of what one would see, and of what comes next; of a
sentence that may be one of these nothing is taken. Add here: words that point, and words that lead elsewhere.
"""

from __future__ import annotations

import re
from typing import Final

MOST_WORDS: Final = 40
"""Words of a sentence that is relied on: captions without full stops run on."""

_PICTURE: Final = (
    r"(?:photo(?:graph)?|scan|image|picture|angiogra(?:m|phy)|tomogra(?:m|phy)|OCT|B-scan|autofluorescence|fundus"
    r"|slice|frame|slide|example)"
)
_SHOWS: Final = r"(?:shows?|reveals?|demonstrates?|depicts?|displays?|illustrates?)"
_SEE: Final = r"(?:see|appreciate|notice|observe|recogni[sz]e|identify|find)"

_POINTS: Final = re.compile(
    rf"\b{_SHOWS}\b|^(?:and |so |now |again )*here\b|\bhere (?:is|are|you|we)\b|\bhere\W*$"
    rf"|^(?:and |so |now |also |please )*(?:note|notice|look at|observe)\b"
    rf"|\b(?:you|we) (?:can |also |clearly |do not |don't |don’t |cannot |can't )*{_SEE}\b|\bthere(?:'s|’s| is| are)\b"
    r"|\b(?:is|are) (?:also |clearly |nicely )?(?:seen|visible|evident|present)\b"
    rf"|\b(?:in|on) this (?:[\w-]+ ){{0,3}}{_PICTURE}\b",
    re.IGNORECASE,
)
"""Words that point at what is shown."""

_ELSEWHERE: Final = re.compile(
    # other pictures, patients and times
    r"\b(?:previous(?:ly)?|another|other|next(?! to\b)|last|first|second|earlier|later|before|after|ago|yesterday"
    r"|tomorrow|compar\w+|versus|than|"
    # the rule, and what would be
    r"usual(?:ly)?|often|typical(?:ly)?|general(?:ly)?|always|never|sometimes|frequent(?:ly)?|common(?:ly)?|rare(?:ly)?"
    r"|may|might|would|could|should|must|will|shall|going to|if|unless|imagine|suppose|assume|think|remember|recall"
    r"|expect|types? of|kinds? of|forms? of|stages? of|patients|people|cases|eyes with|such|when(?:ever)?"
    # what was
    r"|was|were|had|did|used to|show(?:ed)|revealed|demonstrated|saw)\b|\?",
    re.IGNORECASE,
)
"""Words of sentences about something else than the picture at hand, or about more than it."""

_ASKS: Final = re.compile(
    r"^(?:and |so |but |now )*(?:is|are|do|does|did|can|what|where|which|who|why|how|has|have)\b", re.IGNORECASE
)
"""Questions, of which recognisers do not always write the mark."""

_RULE: Final = re.compile(
    r"^(?:and |so |but |now )*(?:in|with|for|among|during)\s+"
    r"(?!this\b|the (?:fundus|scan|image|picture|photo|OCT|angio)|these\b|our\b|that\b|here\b)",
    re.IGNORECASE,
)
"""Sentences that open with what they are true of: "In glaucoma …"."""


def points_at_picture(sentence: str) -> bool:
    """Say whether a sentence states something of the picture that is shown while it is said, and of nothing else."""
    if len(sentence.split()) > MOST_WORDS or _POINTS.search(sentence) is None:
        return False
    return not any(pattern.search(sentence) for pattern in (_ELSEWHERE, _ASKS, _RULE))


_OPENS: Final = re.compile(
    rf"(?:(?:and|so|now|also|again|here),? )*(?:(?:you|we) (?:(?:can|also|clearly) )*{_SEE}|(?:please )?(?:note|notice"
    r"|look at|observe)|there(?:'s|’s| is| are)|here(?:'s|’s| is| are| we have))\s+"
    r"(?!no\b|not\b|any\b|that\b|how\b|if\b)",
    re.IGNORECASE,
)


def after_pointing(text: str, start: int, end: int) -> int:
    """Return where the words begin that say what is to be seen: behind "here you can see", "note", "there is".

    What denies is part of what is said, and stays.

    Args:
        text: a transcript, or a sentence of one.
        start: of the sentence.
        end: of the sentence.
    """
    opening = _OPENS.match(text, start, end)
    return start if opening is None else opening.end()
