"""Fusion of structure and network: the choice among the boxes of both, and of their edges."""
