"""The assets: one module per group, found and loaded by itself (`pmo_assets.defs.loading`).

What belongs in a module: declarations (`stage_table`), counts and previews for the UI. What does not: any rule.
"""
