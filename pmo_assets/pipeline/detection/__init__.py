"""Panels, printed identifiers and images in figures, image types and mark status.

`structure/` reads gutters, frames and glyphs; `networks/` runs trained models; `fusion/` takes the best of both;
`detector_set` chooses. Keep out: the assembly of boxes into panels with images (`assembly/`).
"""
