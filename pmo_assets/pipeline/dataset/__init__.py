"""Dataset: rows with the published columns, the release, its card and gallery data."""
