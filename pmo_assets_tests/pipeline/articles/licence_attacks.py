"""Words that take freedoms away from a statement of a licence, and ways to put them in.

They were written down without looking at the words that the product knows.
"""

from __future__ import annotations

import random
from typing import Final

NON_COMMERCIAL: Final = (
    "NC",
    "non-commercial",
    "noncommercial",
    "NonCommercial",
    "no commercial use",
    "not for commercial use",
    "for non-commercial purposes only",
    "not for profit",
    "nicht kommerziell",
    "keine kommerzielle Nutzung",
    "nicht-kommerzielle Nutzung",
    "pas d'utilisation commerciale",
    "usage non commercial",
    "NoComercial",
    "sin fines comerciales",
    "uso no comercial",
    "NãoComercial",
    "sem fins comerciais",
    "não comercial",
    "非商业性使用",
    "非商用",
    "禁止商用",
    "non commerciale",
    "niet-commercieel",
    "非営利",
)
NO_DERIVATIVES: Final = (
    "ND",
    "no derivatives",
    "NoDerivatives",
    "NoDerivs",
    "no derivative works",
    "no modifications",
    "unaltered",
    "verbatim",
    "keine Bearbeitung",
    "keine Bearbeitungen",
    "pas de modification",
    "sans modification",
    "SinDerivadas",
    "sin obras derivadas",
    "SemDerivações",
    "sem derivados",
    "禁止演绎",
    "禁止修改",
    "non opere derivate",
    "geen afgeleide werken",
    "改変禁止",
)
SHARE_ALIKE: Final = (
    "SA",
    "share alike",
    "ShareAlike",
    "under the same licence",
    "identical terms",
    "copyleft",
    "Weitergabe unter gleichen Bedingungen",
    "partage dans les mêmes conditions",
    "CompartirIgual",
    "CompartilhaIgual",
    "相同方式共享",
    "condividi allo stesso modo",
)
REFUSING: Final = (
    "not",
    "never",
    "no",
    "without",
    "except",
    "only",
    "unless otherwise noted",
    "instead of",
    "rather than",
    "but not",
    "all rights reserved",
    "prohibited",
    "forbidden",
    "restricted",
    "with permission",
    "written permission required",
    "subject to approval",
    "personal use",
    "for research",
    "educational",
    "members",
    "embargoed",
    "expired",
    "formerly",
    "proprietary",
    "confidential",
    "GFDL",
    "GPL-3.0",
    "MIT",
    "ODbL",
    "Elsevier user licence",
    "publisher's terms of use",
    "nicht",
    "kein",
    "keine",
    "ohne",
    "nur",
    "außer",
    "verboten",
    "untersagt",
    "vorbehaltlich",
    "alle Rechte vorbehalten",
    "mit Genehmigung",
    "pas",
    "ne",
    "sans",
    "sauf",
    "uniquement",
    "interdit",
    "interdite",
    "tous droits réservés",
    "jamais",
    "hormis",
    "sous réserve",
    "no permitido",
    "sin",
    "salvo",
    "excepto",
    "solamente",
    "prohibido",
    "prohibida",
    "todos los derechos reservados",
    "nunca",
    "não",
    "sem",
    "exceto",
    "somente",
    "apenas",
    "proibido",
    "proibida",
    "todos os direitos reservados",
    "mediante autorização",
    "不",
    "非",
    "禁止",
    "不得",
    "仅限",
    "除外",
    "未经许可",
    "保留所有权利",
    "版权所有 翻印必究",
    "senza",
    "vietato",
    "tutti i diritti riservati",
    "niet",
    "zonder",
    "verboden",
    "禁じます",
    "無断転載禁止",
    "zabronione",
    "без",
    "запрещено",
    "yasaktır",
    "금지",
    "ممنوع",
    "≠",
    "!",
    "?",
    "¬",
)
BOUNDS: Final = (
    *((word, "CC BY-NC") for word in NON_COMMERCIAL),
    *((word, "CC BY-ND") for word in NO_DERIVATIVES),
    *((word, "CC BY-SA") for word in SHARE_ALIKE),
    *((word, None) for word in REFUSING),
)
"""A word and the freest licence that a statement with it may be read as."""

SHAPES: Final = ("{}", "({})", "[{}]", "; {}", ", {},", "/{}", "- {}", "“{}”", "– {} –", "{}.", "\N{NO-BREAK SPACE}{}")
"""Punctuation around a word."""

CASES: Final = (str, str.upper, str.lower, str.title)


def inserted(statement: str, word: str, place: int) -> str:
    """Return the statement with the word between two of its words."""
    words = statement.split()
    place %= len(words) + 1
    return " ".join([*words[:place], word, *words[place:]])


def mixed(statement: str, word: str, kept: int, seed: int) -> str:
    """Return some of the statement's words and the word, in any order."""
    chosen = random.Random(seed)
    words = statement.split()
    words = [*chosen.sample(words, min(kept, len(words))), word]
    chosen.shuffle(words)
    return " ".join(words)
