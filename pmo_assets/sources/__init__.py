"""Sources of articles: their listings, and the reading of a folder of files as a package.

Add here: readers of anything from outside, hardened. Keep out: the interpretation of the files (`pipeline/articles`).
"""
