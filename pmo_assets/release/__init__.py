"""Releases of a data root: the current rows of all batches, the Parquet file, gallery, report, losses.

Add here: code that reads all batches at once. Keep out: code that makes any of their rows.
"""
