"""Safe text and links for pages, and the Jinja2 environment that escapes everything.

Titles, captions and links come from articles on the internet, so they are hostile until they have passed through here.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from urllib.parse import urlsplit

import jinja2

from pmo_assets.viewing.palette import IMAGE_TYPE_COLOURS, KIND_COLOURS, SHARED_COLOUR, UNDECIDED_COLOUR

# Control characters, lone surrogates and non-characters are not allowed in HTML; the direction overrides (U+202A to
# U+202E, U+2066 to U+2069) could make text read as something else.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def plain_text(text: str) -> str:
    """Return the text with characters that HTML or UTF-8 cannot carry replaced by U+FFFD.

    One character stays one character, so offsets into the text stay valid.
    """
    return _UNPRINTABLE.sub("\ufffd", text)


def web_url(url: str | None) -> str | None:
    """Return the URL when it is an absolute http(s) one, else None (`javascript:`, `data:`, relative, malformed)."""
    if not url:
        return None
    url = plain_text(url.strip())
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in {"http", "https"} and parts.netloc and "\ufffd" not in url else None


def slug(text: str) -> str:
    """Return the text as a part of an HTML id: ASCII letters, digits, dot and hyphen, at most 80 characters."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text)[:80].strip("-") or "x"


def number_text(value: float) -> str:
    """Return a number for people: thousands separated by commas, other numbers with three significant digits."""
    if isinstance(value, int) or (abs(value) < 1e15 and value == int(value)):
        return f"{int(value):,}"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"


def content_hash(text: str) -> str:
    """Return the Content-Security-Policy source that allows exactly this inline script ('sha256-…')."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


PACKAGE_DATA = ("viewing/templates",)
"""Files of the package that this module reads."""


@cache
def asset_text(name: str) -> str:
    """Return a file of the template folder as text (style sheets and scripts that pages carry inline)."""
    return (files("pmo_assets.viewing") / "templates" / name).read_text(encoding="utf-8")


def palette_css() -> str:
    """Return the palette as CSS custom properties: `--panel`, `--identifier`, `--shared`, `--undecided`, `--type-…`."""
    variables = {
        **KIND_COLOURS,
        "shared": SHARED_COLOUR,
        "undecided": UNDECIDED_COLOUR,
        **{f"type-{slug(name).lower()}": colour for name, colour in IMAGE_TYPE_COLOURS.items()},
    }
    return ":root{" + "".join(f"--{name}:{colour};" for name, colour in variables.items()) + "}"


def _finalised(value: object) -> object:
    # Runs on every printed expression before escaping; Markup stays Markup.
    if value is None:
        return ""
    return plain_text(value) if type(value) is str else value


@cache
def page_templates() -> jinja2.Environment:
    """Return the environment of the page templates: everything is escaped, an unknown name is an error."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(asset_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalised,
    )
