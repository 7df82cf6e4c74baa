"""Refreshing from PMC: articles that a search finds are looked up in the bucket and become batches.

The steps in order: `inventory` (the bucket's daily list), `finding` (search, look, the events of each article),
`registering` (new and changed articles become batches). The table `candidates` holds the state of knowledge.
"""
