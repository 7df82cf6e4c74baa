"""`pmo captions …`: split captions and score the result, from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from pmo_assets.pipeline.captions.subcaptions import CaptionSplit

if TYPE_CHECKING:
    from pmo_assets.pipeline.captions.cascade import Cascade
    from pmo_assets.pipeline.evaluation.captions import CaptionScore, CaptionSummary

captions_app = typer.Typer(help="Split captions into subcaptions, and score the result.", no_args_is_help=True)


class CaptionCommandError(ValueError):
    """A command cannot do what it was asked; the message says why."""


@captions_app.command("split")
def split(
    text: Annotated[str, typer.Argument(help="The caption; - reads standard input.", metavar="[TEXT|-]")] = "-",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of coloured text.")] = False,
    jsonl: Annotated[
        tuple[Path, Path] | None,
        typer.Option("--jsonl", help="Split the rows {id, caption} of IN into rows of OUT.", metavar="IN OUT"),
    ] = None,
    grammar_only: Annotated[
        bool, typer.Option("--grammar", help="Ask no language model, even if one is configured.")
    ] = False,
) -> None:
    """Split a caption, or a file of captions, into one subcaption per panel.

    By the grammar; captions it is not sure about are put to the language model, if PMO_LLM_MODEL names one.
    """
    if jsonl is not None:
        if text != "-":
            raise CaptionCommandError("give either a caption or --jsonl IN OUT")
        with _cascade(grammar_only) as cascade:
            _split_file(*jsonl, cascade)
        return
    if text == "-":
        if sys.stdin.isatty():
            raise CaptionCommandError("give the caption in quotation marks, or - and the caption on standard input")
        text = sys.stdin.buffer.read().decode("utf-8", errors="replace").strip()
    from pmo_assets.pipeline.captions.cascade import split_by_cascade

    with _cascade(grammar_only) as cascade:
        answer = split_by_cascade(text, cascade)
    if as_json:
        facts = {"identifiers": list(answer.split.identifiers), **split_facts(answer.split)}
        print(json.dumps({**facts, "reasons": list(answer.split.reasons)}, ensure_ascii=False, indent=1))
        return
    from pmo_assets.viewing.palette import panel_colour

    console = Console()
    console.print(coloured_caption(text, answer.split), "")
    table = Table("panel", "subcaption", box=None, pad_edge=False)
    for number, sub in enumerate(answer.split.subcaptions):
        table.add_row(_tag(sub.identifier or "single", panel_colour(number)), Text(sub.text))
    console.print(table, "")
    reasons = f": {'; '.join(answer.split.reasons)}" if answer.split.reasons else ""
    console.print(Text(f"confidence {answer.split.confidence:.2f} ({answer.split.method}){reasons}", style="dim"))


@captions_app.command("score")
def score(
    truth: Annotated[Path, typer.Argument(help="JSONL rows {id, subcaptions} of reference subcaptions.")],
    prediction: Annotated[Path, typer.Argument(help="JSONL rows {id, subcaptions, confidence} to be scored.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    worst: Annotated[int, typer.Option("--worst", min=0, help="Also list so many of the worst captions.")] = 0,
) -> None:
    """Compare subcaptions with references: mean average sentence BLEU and unprocessed share, as in the paper."""
    from pmo_assets.pipeline.evaluation.captions import (
        calibration_error,
        caption_scores,
        caption_summary,
        confidence_bins,
        coverage,
    )

    scores = caption_scores(_scored_rows(truth), _scored_rows(prediction))
    if not scores:
        raise CaptionCommandError(f"{truth} has no rows")
    summary, parts, bins = caption_summary(scores), coverage(scores), confidence_bins(scores)
    ranked = sorted(scores, key=lambda item: (not item.unprocessed, item.mean_bleu))[:worst]
    if as_json:
        facts = {
            **asdict(summary),
            "coverage": [asdict(part) for part in parts],
            "confidence": [asdict(item) for item in bins],
            "calibration_error": calibration_error(bins),
            "worst": [{"id": item.id, "unprocessed": item.unprocessed, "bleu": item.mean_bleu} for item in ranked],
        }
        print(json.dumps(facts, ensure_ascii=False, indent=1))
        return
    console = Console()
    table = Table("part", "confidence", "captions", "unprocessed", "maB", title="Most confident captions")
    for part in parts:
        table.add_row(f"{part.share:.0%}", f"≥ {part.lowest_confidence:.2f}", *_figures(part.summary))
    console.print(table)
    table = Table("confidence", "captions", "mean", "right", "mean BLEU", title="Confidence and outcome")
    for group in bins:
        claimed = (f"{group.lower:.1f} to {group.upper:.1f}", str(group.captions), f"{group.mean_confidence:.2f}")
        table.add_row(*claimed, f"{group.right_share:.2f}", f"{group.mean_bleu:.4f}")
    console.print(table)
    for item in ranked:
        console.print(Text(f"{_outcome(item)}  {item.id}"))


def _figures(summary: CaptionSummary) -> tuple[str, str, str]:
    return str(summary.captions), f"{summary.unprocessed_share:.1%}", f"{summary.mab:.4f}"


def _outcome(item: CaptionScore) -> str:
    return "unprocessed" if item.unprocessed else f"BLEU {item.mean_bleu:.4f}"


def split_facts(split: CaptionSplit) -> dict[str, Any]:
    """Return subcaptions and segments by identifier ("" for a single panel), confidence and who answered, as JSON."""
    return {
        "subcaptions": {sub.identifier or "": sub.text for sub in split.subcaptions},
        "segments": {sub.identifier or "": [list(part) for part in sub.segments] for sub in split.subcaptions},
        "confidence": split.confidence,
        "method": split.method,
    }


def coloured_caption(caption: str, split: CaptionSplit) -> Text:
    """Return the caption for a terminal: each panel's text on the panel's colour behind the panel's name.

    Text of all panels is plain, text of several panels on grey, text of no panel (identifiers) faint.
    """
    from pmo_assets.viewing.captions import caption_runs
    from pmo_assets.viewing.palette import SHARED_COLOUR, ink_on, panel_colour

    result = Text()
    panels = [(sub.identifier, sub.segments) for sub in split.subcaptions]
    for run in caption_runs(caption, panels):
        words = caption[run.start : run.end]
        if not run.owners:
            result.append(words, style="dim")
        elif len(run.owners) == len(panels):
            result.append(words)
        else:
            colour = panel_colour(run.owners[0]) if len(run.owners) == 1 else SHARED_COLOUR
            names = ",".join(panels[owner][0] or "" for owner in run.owners)
            result.append_text(_tag(names, colour))
            result.append(words, style=f"{ink_on(colour)} on {colour}")
    return result


def _tag(name: str, colour: str) -> Text:
    from pmo_assets.viewing.palette import ink_on

    return Text(f" {name} ", style=f"bold reverse {ink_on(colour)} on {colour}")


@contextmanager
def _cascade(grammar_only: bool) -> Iterator[Cascade]:
    from pmo_assets import cli
    from pmo_assets.pipeline.captions.cascade import Cascade

    settings = cli._settings()
    if grammar_only or settings.llm_model is None:
        yield Cascade(settings.caption_threshold)
        return
    from pmo_assets.resources.chat import chat_model
    from pmo_assets.step_options import caption_cascade

    with chat_model(settings, cli._data_root(settings)) as model:
        yield caption_cascade(settings, model)


def _split_file(source: Path, target: Path, cascade: Cascade) -> None:
    from pmo_assets import cli

    rows = [(number, json_row(source, number, line)) for number, line in _lines(source)]
    with Progress(console=cli.messages) as progress:
        bar = progress.add_task("", total=None)

        def tell(stage: str, done: int, total: int) -> None:
            progress.update(bar, description=stage, completed=done, total=total)

        answers = list(_answers([row["caption"] for _, row in rows], cascade, tell))
    lines = [
        json.dumps({"id": row["id"], **split_facts(answer)}, ensure_ascii=False)
        for (_, row), answer in zip(rows, answers, strict=True)
    ]
    cli._write_text(target, "".join(f"{line}\n" for line in lines))
    by_model = sum(answer.model is not None for answer in answers)
    low = sum(answer.model is None and answer.confidence < cascade.threshold for answer in answers)
    cli.messages.print(
        f"{len(answers)} captions, {by_model} by the language model, {low} with low confidence", highlight=False
    )


def _answers(
    captions: Sequence[str], cascade: Cascade, tell: Callable[[str, int, int], None]
) -> Iterator[CaptionSplit]:
    from pmo_assets.pipeline.captions.cascade import DoubtfulCaption, second_readings
    from pmo_assets.pipeline.captions.split import split_caption

    splits = []
    for number, caption in enumerate(captions, start=1):
        splits.append(split_caption(caption))
        if number % 100 == 0 or number == len(captions):
            tell("captions", number, len(captions))
    doubtful = [number for number, item in enumerate(splits) if item.confidence < cascade.threshold]
    reread = second_readings(
        [DoubtfulCaption(captions[number], splits[number]) for number in doubtful],
        cascade,
        lambda done, total: tell("captions to the language model", done, total),
    )
    for number, answer in zip(doubtful, reread, strict=True):
        splits[number] = answer.split
    yield from splits


def json_row(source: Path, number: int, line: str) -> dict[str, str]:
    """Return a line's {id, caption}.

    Raises:
        CaptionCommandError: naming the line that has none.
    """
    try:
        row = json.loads(line)
        return {"id": str(row["id"]), "caption": str(row["caption"])}
    except (ValueError, KeyError, TypeError) as error:
        raise CaptionCommandError(f"{source}, line {number}: no JSON object with id and caption ({error})") from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line


def _scored_rows(path: Path) -> dict[str, Any]:
    from pmo_assets.pipeline.evaluation.captions import split_rows

    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return dict(split_rows(file))
    except ValueError as error:
        raise CaptionCommandError(f"{path}, {error}") from error
