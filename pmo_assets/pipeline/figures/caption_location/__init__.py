"""Captions on the pages: their labels, and where they are by the XML's words and by layout alone."""
