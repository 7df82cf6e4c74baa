"""A set in BIOMEDICA's format made of given articles, with what misleads, and the exact truth.

Rows have the keys of the webdataset's JSON (`06_serilaize_to_webdataset_parallel.py` of biomedica-etl): pictures are
encoded anew, captions come from the XML without label, the name is that of the picture's file. What a copy of the
dataset gets wrong is put in by `TREATMENTS` (of a figure's own row) and `DISTRACTORS` (rows that are no figure's).
"""

from __future__ import annotations

import io
import json
import random
import string
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.records.article import PackageFigure
from pmo_assets.samples import TypesetArticle

FOREIGN_ARTICLE = 12_345_678
"""Number of articles that nobody has registered."""

LABELS = (
    ("Clinical Imaging", "optical coherence tomography"),
    ("Clinical Imaging", "eye"),
    ("Plots and Charts", "bar plot"),
    ("Microscopy", "light microscopy"),
    ("Illustrative Diagrams", "flowchart"),
)
"""Primary and secondary labels of BIOMEDICA's taxonomy."""


NO_PICTURE = b"\xff\xd8\xff no picture"
"""What begins as a JPEG and is none."""


@dataclass(frozen=True)
class SetArticle:
    """An article of which the set has figures."""

    article_id: int
    figures: tuple[PackageFigure, ...]
    pictures: Mapping[str, bytes]


@dataclass(frozen=True)
class SetRow:
    """A row of the set.

    Attributes:
        article_id: as the row states it.
        name: of the picture's file, without extension.
        caption: as the row states it.
        jpg: its picture; None for none.
        labels: primary and secondary.
        kind: treatment or distractor.
        figure: (article, figure) that the row truly is; None if it is none, or nobody could tell which.
    """

    article_id: int
    name: str
    caption: str
    jpg: bytes | None
    labels: tuple[str, str]
    kind: str
    figure: tuple[int, str] | None

    def facts(self) -> dict[str, Any]:
        """Return the JSON of the row."""
        whole = self.jpg is not None and self.jpg != NO_PICTURE
        size = Image.open(io.BytesIO(self.jpg or b"")).size if whole else (0, 0)
        return {
            "image_file_name": f"{self.name}.jpg",
            "image_cluster_id": self.name,
            "image_hash": "0" * 64,
            "image_label_id": "17",
            "image_panel_type": "multiple",
            "image_panel_subtype": "multiple panels: images",
            "image_primary_label": [self.labels[0]],
            "image_secondary_label": [self.labels[1]],
            "image_size": list(size),
            "image_set": [],
            "image_context": {self.name: ["A paragraph."]},
            "article_accession_id": f"PMC{self.article_id}",
            "article_license": "CC BY",
            "article_text": "…",
        }


def set_article(article: TypesetArticle) -> SetArticle | None:
    """Return a sample article as the set needs it; None without a readable XML and pictures."""
    if not article.expected.xml_readable or article.xml is None:
        return None
    figures = parse_jats(article.xml).figures
    pictures = {
        figure.image_cluster_id: article.figures[f"{figure.image_cluster_id}.jpg"]
        for figure in figures
        if f"{figure.image_cluster_id}.jpg" in article.figures
    }
    return SetArticle(article.article_id, figures, pictures) if pictures else None


def alike_captions(article: SetArticle) -> SetArticle:
    """Return the article with captions that differ in a number only, as those of case series do."""
    text = article.figures[0].caption
    eyes = ("right", "left")
    figures = tuple(
        replace(figure, caption=f"{text} The {eyes[place % 2]} eye {3 * (place + 1)} months after treatment.")
        for place, figure in enumerate(article.figures)
    )
    return replace(article, figures=figures)


# pictures and captions, changed


