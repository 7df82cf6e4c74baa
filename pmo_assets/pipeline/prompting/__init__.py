"""Asking a language model as a task: prompts as data, answers that are held to rules and sent back until they fit.

Add here: code that is the same for every task. Keep out: a task's questions and the rules of a fitting answer, which
stand in its own room.
"""
