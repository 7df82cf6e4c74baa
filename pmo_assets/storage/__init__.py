"""The data root, local or `s3://`: tables, objects, pixels, and the registry of batches.

Add here: writing whole or not at all, and reading back. Keep out: the meaning of tables.
"""
