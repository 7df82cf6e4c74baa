"""Rows with the published columns: licences, attribution, one package per article, the card.

What belongs here: what a row of the dataset says. What does not: files (`release/`).
"""
