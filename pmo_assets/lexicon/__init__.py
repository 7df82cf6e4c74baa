"""The lexicon of ophthalmic terms: data (TOML, a file per group), its reader, and the words that terms are made of.

Add here: terms, synonyms, meanings of ambiguous abbreviations, rules of spelling. Keep out: what a text says of a term
(`pipeline.context`).
"""
