"""`pmo captions …`: split captions and score the result, from the command line."""

from __future__ import annotations

import codecs
import json
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final

import typer
from filelock import FileLock, Timeout
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from pmo_assets.cli.console import CommandError, console, data_root_of, messages, say_json, settings_from_environment
from pmo_assets.records.stores import SystemicError
from pmo_assets.records.subcaptions import CaptionSplit
from pmo_assets.system.aside import publish

if TYPE_CHECKING:
    from pmo_assets.pipeline.captions.cascade import Cascade, CascadeAnswer
    from pmo_assets.quality.metrics.captions import CaptionScore, CaptionSummary

MAX_CAPTION_CHARACTERS: Final = 200_000
"""Longer than any caption; the grammar takes seconds for so many characters."""

MAX_LINE_BYTES: Final = 16 * 2**20
"""A line of a file of captions is not read beyond; a caption may stand beside many other columns."""

_MAX_LISTED: Final = 20

captions_app = typer.Typer(help="Split captions into subcaptions, and score the result.", no_args_is_help=True)


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

    --jsonl gives one row per line of IN, in its order. A line that cannot be
    split becomes a row {id, line, error}, and the others go on; the status is
    0 unless no line at all could be split. Rows go to OUT.part as they are
    done, and OUT.part becomes OUT at the end: a kill or a fault of the system
    leaves what was done there, and an earlier OUT untouched. The same command
    starts afresh then; a language model's answers are kept, not asked again.
    """
    if jsonl is not None:
        if text != "-":
            raise CommandError("give either a caption or --jsonl IN OUT")
        with _cascade(grammar_only) as cascade:
            _split_file(*jsonl, cascade)
        return
    if text == "-":
        if sys.stdin.isatty():
            raise CommandError("give the caption in quotation marks, or - and the caption on standard input")
        text = sys.stdin.buffer.read().decode("utf-8", errors="replace").strip()
    if problem := caption_problem(text):
        raise CommandError(problem)
    from pmo_assets.pipeline.captions.cascade import split_by_cascade

    with _cascade(grammar_only) as cascade:
        answer = split_by_cascade(text, cascade)
    if as_json:
        facts = {"identifiers": list(answer.split.identifiers), **split_facts(answer.split)}
        say_json({**facts, "reasons": list(answer.split.reasons)})
        return
    from pmo_assets.viewing.palette import panel_colour

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
    from pmo_assets.quality.metrics.captions import (
        calibration_error,
        caption_scores,
        caption_summary,
        confidence_bins,
        coverage,
    )

    scores = caption_scores(_scored_rows(truth), _scored_rows(prediction))
    if not scores:
        raise CommandError(f"{truth} has no rows")
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
        say_json(facts)
        return
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
    from pmo_assets.pipeline.captions.cascade import Cascade

    settings = settings_from_environment()
    if grammar_only or settings.llm_model is None:
        yield Cascade(settings.caption_threshold)
        return
    from pmo_assets.models.chat import chat_model
    from pmo_assets.settings.step_options import caption_cascade

    with chat_model(settings, data_root_of(settings)) as model:
        yield caption_cascade(settings, model)


@dataclass(frozen=True, slots=True)
class CaptionLine:
    """A line of a file of captions.

    Attributes:
        number: from 1.
        id: the row's, a number as a string; None if it has none.
        caption: the text; "" if there is a problem.
        problem: reason why it cannot be split; None if it can.
        end: bytes of the file up to and with this line.
    """

    number: int
    id: str | None
    caption: str = ""
    problem: str | None = None
    end: int = 0


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Let no other command write the same rows at the same time: what is done lies where people look for it.

    Raises:
        CommandError: if one does, or the folder cannot be written.
    """
    place = target.with_name(f".{target.name}.lock")
    lock = FileLock(place)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise CommandError(
            f"another command is writing {target}: wait until it has ended, or name another file"
        ) from None
    except OSError as error:
        raise CommandError(f"cannot write {target}: {error}") from error
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps what is open
            place.unlink()
        lock.release()


def _split_file(source: Path, target: Path, cascade: Cascade) -> None:
    """Write one row of `target` for each of `source`, in its order, as they are done; see `split`."""
    if target.exists() and (not target.is_file() or target.samefile(source)):
        raise CommandError(f"{target} is not replaced: name a new or an ordinary file that is not the input")
    with _alone(target):
        _write_split_file(source, target, cascade)


