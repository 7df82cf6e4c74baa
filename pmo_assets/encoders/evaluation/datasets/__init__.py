"""Data sets of others in their published layouts: pictures with texts or labels. None of them is fetched."""
