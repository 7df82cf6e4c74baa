"""Restoring what a release withholds, from one's own copies of the articles; for oneself only.

What belongs here: where the copies are (`copies`), what is made of one (`restoring`), files with nulls that become
files without (`shards`), a whole folder of the hub (`folder`). The rules by which pictures and texts are made are the
pipeline's; what is withheld, and the hashes by which it is known again, is written by `release.writing`.
"""