def _write_split_file(source: Path, target: Path, cascade: Cascade) -> None:
    from pmo_assets.pipeline.captions.cascade import CascadeAnswer

    bad: list[tuple[int, str]] = []
    rows = by_model = low = 0
    partial = target.with_name(f"{target.name}.part")
    try:
        size = source.stat().st_size
        with (
            source.open("rb") as file,
            partial.open("w", encoding="utf-8", newline="\n") as out,
            Progress(console=messages) as progress,
        ):
            bar = progress.add_task("captions", total=size or None)
            for line, answer in _answers(_caption_lines(file), cascade):
                rows += 1
                if isinstance(answer, CascadeAnswer):
                    by_model += answer.split.model is not None
                    low += answer.split.model is None and answer.split.confidence < cascade.threshold
                    facts: dict[str, Any] = {"id": line.id, **split_facts(answer.split)}
                else:
                    bad.append((line.number, answer))
                    facts = {"id": line.id, "line": line.number, "error": answer}
                out.write(f"{json_line(facts)}\n")
                out.flush()
                progress.update(bar, completed=line.end, description=f"{rows} captions")
        publish(partial, target)
    except OSError as error:
        raise CommandError(f"cannot split {source} into {target}: {error}{_kept(rows, partial)}") from error
    except SystemicError as error:
        raise CommandError(f"{error}{_kept(rows, partial)}") from error
    messages.print(
        f"{rows - len(bad)} captions, {by_model} by the language model, {low} with low confidence", highlight=False
    )
    for number, problem in bad[:_MAX_LISTED]:
        messages.print(Text(f"line {number}: {problem}", style="yellow"), soft_wrap=True)
    if bad:
        more = f" ({len(bad) - _MAX_LISTED} more than listed)" if len(bad) > _MAX_LISTED else ""
        messages.print(Text(f"{len(bad)} lines could not be split{more}: rows with an error in {target}"))
    if bad and len(bad) == rows:
        raise CommandError(f"no line of {source} could be split")


def _kept(rows: int, partial: Path) -> str:
    return f" ({rows} rows that were done are in {partial})" if rows else ""


def _answers(lines: Iterator[CaptionLine], cascade: Cascade) -> Iterator[tuple[CaptionLine, CascadeAnswer | str]]:
    """Give each line with its answer, or with the reason why there is none, in order."""
    from pmo_assets.pipeline.captions.cascade import stream_by_cascade

    given: deque[CaptionLine] = deque()

    def captions() -> Iterator[str | None]:
        for line in lines:
            given.append(line)
            yield line.caption if line.problem is None else None

    for answer in stream_by_cascade(captions(), cascade):
        line = given.popleft()
        if isinstance(answer, Exception):
            yield line, f"{type(answer).__name__}: {answer}"
        else:
            yield line, answer or line.problem or ""


def json_line(facts: dict[str, Any]) -> str:
    """Return facts as one line of JSON that UTF-8 can hold: what it cannot (half of a surrogate pair) is escaped."""
    text = json.dumps(facts, ensure_ascii=False)
    return text if _is_unicode(text) else json.dumps(facts)


def _caption_lines(file: BinaryIO) -> Iterator[CaptionLine]:
    end = number = 0
    while content := file.readline(MAX_LINE_BYTES + 1):
        number, end = number + 1, end + len(content)
        if len(content) > MAX_LINE_BYTES and not content.endswith(b"\n"):
            while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                end += len(rest)
            end += len(rest)
            problem = f"the line is longer than {MAX_LINE_BYTES:,} bytes"
            yield CaptionLine(number, None, problem=problem, end=end)
        elif content.strip():
            yield replace(
                caption_line(number, content.removeprefix(codecs.BOM_UTF8) if number == 1 else content), end=end
            )


def caption_line(number: int, content: bytes) -> CaptionLine:
    """Return id and caption of a line; `problem` says why one is missing or the caption cannot be split."""
    try:
        row = json.loads(content.decode())
    except UnicodeDecodeError as error:
        return CaptionLine(number, None, problem=f"the line is no UTF-8 ({error.reason} at byte {error.start})")
    except (ValueError, RecursionError) as error:
        return CaptionLine(number, None, problem=f"the line is no JSON ({error})")
    if not isinstance(row, dict):
        return CaptionLine(number, None, problem="the line is no JSON object with id and caption")
    name, caption = row.get("id"), row.get("caption")
    if isinstance(name, bool) or not isinstance(name, str | int | float):
        return CaptionLine(number, None, problem="there is no id, a string or a number")
    name = str(name)
    if "caption" not in row:
        return CaptionLine(number, name, problem="there is no caption")
    if not isinstance(caption, str):
        return CaptionLine(number, name, problem=f"the caption is no string but {type(caption).__name__}")
    if not _is_unicode(name):
        return CaptionLine(number, name, problem="the id is no Unicode text: it holds half of a surrogate pair")
    return CaptionLine(number, name, caption, caption_problem(caption))


def caption_problem(caption: str) -> str | None:
    """Return why a caption cannot be split; None if it can."""
    if not _is_unicode(caption):
        return "the caption is no Unicode text: it holds half of a surrogate pair"
    if len(caption) > MAX_CAPTION_CHARACTERS:
        return f"the caption is longer than {MAX_CAPTION_CHARACTERS:,} characters"
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _scored_rows(path: Path) -> dict[str, Any]:
    from pmo_assets.quality.metrics.captions import split_rows

    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return dict(split_rows(file))
    except ValueError as error:
        raise CommandError(f"{path}, {error}") from error
