"""Pages in the browser: the server of a data root's pages for people, their addresses, and the metrics.

What belongs here: which files of a data root may be seen, how they are sent, the page that links to them, numbers for
Prometheus that tables tell. What does not: what is on the pages (`viewing`, `release`, `quality`), and Dagster: what
only its instance knows is handed in by `defs`.
"""
