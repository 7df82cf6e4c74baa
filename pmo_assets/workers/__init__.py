"""Worker processes with time and memory limits, so that no article can take the batch down."""
