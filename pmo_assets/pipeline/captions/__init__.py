"""One caption to one subcaption per panel: a grammar, and a language model where the grammar is not sure.

What belongs here: text only. What does not: anything that looks at a picture.
"""
