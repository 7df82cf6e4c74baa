"""HTML by which a notebook shows a panel or figure."""

from __future__ import annotations

import base64
import html
import io
from urllib.parse import urlsplit

import PIL.Image

_SHOWN_PIXELS = 480
"""Longest side of a picture in a notebook: the file holds every picture that it shows."""


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


def in_notebook(
    name: str, picture: bytes | None, text: str | None, licence: str | None, attribution: str, address: str | None
) -> str:
    """Return HTML with the picture, its text and whom to credit.

    Args:
        name: what stands for the picture where there is none.
        picture: a file; None where it is withheld.
        text: subcaption or caption; None where it is withheld.
        licence: its code; None where none is stated.
        attribution: whom to credit.
        address: of the article.
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
    return (
        f'<figure style="margin: 0; max-width: {_SHOWN_PIXELS}px">{above}<figcaption>{below}<br>'
        f"<small>{credit}; {html.escape(licence or 'no licence stated')}</small></figcaption></figure>"
    )
