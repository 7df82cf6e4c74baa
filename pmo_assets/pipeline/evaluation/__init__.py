"""Evaluation: what the pipeline finds, compared with annotations."""
