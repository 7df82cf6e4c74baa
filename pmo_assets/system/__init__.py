"""Services of the operating system for all rooms: files that appear whole, identities of processes, room on disks.

The ground floor: nothing here knows of articles, tables or data roots.
"""
