"""Restoring values that a release withholds, from one's own copies of the articles; for oneself only.

Add here: places of copies (`copies`), values made of one (`restoring`), files with nulls that become files without
(`shards`), a whole folder of the hub (`folder`). Keep out: the rules by which pictures and texts are made, which are
the pipeline's; the list of withheld values and their hashes, which `release.writing` writes.
"""
