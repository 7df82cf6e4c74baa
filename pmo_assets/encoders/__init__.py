"""Dual encoders of pictures and texts; needs the extra `encoders`.

`examples/` reads pictures with their texts, `networks/` has the encoders, `training/` teaches them; `evaluation/` says
how good embeddings are, whoever made them; `search/` finds panels by them.
"""
