"""What is known of an article: JATS XML, the PDF's front page, licence, credit, relevance.

What belongs here: facts of whole articles. What does not: where packages come from (`sources/`), and their figures.
"""
