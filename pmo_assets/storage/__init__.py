"""The data root, local or `s3://`: tables, objects, pixels, and the registry of batches.

What belongs here: writing whole or not at all, and reading back. What does not: knowing what a table means.
"""
