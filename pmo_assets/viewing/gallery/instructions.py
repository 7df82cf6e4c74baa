"""Instructions about panels, as the page reads them: turns, and what each answer rests on, marked where it stands.

Belongs here: the data of `data/instructions/`. Does not belong here: how it is drawn
(`viewing/templates/gallery/instructions.js`).
"""

from __future__ import annotations

from pmo_assets.viewing.gallery.entries import Entry, shown_place
from pmo_assets.viewing.gallery.records import GalleryFigure, GalleryInstruction
from pmo_assets.viewing.markup import plain_text


def instructions_entry(figure: GalleryFigure) -> Entry | None:
    """Return the instructions about a figure's panels, for the page; None without any.

    A panel has a list of them: `kind`, `turns` (0 for who asks or 1 for who answers, and the words), `texts` (name of a
    text, and its parts: words alone, or [words] that the answer rests on), `others` (what it rests on besides words),
    `places` of its boxes in percent as in the figure's entry.
    """
    if not any(panel.instructions for panel in figure.panels):
        return None
    return {"panels": [[_instruction(item) for item in panel.instructions] or None for panel in figure.panels]}


def _instruction(item: GalleryInstruction) -> Entry:
    return {
        "kind": item.kind,
        "turns": [[int(role == "assistant"), plain_text(words)] for role, words in item.turns],
        "texts": [
            [name, [[plain_text(words)] if kind else plain_text(words) for words, kind in parts]]
            for name, parts in item.evidence.texts
        ],
        "others": [plain_text(words) for words in item.evidence.others],
        "places": [place for box in item.boxes if (place := shown_place(box)) is not None],
    }
