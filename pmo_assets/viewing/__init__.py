"""Pictures and pages for people: overlays, contact sheets, coloured captions, the HTML gallery, the dataset report.

Does not belong here: anything that decides what is in the dataset, and anything that knows Dagster. Pictures go out as
arrays or encoded bytes, the report as one HTML string, the gallery as the files of a folder; both work from a disk.
"""

from pmo_assets.viewing.captions import caption_html, caption_picture
from pmo_assets.viewing.gallery import GalleryFigure, GalleryImage, GalleryPanel, write_gallery_folder
from pmo_assets.viewing.overlays import contact_sheet, data_uri, draw_detections, jpeg_bytes, thumbnail
from pmo_assets.viewing.report import ReportSummary, render_report

__all__ = [
    "GalleryFigure",
    "GalleryImage",
    "GalleryPanel",
    "ReportSummary",
    "caption_html",
    "caption_picture",
    "contact_sheet",
    "data_uri",
    "draw_detections",
    "jpeg_bytes",
    "render_report",
    "thumbnail",
    "write_gallery_folder",
]
