"""Finding panels of a release by what their embeddings say; only `queries` loads PyTorch.

An index of embeddings that belongs to one encoder and one release, panels that are nearest to a text, a picture or
another panel, and panels that look wrong: near-duplicates, and those whose text is far from their picture.
"""
