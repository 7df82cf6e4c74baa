"""Runs the group `instructions` with a language model on an article: `instruction_chain.py URL MODEL KEY FOLDER`.

A process of its own, so that a test can kill it; answers are kept below FOLDER. Prints the counts of each stage, and
its table, as JSON.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from typing import Any

from pydantic import SecretStr

from pmo_assets.models.chat import ChatEndpoint, KeptAnswers
from pmo_assets.pipeline.context.steps import find_article_entities
from pmo_assets.pipeline.instructions.stages import OF_PANELS
from pmo_assets.pipeline.instructions.writer import InstructionWriter
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.tables.schemas import checked, schema_of
from pmo_assets_tests.pipeline.instructions.test_steps import FIGURES, MODALITIES, PANELS, inputs_of


def run_chain(writer: InstructionWriter | None) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Any]]:
    """Return the tables that the stages make, each checked against its schema, and the model's counts by stage."""
    tables: dict[str, list[dict[str, Any]]] = {
        "figures": FIGURES, "reviewed_panels": PANELS, "panel_summaries": [], "panel_modality": MODALITIES, "marks": [],
        "region_phrases": [], "regions": [], "panel_entities": find_article_entities(FIGURES, PANELS, []).rows,
    }  # fmt: skip
    counts: dict[str, Any] = {}
    for stage in OF_PANELS:
        output = stage.step(**inputs_of(stage, tables))
        if stage.afterwards is not None:
            output, counts[stage.name] = stage.afterwards(rows=output.rows, tables=tables, instruction_writer=writer)
        tables[stage.name] = checked(schema_of(stage.name), output.rows).to_dicts()
    return tables, counts


def main() -> None:
    """Run the chain once."""
    url, model, key, folder = sys.argv[1:]
    with closing(ChatEndpoint(url, model, SecretStr(key), timeout=600, retries=1, backoff=0.1)) as endpoint:
        writer = InstructionWriter(KeptAnswers(endpoint, DataRoot(folder)), reasks=1, concurrency=1)
        tables, counts = run_chain(writer)
    usage = {name: [item.usage.requests, item.usage.cache_hits] for name, item in counts.items()}
    digest = {name: json.dumps(rows, default=str, sort_keys=True) for name, rows in tables.items()}
    print(json.dumps({"usage": usage, "rows": {name: len(rows) for name, rows in tables.items()}, "tables": digest}))


if __name__ == "__main__":
    main()
