"""`pmo …`: one file per group of commands, put together in `main`; `console` is what they share."""
