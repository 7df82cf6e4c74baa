"""What hostile inputs are made from: sample articles, a few real ones where they are at hand, and words that attack."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

MARKER = "x-pmo-fault"
"""Name of an HTML element that no page has; where it stands in a page as an element, something was not escaped."""

ATTACKS = (
    f"<{MARKER}>",
    f'"><{MARKER} onclick="x">',
    f"'><{MARKER}>",
    f"</script><{MARKER}>",
    f"</style></title><{MARKER}>",
    f"--><{MARKER}>",
    f"]]><{MARKER}>",
    f"&lt;{MARKER}&gt; &amp; &#60;{MARKER}&#62;",
    f"{{{{ 7*7 }}}} {{% raw %}} <{MARKER}>",
    f"[x](javascript:x) ![x](x) `<{MARKER}>`",
)
"""Text that would become markup in a page, a template or a Markdown preview, were it not escaped."""

ODD_CHARACTERS = (
    "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u0301", "\u0338", "\u1f468\u200d", "\U0001f441",
    "\U000e0041", "\u3000", "\u2028", "\u2029", "\u0085", "\u00a0", "ß", "İ", "ﬁ", "Ⓐ", "Α", "А", "\ufffd", "ا", "ℵ",
    "\U0001d400", "\uff21", "①", "⁽ᵃ⁾", "\u0000", "\u0007", "\u001b[31m", "\t", "\r", "\x7f", "\ufffe",
)  # fmt: skip
"""Bidirectional, zero-width, combining, full-width and look-alike characters, controls and non-characters."""


def random_of(kind: str, seed: int, number: int) -> random.Random:
    """Return the generator of one case: it depends on nothing but these three, so that any case can be repeated."""
    return random.Random(f"{kind} {seed} {number}")


Mutation = Callable[..., bytes]


@dataclass(frozen=True, slots=True)
class Package:
    """An article to start from.

    Attributes:
        name: its folder.
        pdf: the file.
        xml: the file.
        pictures: package pictures by file name.
    """

    name: str
    pdf: bytes
    xml: bytes
    pictures: dict[str, bytes]


@lru_cache(maxsize=32)
def package(folder: str) -> Package:
    """Read a package folder."""
    path = Path(folder)
    pictures = sorted(item for item in (path / "figures").glob("*") if item.is_file())
    return Package(
        path.name,
        (path / "article.pdf").read_bytes(),
        (path / "article.xml").read_bytes(),
        {item.name: item.read_bytes() for item in pictures},
    )


def sound_packages(folder: Path, limit: int = 12, max_bytes: int = 1_500_000) -> list[str]:
    """Return the small packages of a folder whose PDF and XML can be read."""
    import pymupdf
    from lxml import etree

    found = []
    for item in sorted(folder.iterdir()):
        pdf, xml = item / "article.pdf", item / "article.xml"
        if not pdf.is_file() or not xml.is_file() or pdf.stat().st_size > max_bytes:
            continue
        try:
            etree.fromstring(xml.read_bytes())
            document = pymupdf.open(pdf)
            if document.needs_pass or document.page_count < 1:
                continue
        except Exception:  # the samples hold broken articles, too
            continue
        found.append(str(item))
    return found[:limit]


def flipped(data: bytes, rng: random.Random, count: int) -> bytes:
    """Return the bytes with some of them replaced."""
    result = bytearray(data)
    for _ in range(count if result else 0):
        result[rng.randrange(len(result))] = rng.randrange(256)
    return bytes(result)


def cut(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes cut off somewhere."""
    return data[: rng.randrange(len(data) + 1)]


def without_a_part(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes without some in the middle."""
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start + rng.randrange(1, 2 + len(data) // 4) :]


def odd_text(rng: random.Random, words: Sequence[str], length: int) -> str:
    """Return a text of words, attacks and odd characters."""
    parts = []
    for _ in range(length):
        chance = rng.random()
        if chance < 0.7:
            parts.append(rng.choice(words))
        elif chance < 0.9:
            parts.append(rng.choice(ODD_CHARACTERS))
        else:
            parts.append(rng.choice(ATTACKS))
    return rng.choice((" ", " ", "", "\n")).join(parts)
