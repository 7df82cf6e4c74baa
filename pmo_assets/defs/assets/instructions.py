"""Group `instructions`: what words of articles and lectures say is visible, questions with answers that rest on it, and
verdicts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import dagster as dg

from pmo_assets.defs import checks
from pmo_assets.defs.applied import ANNOTATIONS_APPLIED, applied_metadata
from pmo_assets.defs.made import Made, usage_metadata
from pmo_assets.defs.stage_table import stage_table
from pmo_assets.pipeline.instructions.checks import discarded_by
from pmo_assets.pipeline.instructions.judged import is_judged
from pmo_assets.pipeline.instructions.model_cues import CueCounts
from pmo_assets.pipeline.instructions.model_questions import QuestionCounts
from pmo_assets.pipeline.instructions.model_verdicts import VerdictCounts
from pmo_assets.pipeline.instructions.phrasings import number_of
from pmo_assets.records.instructions import INSTRUCTION_KINDS
from pmo_assets.tables.instructions import verdicts_of_row

VERBATIM_CUES = "verbatim"
"""Name of the check that cues stand in their texts where a row says."""

JUDGED = "judged"
"""Name of the check that every instruction has verdicts."""

_SHOWN_OF_KIND = 6


def _tally(values: Sequence[Any]) -> dg.MetadataValue:
    return dg.MetadataValue.json({str(name): count for name, count in sorted(Counter(values).items())})


def misplaced_cues(
    rows: Sequence[Mapping[str, Any]], subcaptions: Mapping[str, str], mentions: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return the cues that do not stand in their text where their row says: panel and words.

    Args:
        rows: of `cues`.
        subcaptions: by panel.
        mentions: texts of the mentions by panel.
    """
    wrong = []
    for row in rows:
        name = row["panel_id"]
        for cue in (*row["scenes"], *row["context"]):
            number = cue["mention"]
            text = subcaptions.get(name, "") if number is None else (mentions.get(name) or ())[number]
            if text[cue["start"] : cue["end"]] != cue["text"]:
                wrong.append(f"{name}: {cue['text'][:60]}")
    return wrong


def _cues_result(made: Made) -> dg.AssetCheckResult:
    key = ("article_id", "image_cluster_id", "ordinal")
    words = {tuple(row[:3]): row[3] or "" for row in made.tables["reviewed_panels"].select(*key, "subcaption").rows()}
    subcaptions = {row["panel_id"]: words.get(tuple(row[name] for name in key), "") for row in made.rows}
    told = made.tables["panel_summaries"].select("panel_id", "mentions").iter_rows()
    wrong = misplaced_cues(made.rows, subcaptions, {name: [cell["text"] for cell in cells] for name, cells in told})
    return dg.AssetCheckResult(
        check_name=VERBATIM_CUES,
        passed=not wrong,
        metadata={"wrong": len(wrong), "examples": dg.MetadataValue.json(wrong[:20])},
    )


def _model_counts(counts: CueCounts | QuestionCounts | VerdictCounts) -> Mapping[str, Any]:
    told = {f"model_{name}": value for name, value in asdict(counts).items() if name != "usage"}
    return {**told, **usage_metadata("llm", counts.usage)}


cues = stage_table(
    "cues",
    counted=_model_counts,
    pool="llm",
    checks=[
        checks.panel_rows(),
        checks.BatchCheck(VERBATIM_CUES, "Every cue stands in its text where its row says.", _cues_result),
    ],
    summary=lambda made: {
        "panels": len(made.rows),
        "panels_with_scenes": sum(bool(row["scenes"]) for row in made.rows),
        "scenes": sum(len(row["scenes"]) for row in made.rows),
        "context": _tally([cue["kind"] for row in made.rows for cue in row["context"]]),
    },
)

cue_scores = stage_table(
    "cue_scores",
    summary=lambda made: {
        "panels": len(made.rows),
        "kept": sum(row["is_kept"] for row in made.rows),
        "for_reasoning": sum(row["for_reasoning"] for row in made.rows),
        **{name: _tally([row[name] for row in made.rows]) for name in ("quality", "difficulty", "relevance")},
    },
)


