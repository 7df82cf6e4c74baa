"""Figures: PDF layout to figures and captions, rendering, multi-page joins, matching to package figures."""
