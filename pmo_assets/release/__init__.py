"""What goes out of a data root: the current rows of all batches, the Parquet file, gallery, report, losses.

What belongs here: reading all batches at once. What does not: making any of their rows.
"""
