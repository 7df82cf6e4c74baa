"""Training of dual encoders: recipes, order of examples, losses between levels, gradients of large batches, the run.

Add here: what decides how an encoder is taught. Keep out: encoders themselves (`networks`), reading of releases
(`examples`), and how good embeddings are (`evaluation`). Only `recipes.py` loads without PyTorch.
"""
