"""Dual encoders of pictures and texts; needs the extra `encoders`.

`evaluation/` says how good embeddings are, whoever made them.
"""
