"""Scores the caption grammar: subcaptions, confidence, false splits and speed.

    python benchmarks/score_captions.py [--shared ../shared] [--worst 10]

Six parts: the PubMed Central compound-figure captions with the scorer that lies beside them; the annotated figures
with several panels, by the same measure (mean average sentence BLEU over captions whose identifiers are all found);
captions in the styles of twenty journals, written for this, half of the journals held out: rules are written with the
other half in view, and of the held-out half only the numbers are looked at (`--worst` does not show it); both sides of
the confidence threshold; false splits among captions of figures with one panel; captions per second on one core.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lxml import etree
from sacrebleu.metrics import BLEU

from pmo_assets.pipeline.captions.confidence import CONFIDENCE_THRESHOLD
from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.quality.metrics.captions import caption_score as evaluated
from pmo_assets.quality.metrics.captions import split_rows

_BLEU = BLEU(effective_order=True)
_STYLES = Path(__file__).parents[1] / "pmo_assets_tests" / "pipeline" / "captions"
# A caption with one of these may have panels: without annotation, nobody can say whether a split of it is false.
_UNDECIDED = re.compile(r"\(\s*(?:[A-Za-z]|[ivx]+)\b|\b[A-Ha-h]\)|\b(?:left|right|top|bottom|upper|lower)\b|^[Aa][.,:]")


def _normalised_identifier(name: str | None) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()) if name is not None else ""


def _normalised_text(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "").strip()


def caption_score(truth: dict[str, str], predicted: dict[str, str]) -> float | None:
    """Mean sentence BLEU (0..1) of a caption's subcaptions; None when the identifiers differ."""
    if set(truth) != set(predicted):
        return None
    named = {name: text for name, text in truth.items() if text}
    scores = [
        _BLEU.sentence_score(_normalised_text(predicted[name]), [text]).score / 100 for name, text in named.items()
    ]
    return sum(scores) / len(scores) if scores else 1.0


