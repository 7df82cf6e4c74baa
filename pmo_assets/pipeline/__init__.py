"""The paper's steps and nothing else: from an article package to rows of the dataset.

Each room holds one part and its `steps.py`, which takes rows of tables and gives a `StepOutput`; `article.py` runs the
steps in order for one article. Everything here works in a notebook: no Dagster, no settings, no storage but the
protocols of `pmo_assets.records.stores`.
"""
