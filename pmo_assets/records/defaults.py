"""Limits and thresholds that settings and steps share: the default of an option has one home."""

from __future__ import annotations

from typing import Final

MAX_PDF_MB: Final = 256.0
"""MiB; larger PDFs are scans of books."""

MAX_PAGES: Final = 400
"""Longer documents are books or proceedings, not articles; PMC articles rarely pass 60 pages."""

MAX_DPI: Final = 600
"""More is upsampled or a resolution error of the typesetter; print uses 300 for pictures and 600 for line art."""

MAX_PIXELS: Final = 40_000_000
"""A full page at 600 dpi has 33 million."""

SCORE_THRESHOLD: Final = 0.25
"""Detections below this score are dropped (paper, Methods)."""

NMS_IOU: Final = 0.3
"""Overlap above which the weaker of two detections of one class is dropped (paper, Methods)."""

CONCURRENCY: Final = 16
"""Captions asked side by side: a server with continuous batching answers so many about as fast as one."""

VISION_PIXELS: Final = 2_000_000
"""Pixels of a figure as a vision model sees it: about 2,000 tokens for Qwen3-VL, and letters of 8 points across a
page can be read."""

VISION_CONCURRENCY: Final = 8
"""Figures looked at side by side: each has one request under way, and pictures take more of a server than captions."""

CREATOR: Final = "The pmo-assets maintainers"
"""Creator of a release, until somebody names one."""

REPOSITORY: Final = "OWNER/NAME"
"""Name of a release's repository on the Hugging Face hub, until somebody gives one."""

TRUSTED_SOURCES: Final = ("pmc://",)
"""Sources whose retractions count for other sources' packages of an article: PMC's own."""

VIDEO_HOURS = 4.0
"""Hours of a video that are read: no lecture is longer."""
