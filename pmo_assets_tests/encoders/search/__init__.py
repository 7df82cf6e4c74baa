"""Tests of the part `search` of the room `encoders`."""
