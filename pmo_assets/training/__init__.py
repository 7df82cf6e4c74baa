"""Synthetic and annotated figures, and the networks that are trained on them; needs the extra `models`.

`synthetic/` draws figures, `data/` reads and writes them, `architectures/` holds networks, `loop/` trains and exports.
"""
