"""Regions: marks on the images of a panel, phrases that name them, and the regions that both show."""
