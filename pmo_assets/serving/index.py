"""The page that links to all others, and the one for addresses without a page, with advice."""

from __future__ import annotations

from typing import Final

from pmo_assets.release.keys import (
    ANNOTATION_KEY,
    CARD_KEY,
    GALLERY_KEY,
    HUB,
    LICENSE_KEY,
    REJECTION_PAGES,
    RELEASE_KEY,
    REPORT_KEY,
)
from pmo_assets.release.versions import version_facts
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.removed import removed_batches
from pmo_assets.viewing.links import Link, LinkGroup, links_page

METRICS_PATH: Final = "/metrics"

SEARCH_PATH: Final = "/search"

_PAGES_OF_THE_RELEASE: Final = (
    (GALLERY_KEY, "Gallery", "Every figure of the release with panels, images and subcaptions; search and filters."),
    (REPORT_KEY, "Report", "What was lost where, numbers beside the paper's, licences, rejections."),
    (CARD_KEY, "Card", "What the dataset is, how to load it, what its columns mean."),
    (f"{HUB}/CHANGES.md", "Changes", "What each version has that the one before had not."),
    (LICENSE_KEY, "Licences", "Which licences the rows have."),
)

_FILES_OF_THE_RELEASE: Final = (
    (RELEASE_KEY, "One row per panel, in the columns of PubMed-Ophtha."),
    (ANNOTATION_KEY, "What people annotated, in the published form."),
    (f"{HUB}/croissant.json", "Croissant: the dataset described for machines."),
    (f"{HUB}/statistics.json", "The numbers of the report."),
    (f"{HUB}/SHA256SUMS", "Checksums of the folder for the Hub."),
)

_QUALITY_NOTES: Final = {
    "figure_quality": "Figures and captions found, beside the annotated ones.",
    "subcaption_quality": "Captions split, beside the annotated subcaptions.",
    "detection_quality": "Panels, identifiers and images found, beside the annotated ones.",
    "assembly_quality": "Which panels got the right identifier and subcaption.",
    "annotation_quality": "How far people agree.",
}


def index_page(root: DataRoot, *, metrics: bool, search: bool = False) -> str:
    """Return the page that links to all pages below a data root.

    Args:
        root: the data root.
        metrics: the server has numbers for Prometheus.
        search: the server has an index of the release's panels.

    Raises:
        StorageError: if the root cannot be read.
    """
    release = [Link(name, f"/{key}", note) for key, name, note in _PAGES_OF_THE_RELEASE if root.exists(key)]
    if search:
        release.append(Link("Search", SEARCH_PATH, "Panels nearest to a text, a picture or another panel."))
    files = [Link(key.rpartition("/")[2], f"/{key}", note) for key, note in _FILES_OF_THE_RELEASE if root.exists(key)]
    measured = [name.removesuffix(".html") for name in root.keys("quality", ".html")]
    pages = [name.removesuffix(".html") for name in root.keys(REJECTION_PAGES, ".html")]
    removed = removed_batches(root)
    batches = [name for name in pages if name not in removed]
    groups = [
        LinkGroup(
            "Release",
            tuple(release),
            "" if release else "There is none yet: materialise dataset_report, or run pmo run.",
        ),
        LinkGroup("Files of the release", tuple(files)),
        LinkGroup(
            "Quality",
            tuple(
                Link(name.replace("_", " ").capitalize(), f"/quality/{name}.html", _QUALITY_NOTES.get(name, ""))
                for name in measured
            ),
            "" if measured else "Nothing is measured yet: set PMO_ANNOTATIONS and run pmo quality.",
        ),
        LinkGroup(
            "Rejections, by batch",
            tuple(Link(batch, f"/{REJECTION_PAGES}/{batch}.html") for batch in reversed(batches)),
            "What could not be processed, and why; the newest batch first."
            if batches
            else "No batch has a page yet: materialise rejections.",
            short=True,
        ),
        LinkGroup("Operation", (Link("Metrics", METRICS_PATH, "Numbers for Prometheus."),) if metrics else ()),
    ]
    return links_page(
        "PubMed-Ophtha assets",
        [group for group in groups if group.links or group.note],
        lead="What there is to look at below this data root. Batches are processed in the Dagster UI.",
        facts=[("data root", root.root), *version_facts(root).items()],
    )


_MADE_BY: Final = (
    ("release/gallery/", "The gallery is made by the asset pubmed_ophtha."),
    (REPORT_KEY, "The report is made by the asset dataset_report."),
    (f"{HUB}/", "The folder for the Hub is made by the asset pubmed_ophtha."),
    (f"{REJECTION_PAGES}/", "The page of a batch is made by the asset rejections of that batch."),
    ("quality/", "Quality pages are made by the assets of the group quality (PMO_ANNOTATIONS, pmo quality)."),
    ("release/", "Files of the release are made by the assets pubmed_ophtha and dataset_report."),
)


def missing_page(path: str) -> str:
    """Return the page for an address at which there is nothing: the asset that makes it, and links to go on."""
    made_by = next((text for start, text in _MADE_BY if path.removeprefix("/").startswith(start)), "")
    hint = (
        f"{made_by} Materialise that in the Dagster UI, or run pmo run, then load this page again." if made_by else ""
    )
    return _way_back("Not here", f"There is no page at {path}. {hint}".strip())


def broken_page(reason: str) -> str:
    """Return the page for when the storage cannot be read."""
    return _way_back("The data root cannot be read", reason)


def _way_back(title: str, lead: str) -> str:
    return links_page(
        title, [LinkGroup("Instead", (Link("What there is", "/", "All pages of this data root."),))], lead=lead
    )
