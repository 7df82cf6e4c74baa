"""What the operating system does for everybody: files that appear whole, and which process is which.

The ground floor: nothing here knows of articles, tables or data roots.
"""
