"""The settings of this installation, read and checked before anything begins, and checks that this machine fits them.

`read_configuration` returns the settings, the place that each was set at, and all problems; `configured_settings`
refuses settings with problems; `home` finds Dagster's home. Add here: a check of the installation, another source of
settings, an input of steps. Keep out: the options themselves (`pmo_assets.settings`), code that needs Dagster
(`pmo_assets.defs`), printing (`pmo_assets.cli`).
"""
