"""Articles: packages, JATS parsing, the three-level relevance filter, licences, in-text mentions, batches."""
