"""Ground truth: how annotated articles are written down (`docs/annotation_guide.md`) and read.

Add here: the JSON format and its records. Keep out: comparing anything with it (`quality/`).
"""
