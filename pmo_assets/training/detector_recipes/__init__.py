"""Recipes of detectors as files: every number with its source. `training/detector_recipe.py` reads them."""
