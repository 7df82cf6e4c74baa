"""What is set here, read and checked before anything begins, and whether this machine fits it.

`read_configuration` gives the settings with where each came from and everything that is wrong with them,
`configured_settings` refuses what is wrong, `home` says where Dagster's home lies. Does not belong here: what an option
is (`pmo_assets.settings`), what needs Dagster (`pmo_assets.defs`), printing (`pmo_assets.cli`).
"""
