"""The folder that goes to the Hugging Face hub: the files beside its tables, the push, its tar form.

Add here: files and formats that others define (the hub's card, Croissant, CITATION.cff, SHA256SUMS,
webdataset). Keep out: the choice of a release's rows, and its Parquet files themselves.
"""
