"""The numbers of a release: counts, and losses by step and reason, beside the paper's.

Add here: counting over all batches, and counts in words and tables. Keep out: pages.
"""
