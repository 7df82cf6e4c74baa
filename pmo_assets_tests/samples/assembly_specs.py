"""Random articles for testing which subcaption is put on which panel: every style of identifiers, every fault.

Plain styles are frequent, odd ones rare. `FigureSpec.features` says what a figure shows: "naming:", "layout:",
"print:", "caption:", "form:", "extra:", and "lie:" for what is wrong or misleading. The truth of a panel that nothing
decides has no subcaption (`PanelSpec.evidence`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pmo_assets.samples.caption_text import subcaption
from pmo_assets.samples.spec import FIRST_ARTICLE_NUMBER, ArticleSpec, CaptionEntry, CaptionSpec, FigureSpec, PanelSpec
from pmo_assets_tests.samples.figure_drafts import LAYOUTS, Draft, chosen, drafted, one_of, panel_texts, picture_kinds
from pmo_assets_tests.samples.figure_faults import FAULTS, WEIGHTS, applied, fits, go_together
from pmo_assets_tests.samples.random_parts import (
    CLOSINGS,
    INTRODUCTIONS,
    LABELS,
    names_retina,
    random_image,
    random_journal,
)

_NUMBERS_FROM = FIRST_ARTICLE_NUMBER + 1_000_000
_UPPER, _LOWER = tuple("ABCDEFGHIJKLMNOP"), tuple("abcdefghijklmnop")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_NAMING = {
    "upper": 0.37, "lower": 0.35, "digits": 0.02, "roman": 0.03, "letter_digit": 0.03, "words": 0.04, "places": 0.09,
    "single": 0.05, "unnamed": 0.02,
}  # fmt: skip
"""How panels are named. *Words* are names of groups and steps; *unnamed* is one panel of several pictures."""
_PLACES = {
    "inside": 0.34, "below": 0.22, "above": 0.14, "beside": 0.06, "top_right": 0.05, "bottom_left": 0.05,
    "bottom_right": 0.04, "below_left": 0.05, "above_centre": 0.05,
}  # fmt: skip
_CORNERS = ("inside", "top_right", "bottom_left", "bottom_right")
_PRINTS = {"{}": 0.42, "({})": 0.33, "{})": 0.1, "{}.": 0.08, "[{}]": 0.07}
_FORMS = {"bitmaps": 0.46, "flat": 0.27, "panel_bitmaps": 0.13, "plots": 0.14}
_CAPTION_STYLES = {"sentences": 0.5, "semicolons": 0.2, "listing": 0.15, "trailing": 0.15}
_BRACKETS = {"({})": 0.66, "{})": 0.06, "{}:": 0.1, "{}.": 0.08, "{},": 0.06, "[{}]": 0.04}
_RANGES = ("–", "-", " to ")
_LISTS = (", ", " and ", ",")
FAULTY = 0.66
"""Share of the figures with a series of names that have a fault."""
_TWO_FAULTS = 0.2
"""Share of these that have a second one."""


def _printing(rng: np.random.Generator, form: str, series: bool) -> dict[str, Any]:
    """Return how identifiers are printed: fields of `FigureSpec`."""
    places = {k: v for k, v in _PLACES.items() if form != "plots" or k not in _CORNERS}
    if form == "panel_bitmaps":
        places = {k: v for k, v in _PLACES.items() if k in _CORNERS}
    place = chosen(rng, places)
    plate = None
    if place in _CORNERS and rng.random() < 0.14:
        plate = "white" if rng.random() < 0.6 else "black"
    return {
        "identifier_place": place,
        "identifier_print": chosen(rng, _PRINTS) if series else "{}",
        "identifier_size": float(rng.choice([5.0, 7.0, 8.0, 9.0, 10.0, 12.0], p=[0.06, 0.14, 0.25, 0.2, 0.2, 0.15])),
        "identifier_bold": [None, True, False][int(rng.choice(3, p=[0.7, 0.15, 0.15]))],
        "identifier_plate": plate,
        "identifier_colour": (1.0, 0.9, 0.1) if form != "plots" and rng.random() < 0.05 else None,
        "identifier_angle": 90 if place == "beside" and rng.random() < 0.3 else 0,
    }


def _page(rng: np.random.Generator, form: str, columns: int) -> dict[str, Any]:
    """Return size and place of a figure: fields of `FigureSpec`."""
    wide = bool(columns > 2 or rng.random() < 0.4)
    return {
        "flat": form == "flat",
        "panel_bitmaps": form == "panel_bitmaps",
        "width": "page" if wide else "column",
        "width_share": float(rng.uniform(0.75, 1.0)),
        "gutter": float(rng.choice([3.0, 5.0, 8.0, 12.0, 16.0], p=[0.1, 0.2, 0.3, 0.25, 0.15])),
        "caption_place": "above" if rng.random() < 0.08 else "below",
        "label": one_of(rng, LABELS),
    }


def _extras(rng: np.random.Generator, draft: Draft) -> None:
    extras = [name for name in ("colour_bar", "legend") if rng.random() < 0.05]
    place = draft.options["identifier_place"]
    if not extras and not place.startswith("above") and rng.random() < 0.05:
        extras.append("headings")
    draft.options["extras"] = tuple(extras)
    draft.features += [f"extra:{name}" for name in extras]


def _print_features(draft: Draft) -> list[str]:
    options = draft.options
    features = [f"print:{options['identifier_place']}", f"print:{options['identifier_print']}"]
    features += [f"print:plate {options['identifier_plate']}"] if options["identifier_plate"] else []
    features += ["print:rotated"] if options["identifier_angle"] else []
    features += ["print:yellow"] if options["identifier_colour"] else []
    features += ["print:small"] if options["identifier_size"] < 6 else []
    return features


def _other_case(draft: Draft) -> None:
    """Print letters in the other case than the caption's."""
    draft.panels = [
        replace(p, printed=p.identifier.swapcase()) if p.identifier and p.printed is None else p for p in draft.panels
    ]
    draft.features.append("print:other case")


