"""Scores links of phrases to marks: does a phrase mean the marks that it is linked to?

    python benchmarks/score_region_links.py --drawn 200 [--shared ../shared] [--network]
    python benchmarks/score_region_links.py --articles ../shared/corpus [--look FOLDER]

*Drawn*: pages of `mark_styles.py` with marks of several kinds and colours, and a caption that names each group of them
in one of many wordings. *True marks* asks the links alone; *vector* and, with `--network`, *pixels* ask them with the
marks that are found there.

*Articles*: real figures taken through the pipeline. Labels (`benchmarks/data/region_link_labels.jsonl`) were made by
looking at the pictures: for each phrase of a panel's subcaption, in order, the places of the marks that it means (x, y,
normalised in the figure). `--look` writes each panel with its marks numbered, to label them.

A phrase is *right* where it is linked without a doubt to all found marks that it means and to no other, *false mark*
where what else it is linked to is none that anyone drew, *wrong* where it is linked otherwise, *undecided* where the
pipeline says so, *unseen* where none of its marks was found and it is linked to none. The yardstick is 0.90 right among
those that are linked without a doubt.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from mark_styles import TrueMark
from score_marks import FIRST_SEED, grown, page_cases

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.article import process_article
from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.regions.links import linked_phrases
from pmo_assets.pipeline.regions.mark_colours import hex_of, mark_colour
from pmo_assets.pipeline.regions.marks import image_marks
from pmo_assets.pipeline.regions.marks_network import MarksNetwork, shipped_calibration
from pmo_assets.pipeline.regions.phrases import region_phrases
from pmo_assets.records.geometry import UNIT_BOX, Box, matched_boxes
from pmo_assets.records.memory_stores import MemoryObjects, MemoryPixels
from pmo_assets.records.regions import Mark, MarkColour, MarkKind, RegionPhrase
from pmo_assets.samples.drawing import Rng
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.package_folders import list_package
from pmo_assets.tables.regions import marks_of_row, phrases_of_row
from pmo_assets.training.data.training_data import pool_pictures
from pmo_assets.training.synthetic.pools import PicturePool

_LABELS: Final = Path(__file__).parent / "data" / "region_link_labels.jsonl"

NEAR: Final = 0.03
"""Part of the figure's longer side by which a label may lie beside its mark's box."""

TARGETS: Final = (
    "drusen", "subretinal fluid", "a hyperreflective lesion", "the optic disc", "exudates", "the fovea",
    "choroidal vessels", "an epiretinal membrane", "pigment clumps", "the scar", "loss of the ellipsoid zone",
)  # fmt: skip

NOUNS: Final[Mapping[MarkKind, tuple[tuple[str, str], ...]]] = {
    "arrow": (("arrow", "arrows"),),
    "arrowhead": (("arrowhead", "arrowheads"), ("arrow head", "arrow heads"), ("triangle", "triangles")),
    "circle": (("circle", "circles"), ("ellipse", "ellipses")),
    "box": (("box", "boxes"), ("rectangle", "rectangles"), ("square", "squares")),
    "asterisk": (("asterisk", "asterisks"), ("star", "stars")),
    "line": (("line", "lines"), ("bracket", "brackets")),
}

SYNONYMS: Final[Mapping[MarkColour, tuple[str, ...]]] = {
    "grey": ("grey", "gray"), "pink": ("pink", "magenta"), "cyan": ("cyan", "turquoise"),
    "purple": ("purple", "violet"),
}  # fmt: skip

WORDINGS: Final = (
    "{Target} ({mark}).", "The {mark} {shows} {target}.", "Note {target} ({mark}).", "{Mark}: {target}.",
    "{Target} can be seen ({mark}).", "{Target}, indicated by the {mark}, is present.", "{Mark} = {target}.",
    "The scan shows {target} ({mark}).",
)  # fmt: skip


def group_name(mark: TrueMark) -> tuple[MarkKind, MarkColour]:
    """Return what a caption tells of a mark: its kind and colour."""
    red, green, blue = (round(255 * value) for value in mark.colour)
    return mark.kind, mark_colour((red, green, blue))


def written_caption(rng: Rng, marks: Sequence[TrueMark]) -> tuple[str, list[list[int]]]:
    """Return a caption that names each group of marks of one kind and colour, and each group's marks in its order.

    A colour is left out at times where the kind tells the group.
    """
    groups: dict[tuple[MarkKind, MarkColour], list[int]] = {}
    for number, mark in enumerate(marks):
        groups.setdefault(group_name(mark), []).append(number)
    kinds = Counter(kind for kind, _ in groups)
    targets = rng.permutation(len(TARGETS))
    sentences = []
    for (kind, colour), own, which in zip(groups, groups.values(), targets, strict=False):
        singular, plural = NOUNS[kind][int(rng.integers(len(NOUNS[kind])))]
        noun = plural if len(own) > 1 else singular
        words = SYNONYMS.get(colour, (colour,))
        is_bare = kinds[kind] == 1 and kind in {"arrow", "arrowhead", "asterisk"} and rng.random() < 0.4
        name = noun if is_bare else f"{words[int(rng.integers(len(words)))]} {noun}"
        target, shows = TARGETS[which], "show" if len(own) > 1 else "shows"
        sentences.append(
            WORDINGS[int(rng.integers(len(WORDINGS)))].format(
                mark=name, Mark=name.capitalize(), target=target, Target=target.capitalize(), shows=shows
            )
        )
    return " ".join(sentences), list(groups.values())


def tally(phrase: RegionPhrase, meant: Sequence[int], found: Sequence[int | None]) -> str:
    """Return how a phrase is linked.

    Args:
        phrase: linked to positions of found marks.
        meant: positions of the true marks that it means.
        found: for each true mark the position of the found one, None where it was not found.
    """
    right = {place for mark in meant if (place := found[mark]) is not None}
    if phrase.undecided is not None:
        return "unseen" if not right and not phrase.marks else "undecided"
    others = set(phrase.marks) - right
    if others and right <= set(phrase.marks) and others.isdisjoint(found):
        return "false mark"
    return "wrong" if others or set(phrase.marks) != right else "right"


def lines(name: str, counts: Counter[str]) -> str:
    """Return a line of a source's counts."""
    linked = counts["right"] + counts["wrong"]
    total = linked + counts["false mark"] + counts["undecided"] + counts["unseen"] + counts["no phrase"]
    numbers = ", ".join(
        f"{counts[key]} {key}" for key in ("right", "wrong", "false mark", "undecided", "unseen", "no phrase")
    )
    seen = max(1, total - counts["unseen"] - counts["no phrase"])
    return (
        f"{name}: {total} phrases: {numbers}; right of linked {counts['right'] / max(1, linked):.3f}, "
        f"of those whose marks were seen {counts['right'] / seen:.3f}"
    )


