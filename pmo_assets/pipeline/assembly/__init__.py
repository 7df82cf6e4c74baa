"""Assembly of panels: each with its printed identifiers, subcaption and images; and the panels' pictures.

Add here: assignment by geometry and by name. Keep out: finding boxes, splitting captions.
"""
