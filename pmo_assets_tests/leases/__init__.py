"""Runs that want the same: commands, queues, pools; killed and stopped."""
