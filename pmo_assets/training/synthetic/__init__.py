"""Compound figures with exact boxes: layouts, pictures, drawings, letters, marks."""
