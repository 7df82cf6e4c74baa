"""Regions of figures on each page, once its captions are known."""
