"""Panels that rules leave undecided, put to a model that looks at the figure (paper, Methods, "Panel assembly").

Add here: the question, the check that an answer fits it, the settlement of two answers, the figure's panels after it.
Keep out: connections to models (`pmo_assets.models`), and prompts (`prompts/`).
"""