def _shared_entries(rng: np.random.Generator, draft: Draft) -> None:
    """Let an entry of the caption concern several panels: neighbours in the series, or every other one."""
    entries = draft.entries
    if rng.random() < 0.6:
        first = int(rng.integers(0, len(entries) - 1))
        last = int(rng.integers(first + 1, len(entries)))
        names = tuple(name for entry in entries[first : last + 1] for name in entry.identifiers)
        draft.entries = [*entries[:first], replace(entries[first], identifiers=names), *entries[last + 1 :]]
        draft.features.append("caption:neighbours share")
        return
    halves = [tuple(name for entry in entries[k::2] for name in entry.identifiers) for k in (0, 1)]
    draft.entries = [replace(entries[k], identifiers=names) for k, names in enumerate(halves)]
    draft.features.append("caption:every other shares")


def _caption(rng: np.random.Generator, draft: Draft, naming: str) -> None:
    style = chosen(rng, _CAPTION_STYLES)
    # "1, X" and "a1. X" are no way to write a caption.
    plain = style in ("trailing", "listing") or naming in ("digits", "letter_digit")
    bracket = "({})" if plain else chosen(rng, _BRACKETS)
    list_mark = one_of(rng, _LISTS)
    draft.caption.update(
        introduction="" if style == "trailing" else one_of(rng, INTRODUCTIONS),
        closing=one_of(rng, CLOSINGS),
        style=style,
        bracket=bracket,
        range_mark=one_of(rng, _RANGES),
        list_mark=") and (" if bracket == "({})" and rng.random() < 0.2 else list_mark,
    )
    draft.features += [f"caption:{style}", f"caption:{bracket}"]
    if len(draft.entries) >= 3 and rng.random() < 0.18:
        _shared_entries(rng, draft)


def _faults(rng: np.random.Generator, draft: Draft) -> list[str]:
    if rng.random() >= FAULTY:
        return []
    possible = [name for name in FAULTS if fits(name, draft)]
    first = chosen(rng, {name: WEIGHTS.get(name, 1.0) for name in possible})
    others = [name for name in possible if go_together(first, name)]
    return [first, one_of(rng, others)] if others and rng.random() < _TWO_FAULTS else [first]