def random_page(
    rows: Sequence[Mapping[str, Any]], count: int = _SHOWN_OF_KIND, *, owner: str = "panel_id", called: str = "panel"
) -> str:
    """Return some instructions of each kind with their evidence, as Markdown; which ones, a hash decides.

    Args:
        rows: of `instructions`, or of `video_instructions`.
        count: of each kind.
        owner: column of what they are about.
        called: its name in words.
    """
    lines = [f"| kind | {called} | messages | evidence |", "| --- | --- | --- | --- |"]
    for kind in INSTRUCTION_KINDS:
        own = [row for row in rows if row["kind"] == kind]
        own.sort(key=lambda row: number_of(row[owner], row["number"]))
        for row in own[:count]:
            said = " ".join(f"**{turn['role']}:** {turn['content']}" for turn in row["messages"])
            shown = "; ".join(item["text"] for item in row["evidence"])
            lines.append(f"| {kind} | {row[owner]} | {_cell(said)} | {_cell(shown)} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")[:600]


instructions = stage_table(
    "instructions",
    counted=_model_counts,
    pool="llm",
    summary=lambda made: {
        "instructions": len(made.rows),
        "panels": len({row["panel_id"] for row in made.rows}),
        "kinds": _tally([row["kind"] for row in made.rows]),
        "topics": _tally([row["topic"] for row in made.rows]),
        "makers": _tally([row["maker"] for row in made.rows]),
        "preview": dg.MetadataValue.md(random_page(made.rows)),
    },
)


def _judged_result(made: Made) -> dg.AssetCheckResult:
    asked = made.tables["instructions"].height
    left = len(made.rows)
    return dg.AssetCheckResult(
        check_name=JUDGED,
        passed=left == asked or bool(made.rejections),
        metadata={"instructions": asked, "judged": left},
    )


verdicts = stage_table(
    "verdicts",
    counted=_model_counts,
    pool="llm",
    checks=[checks.BatchCheck(JUDGED, "Every instruction has verdicts.", _judged_result), ANNOTATIONS_APPLIED],
    summary=lambda made: {
        "instructions": len(made.rows),
        "kept": sum(row["is_kept"] for row in made.rows),
        "discarded_by": dg.MetadataValue.json(discarded_by(verdicts_of_row(row) for row in made.rows)),
        "judged_by_people": sum(is_judged(verdicts_of_row(row)) for row in made.rows),
        **applied_metadata(made, "verdicts"),
    },
)


def misplaced_spoken_cues(rows: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> list[str]:
    """Return the cues that do not stand in their transcript where their row says: pair and words.

    Args:
        rows: of `video_cues`.
        texts: transcripts by pair.
    """
    return [
        f"{row['pair_id']}: {cue['text'][:60]}"
        for row in rows
        for cue in (*row["scenes"], *row["context"])
        if texts[row["pair_id"]][cue["start"] : cue["end"]] != cue["text"]
    ]


def _spoken_cues_result(made: Made) -> dg.AssetCheckResult:
    key = ("video_id", "episode")
    told = {tuple(row[:2]): row[2] for row in made.tables["video_pairs"].select(*key, "text").rows()}
    wrong = misplaced_spoken_cues(made.rows, {row["pair_id"]: told[row[key[0]], row[key[1]]] for row in made.rows})
    return dg.AssetCheckResult(
        check_name=VERBATIM_CUES,
        passed=not wrong,
        metadata={"wrong": len(wrong), "examples": dg.MetadataValue.json(wrong[:20])},
    )


video_cues = stage_table(
    "video_cues",
    checks=[
        checks.BatchCheck(VERBATIM_CUES, "Every cue stands in its transcript where its row says.", _spoken_cues_result)
    ],
    summary=lambda made: {
        "pictures": len(made.rows),
        "pictures_with_scenes": sum(bool(row["scenes"]) for row in made.rows),
        "scenes": sum(len(row["scenes"]) for row in made.rows),
        "kept": sum(row["is_kept"] for row in made.rows),
        "modalities": _tally([row["modality"] for row in made.rows]),
    },
)

video_instructions = stage_table(
    "video_instructions",
    summary=lambda made: {
        "instructions": len(made.rows),
        "kept": sum(row["is_kept"] for row in made.rows),
        "pictures": len({row["pair_id"] for row in made.rows}),
        "kinds": _tally([row["kind"] for row in made.rows]),
        "discarded_by": dg.MetadataValue.json(discarded_by(verdicts_of_row(row) for row in made.rows)),
        "preview": dg.MetadataValue.md(
            random_page([row for row in made.rows if row["is_kept"]], owner="pair_id", called="picture of a lecture")
        ),
    },
)
