"""How far what was found is from annotated articles: numbers, plots, the worst cases as pictures.

What belongs here: comparing. What does not: ground truth itself (`annotation/`), drawing (`viewing/`).
"""
