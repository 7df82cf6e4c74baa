"""Examples to train on: pictures and regions with their texts, read from a release or from tar shards of its pairs.

Add here: sources of examples, and how a text is put together. Keep out: PyTorch, and the order of training.
"""
