"""pmo-assets: open-access articles of PubMed Central in, an ophthalmic panel image-text dataset out."""

__version__ = "0.1.0"