def _series_names(naming: str) -> tuple[str, ...]:
    return {
        "upper": _UPPER,
        "lower": _LOWER,
        "digits": tuple(str(number) for number in range(1, 13)),
        "roman": _ROMAN,
    }[naming]


def _finished(rng: np.random.Generator, draft: Draft, form: str, naming: str, faults: bool) -> FigureSpec:
    """Print, caption and spoil a draft."""
    series = naming != "words"
    draft.features += [f"naming:{naming}", f"layout:{draft.layout}", f"form:{form}"]
    draft.options |= {**_page(rng, form, draft.columns), **_printing(rng, form, series)}
    if draft.layout in ("several", "blocks"):
        draft.options["gutter"] = max(draft.options["gutter"], 10.0)
    if series:
        _caption(rng, draft, naming)
    _extras(rng, draft)
    if faults:
        applied(rng, draft, _faults(rng, draft))
    if draft.options["identifier_place"] != "none":
        draft.features += _print_features(draft)
        if naming in ("upper", "lower") and rng.random() < 0.1 and "lie:nested_names" not in draft.features:
            _other_case(draft)
    if not any(feature.startswith("lie:") for feature in draft.features):
        draft.features.append("lie:none")
    return draft.specification()


def _series_figure(rng: np.random.Generator, naming: str) -> FigureSpec:
    form = chosen(rng, _FORMS)
    layouts = {k: v for k, v in LAYOUTS.items() if form != "plots" or k != "several"}
    draft = drafted(rng, chosen(rng, layouts), _series_names(naming), plots=form == "plots")
    return _finished(rng, draft, form, naming, naming in ("upper", "lower", "roman"))


def _letter_digit_figure(rng: np.random.Generator) -> FigureSpec:
    """Panels A1, A2, B1, B2 that the caption names so."""
    form = chosen(rng, _FORMS)
    letters = _UPPER if rng.random() < 0.7 else _LOWER
    draft = drafted(rng, "rows", _UPPER, plots=form == "plots")
    columns = draft.columns
    names = [f"{letters[n // columns]}{n % columns + 1}" for n in range(len(draft.names))]
    draft.panels = [replace(panel, identifier=name) for panel, name in zip(draft.panels, names, strict=True)]
    draft.entries = [replace(entry, identifiers=(name,)) for entry, name in zip(draft.entries, names, strict=True)]
    draft.names = names
    figure = _finished(rng, draft, form, "letter_digit", False)
    return replace(figure, caption=replace(figure.caption, list_mark=", "))


def _words_figure(rng: np.random.Generator) -> FigureSpec:
    """Panels that have a word above, beside or in them, by which the caption calls them."""
    names = one_of(
        rng,
        [
            ("Step 1", "Step 2", "Step 3"),
            ("Step 1", "Step 2", "Step 3", "Step 4"),
            ("OD", "OS"),
            ("Control", "Treated"),
            ("Baseline", "Month 6"),
        ],
    )
    form = chosen(rng, _FORMS)
    draft = drafted(rng, "line", _UPPER, plots=form == "plots")
    count = len(names)
    kinds = picture_kinds(rng, count, plots=form == "plots")
    draft.names, draft.places = list(names), list(range(count))
    draft.panels = [PanelSpec(name, (random_image(rng, k),)) for name, k in zip(names, kinds, strict=True)]
    texts = panel_texts(rng, kinds)
    draft.entries = [CaptionEntry((name,), text) for name, text in zip(names, texts, strict=True)]
    draft.options["grid_columns"] = count if draft.columns > 1 else 1
    style = "sentences" if rng.random() < 0.7 else "semicolons"
    draft.caption = {"introduction": one_of(rng, INTRODUCTIONS[1:]), "style": style, "bracket": "{}:"}
    draft.features.append(f"words:{names[0]}")
    return _finished(rng, draft, form, "words", False)


_PLACE_WORDS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("row", (("left", "right"), ("left", "right"), ("left", "middle", "right"), ("left", "center", "right"))),
    ("column", (("top", "bottom"), ("upper", "lower"), ("top", "middle", "bottom"), ("upper", "middle", "lower"))),
    ("grid", (("upper left", "upper right", "lower left", "lower right"),
              ("top left", "top right", "bottom left", "bottom right"))),
    ("rows", (("top row", "bottom row"), ("upper row", "lower row"), ("first row", "second row"),
              ("top row", "middle row", "bottom row"), ("first row", "second row", "third row"))),
    ("columns", (("left column", "right column"), ("first column", "second column"),
                 ("left column", "middle column", "right column"))),
)  # fmt: skip
"""By arrangement, words of place by which a caption calls its panels."""


