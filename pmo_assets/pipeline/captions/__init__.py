"""One caption to one subcaption per panel: a grammar, and a language model where the grammar is not sure.

Add here: rules and models that read the caption's text alone. Keep out: anything that looks at a picture.
"""
