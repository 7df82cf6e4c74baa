"""The networks that can be trained, behind one registry."""
