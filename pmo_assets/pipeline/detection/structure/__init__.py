"""Detection without a network: gutters, frames, glyphs, live text, bitmaps that the PDF placed."""
