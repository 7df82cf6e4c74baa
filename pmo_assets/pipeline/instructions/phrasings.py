"""Phrasings of questions and names of what they ask for, read from data; the choice among them is by hash.

A phrasing is chosen by the panel and what is asked, never by the answer, so that it tells nothing of it.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from pmo_assets.records.modalities import Modality
from pmo_assets.records.stores import SystemicError

PACKAGE_DATA = ("pipeline/instructions/data",)
"""Files of the package that this module reads."""

LEAST_PHRASINGS: Final = 12
"""Phrasings of each kind of question at least."""

MODALITY_WORDS: Final[Mapping[str, str]] = {
    "fundus photograph": "fundus photography",
    "ultra-widefield": "ultra-widefield imaging",
    "montage": "a montage of photographs",
    "fluorescein angiography": "fluorescein angiography",
    "indocyanine green angiography": "indocyanine green angiography",
    "autofluorescence": "fundus autofluorescence imaging",
    "red-free": "red-free photography",
    "infrared": "infrared reflectance imaging",
    "OCT angiography": "OCT angiography",
    "en-face OCT": "en-face OCT",
    "thickness map": "a thickness map",
    "adaptive optics": "adaptive optics imaging",
    "OCT": "optical coherence tomography",
    "external eye": "external eye photography",
    "slit lamp": "slit-lamp photography",
    "ultrasound": "ultrasound",
    "radiograph": "radiography",
    "CT or MR": "CT or MR imaging",
    "histology": "histology",
    "microscopy": "microscopy",
    "endoscopy": "endoscopy",
    "skin": "skin photography",
    "topography": "corneal topography",
}
"""Modalities that are asked about, in words; pictures of no body (plots, diagrams, text) are not asked about."""

FAMILIES: Final[tuple[frozenset[Modality], ...]] = (
    frozenset({"fundus photograph", "ultra-widefield", "montage", "red-free", "adaptive optics"}),
    frozenset({"OCT", "OCT angiography", "en-face OCT", "thickness map", "infrared", "adaptive optics"}),
    frozenset(
        {
            "fluorescein angiography", "indocyanine green angiography", "autofluorescence", "infrared", "red-free",
            "ultra-widefield", "montage", "OCT angiography", "en-face OCT", "thickness map", "adaptive optics",
        }
    ),
    frozenset({"histology", "microscopy", "adaptive optics"}),
    frozenset({"CT or MR", "radiograph"}),
    frozenset({"slit lamp", "external eye", "skin", "endoscopy", "microscopy"}),
    frozenset({"topography", "thickness map"}),
)  # fmt: skip
"""Modalities that may be one picture's at once, or are taken for one another: of two in a family neither is evidence
against the other."""

COMMONNESS: Final[Mapping[Modality, int]] = {
    "OCT": 25, "fundus photograph": 20, "fluorescein angiography": 12, "OCT angiography": 6, "autofluorescence": 6,
    "indocyanine green angiography": 4, "ultra-widefield": 3, "slit lamp": 8, "ultrasound": 6, "CT or MR": 8,
    "radiograph": 4, "histology": 8, "microscopy": 4, "external eye": 4, "infrared": 2, "topography": 2, "endoscopy": 1,
}  # fmt: skip
"""How often each is asked for where it is not shown: about as often as panels show it, so that balancing by what is
asked (`release.instruction_rows`) leaves little out."""


def contradicts(one: str, other: str) -> bool:
    """Say whether a picture of one modality is surely none of the other."""
    return one != other and not any(one in family and other in family for family in FAMILIES)


@dataclass(frozen=True, slots=True)
class Statement:
    """Words that contradict findings: a pattern of small letters, and the terms that it denies with their names."""

    words: re.Pattern[str]
    denies: Mapping[str, str]


@cache
def contradictions() -> Sequence[Statement]:
    """Return the statements of normality that contradict a finding.

    Raises:
        SystemicError: they cannot be read.
    """
    return tuple(
        Statement(re.compile(item["words"]), dict(item["denies"])) for item in _read("contradictions")["statement"]
    )


@cache
def phrasings() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the phrasings by kind of instruction and topic.

    Raises:
        SystemicError: they cannot be read.
    """
    return _read("phrasings")


def _read(name: str) -> dict[str, Any]:
    try:
        text = (resources.files("pmo_assets.pipeline.instructions") / "data" / f"{name}.toml").read_text("utf-8")
        return tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise SystemicError(f"the package's {name} of questions cannot be read ({error}): install it again") from error


def load_phrasings() -> None:
    """Read phrasings and contradictions, so that this counts against no article.

    Raises:
        SystemicError: they cannot be read.
    """
    phrasings()
    contradictions()


def number_of(*key: object) -> int:
    """Return a number that only its key decides: the same on every machine."""
    said = "\x1f".join(str(part) for part in key).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big")


def phrased(kind: str, topic: str, panel_id: str, key: str, **slots: str) -> str:
    """Return a question.

    Args:
        kind: of instruction.
        topic: of the phrasings.
        panel_id: of the panel.
        key: what is asked; with the panel it decides the phrasing.
        **slots: words for the phrasing's braces.
    """
    choices = phrasings()[kind][topic]
    said = choices[number_of("phrasing", kind, topic, panel_id, key) % len(choices)]
    return said.format(**slots)


@cache
def idle_words() -> frozenset[str]:
    """Return the words of all phrasings, small: what they say of a picture is nothing."""
    words: set[str] = set()
    for topics in phrasings().values():
        for said in topics.values():
            for phrasing in said:
                words |= set(WORD.findall(re.sub(r"\{\w+\}", " ", phrasing).lower()))
    return frozenset(words)


WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
"""A word or number of a question or answer; hyphens part words."""
