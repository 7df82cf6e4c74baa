"""HTML by which a notebook shows a panel or figure."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from urllib.parse import urlsplit

import PIL.Image

_SHOWN_PIXELS = 480
"""Longest side of a picture in a notebook: the file holds every picture that it shows."""

_SHOWN_SENTENCES = 10
"""Sentences of the running text that are shown at most."""


def _thumbnail(picture: bytes) -> str:
    """Return a picture, made smaller, as an address that holds it; empty where it cannot be read."""
    try:
        image = PIL.Image.open(io.BytesIO(picture)).convert("RGB")
    except (OSError, SyntaxError, ValueError):
        return ""
    image.thumbnail((_SHOWN_PIXELS, _SHOWN_PIXELS))
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode("ascii")


def _folded(title: str, texts: Sequence[str]) -> str:
    """Return texts behind their title; nothing for none."""
    if not texts:
        return ""
    rest = len(texts) - _SHOWN_SENTENCES
    shown = [*(html.escape(text) for text in texts[:_SHOWN_SENTENCES]), *([f"… and {rest} more"] if rest > 0 else [])]
    return f"<details><summary>{title}</summary>{''.join(f'<p>{text}</p>' for text in shown)}</details>"


def in_notebook(
    name: str,
    picture: bytes | None,
    text: str | None,
    licence: str | None,
    attribution: str,
    address: str | None,
    *,
    summary: str | None = None,
    sentences: Sequence[str] = (),
) -> str:
    """Return HTML with the picture, its text and whom to credit; what the running text says of it is folded.

    Args:
        name: what stands for the picture where there is none.
        picture: a file; None where it is withheld.
        text: subcaption or caption; None where it is withheld.
        licence: its code; None where none is stated.
        attribution: whom to credit.
        address: of the article.
        summary: of what the running text says of it.
        sentences: of the running text about it; the first `_SHOWN_SENTENCES` are shown.
    """
    shown = _thumbnail(picture) if picture is not None else ""
    if shown:
        above = f'<img src="{shown}" alt="{html.escape(name)}">'
    else:
        above = "<p><em>the licence withholds the picture</em></p>" if picture is None else "<p><em>damaged</em></p>"
    credit = html.escape(attribution)
    if address is not None and urlsplit(address).scheme in ("http", "https"):
        credit = f'<a href="{html.escape(address)}">{credit}</a>'
    below = "<em>the licence withholds the text</em>" if text is None else html.escape(text)
    more = _folded("summary", [summary] if summary else [])
    more += _folded(f"sentences of the text: {len(sentences)}", sentences)
    return (
        f'<figure style="margin: 0; max-width: {_SHOWN_PIXELS}px">{above}<figcaption>{below}<br>{more}'
        f"<small>{credit}; {html.escape(licence or 'no licence stated')}</small></figcaption></figure>"
    )
