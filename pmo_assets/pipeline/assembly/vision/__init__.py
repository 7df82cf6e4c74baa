"""What rules leave undecided, put to a model that looks at the figure (paper, Methods, "Panel assembly").

What belongs here: the question, what a fitting answer is, how two answers are settled, and what becomes of a figure's
panels. What does not: how models are reached (`pmo_assets.models`), and prompts (`prompts/`).
"""
