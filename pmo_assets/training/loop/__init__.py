"""Training runs: options, resumable loop, curves, export, model cards."""
