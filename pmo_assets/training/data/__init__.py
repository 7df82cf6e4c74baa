"""Figures to learn from: COCO files, annotated articles, shards of synthetic figures."""
