"""The tables: one file per asset group, with the meaning of every column.

Add here: schemas, and conversion between rows and records (`rows.record_of`): inside the pipeline there are
records, at its border rows. A module names its tables in `SCHEMAS`, which is where they are found.
Keep out: reading, writing, deciding. Schemas are enforced where tables are written (`pmo_assets.storage`).
"""
