"""Lecture videos as pairs of pictures and speech: frames, episodes, keyframes, pictures on slides, words, names.

Add here: what is read out of one video (OphIn-Engine, arXiv 2605.27916, section 3.1). Keep out: detectors and OCR
engines (rooms `detection` and `assembly`), terms (`lexicon`), folders of videos and their licences.
"""
