"""Refreshing from PMC: what a search finds, what the bucket holds of it, and which batches that makes.

The steps in order: `inventory` (the bucket's daily list), `finding` (search, look, what happened to each article),
`registering` (new and changed articles become batches). What is known is the table `candidates`.
"""
