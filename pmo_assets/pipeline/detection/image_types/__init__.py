"""Modality of a picture, and which of the paper's four image types it is."""
