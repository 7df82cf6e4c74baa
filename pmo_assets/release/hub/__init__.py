"""The folder that goes to the Hugging Face hub: what lies beside its tables, how it is pushed, its tar form.

What belongs here: files and formats that others define (the hub's card, Croissant, CITATION.cff, SHA256SUMS,
webdataset). What does not: which rows are in a release, and its Parquet files themselves.
"""
