"""How the dataset is made: plain Python that works in a notebook.

Nothing below this package imports Dagster, `pmo_assets.assets` or `pmo_assets.resources`. What a step needs from
outside (storage, models) arrives as an argument.
"""
