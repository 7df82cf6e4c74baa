"""The gallery's folder, written figure by figure.

    index.html                       the page: header, and which version of the data it shows
    app/<name>-<hash>.js|css         how it behaves and looks
    data/catalogue.js                columns for filters, names of types, licences, journals, directory of the words
    data/figures/<n>/<k>.js          what is said of FIGURES_PER_FILE figures, with small pictures
    data/pictures/<n>/<k>.js         their larger pictures
    data/context/<n>/<k>.js          what the articles say of the same figures' panels; no file where they say nothing
    data/regions/<n>/<k>.js          marks of these panels, phrases that name them, regions; no file without any
    data/instructions/<n>/<k>.js     questions about these panels and what the answers rest on; no file without any
    data/words/<n>/<k>.js            a stretch of the index of words
    data/pairs/<n>/<k>.js            the same of two words in a row, for phrases
    data/said/<n>/<k>.js             the words of the sentences in `context`; data/saidpairs/… two in a row of them
    data/ids/<n>/<k>.js              ids of figures and panels, for lists of them
    lectures/<page>.html             pictures of lecture videos with what is said, see `lectures`; none without any
    files.txt                        the names of all these files, so that the next release can remove what it has not

<n> is <k> // 100: stores and file systems like no folders with thousands of files. Only the columns (some 25 bytes a
panel) and what `words` holds grow with the release, and what it holds is bounded.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from pmo_assets.records.context import ENTITY_GROUPS, MENTION_KINDS, SECTION_CLASSES
from pmo_assets.records.reports import MISTAKES, REPORTS_FORMAT
from pmo_assets.viewing.captions import CAPTION_CSS, MAX_NAMES, MAX_STRIPES, MAX_TAG_CHARACTERS
from pmo_assets.viewing.gallery.columns import CONFIDENCE_STEPS, MARK_STATUSES, PICTURES, Columns, packed
from pmo_assets.viewing.gallery.context import context_entry
from pmo_assets.viewing.gallery.entries import Entry, article_entry, figure_entry, said_texts, searched_texts
from pmo_assets.viewing.gallery.instructions import instructions_entry
from pmo_assets.viewing.gallery.lectures import GalleryLecture, write_lecture_pages
from pmo_assets.viewing.gallery.pictures import FigurePictures, figure_pictures
from pmo_assets.viewing.gallery.records import GalleryFigure, GalleryFilter
from pmo_assets.viewing.gallery.regions import regions_entry
from pmo_assets.viewing.gallery.words import FOLDED_LETTERS, MAX_WORD, WordIndex, pairs
from pmo_assets.viewing.markup import asset_text, page_templates, palette_css, plain_text
from pmo_assets.viewing.palette import (
    ENTITY_STYLES,
    IMAGE_TYPE_COLOURS,
    PANEL_COLOURS,
    SHARED_COLOUR,
    UNDECIDED,
    image_type_colour,
    ink_on,
)

Write = Callable[[str, bytes], object]
"""Takes a file: its name, parts separated by "/", and all of its bytes."""

FIGURES_PER_FILE: Final = 12
"""A page of the grid needs four such files when nothing is filtered; a figure from anywhere costs one, some 120 kB."""

IDS_PER_FILE: Final = 512

SCRIPTS: Final = (
    "data", "elements", "search", "filters", "grid", "captions", "regions", "context", "instructions", "pages", "tags",
    "figure", "reports", "parquet", "export", "main",
)  # fmt: skip
"""In the order in which they run."""

STYLES: Final = ("page.css", "gallery/gallery.css", "gallery/figure.css", "gallery/lectures.css")

LOOK_AHEAD: Final = 32
"""Figures whose pictures are made at the same time or wait: bounds the memory that they take."""

FILES: Final = "files.txt"


@dataclass(frozen=True, slots=True)
class GalleryWritten:
    """Counts and bytes of a written gallery, and the names of all its files."""

    articles: int
    figures: int
    panels: int
    size: int
    files: tuple[str, ...] = field(repr=False)


class _Folder:
    """Writes files and remembers their names, sizes and what they hold."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._digest = hashlib.sha256()
        self.names: list[str] = []
        self.size = 0

    def add(self, name: str, content: bytes) -> None:
        self._write(name, content)
        self._digest.update(f"{name}\0{len(content)}\0".encode() + content)
        self.names.append(name)
        self.size += len(content)

    def add_data(self, kind: str, number: int, value: Any) -> None:
        self.add(f"data/{kind}/{number // 100}/{number}.js", _script(kind, number, value))

    def version(self) -> str:
        return self._digest.hexdigest()[:16]