def score_drawn(count: int, first: int, shared: Path, network: MarksNetwork | None, errors: bool) -> None:
    """Print the scores of drawn pages."""
    pool = PicturePool(pool_pictures(shared / "images", shared / "corpus", shared / "annotations"), "test", 1.0)
    calibration = shipped_calibration() if network is not None else None
    counts: dict[str, Counter[str]] = {"true marks": Counter(), "vector": Counter(), "pixels": Counter()}
    for seed in range(FIRST_SEED + first, FIRST_SEED + first + count):
        live, flat = page_cases(seed, pool, marked=True)
        if not live.marks:
            continue
        caption, groups = written_caption(np.random.default_rng(seed), live.marks)
        sources = [("true marks", _as_found(live.marks)), ("vector", image_marks(live.view, UNIT_BOX))]
        if network is not None:
            sources.append(("pixels", image_marks(flat.view, UNIT_BOX, network, calibration)))
        tall, wide = flat.view.pixels.shape[:2]
        for name, marks in sources:
            pairs = matched_boxes(
                [grown(mark.box, wide, tall) for mark in live.marks],
                [grown(mark.box, wide, tall) for mark in marks],
                0.5 if name != "true marks" else 0.99,
            )
            found = [pairs.get(number) for number in range(len(live.marks))]
            phrases = linked_phrases(region_phrases(caption), marks)
            counts[name]["no phrase"] += max(0, len(groups) - len(phrases))
            for phrase, meant in zip(phrases, groups, strict=False):
                kind = tally(phrase, meant, found)
                counts[name][kind] += 1
                if errors and kind in {"wrong", "undecided"}:
                    print(name, kind, repr(caption[phrase.mark_start : phrase.mark_end]), phrase.undecided, caption)
                    print("    ", [(mark.kind, mark.colour) for mark in marks], phrase.marks, found, meant)
    for name, own in counts.items():
        if own:
            print(lines(name, own))


def _as_found(marks: Sequence[TrueMark]) -> list[Mark]:
    made = []
    for mark in marks:
        red, green, blue = (round(255 * value) for value in mark.colour)
        rgb = hex_of((red, green, blue))
        made.append(Mark(mark.kind, group_name(mark)[1], rgb, mark.box, mark.tip, None, None, "vector", 1.0, 1.0))
    return made


