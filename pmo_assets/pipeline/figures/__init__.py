"""Figures and captions in a PDF at full resolution, and which figure of the package each one is.

What belongs here: pages, captions, regions, rendering, matching. What does not: what is inside a figure.
"""
