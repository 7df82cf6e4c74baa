"""The web UI as a person uses it: `pmo dev` as real processes, clicks in a headless Chromium."""
