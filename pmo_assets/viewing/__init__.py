"""Pictures and pages for people: overlays, contact sheets, coloured captions, the HTML gallery, the dataset report.

Does not belong here: anything that decides what is in the dataset, and anything that knows Dagster. Pictures go out as
arrays or encoded bytes, the report as one HTML string, the gallery as the files of a folder; both work from a disk.
"""
