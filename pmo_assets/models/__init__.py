"""Language models behind one protocol: a chat endpoint, vLLM in this process, and the answers that were kept.

Add here: ways to talk to a model. Keep out: prompts (`prompts/`) and the use of answers (`pipeline/`).
"""