def _places_figure(rng: np.random.Generator) -> FigureSpec:
    """Panels without identifiers that the caption calls by their places."""
    arrangement, words = _PLACE_WORDS[int(rng.choice(5, p=[0.4, 0.18, 0.12, 0.16, 0.14]))]
    names: tuple[str, ...] = one_of(rng, words)
    form = chosen(rng, {"bitmaps": 0.6, "flat": 0.3, "plots": 0.1})
    plots = form == "plots"
    kinds = picture_kinds(rng, len(names), plots=plots)
    texts = panel_texts(rng, kinds)
    options = {**_page(rng, form, 2), "identifier_place": "none"}
    grouped = arrangement in ("rows", "columns")
    count = int(rng.choice([2, 3])) if grouped else 1
    gap = options["gutter"] * float(rng.choice([0.5, 1.0]))
    panels = []
    for name, kind in zip(names, kinds, strict=True):
        image = random_image(rng, kind)
        pictures = tuple(replace(image, mark=None) for _ in range(count))
        panels.append(PanelSpec(name, pictures, stacked=arrangement == "columns", gap=gap if grouped else None))
    if arrangement != "grid" and not grouped:  # one shape, or rows and columns would not be read as such
        shape = panels[0].images[0].aspect
        panels = [replace(p, images=tuple(replace(i, aspect=shape) for i in p.images)) for p in panels]
    features = ["naming:places", f"layout:{arrangement}", f"form:{form}"]
    if len(names) == 2 and arrangement == "row" and rng.random() < 0.25:
        texts = ["Right eye of the patient", "Left eye of the patient"]
        features.append("caption:eyes against places")
    entries = [CaptionEntry((name,), text) for name, text in zip(names, texts, strict=True)]
    if rng.random() < 0.12:
        entries.reverse()
        features.append("lie:caption_order")
    trailing = rng.random() < 0.3
    noun = one_of(rng, ["panel", "image"]) if not grouped and not trailing and rng.random() < 0.3 else ""
    features += ["caption:places trailing" if trailing else f"caption:places{' ' + noun if noun else ''}"]
    caption = CaptionSpec(
        "" if trailing else one_of(rng, INTRODUCTIONS[1:]),
        tuple(entries),
        one_of(rng, CLOSINGS),
        style="trailing" if trailing else "positional",
        noun=noun,
    )
    columns = {"row": len(names), "column": 1, "grid": 2, "rows": 1, "columns": len(names)}[arrangement]
    return FigureSpec(tuple(panels), caption, grid_columns=columns, features=(*features, *_no_lie(features)), **options)


def _no_lie(features: list[str]) -> tuple[str, ...]:
    return () if any(feature.startswith("lie:") for feature in features) else ("lie:none",)


def _one_panel_figure(rng: np.random.Generator, naming: str) -> FigureSpec:
    """One panel without identifier: one picture, or several that neither print nor caption tells apart."""
    form = chosen(rng, _FORMS if naming == "single" else {"bitmaps": 0.6, "flat": 0.4})
    form = "bitmaps" if form == "panel_bitmaps" else form
    count = 1 if naming == "single" else int(rng.choice([2, 3, 4]))
    kind = picture_kinds(rng, 1, plots=form == "plots")[0]
    images = [random_image(rng, kind) for _ in range(count)]
    text = panel_texts(rng, [kind])[0]
    features = [f"naming:{naming}", "layout:one panel", f"form:{form}", "caption:single"]
    if form != "plots" and rng.random() < 0.4:
        lettering = one_of(rng, ["quadrants", "eye", "axis", "arrows"])
        images = [replace(image, lettering=lettering) for image in images]
        features += ["lie:letters_in_pictures", f"lettering:{lettering}"]
    elif naming == "unnamed" and rng.random() < 0.5:
        text = "Fundus photographs of the right eye and of the left eye"
        features.append("caption:eyes that are no places")
    caption = CaptionSpec(
        " ".join(part for part in (one_of(rng, INTRODUCTIONS), f"{text}.", one_of(rng, CLOSINGS)) if part)
    )
    options = {**_page(rng, form, 2 if count > 1 else 1), "grid_columns": 1, "identifier_place": "none"}
    features += _no_lie(features)
    return FigureSpec((PanelSpec(None, tuple(images)),), caption, features=tuple(features), **options)


