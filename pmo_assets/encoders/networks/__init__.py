"""Dual encoders as open_clip has them: by name, from a folder, or the embedded one of weights on the package index.

Add here: what makes or saves an encoder, and how its towers come apart into a body and a head. Keep out: how it is
trained. Needs PyTorch.
"""
