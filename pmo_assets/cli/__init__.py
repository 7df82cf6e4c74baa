"""`pmo …`: one file per group of commands, put together in `main`; all use `console`."""
