"""Quality of findings against annotated articles: numbers, plots, the worst cases as pictures.

Add here: comparisons. Keep out: ground truth itself (`annotation/`), drawing (`viewing/`).
"""
