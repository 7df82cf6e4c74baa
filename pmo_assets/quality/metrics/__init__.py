"""Metrics of the paper and of COCO: pure functions of records, without files and pictures."""
