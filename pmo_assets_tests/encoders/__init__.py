"""Tests of the room `encoders`."""
