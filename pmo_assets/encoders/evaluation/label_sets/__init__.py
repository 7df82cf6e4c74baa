"""Classes for zero-shot classification as data: a TOML file each, with the prompts of every class."""
