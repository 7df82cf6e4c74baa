"""Reading the identifiers that are printed in figures: OCR engines, crops, and what the caption may name."""
