"""Panels, printed identifiers and images in figures, image types and mark status.

`structure/` reads gutters, frames and glyphs; `networks/` runs trained models; `fusion/` takes the best of both;
`detector_set` chooses. What does not belong here: what a box belongs to (`assembly/`).
"""
