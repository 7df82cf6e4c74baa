"""Score the separation of scene and context by words, on captions that a reader labelled.

    python benchmarks/score_cues.py --captions CAPTIONS.jsonl [--show]

Labels (`data/cue_labels.jsonl`) are ranges of words of captions of PubMed Central's figures that are context, by
article and file of the figure; all other words are scene. The captions are read from a JSONL file (`article`, `figure`,
`caption`) and are not part of the repository; a caption with another number of words is left out and named. Each
caption counts as that of a figure with one panel. Captions to develop with and to report on are of different articles.
`--show` prints what is wrong in the half to develop with, never in the other.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path

from pmo_assets.pipeline.context.entities import panel_entities
from pmo_assets.pipeline.instructions.case import PanelCase
from pmo_assets.pipeline.instructions.cues import panel_cues

LABELS = Path(__file__).parent / "data" / "cue_labels.jsonl"


def scene_words(caption: str) -> set[int]:
    """Return the numbers of the words of a caption of which more than half stands in a scene."""
    case = PanelCase("p", caption, (), True, panel_entities(caption, [], {}))
    seen = [False] * len(caption)
    for scene in panel_cues(case).scenes:
        seen[scene.start : scene.end] = [True] * (scene.end - scene.start)
    words = list(re.finditer(r"\S+", caption))
    return {
        number
        for number, word in enumerate(words)
        if 2 * sum(seen[word.start() : word.end()]) > word.end() - word.start()
    }


def main() -> None:
    """Print precision, recall and F1 of scene words, for each half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captions", type=Path, required=True)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in arguments.captions.read_text(encoding="utf-8").splitlines()]
    captions = {(row["article"], row["figure"]): row["caption"] for row in rows}
    counts: dict[str, Counter[str]] = {}
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        caption = captions.get((label["article"], label["figure"]))
        if caption is None or len(caption.split()) != label["words"]:
            print(f"left out: {label['article']} {label['figure']}")
            continue
        context = {word for first, last in label["context"] for word in range(first, last + 1)}
        right, found = set(range(label["words"])) - context, scene_words(caption)
        own = counts.setdefault(label["part"], Counter())
        own.update(captions=1, both=len(right & found), found=len(found), right=len(right))
        context_found = set(range(label["words"])) - found
        own.update(context_both=len(context & context_found), context=len(context), context_found=len(context_found))
        if arguments.show and label["part"] == "develop" and right != found:
            said = caption.split()
            print(" ".join(f"{'+' * (n in found - right)}{'-' * (n in right - found)}{w}" for n, w in enumerate(said)))
    for part, own in counts.items():
        precision, recall = own["both"] / own["found"], own["both"] / own["right"]
        f1 = 2 * own["both"] / (own["found"] + own["right"])
        context_f1 = 2 * own["context_both"] / max(1, own["context"] + own["context_found"])
        print(
            f"{part}: {own['captions']} captions, {own['right']} scene words: precision {precision:.3f}, "
            f"recall {recall:.3f}, F1 {f1:.3f}; context words F1 {context_f1:.3f} of {own['context']}"
        )


if __name__ == "__main__":
    main()
