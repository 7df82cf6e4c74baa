"""A typeset world in which it is known what parts of the data are worth, for `pmo encode ablate`.

    python benchmarks/ablation_world.py WORLD
    pmo encode ablate OUT WORLD --only captions --only figures … --set encoder.image_size=96

Writes tar shards of pairs. Every figure has four panels, each a drawn picture of one of eight kinds with one of three
findings. The truth:

* a panel's kind and finding stand in its own subcaption; a figure's caption is all four of these: subcaptions are worth
  more than compound captions, panels more than whole figures;
* of 3 in 10 panels the subcaption leaves the finding out; summary and mention say it: both help;
* 2 in 10 training panels have another panel's texts, with a confidence below 0.8: leaving them out helps;
* articles are alike: more of them help.

Test panels have their own texts, which say both.
"""

from __future__ import annotations

import argparse
import io
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import PIL.Image

from pmo_assets.pictures import png_bytes
from pmo_assets.records.pairs import PairLevel
from pmo_assets.release.hub.webdataset import pair_members
from pmo_assets.samples.drawing import Pixels, Rng
from pmo_assets.samples.pictures import (
    autofluorescence,
    fluorescein_angiogram,
    fundus_photograph,
    histology,
    oct_scan,
)
from pmo_assets.training.synthetic.stand_in_modalities import cell_mosaic, orange_disc, thickness_map

SIDE: Final = 112

ARTICLES: Final = {"train": 80, "validation": 16, "test": 30}

KINDS: Final[Mapping[str, Callable[[Rng, int, int], Pixels]]] = {
    "colour fundus photograph": fundus_photograph,
    "fluorescein angiogram": fluorescein_angiogram,
    "autofluorescence image": autofluorescence,
    "OCT scan": oct_scan,
    "histological section": histology,
    "adaptive optics image of cells": cell_mosaic,
    "thickness map": thickness_map,
    "photograph of a phantom": orange_disc,
}

FINDINGS: Final = ("", "scars of laser treatment", "a large hemorrhage")

TOPICS: Final = ("diabetic retinopathy", "a rare dystrophy", "long follow-up", "a new drug", "surgery", "screening")


@dataclass(frozen=True)
class Shown:
    """A panel: what it shows, and its picture."""

    kind: str
    finding: str
    pixels: Pixels

    def words(self, *, whole: bool = True) -> str:
        """Return its subcaption; without the finding if not `whole`."""
        return f"{self.kind} with {self.finding}" if self.finding and whole else self.kind


def shown(chance: Rng) -> Shown:
    """Return a panel of any kind with any finding."""
    kind, finding = list(KINDS)[int(chance.integers(len(KINDS)))], FINDINGS[int(chance.integers(len(FINDINGS)))]
    pixels = np.ascontiguousarray(KINDS[kind](chance, SIDE, SIDE))
    if finding == FINDINGS[1]:
        for _ in range(14):
            place = (int(chance.integers(10, SIDE - 10)), int(chance.integers(10, SIDE - 10)))
            cv2.circle(pixels, place, 6, (250, 250, 200), -1, cv2.LINE_AA)
    elif finding == FINDINGS[2]:
        place = (int(chance.integers(30, SIDE - 30)), int(chance.integers(30, SIDE - 30)))
        cv2.ellipse(pixels, place, (28, 20), float(chance.uniform(0, 180)), 0, 360, (70, 5, 5), -1, cv2.LINE_AA)
    return Shown(kind, finding, pixels)


def write_world(folder: Path, seed: int = 0, articles: Mapping[str, int] = ARTICLES) -> None:
    """Write the shards of all splits.

    Args:
        folder: new.
        seed: of everything.
        articles: of each split.
    """
    folder.mkdir(parents=True)
    chance = np.random.default_rng(seed)
    number = 7_000_000_000
    for split, count in articles.items():
        with tarfile.open(folder / f"{split}-000000.tar", "w") as tar:
            for _ in range(count):
                number += 1
                _add_article(tar, chance, number, split)


def _add_article(tar: tarfile.TarFile, chance: Rng, article: int, split: str) -> None:
    panels = [shown(chance) for _ in range(4)]
    topic = TOPICS[int(chance.integers(len(TOPICS)))]
    figure = f"{article}_fig1"
    shared = {
        "article_id": article, "image_cluster_id": "fig1", "figure_id": figure, "video_id": None, "split": split,
        "license": "none",
        "figure_panels": 4, "picture_row": 0, "region_id": None, "box": [0.0, 0.0, 1.0, 1.0],
        "figure_box": [0.0, 0.0, 1.0, 1.0], "generated": False,
    }  # fmt: skip
    learned = split == "train"
    wrong = [learned and chance.random() < 0.2 for _ in panels]
    said = [shown(chance) if other else panel for other, panel in zip(wrong, panels, strict=True)]
    subcaptions = [item.words(whole=not (learned and chance.random() < 0.3)) for item in said]
    caption = f"Images in a study of {topic}. " + "; ".join(
        f"({'ABCD'[k]}) {text}" for k, text in enumerate(subcaptions)
    )
    whole = PIL.Image.new("RGB", (2 * SIDE + 6, 2 * SIDE + 6), "white")
    for k, panel in enumerate(panels):
        whole.paste(PIL.Image.fromarray(panel.pixels), ((k % 2) * (SIDE + 6), (k // 2) * (SIDE + 6)))
    row = _pair(shared, "figure", f"{figure}-c", "caption", caption, picture_config="figures")
    add_pairs(tar, [row], figure, png_bytes(np.asarray(whole)))
    for k, panel in enumerate(panels):
        finding = said[k].finding
        texts = {
            "subcaption": subcaptions[k],
            "summary": f"Part {'ABCD'[k]} shows {finding or 'no lesion'}.",
            "mention": f"As seen in figure 1{'ABCD'[k]}, there was {finding or 'nothing unusual'}.",
        }
        confidence = round(float(chance.uniform(0.4, 0.79) if wrong[k] else chance.uniform(0.81, 1.0)), 3)
        name = f"p_{figure}_{k}"
        own = [
            _pair(
                shared, "panel", f"{name}-{kind}", kind, text, panel_id=name, confidence=confidence,
                picture_config="panels",
            )
            for kind, text in texts.items()
        ]  # fmt: skip
        add_pairs(tar, own, name, png_bytes(panel.pixels))


def _pair(
    shared: Mapping[str, Any], level: PairLevel, pair_id: str, kind: str, text: str, **more: Any
) -> dict[str, Any]:
    given = {"panel_id": None, "confidence": None, **more}
    return {**shared, "pair_id": pair_id, "level": level, "text_kind": kind, "text": text, **given}


def add_pairs(tar: tarfile.TarFile, pairs: Sequence[dict[str, Any]], key: str, picture: bytes) -> None:
    """Add the pairs of a picture (PNG), which may name a `duplicate_group`, to a tar."""
    for name, content in pair_members(pairs, (key, picture), pairs[0].get("duplicate_group")):
        member = tarfile.TarInfo(name)
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))


def main() -> None:
    """Write the world."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="A new folder.")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    write_world(given.out, given.seed)


if __name__ == "__main__":
    main()
