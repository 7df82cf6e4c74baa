"""What exists: one module per group, a few lines per asset (read, call the pipeline, return table and metadata)."""
