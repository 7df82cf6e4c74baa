"""Tests of the readers of other data sets."""
