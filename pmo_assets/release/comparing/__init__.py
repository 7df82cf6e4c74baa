"""A published PubMed-Ophtha beside a release: reading its file, matching its rows, comparing both, finding gaps.

Add here: contents of `pmo release compare`. Keep out: differences of two releases of ours (`differences`).
"""
