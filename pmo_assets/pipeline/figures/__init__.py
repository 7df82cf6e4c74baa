"""Figures and captions in a PDF at full resolution, each matched with its figure of the package.

Add here: rules about pages, captions, regions, rendering, matching. Keep out: the inside of a figure
(`pipeline/detection`).
"""