def article_panels(folder: Path, look: Path | None) -> list[dict[str, Any]]:
    """Return the panels of an article with phrases in their subcaption: figure, identifier, phrases and marks."""
    listing = list_package(folder, folder.parent)
    if listing is None:
        raise SystemExit(f"{folder} is no article package")
    objects, pixels = MemoryObjects({}), MemoryPixels()
    package = fetch_package(asdict(listing), LocalFolder(folder.parent), objects, FetchLimits()).rows[0]
    result = process_article(
        package, objects, specialty=load_specialty("everything"), pixels=pixels, targets=["region_phrases"]
    )
    drawn = {row["panel_id"]: marks_of_row(row) for row in result.tables.get("marks", [])}
    pictures = pixels.read(package["article_id"])
    names = {row["image_cluster_id"]: row["pdf_figure_id"] for row in result.figures}
    found = []
    for row in result.tables.get("region_phrases", []):
        phrases = phrases_of_row(row)
        own = [phrase for phrase in phrases if phrase.found_in == "subcaption"]
        if not own:
            continue
        marks = [mark for _, mark in drawn.get(row["panel_id"], [])]
        panel = {
            "article": folder.name, "figure": row["image_cluster_id"], "ordinal": row["ordinal"],
            "phrases": own, "marks": marks,
        }  # fmt: skip
        found.append(panel)
        if look is not None:
            picture = decoded(pictures.get(names[row["image_cluster_id"]]), "figure")
            _draw(look / f"{folder.name}_{row['image_cluster_id']}_{row['ordinal']}.png", picture, marks)
    return found


def _draw(path: Path, picture: np.ndarray, marks: Sequence[Mark]) -> None:
    shown = picture[:, :, ::-1].copy()
    tall, wide = shown.shape[:2]
    for number, mark in enumerate(marks):
        left, top, right, bottom = (round(value * size) for value, size in zip(mark.box, (wide, tall) * 2, strict=True))
        cv2.rectangle(shown, (left - 2, top - 2), (right + 2, bottom + 2), (0, 0, 255), 1)
        cv2.putText(shown, str(number), (right + 3, top + 4), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 200, 0), 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), shown)


def near(place: Sequence[float], box: Box) -> bool:
    """Say whether a labelled place lies in or beside a mark's box."""
    x, y = place
    return box[0] - NEAR <= x <= box[2] + NEAR and box[1] - NEAR <= y <= box[3] + NEAR


def score_articles(folder: Path, labels: Sequence[Mapping[str, Any]], look: Path | None) -> None:
    """Print the scores of labelled panels; with `look` only write what is to be labelled."""
    counts: Counter[str] = Counter()
    articles = sorted({label["article"] for label in labels}) if labels else sorted(p.name for p in folder.iterdir())
    for name in articles:
        if not (folder / name / "article.pdf").exists():
            continue
        for panel in article_panels(folder / name, look):
            key = (panel["article"], panel["figure"], panel["ordinal"])
            label = next((row for row in labels if (row["article"], row["figure"], row["ordinal"]) == key), None)
            marks = panel["marks"]
            if look is not None:
                print(key, [(mark.kind, mark.colour, round(mark.probability, 2)) for mark in marks])
                for phrase in panel["phrases"]:
                    print("   ", phrase.kind, phrase.colour, phrase.is_plural, phrase.marks, phrase.undecided)
            if label is None:
                continue
            places = [place for phrase in label["phrases"] for place in phrase]
            found = [next((k for k, mark in enumerate(marks) if near(place, mark.box)), None) for place in places]
            counts["marks"] += len(places)
            counts["marks found"] += sum(place is not None for place in found)
            counts["false marks"] += len(set(range(len(marks))) - set(found))
            first = 0
            for phrase, own in zip(panel["phrases"], label["phrases"], strict=False):
                counts[tally(phrase, range(first, first + len(own)), found)] += 1
                first += len(own)
            counts["no phrase"] += max(0, len(label["phrases"]) - len(panel["phrases"]))
    if labels:
        found_of = f"{counts['marks found']} of {counts['marks']} marks found"
        print(f"{len(labels)} panels: {found_of}, {counts['false marks']} others")
        print(lines("articles", counts))


def main() -> None:
    """Print the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drawn", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="first drawn page")
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--network", action="store_true")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--articles", type=Path)
    parser.add_argument("--only", nargs="+", help="articles; all that have labels")
    parser.add_argument("--labels", type=Path, default=_LABELS)
    parser.add_argument("--look", type=Path)
    options = parser.parse_args()
    if options.drawn:
        score_drawn(
            options.drawn, options.first, options.shared, MarksNetwork() if options.network else None, options.errors
        )
    if options.articles is not None:
        labels = [json.loads(line) for line in options.labels.read_text(encoding="utf-8").splitlines()]
        labels = [row for row in labels if options.only is None or row["article"] in options.only]
        unlabelled = set(options.only or ()) - {row["article"] for row in labels}
        labels += [{"article": name, "figure": "", "ordinal": -1, "phrases": []} for name in sorted(unlabelled)]
        score_articles(options.articles, labels, options.look)


if __name__ == "__main__":
    main()
