"""Count the instructions of a data root by kind, what each check removed, and their cost; list some to be read.

    python benchmarks/score_instructions.py DATA_ROOT [--read 100] [--seed 1]

The four steps of the group `instructions` run again, in one process, over the tables that the data root has
(`PMO_DATA_ROOT` of a finished `pmo run`); nothing is written. Processor time is that of these steps alone. `--read`
prints random instructions that every check keeps, beside their subcaption.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl

from pmo_assets.pipeline.instructions.checks import discarded_by
from pmo_assets.pipeline.instructions.stages import OF_PANELS
from pmo_assets.pipeline.instructions.steps import load_questions
from pmo_assets.records.instructions import INSTRUCTION_KINDS
from pmo_assets.records.step_output import Row, rows_by_unit
from pmo_assets.tables.instructions import verdicts_of_row


def read_tables(root: Path) -> dict[str, dict[int, list[Row]]]:
    """Return the rows that the steps read, by table and article."""
    made = {stage.name for stage in OF_PANELS}
    names = dict.fromkeys(name for stage in OF_PANELS for name in stage.reads if name not in made)
    found: dict[str, dict[int, list[Row]]] = {}
    for name in names:
        files = sorted((root / "tables" / name).glob("*.parquet"))
        found[name] = rows_by_unit(row for file in files for row in pl.read_parquet(file).iter_rows(named=True))
    return found


def main() -> None:
    """Run the steps and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--read", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    read = read_tables(arguments.root)
    load_questions()
    made: dict[str, list[dict[str, Any]]] = {stage.name: [] for stage in OF_PANELS}
    begun = time.process_time()
    for article in read["figures"]:
        rows = {name: tables.get(article, []) for name, tables in read.items()}
        for stage in OF_PANELS:
            inputs = {"article_id": article, "annotations": [], "figure_pixels": None, **rows}
            rows[stage.name] = stage.step(**{name: inputs[name] for name in stage.parameters}).rows
            made[stage.name] += rows[stage.name]
    spent = time.process_time() - begun
    kept = {(row["panel_id"], row["number"]) for row in made["verdicts"] if row["is_kept"]}
    told = [row for row in made["instructions"] if (row["panel_id"], row["number"]) in kept]
    panels, articles = len(made["cues"]), len(read["figures"])
    scores = made["cue_scores"]
    print(
        f"{articles} articles with figures, {panels} panels, {sum(row['is_kept'] for row in scores)} kept by their "
        f"scores ({sum(row['for_reasoning'] for row in scores)} for reasoning), "
        f"{len({row['panel_id'] for row in told})} with instructions"
    )
    print(f"{len(made['instructions'])} instructions, {len(told)} kept by every check")
    for kind in INSTRUCTION_KINDS:
        count = sum(row["kind"] == kind for row in told)
        print(f"  {kind:13}{count:6}  per panel {count / panels:.3f}  per 1,000 articles {1000 * count / articles:.0f}")
    answers = Counter((row["topic"], row["messages"][-1]["content"]) for row in told if row["kind"] == "yes_no")
    print("yes/no by topic, not balanced yet:", dict(sorted(answers.items())))
    counts = discarded_by(verdicts_of_row(row) for row in made["verdicts"])
    print("discarded by:", {name: count for name, count in counts.items() if count})
    print(f"{1000 * spent / max(1, len(made['instructions'])):.2f} ms of processor time an instruction")
    words = {
        (row["article_id"], row["image_cluster_id"], row["ordinal"]): row["subcaption"]
        for rows in read["reviewed_panels"].values()
        for row in rows
    }
    for row in random.Random(arguments.seed).sample(told, min(arguments.read, len(told))):
        print(f"\n# {row['panel_id']}: {words[row['article_id'], row['image_cluster_id'], row['ordinal']]}")
        print(f"  {row['kind']}/{row['topic']}", [turn["content"] for turn in row["messages"]])
        print("  evidence:", [item["text"] for item in row["evidence"]])


if __name__ == "__main__":
    main()
