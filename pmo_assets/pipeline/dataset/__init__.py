"""Rows with the published columns: licences, attribution, one package per article, the card.

Add here: contents of a row of the dataset. Keep out: files (`release/`).
"""