def _script(kind: str, number: int, value: Any) -> bytes:
    """Return a data file. Nothing in it reads as markup, wherever it is put; no key of an object comes from outside."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f'PmoGallery.put("{kind}",{number},{text});\n'.encode()


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _with_pictures(figures: Iterable[GalleryFigure]) -> Iterator[tuple[GalleryFigure, FigurePictures | None]]:
    """Yield figures with their pictures, which several threads make (Pillow lets them)."""
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1), thread_name_prefix="gallery") as pool:
        waiting: deque[tuple[GalleryFigure, Future[FigurePictures | None]]] = deque()
        for figure in figures:
            waiting.append((figure, pool.submit(figure_pictures, figure.image)))
            if len(waiting) >= LOOK_AHEAD:
                first, made = waiting.popleft()
                yield first, made.result()
        for first, made in waiting:
            yield first, made.result()


@dataclass
class _Page:
    """The figures of one file."""

    articles: dict[str, int] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    figures: list[Entry] = field(default_factory=list)
    small: list[str | None] = field(default_factory=list)
    large: list[str | None] = field(default_factory=list)
    told: list[Entry | None] = field(default_factory=list)
    pointed: list[Entry | None] = field(default_factory=list)
    asked: list[Entry | None] = field(default_factory=list)

    def add(self, figure: GalleryFigure, pictures: FigurePictures | None, columns: Columns) -> None:
        article = article_entry(figure)
        number = self.articles.setdefault(json.dumps(article), len(self.entries))
        if number == len(self.entries):
            self.entries.append(article)
        self.figures.append(figure_entry(figure, number, columns))
        self.small.append(None if pictures is None else _text(pictures.small))
        self.large.append(None if pictures is None else _text(pictures.large))
        self.told.append(context_entry(figure))
        self.pointed.append(regions_entry(figure))
        self.asked.append(instructions_entry(figure))

    def write(self, folder: _Folder, number: int) -> None:
        folder.add_data("figures", number, {"articles": self.entries, "figures": self.figures, "small": self.small})
        folder.add_data("pictures", number, self.large)
        if any(self.told):
            folder.add_data("context", number, self.told)
        if any(self.pointed):
            folder.add_data("regions", number, self.pointed)
        if any(self.asked):
            folder.add_data("instructions", number, self.asked)


def write_gallery_folder(
    figures: Iterable[GalleryFigure],
    write: Write,
    *,
    title: str,
    facts: Mapping[str, str],
    notes: str = "",
    filters: Sequence[GalleryFilter] = (),
    lectures: Iterable[GalleryLecture] = (),
    private: bool = False,
) -> GalleryWritten:
    """Write the gallery, file by file.

    The same figures in the same order give the same files. All text is hostile until it is shown as text: nothing here
    makes markup of it but the header, which is escaped.

    Args:
        figures: in the order of the gallery; those of an article in a row. They are taken one by one and not kept.
        write: called once for each file.
        title: heading of the page.
        facts: what the header says beside the numbers of panels, figures and articles: label to value.
        notes: plain text below them; an empty line starts a new paragraph.
        filters: further filters of panels, in the order of `GalleryPanel.filtered`.
        lectures: pictures of lecture videos; like figures they are taken one by one.
        private: it shows what licences do not let anyone pass on; every page of it says so.
    """
    folder, columns, indexes = _Folder(write), Columns(tuple(filters)), _Indexes()
    page, ids = _Page(), _Ids()
    count = panels = usable = 0
    for figure, pictures in _with_pictures(figures):
        columns.add(figure, pictures is not None)
        indexes.add(count, figure)
        page.add(figure, pictures, columns)
        ids.add(figure)
        count += 1
        panels += len(figure.panels)
        if pictures is not None:
            usable += sum(panel.subcaption is not None for panel in figure.panels)
        if count % FIGURES_PER_FILE == 0:
            page.write(folder, count // FIGURES_PER_FILE - 1)
            page = _Page()
        if count % IDS_PER_FILE == 0:
            ids.write(folder, count // IDS_PER_FILE - 1)
            ids = _Ids()
    if page.figures:
        page.write(folder, count // FIGURES_PER_FILE)
    if ids.clusters:
        ids.write(folder, count // IDS_PER_FILE)
    catalogue = _catalogue(columns, indexes.write(folder), count, panels, title)
    folder.add("data/catalogue.js", _script("catalogue", 0, catalogue | ({"private": True} if private else {})))
    counted = {"articles": len(columns.articles), "figures": count, "panels": panels}
    shown = {"panels with picture and text": usable, **({"withheld": panels - usable} if usable < panels else {})}
    numbers = shown | {name: number for name, number in counted.items() if name != "panels"}
    styles = _asset(folder, "gallery", "css", palette_css() + "".join(map(asset_text, STYLES)) + CAPTION_CSS)
    of_lectures = write_lecture_pages(lectures, folder.add, title=title, styles=styles, private=private)
    head = {name: f"{number:,}" for name, number in numbers.items()} | dict(facts)
    _write_page(folder, title, head, notes, styles=styles, lectures=of_lectures, private=private)
    folder.add(FILES, "".join(f"{name}\n" for name in sorted(folder.names)).encode())
    return GalleryWritten(**counted, size=folder.size, files=tuple(folder.names))


@dataclass
class _Ids:
    """The ids of the figures of one file."""

    clusters: list[str] = field(default_factory=list)
    panels: list[list[str]] = field(default_factory=list)

    def add(self, figure: GalleryFigure) -> None:
        self.clusters.append(plain_text(figure.image_cluster_id))
        self.panels.append([plain_text(panel.panel_id) for panel in figure.panels])

    def write(self, folder: _Folder, number: int) -> None:
        folder.add_data("ids", number, {"clusters": self.clusters, "panels": self.panels})


class _Indexes:
    """The indexes of words and of pairs of words: of captions and the like, and of what articles say of panels."""

    def __init__(self) -> None:
        self._shown = {"words": WordIndex(), "pairs": WordIndex(cut=pairs)}
        self._said = {"said": WordIndex(), "saidpairs": WordIndex(cut=pairs)}

    def add(self, number: int, figure: GalleryFigure) -> None:
        for index in self._shown.values():
            index.add(number, *searched_texts(figure))
        said = said_texts(figure)
        if any(said):
            for index in self._said.values():
                index.add(number, (), said)

    def write(self, folder: _Folder) -> dict[str, list[str]]:
        """Write them all, and return the first word of each file by kind."""
        return {kind: _write_words(kind, index, folder) for kind, index in (self._shown | self._said).items()}


def _write_words(kind: str, words: WordIndex, folder: _Folder) -> list[str]:
    """Write an index of words and return the first word of each file."""
    starts = []
    for number, shard in enumerate(words.shards()):
        starts.append(shard.words[0])
        postings = b"".join(shard.postings)
        sizes = packed(array("I", map(len, shard.postings)))
        folder.add_data(kind, number, {"words": shard.words, "sizes": sizes, "postings": _text(postings)})
    return starts


def _type_view(name: str) -> dict[str, str]:
    colour = image_type_colour(None if name == UNDECIDED else name)
    return {"name": plain_text(name), "colour": colour, "ink": ink_on(colour)}


def _type_order(names: list[str]) -> list[int]:
    """Return the numbers of the types: the paper's first and in its order, then others, undecided last."""
    known = list(IMAGE_TYPE_COLOURS)

    def place(number: int) -> tuple[bool, int, str]:
        name = names[number]
        return name == UNDECIDED, known.index(name) if name in known else len(known), name

    return sorted(range(len(names)), key=place)