def _score_compound(shared: Path, worst: int) -> list[str]:
    truth = shared / "captions" / "pmc_compound.jsonl"
    rows = [json.loads(line) for line in truth.read_text(encoding="utf-8").splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for row in rows:
                split = split_caption(row["caption"])
                subcaptions = {sub.identifier or "": sub.text for sub in split.subcaptions}
                answer = {"id": row["id"], "subcaptions": subcaptions, "confidence": split.confidence}
                file.write(json.dumps(answer) + "\n")
        command = [sys.executable, str(shared / "tools" / "score_captions.py"), str(truth), str(path)]
        print(f"compound captions of PubMed Central ({len(rows)})", flush=True)
        subprocess.run([*command, *(["--worst", str(worst)] if worst else [])], check=True)
    return [row["caption"] for row in rows]


def _shares(rows: list[tuple[float, float | None]]) -> Iterator[str]:
    """Lines with both figures for the most confident parts of (confidence, score or None) pairs."""
    ordered = sorted(rows, key=lambda row: -row[0])
    for part in (1.0, 0.9, 0.8, 0.7, 0.5):
        top = ordered[: max(1, round(len(ordered) * part))]
        scores = [score for _, score in top if score is not None]
        unprocessed = 1 - len(scores) / len(top)
        mean = sum(scores) / max(len(scores), 1)
        yield f"top {part:4.0%} by confidence: captions {len(top):4d}  unprocessed {unprocessed:6.1%}  maB {mean:.4f}"


def _score_styles(name: str, worst: int) -> list[str]:
    lines = (_STYLES / f"styles_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows: list[tuple[float, float | None]] = []
    named: list[tuple[float, str]] = []
    single = false_splits = 0
    captions: list[str] = []
    for row in split_rows(lines).values():
        caption = row.caption or ""
        captions.append(caption)
        split = split_caption(caption)
        if set(row.subcaptions) == {""}:
            single += 1
            false_splits += bool(split.identifiers)
            continue
        score = evaluated(
            row.id, row.subcaptions, {sub.identifier: sub.text for sub in split.subcaptions}, split.confidence
        )
        rows.append((split.confidence, None if score.unprocessed else score.mean_bleu))
        named.append((-1.0 if score.unprocessed else score.mean_bleu, row.id))
    print(f"captions in ten journals' styles, {name.replace('_', ' ')} ({len(rows)} with several panels)")
    print("\n".join(_shares(rows)))
    print(f"captions in these styles with one panel: false splits {false_splits} of {single}")
    for bleu, caption_name in sorted(named)[:worst]:
        print(caption_name, "unprocessed" if bleu < 0 else round(bleu, 3))
    return captions


def _score_threshold(shared: Path) -> None:
    """Print how many captions lie below the confidence threshold, and the mean BLEU on both sides of it."""
    lines = (shared / "captions" / "pmc_compound.jsonl").read_text(encoding="utf-8").splitlines()
    sets = {"compound captions": [(row.caption or "", dict(row.subcaptions)) for row in split_rows(lines).values()]}
    sets["annotated figures with several panels"] = [
        (str(figure["caption"]), {panel["identifier"]: panel["subcaption"] for panel in figure["panels"]})  # type: ignore[attr-defined]
        for _, figure in _annotated_figures(shared)
        if len(figure["panels"]) > 1 and any(panel["subcaption"] for panel in figure["panels"])  # type: ignore[arg-type, attr-defined]
    ]
    for name, captions in sets.items():
        sides: dict[bool, list[float]] = {True: [], False: []}
        for caption, truth in captions:
            split = split_caption(caption)
            predicted = {sub.identifier: sub.text for sub in split.subcaptions}
            score = evaluated("", truth, predicted, split.confidence)
            sides[split.confidence < CONFIDENCE_THRESHOLD].append(score.mean_bleu)
        below, above = sides[True], sides[False]
        print(
            f"{name}: {len(below) / len(captions):.0%} below the threshold {CONFIDENCE_THRESHOLD:g}, mean BLEU "
            f"{sum(below) / max(1, len(below)):.3f} below and {sum(above) / max(1, len(above)):.3f} above, "
            "unprocessed counted as 0"
        )


def _annotated_figures(shared: Path) -> Iterator[tuple[str, dict[str, object]]]:
    for path in sorted((shared / "annotations").glob("*.json")):
        for figure in json.loads(path.read_text(encoding="utf-8"))["figures"]:
            yield path.stem, figure


def _score_annotations(shared: Path, worst: int) -> list[str]:
    captions: list[str] = []
    rows: list[tuple[float, float | None, bool, str]] = []  # confidence, score, has text, name
    single = false_splits = 0
    for article, figure in _annotated_figures(shared):
        panels = figure["panels"]
        caption = str(figure["caption"])
        captions.append(caption)
        split = split_caption(caption)
        assert isinstance(panels, list)
        if len(panels) < 2:
            single += 1
            false_splits += bool(split.identifiers)
            continue
        truth = {_normalised_identifier(panel["identifier"]): _normalised_text(panel["subcaption"]) for panel in panels}
        predicted = {_normalised_identifier(sub.identifier): sub.text for sub in split.subcaptions}
        score = caption_score(truth, predicted)
        rows.append((split.confidence, score, any(truth.values()), f"{article} {figure['label']}"))
    print(f"annotated figures with several panels ({len(rows)})")
    rows.sort(key=lambda row: -row[0])
    for part in (1.0, 0.9, 0.8, 0.7, 0.5):
        top = rows[: max(1, round(len(rows) * part))]
        scores = [score for _, score, has_text, _ in top if score is not None and has_text]
        unprocessed = sum(score is None for _, score, _, _ in top) / len(top)
        mean = sum(scores) / max(len(scores), 1)
        print(f"top {part:4.0%} by confidence: captions {len(top):4d}  unprocessed {unprocessed:6.1%}  maB {mean:.4f}")
    for _, score, _, name in sorted(rows, key=lambda row: -1.0 if row[1] is None else row[1])[:worst]:
        print(name, "unprocessed" if score is None else round(score, 3))
    print(f"annotated figures with one panel: false splits {false_splits} of {single}")
    return captions


def _score_corpus(shared: Path) -> None:
    annotated = {article for article, _ in _annotated_figures(shared)}
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    judged = false_splits = undecided = 0
    for path in sorted((shared / "corpus").glob("*/*.xml")):
        if path.parent.name in annotated:
            continue
        for element in etree.parse(str(path), parser).iter("fig"):
            caption_element = element.find("caption")
            if caption_element is None:
                continue
            caption = " ".join("".join(map(str, caption_element.itertext())).split())
            if _UNDECIDED.search(caption):
                undecided += 1
                continue
            judged += 1
            split = split_caption(caption)
            if split.identifiers:
                false_splits += 1
                print("  split:", split.identifiers, caption[:120])
    print(f"other captions of the corpus without any identifier: false splits {false_splits} of {judged}", end="")
    print(f" ({undecided} that may have panels not judged)")


def _time(captions: list[str]) -> None:
    rounds = 3
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for caption in captions:
            split_caption(caption)
        best = min(best, time.perf_counter() - start)
    print(f"speed: {len(captions) / best:.0f} captions per second on one core ({len(captions)} captions)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--shared", type=Path, default=Path("../shared"), help="folder with captions, annotations, corpus"
    )
    parser.add_argument("--worst", type=int, default=0, help="print so many of the worst captions of each part")
    arguments = parser.parse_args()
    captions = _score_compound(arguments.shared, arguments.worst)
    captions += _score_annotations(arguments.shared, arguments.worst)
    captions += _score_styles("tuning", arguments.worst)
    captions += _score_styles("held_out", 0)
    _score_threshold(arguments.shared)
    _score_corpus(arguments.shared)
    _time(captions)


if __name__ == "__main__":
    main()
