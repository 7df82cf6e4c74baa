"""pmo-assets: open-access articles of PubMed Central in, an ophthalmic panel image-text dataset out.

`pmo_assets.load("data")` opens a release; everything else is imported from its room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pmo_assets.loading import load

__all__ = ["__version__", "load"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import `load` when it is first asked for: importing the package stays free of Polars and PyArrow."""
    if name == "load":
        from pmo_assets.loading import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
