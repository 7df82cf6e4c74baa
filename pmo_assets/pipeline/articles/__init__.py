"""Facts of whole articles, from JATS XML and the PDF's front page: identity, licence, credit, relevance.

Add here: readers of facts that hold for the article as a whole. Keep out: reading packages from outside (`sources/`),
and the articles' figures (`pipeline/figures`).
"""
