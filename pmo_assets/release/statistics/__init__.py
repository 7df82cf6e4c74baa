"""The numbers of a release: counts, what was lost where and why, beside the paper's.

What belongs here: counting over all batches, and how counts are said in words and tables. What does not: pages.
"""