def _catalogue(
    columns: Columns, starts: Mapping[str, list[str]], figures: int, panels: int, title: str
) -> dict[str, Any]:
    return {
        "title": plain_text(title),
        "counts": {"articles": len(columns.articles), "figures": figures, "panels": panels},
        "perFile": {"figures": FIGURES_PER_FILE, "ids": IDS_PER_FILE},
        "types": [_type_view(name) for name in columns.types.values],
        "typeOrder": _type_order(columns.types.values),
        "marks": list(MARK_STATUSES),
        "licenses": [plain_text(name) for name in columns.licenses.values],
        "assemblies": [plain_text(name) for name in columns.assemblies.values],
        "splits": [plain_text(name) for name in columns.splits.values],
        "pictures": list(PICTURES),
        "journals": [plain_text(name) for name in columns.journals.values],
        "kinds": columns.kinds.values,
        "articles": " ".join(map(str, columns.articles)),
        "columns": columns.packed(),
        "confidenceSteps": CONFIDENCE_STEPS,
        "words": {"starts": starts, "folded": list(FOLDED_LETTERS.items()), "longest": MAX_WORD},
        "captions": {
            "colours": [[colour, ink_on(colour)] for colour in PANEL_COLOURS],
            "shared": [SHARED_COLOUR, ink_on(SHARED_COLOUR)],
            "maxNames": MAX_NAMES,
            "maxTag": MAX_TAG_CHARACTERS,
            "maxStripes": MAX_STRIPES,
        },
        "context": {
            "groups": [[name, *ENTITY_STYLES[name]] for name in ENTITY_GROUPS],
            "sections": list(SECTION_CLASSES),
            "kinds": list(MENTION_KINDS),
        },
        "reports": {"format": REPORTS_FORMAT, "mistakes": dict(MISTAKES)},
        **({"filters": further} if (further := _further(columns)) else {}),
    }


