"""The gallery: one HTML file that shows figures, panels and subcaptions to a person who judges them by looking.

The page needs no server and no network: style, script and pictures are inside. It can be read without JavaScript; with
it, the filters work and are kept in the URL, e.g. `gallery.html#type=OCT&mark=marked`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pmo_assets.records.geometry import Box
from pmo_assets.records.packages import is_pmc_number
from pmo_assets.viewing.captions import CAPTION_CSS, Segments, caption_html, panel_names
from pmo_assets.viewing.markup import asset_text, content_hash, page_templates, palette_css, plain_text, slug, web_url
from pmo_assets.viewing.overlays import data_uri, picture_mime, visible_box
from pmo_assets.viewing.palette import IMAGE_TYPE_COLOURS, UNDECIDED, image_type_colour, ink_on, panel_colour

MARK_STATUSES = ("marked", "unmarked", UNDECIDED)
"""The words for True, False and None."""

UNKNOWN_LICENSE = "licence unknown"


@dataclass(frozen=True, slots=True)
class GalleryImage:
    """An image inside a panel.

    Attributes:
        box: normalised [l, t, r, b] in the figure.
        image_type: "CFP", "OCT", …; None when it could not be decided.
        type_score: 0..1; None when there is none.
        marked: whether a mark points at a region; None when it could not be decided.
    """

    box: Box
    image_type: str | None
    type_score: float | None
    marked: bool | None


@dataclass(frozen=True, slots=True)
class GalleryPanel:
    """A panel with its subcaption.

    Attributes:
        panel_id: unique in the figure.
        name: the identifier ("A", "left"); None for the only panel of a figure.
        box: normalised [l, t, r, b] in the figure.
        content_box: the panel without its identifier and labels, normalised to the figure; None when not known.
        score: 0..1 of the detection; None when there is none.
        identifier_boxes: where the identifier is printed, normalised to the figure.
        images: the images inside.
        subcaption: None when the caption was not split.
        segments: [start, end) ranges of the figure's caption that made the subcaption.
        assembly: how identifier and subcaption were assigned, e.g. "automatic".
        redistributable: whether the dataset may carry the pixels and text.
    """

    panel_id: str
    name: str | None
    box: Box
    content_box: Box | None
    score: float | None
    identifier_boxes: tuple[Box, ...]
    images: tuple[GalleryImage, ...]
    subcaption: str | None
    segments: tuple[tuple[int, int], ...]
    assembly: str
    redistributable: bool


@dataclass(frozen=True, slots=True)
class GalleryFigure:
    """A figure of an article.

    Attributes:
        article_id: PMC number without "PMC", or a number above PMC's range.
        article_title: plain text.
        article_url: link to the article; shown only if it is http(s).
        image_cluster_id: identifies the figure in its article.
        label: as printed, e.g. "Figure 3".
        caption: plain text without the label.
        license: as PMC writes it ("CC BY-NC"); None when not stated.
        commercial_use: whether the licence allows it.
        attribution: who has to be named, and how.
        is_multi_page: the figure runs over several pages.
        image: JPEG, PNG or WebP of the figure (see `overlays.thumbnail`); empty when it may not be shown.
        width: pixels of the figure itself; only the aspect ratio matters here.
        height: pixels of the figure itself.
        panels: in the caption's order.
    """

    article_id: int
    article_title: str
    article_url: str | None
    image_cluster_id: str
    label: str
    caption: str
    license: str | None
    commercial_use: bool
    attribution: str
    is_multi_page: bool
    image: bytes
    width: int
    height: int
    panels: tuple[GalleryPanel, ...]


def article_name(article_id: int) -> str:
    """Return "PMC4736323", or "article 1300354751209" for a number that PMC does not give."""
    return f"PMC{article_id}" if is_pmc_number(article_id) else f"article {article_id}"


def _percent(value: float) -> str:
    return f"{100 * value:.2f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class _Place:
    """A visible box as percentages of the figure, ready to print."""

    x: str
    y: str
    w: str
    h: str


def _place(box: Box) -> _Place | None:
    visible = visible_box(box)
    if visible is None:
        return None
    left, top, right, bottom = visible
    return _Place(_percent(left), _percent(top), _percent(right - left), _percent(bottom - top))


def score_text(score: float | None) -> str:
    """Return a score with two decimals; "" when there is none or it is not finite."""
    return f"{score:.2f}" if score is not None and math.isfinite(score) else ""


def _mark_status(marked: bool | None) -> str:
    return UNDECIDED if marked is None else "marked" if marked else "unmarked"


class _Options:
    """The distinct values of a filter, numbered in the order of their appearance."""

    def __init__(self, initial: Iterable[str] = ()) -> None:
        self.names: list[str] = list(initial)
        self._indices = {name: index for index, name in enumerate(self.names)}

    def index(self, name: str) -> int:
        """Return the number of `name`, a new one when it is new."""
        if name not in self._indices:
            self._indices[name] = len(self.names)
            self.names.append(name)
        return self._indices[name]


def _image_view(image: GalleryImage, types: _Options) -> dict[str, object]:
    name = UNDECIDED if image.image_type is None else image.image_type
    status = _mark_status(image.marked)
    return {
        "place": _place(image.box),
        "type": name,
        "colour": (colour := image_type_colour(image.image_type)),
        "ink": ink_on(colour),
        "score": score_text(image.type_score),
        "status": status,
        "token": f"{types.index(name)}:{MARK_STATUSES.index(status)}",
    }


def _panel_view(
    panel: GalleryPanel, index: int, name: str | None, types: _Options, assemblies: _Options
) -> dict[str, object]:
    colour = panel_colour(index)
    return {
        "index": index,
        "name": name,
        "colour": colour,
        "ink": ink_on(colour),
        "place": _place(panel.box),
        "content": None if panel.content_box is None else _place(panel.content_box),
        "identifiers": [place for box in panel.identifier_boxes if (place := _place(box))],
        "images": [_image_view(image, types) for image in panel.images],
        "score": score_text(panel.score),
        "subcaption": (panel.subcaption or "").strip() or None,
        "panel_id": panel.panel_id,
        "assembly": panel.assembly,
        "assembly_index": assemblies.index(panel.assembly),
        "redistributable": panel.redistributable,
    }


def _aspect(width: int, height: int) -> str:
    """Return width / height, between 1/20 and 20 so that one odd figure cannot break the page."""
    ratio = width / height if width > 0 and height > 0 else 1.5
    return f"{min(20.0, max(0.05, ratio)):.4f}"


def _figure_view(
    figure: GalleryFigure, anchor: str, types: _Options, licenses: _Options, assemblies: _Options
) -> dict[str, object]:
    split: list[tuple[str | None, Segments]] = [(panel.name, panel.segments) for panel in figure.panels]
    # A caption that was not split needs no colours.
    names = panel_names(split)
    single = len(names) == 1
    mime = picture_mime(figure.image)
    return {
        "anchor": anchor,
        "label": figure.label.strip() or figure.image_cluster_id,
        "cluster": figure.image_cluster_id,
        "pmcid": article_name(figure.article_id),
        "caption": Markup(caption_html(figure.caption, split, stylesheet=False)),
        "caption_text": figure.caption.strip(),
        "license": figure.license or UNKNOWN_LICENSE,
        "license_index": licenses.index(figure.license or UNKNOWN_LICENSE),
        "commercial": figure.commercial_use,
        "attribution": figure.attribution,
        "multi_page": figure.is_multi_page,
        "source": None if mime is None else Markup(data_uri(figure.image, mime)),
        "aspect": _aspect(figure.width, figure.height),
        "width": figure.width,
        "height": figure.height,
        "url": web_url(figure.article_url),
        "panels": [
            _panel_view(panel, i, panel.name if single else names[i], types, assemblies)
            for i, panel in enumerate(figure.panels)
        ],
    }


def _script_json(value: object) -> Markup:
    """Return JSON that is safe inside `<script>`: nothing in it can end the element or start a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def render_gallery(figures: Iterable[GalleryFigure], *, title: str, facts: Mapping[str, str], notes: str = "") -> str:
    """Return the gallery as one self-contained HTML document.

    The same figures in the same order give the same text. Figures of one article are put together where its first one
    stands. All text is escaped, links other than http(s) are dropped, and a Content-Security-Policy lets nothing run
    or load but what this function put in.

    Args:
        figures: in the order of the page.
        title: heading of the page.
        facts: what to say in the header, label to value (articles, figures, panels, licences, version).
        notes: plain text below the facts; an empty line starts a new paragraph.
    """
    types, licenses, assemblies = _Options(), _Options(), _Options()
    articles: dict[int, dict[str, object]] = {}
    figures_of: dict[int, list[dict[str, object]]] = {}
    anchors: dict[str, int] = {}
    panel_count = figure_count = 0
    for figure in figures:
        anchor = f"fig-{figure.article_id}-{slug(figure.image_cluster_id)}"
        anchors[anchor] = anchors.get(anchor, 0) + 1
        if anchors[anchor] > 1:
            anchor = f"{anchor}--{anchors[anchor]}"
        figures_of.setdefault(figure.article_id, []).append(_figure_view(figure, anchor, types, licenses, assemblies))
        articles.setdefault(
            figure.article_id,
            {
                "pmcid": article_name(figure.article_id),
                "number": figure.article_id,
                "title": figure.article_title.strip() or article_name(figure.article_id),
                "url": web_url(figure.article_url),
            },
        )
        panel_count += len(figure.panels)
        figure_count += 1
    script = asset_text("gallery.js")
    environment = page_templates()
    return environment.get_template("gallery.html.j2").render(
        title=title,
        facts=list(facts.items()),
        notes=[paragraph.strip() for paragraph in notes.split("\n\n") if paragraph.strip()],
        articles=[{**article, "figures": figures_of[number]} for number, article in articles.items()],
        figure_count=figure_count,
        panel_count=panel_count,
        types=_type_options(types.names),
        statuses=MARK_STATUSES,
        licenses=sorted(enumerate(licenses.names), key=lambda item: item[1]),
        assemblies=sorted(enumerate(assemblies.names), key=lambda item: item[1]),
        options=_script_json(
            {
                "types": [plain_text(name) for name in types.names],
                "statuses": MARK_STATUSES,
                "licenses": [plain_text(name) for name in licenses.names],
                "assemblies": [plain_text(name) for name in assemblies.names],
            }
        ),
        styles=Markup(asset_text("page.css") + palette_css() + asset_text("gallery.css") + CAPTION_CSS),
        script=Markup(script),
        script_hash=Markup(content_hash(script)),
    )


def _type_options(names: Sequence[str]) -> list[tuple[int, str, str]]:
    """Return (number, name, colour): the paper's types first and in its order, then others, undecided last."""
    known = list(IMAGE_TYPE_COLOURS)
    order = sorted(
        enumerate(names),
        key=lambda item: (
            item[1] == UNDECIDED,
            known.index(item[1]) if item[1] in known else len(known),
            item[1],
        ),
    )
    return [(i, name, image_type_colour(None if name == UNDECIDED else name)) for i, name in order]
