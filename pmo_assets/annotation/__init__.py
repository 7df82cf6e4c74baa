"""Ground truth: how annotated articles are written down (`docs/annotation_guide.md`) and read.

What belongs here: the JSON format and its records. What does not: comparing anything with it (`quality/`).
"""