def _further(columns: Columns) -> list[dict[str, Any]]:
    return [
        {
            "name": item.name,
            "title": plain_text(item.title),
            "values": [plain_text(value) for value in coded.values.values],
            "sets": coded.packed(),
            "names": {plain_text(value): plain_text(name) for value, name in item.names.items()},
        }
        for item, coded in zip(columns.filters, columns.filter_values, strict=True)
    ]


def _write_page(
    folder: _Folder, title: str, facts: Mapping[str, str], notes: str, *, styles: str, lectures: int, private: bool
) -> None:
    scripts = [_asset(folder, name, "js", asset_text(f"gallery/{name}.js")) for name in SCRIPTS]
    page = page_templates().get_template("gallery/index.html.j2").render(
        title=title,
        facts=list(facts.items()),
        notes=[paragraph.strip() for paragraph in notes.split("\n\n") if paragraph.strip()],
        styles=styles,
        scripts=scripts,
        version=folder.version(),
        lectures=f"{lectures:,}" if lectures else "",
        private=private,
    )  # fmt: skip
    folder.add("index.html", page.encode())


def _asset(folder: _Folder, name: str, kind: str, text: str) -> str:
    """Write a style sheet or script under a name that says what is in it, and return that."""
    content = text.encode()
    path = f"app/{name}-{hashlib.sha256(content).hexdigest()[:10]}.{kind}"
    folder.add(path, content)
    return path