def encoded_again(picture: bytes, quality: int, scale: float = 1.0) -> bytes:
    """Return a picture as a JPEG of another quality and size."""
    with Image.open(io.BytesIO(picture)) as image:
        size = (max(32, round(image.width * scale)), max(32, round(image.height * scale)))
        buffer = io.BytesIO()
        image.convert("RGB").resize(size).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def misprinted(caption: str, share: float, draw: random.Random) -> str:
    """Return a caption in which a share of the letters is another one."""
    letters = list(caption)
    for place in draw.sample(range(len(letters)), int(share * len(letters))):
        letters[place] = draw.choice(string.ascii_lowercase)
    return "".join(letters)


# a figure's own row


def _own(article: SetArticle, figure: PackageFigure, draw: random.Random) -> SetRow:
    key = figure.image_cluster_id
    return SetRow(
        article.article_id,
        key,
        figure.caption or "No caption found",
        encoded_again(article.pictures[key], 75),
        draw.choice(LABELS),
        "as it is",
        (article.article_id, key),
    )


def _small(row: SetRow, draw: random.Random) -> SetRow:
    assert row.jpg is not None
    return replace(row, jpg=encoded_again(row.jpg, draw.randint(20, 60), draw.uniform(0.25, 0.8)))


TREATMENTS: Mapping[str, Callable[[SetRow, random.Random], SetRow]] = {
    "as it is": lambda row, draw: row,
    "small picture": _small,
    "misprinted caption": lambda row, draw: replace(row, caption=misprinted(row.caption, 0.06, draw)),
    "label in caption": lambda row, draw: replace(row, caption=f"Figure {draw.randint(1, 9)}. {row.caption}"),
    "cut caption": lambda row, draw: replace(row, caption=row.caption[: max(30, len(row.caption) * 6 // 10)]),
    "no caption": lambda row, draw: replace(row, caption="No caption found"),
    "unknown name": lambda row, draw: replace(row, name=f"gr{draw.randint(10, 99)}"),
    "damaged picture": lambda row, draw: replace(row, jpg=NO_PICTURE),
}


def _exchanged(first: SetRow, second: SetRow, what: str) -> tuple[SetRow, SetRow]:
    """Return two rows of an article with each other's name or caption; picture and labels stay."""
    if what == "name":
        return replace(first, name=second.name), replace(second, name=first.name)
    return replace(first, caption=second.caption), replace(second, caption=first.caption)


# rows that are no figure's


def _distractors(rows: Sequence[SetRow], others: Sequence[SetRow], draw: random.Random, pictures: bool) -> list[SetRow]:
    """Return misleading rows beside an article's own.

    Args:
        rows: its own, as they are.
        others: rows of other articles.
        draw: what is drawn from.
        pictures: also rows that nothing but their picture tells from a figure's own.
    """
    made = []
    for row in rows:
        other = draw.choice(others)
        labels = draw.choice(LABELS)
        changes: Mapping[str, Mapping[str, Any]] = {
            "unregistered article": {"article_id": FOREIGN_ARTICLE, "jpg": row.jpg, "caption": row.caption},
            "wrong article": {},
            "wrong article, our name": {"name": row.name},
            "near caption, other picture": {"caption": misprinted(row.caption, 0.03, draw), "name": "fx1"},
        }
        if pictures:
            changes = {**changes, "our name and caption, other picture": {"caption": row.caption, "name": row.name}}
        for kind in draw.sample(sorted(changes), 2):
            made.append(
                replace(other, **{"article_id": row.article_id, **changes[kind]}, labels=labels, kind=kind, figure=None)
            )
    return made


def biomedica_set(articles: Sequence[SetArticle], seed: int = 0, *, pictures: bool = True) -> list[SetRow]:
    """Return the set of some articles, in an order that tells nothing.

    Every figure with a picture has a row of its own, treated in one way; every second article has two figures whose
    names or captions are exchanged; some rows stand twice, with the same labels or with others. (Then nobody can tell
    which labels are right, and neither row is the figure's.)

    Args:
        articles: whose figures are in it.
        seed: of what is drawn.
        pictures: the set will be written with its pictures.
    """
    draw = random.Random(seed)
    own = {
        article.article_id: [
            _own(article, figure, draw) for figure in article.figures if figure.image_cluster_id in article.pictures
        ]
        for article in articles
    }
    made: list[SetRow] = []
    kinds = sorted(TREATMENTS)
    count = 0
    for place, (article_id, rows) in enumerate(own.items()):
        others = [row for number, rest in own.items() if number != article_id for row in rest]
        made += _distractors(rows, others, draw, pictures)
        treated = list(rows)
        if place % 2 and len(rows) > 1:
            what = ("name", "caption")[place // 2 % 2]
            pair = _exchanged(rows[0], rows[1], what)
            treated[:2] = [replace(row, kind=f"exchanged {what}s") for row in pair]
        for row in treated:
            if row.kind == "as it is":
                kind = kinds[count % len(kinds)]
                count += 1
                row = replace(TREATMENTS[kind](row, draw), kind=kind)
            made.append(row)
        if place % 5 == 0:
            made.append(replace(treated[-1], kind="twice"))
        if place % 5 == 3:
            # With exactly its own row's facts, but for the labels.
            last = made.pop()
            unlike = next(labels for labels in LABELS if labels != last.labels)
            made += [
                replace(last, kind="twice, other labels", labels=labels, figure=None)
                for labels in (last.labels, unlike)
            ]
    draw.shuffle(made)
    return made


# files


def write_tar(path: Path, rows: Iterable[SetRow]) -> Path:
    """Write rows as a webdataset: JSON, JPEG and caption of each under one name."""
    with tarfile.open(path, "w") as tar:
        for number, row in enumerate(rows):
            parts = {"jpg": row.jpg, "json": json.dumps(row.facts()).encode(), "txt": row.caption.encode()}
            for extension, content in parts.items():
                if content is not None:
                    add_member(tar, f"0-PMC{row.article_id}-{number}-{row.name}.{extension}", content)
    return path


def add_member(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a file to a tar."""
    header = tarfile.TarInfo(name)
    header.size = len(content)
    tar.addfile(header, io.BytesIO(content))


def write_parquet(path: Path, rows: Sequence[SetRow], *, pictures: bool = True, group: int = 1000) -> Path:
    """Write rows as Parquet.

    Args:
        path: of the file.
        rows: of the set.
        pictures: with pictures and the webdataset's columns; else without, and with the columns that PubMed-Ophtha's
            download of the dataset has.
        group: rows of a row group.
    """
    tables = []
    for row in rows:
        facts = row.facts()
        common = {name: facts[name] for name in facts if name.startswith("image_") and name != "image_context"}
        del common["image_set"]
        if pictures:
            keys = ("article_accession_id", "article_license")
            tables.append(common | {key: facts[key] for key in keys} | {"txt": row.caption, "jpg": row.jpg})
        else:
            for name in ("image_size", "image_file_name"):
                del common[name]
            stated = {"article_id": facts["article_accession_id"], "license_type": facts["article_license"]}
            context = facts["image_context"][row.name]
            tables.append(common | stated | {"image_caption": row.caption, "image_context": context})
    pq.write_table(pa.Table.from_pylist(tables), path, row_group_size=group)
    return path


# truth


@dataclass(frozen=True)
class Score:
    """How many matches there are, how many are right, and how many there should be; which rows were wrong or missed."""

    matched: int
    right: int
    expected: int
    wrong: Counter[str]
    missed: Counter[str]

    @property
    def precision(self) -> float:
        """Right matches of all matches."""
        return self.right / self.matched if self.matched else 1.0

    @property
    def recall(self) -> float:
        """Right matches of those there should be."""
        return self.right / self.expected if self.expected else 1.0


def scored(rows: Sequence[SetRow], matches: Mapping[tuple[int, str], int]) -> Score:
    """Compare matches with the truth.

    Args:
        rows: of the set.
        matches: (article, figure) to the place of the row that it is said to be.
    """
    truth = {row.figure: row.kind for row in rows if row.figure is not None}
    right = {figure for figure, place in matches.items() if rows[place].figure == figure}
    return Score(
        len(matches),
        len(right),
        len(truth),
        Counter(rows[place].kind for figure, place in matches.items() if figure not in right),
        Counter(kind for figure, kind in truth.items() if figure not in right),
    )
