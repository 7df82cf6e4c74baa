"""Captions put together from their parts, and the true subcaption of each panel.

The subcaption follows the annotation guide: general introduction, the panel's own text and closing sentences in caption
order, identifiers removed, the capital at a sentence start and the final full stop repaired, nothing else changed.
"""

from __future__ import annotations

from itertools import pairwise

from pmo_assets.samples.spec import CaptionEntry, CaptionSpec


def _is_series(names: tuple[str, ...]) -> bool:
    """Say whether single letters or digits follow each other."""
    return all(len(name) == 1 for name in names) and all(ord(b) - ord(a) == 1 for a, b in pairwise(names))


def _named(entry: CaptionEntry, caption: CaptionSpec) -> str:
    """Write the entry's identifiers: one, a list, or a range of three or more that follow each other."""
    names = entry.identifiers
    if len(names) > 2 and _is_series(names):
        return caption.bracket.format(f"{names[0]}{caption.range_mark}{names[-1]}")
    return caption.bracket.format(caption.list_mark.join(names))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _uncapitalised(text: str) -> str:
    """Lower the first letter unless the word is an abbreviation ("OCT", "T1")."""
    return text if text[1:2].isupper() or text[1:2].isdigit() else text[:1].lower() + text[1:]


def _joined(parts: list[str]) -> str:
    return " ".join(part for part in parts if part)


def caption_text(caption: CaptionSpec) -> str:
    """Return the whole caption without the figure's label."""
    entries = caption.entries
    middle = ""
    if caption.style == "sentences":
        middle = " ".join(f"{_named(e, caption)} {e.text}." for e in entries)
    elif caption.style == "semicolons":
        texts = [
            e.text if i == 0 and not _continues(caption) else _uncapitalised(e.text) for i, e in enumerate(entries)
        ]
        middle = "; ".join(f"{_named(e, caption)} {t}" for e, t in zip(entries, texts, strict=True)) + "."
    elif caption.style == "listing":
        texts = [
            e.text if i == 0 and not _continues(caption) else _uncapitalised(e.text) for i, e in enumerate(entries)
        ]
        named = [f"{_named(e, caption)} {t}" for e, t in zip(entries, texts, strict=True)]
        middle = (", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else named[0]) + "."
    elif caption.style == "trailing":
        texts = [e.text if i == 0 else _uncapitalised(e.text) for i, e in enumerate(entries)]
        named = [f"{t} {_named(e, caption)}" for e, t in zip(entries, texts, strict=True)]
        middle = (", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else named[0]) + "."
    elif caption.style == "positional":
        noun = f" {caption.noun}" if caption.noun else ""
        middle = " ".join(f"{_capitalised(e.identifiers[0])}{noun}: {_uncapitalised(e.text)}." for e in entries)
    return _joined([caption.introduction, middle, caption.closing])


def _continues(caption: CaptionSpec) -> bool:
    """Say whether the entries go on in the introduction's sentence ("Fundus of the patient: (a) …")."""
    return caption.introduction.endswith((":", ",", " "))


def subcaption(caption: CaptionSpec, identifier: str | None) -> str:
    """Return the true subcaption of the panel.

    Raises:
        KeyError: if the caption has entries but none for this panel.
    """
    if not caption.entries:
        return _joined([caption.introduction, caption.closing])
    own = [e.text for e in caption.entries if identifier in e.identifiers]
    if not own:
        raise KeyError(f"the caption has no text for panel {identifier!r}")
    texts = [(_uncapitalised(t) if _continues(caption) else _capitalised(t)) + "." for t in own]
    return _joined([caption.introduction, *texts, caption.closing])
