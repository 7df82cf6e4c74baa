"""Regions: which part of each page is which figure, once its captions are known."""
