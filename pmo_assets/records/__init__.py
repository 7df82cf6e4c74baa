"""Ground floor: the records, names and rules that every room shares. Imports nothing of the package but itself.

Add here: dataclasses that pass from room to room, the errors and outcomes of a step, protocols that the
pipeline needs of storage and models, and rules with more than one user (boxes, reading order, image types). Keep out:
anything that reads a file, runs a model or knows a table.
"""
