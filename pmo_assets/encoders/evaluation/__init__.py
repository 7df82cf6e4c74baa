"""How good the embeddings of a dual encoder are, whoever made them; it loads no PyTorch.

Arrays and tables of embeddings, exact ranks, retrieval with intervals, classification, robustness, distances between
sets of embeddings, maps, and data sets of others in their published layouts. An encoder itself stands elsewhere: here
it is arrays, or a function that makes them.
"""
