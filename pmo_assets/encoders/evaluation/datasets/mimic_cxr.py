"""MIMIC-CXR-JPG: chest radiographs with reports (Johnson et al. 2019).

Layout: `mimic-cxr-2.0.0-split.csv[.gz]` {dicom_id, study_id, subject_id, split}, pictures
`files/p10/p10000032/s50414267/<dicom_id>.jpg`; reports of MIMIC-CXR `files/p10/p10000032/s50414267.txt` in the same
folder, or in `mimic-cxr-reports`.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Final

from pmo_assets.encoders.evaluation.datasets.examples import DataMissing, DataSet, Example, csv_rows, read_picture

WHERE: Final = (
    "pictures: https://physionet.org/content/mimic-cxr-jpg/, reports: https://physionet.org/content/mimic-cxr/ "
    "(mimic-cxr-reports.zip); both for credentialed users of PhysioNet who sign its data use agreement"
)

_HEADING: Final = re.compile(r"^[ \t]*([A-Z][A-Z /()-]{2,40}):", re.MULTILINE)
_WANTED: Final = ("IMPRESSION", "FINDINGS")
"""Sections that say what the picture shows, the shorter one first."""

_MOST_REPORT: Final = 100_000


def read_mimic_cxr(root: Path, split: str = "test") -> DataSet:
    """Return pictures with the impression of their study's report (else the findings); a study is a group.

    Args:
        root: folder of MIMIC-CXR-JPG.
        split: train, validate or test.

    Raises:
        DataMissing: if it is not there; says where it is to be had.
    """
    lists = sorted(root.glob("mimic-cxr-*-split.csv*"))
    if not lists or not (root / "files").is_dir():
        raise DataMissing(f"MIMIC-CXR-JPG is not in {root} (mimic-cxr-2.0.0-split.csv, files/p10/…); {WHERE}")
    examples, no_picture, no_text = [], 0, 0
    for row in csv_rows(lists[0], ("dicom_id", "study_id", "subject_id", "split")):
        if row["split"] != split:
            continue
        if not all(re.fullmatch(r"[\w-]+", row[name]) for name in ("dicom_id", "study_id", "subject_id")):
            no_picture += 1
            continue
        subject = f"p{row['subject_id']}"
        study = f"files/{subject[:3]}/{subject}/s{row['study_id']}"
        picture = root / study / f"{row['dicom_id']}.jpg"
        text = _report(root, study)
        if not picture.is_file():
            no_picture += 1
        elif text is None:
            no_text += 1
        else:
            pixels = partial(read_picture, picture)
            examples.append(Example(row["dicom_id"], pixels, (text,), group=f"s{row['study_id']}"))
    left_out = tuple(
        f"{count:,} {what}"
        for count, what in ((no_picture, "without a picture"), (no_text, "without a report"))
        if count
    )
    return DataSet(f"MIMIC-CXR {split}", tuple(examples), left_out=left_out)


def _report(root: Path, study: str) -> str | None:
    for folder in (root, root / "mimic-cxr-reports"):
        file = folder / f"{study}.txt"
        if file.is_file():
            return section_of(file.read_bytes()[:_MOST_REPORT].decode("utf-8", errors="replace"))
    return None


def section_of(report: str) -> str | None:
    """Return the impression of a report, else its findings, in one line; None if it has neither."""
    parts = _HEADING.split(report)
    sections = {name.strip(): " ".join(text.split()) for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    return next((sections[name] for name in _WANTED if sections.get(name)), None)
