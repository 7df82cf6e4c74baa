"""Dagster: assets, resources, partitions, jobs, sensors, schedules, checks, code versions, running without the UI.

The only room that knows Dagster. What belongs here: what Dagster is told. What does not: how anything is made; an
asset names a step of the pipeline, and `stage_table` does the rest.
"""
