"""A published PubMed-Ophtha beside a release: reading its file, matching its rows, what both say and one lacks.

What belongs here: what `pmo release compare` shows. What does not: how two releases of ours differ (`differences`).
"""
