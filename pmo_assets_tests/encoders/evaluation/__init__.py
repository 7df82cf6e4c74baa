"""Tests of the part `evaluation` of the room `encoders`."""
