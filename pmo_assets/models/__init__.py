"""Language models behind one protocol: a chat endpoint, vLLM in this process, and the answers that were kept.

What belongs here: talking to a model. What does not: prompts (`prompts/`) and what is made of an answer (`pipeline/`).
"""
