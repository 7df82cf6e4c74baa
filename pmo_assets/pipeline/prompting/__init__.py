"""Asking a language model as a task: prompts as data, answers that are held to rules and sent back until they fit.

What belongs here is the same for every task. What a task asks, and what a fitting answer is, stands in its own room.
"""