def _figure(rng: np.random.Generator) -> FigureSpec:
    naming = chosen(rng, _NAMING)
    if naming == "words":
        return _words_figure(rng)
    if naming == "letter_digit":
        return _letter_digit_figure(rng)
    if naming == "places":
        return _places_figure(rng)
    if naming in ("single", "unnamed"):
        return _one_panel_figure(rng, naming)
    return _series_figure(rng, naming)


def assembly_spec(seed: int) -> ArticleSpec:
    """Return an article with one or two figures; the same seed gives the same article."""
    rng = np.random.default_rng([seed, 78])
    figures = tuple(_figure(rng) for _ in range(int(rng.integers(1, 3))))
    return ArticleSpec(
        number=_NUMBERS_FROM + seed,
        seed=seed,
        journal=random_journal(rng),
        title="Panels of the Retina and What Is Said of Them",
        keywords=("optical coherence tomography", "retina"),
        mesh_terms=("Retina",),
        figures=figures,
        paragraphs=1,
        features=tuple(dict.fromkeys(feature for figure in figures for feature in figure.features)),
        relevant=names_retina(figures),
    )


def _lettered_places_figure(rng: np.random.Generator) -> FigureSpec:
    """Panels that the caption calls by their places and that print letters."""
    figure = _places_figure(rng)
    form = "flat" if figure.flat else "panel_bitmaps" if figure.panel_bitmaps else "bitmaps"
    letters = _UPPER if rng.random() < 0.6 else _LOWER
    panels = tuple(replace(panel, printed=letter) for panel, letter in zip(figure.panels, letters, strict=False))
    options = _printing(rng, form if "form:plots" not in figure.features else "plots", True)
    return replace(figure, panels=panels, **options, features=(*figure.features, "names:places beside letters"))


def _lettered_unnamed_figure(rng: np.random.Generator) -> FigureSpec:
    """Panels that print letters and that the caption does not name."""
    form = chosen(rng, _FORMS)
    layouts = {k: v for k, v in LAYOUTS.items() if form != "plots" or k != "several"}
    draft = drafted(rng, chosen(rng, layouts), _UPPER if rng.random() < 0.5 else _LOWER, plots=form == "plots")
    draft.features += ["names:letters alone", f"layout:{draft.layout}", f"form:{form}"]
    draft.options |= {**_page(rng, form, draft.columns), **_printing(rng, form, True)}
    if draft.layout in ("several", "blocks"):
        draft.options["gutter"] = max(draft.options["gutter"], 10.0)
    text = one_of(rng, [entry.text for entry in draft.entries])
    draft.entries = []
    whole = " ".join(part for part in (one_of(rng, INTRODUCTIONS[1:]), f"{text}.", one_of(rng, CLOSINGS)) if part)
    draft.caption = {"introduction": whole}
    return draft.specification()


def otherwise_named_spec(seed: int) -> ArticleSpec:
    """Return an article of two figures that print letters; one caption calls its panels by places, one not at all."""
    rng = np.random.default_rng([seed, 79])
    figures = (_lettered_places_figure(rng), _lettered_unnamed_figure(rng))
    return replace(assembly_spec(seed), figures=figures, relevant=names_retina(figures))


def true_split(caption: CaptionSpec) -> tuple[tuple[str | None, str], ...]:
    """Return what the caption says, as (identifier, subcaption) in its order; one with None if it names no panel."""
    if not caption.entries:
        return ((None, subcaption(caption, None)),)
    names = dict.fromkeys(name for entry in caption.entries for name in entry.identifiers)
    return tuple((name, subcaption(caption, name)) for name in names)
