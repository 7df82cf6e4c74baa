"""What the assets are made with: storage, article sources, worker processes.

Each resource implements a protocol that `pmo_assets.pipeline` declares, and can be replaced in
`build_defs(resource_overrides=…)`.
"""
