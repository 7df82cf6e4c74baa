"""What belongs to which panel: printed identifiers, subcaption, images; and the panels' pictures.

What belongs here: assignment by geometry and by name. What does not: finding boxes, splitting captions.
"""
