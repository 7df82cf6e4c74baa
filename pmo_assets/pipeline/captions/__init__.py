"""Captions: panel identifiers and one subcaption per panel."""
