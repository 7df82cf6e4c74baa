"""Where articles come from: what a source lists, and how a folder of files is read as a package.

What belongs here: reading from outside, hardened. What does not: what the files say (`pipeline/articles`).
"""
