"""`pmo instruct`: the instructions of one panel or article, from its cues to the verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from pmo_assets.cli.console import CommandError, console, data_root_of, say_json, settings_from_environment, write_text
from pmo_assets.logs import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pmo_assets.storage.tables import Tables
    from pmo_assets.viewing.instruction_page import InstructedPanel

_TABLES: Final = ("cues", "cue_scores", "instructions", "verdicts")

_SHOW: Final = "show"


class _ShowsByDefault(TyperGroup):
    """`pmo instruct CASE` is `pmo instruct show CASE`: what is no command's name is a case."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and not (set(args) & set(ctx.help_option_names)):
            args = [_SHOW, *args]
        return super().parse_args(ctx, args)


instruct_app = typer.Typer(
    cls=_ShowsByDefault,
    help="Show the instructions of a panel or article; evaluate a model's answers to those of a release.",
    no_args_is_help=True,
)


@instruct_app.callback()
def instruct() -> None:
    """Show the instructions of a panel or article; evaluate a model's answers to those of a release."""


@instruct_app.command(_SHOW)
def show(
    case: Annotated[
        str,
        typer.Argument(
            help="A panel_id, or an article's number (with or without PMC); a pair_id of a lecture, or its video_id."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows of the tables as JSON.")] = False,
    page: Annotated[
        Path | None,
        typer.Option("--page", help="Write a page: pictures with boxes, evidence marked in the words.", metavar="OUT"),
    ] = None,
) -> None:
    """Show what the words of a panel, article or lecture say is visible, how that scores, what is asked, and verdicts.

    `pmo instruct CASE` is the same.

    The newest batch that has the article or lecture is read; nothing is made and nobody is asked.
    """
    from pmo_assets.cli.lecture_cases import like_panels, pictures_of_lecture, rows_of_lecture
    from pmo_assets.storage.tables import Tables

    tables = Tables(data_root_of(settings_from_environment()))
    found = rows_of_case(tables, case)
    lecture = {} if found["cues"] else rows_of_lecture(tables, case)
    if not found["cues"] and not lecture["video_cues"]:
        raise CommandError(
            f"no batch has cues of {case}: name a panel_id or an article's number of a batch that `pmo run` has done, "
            "or a pair_id or video_id of a batch of videos"
        )
    if page is not None:
        from pmo_assets.viewing.instruction_page import instruction_page

        panels = pictures_of_lecture(tables, case) if lecture else panels_of_case(tables, found)
        write_text(page, instruction_page(f"Instructions of {case}", panels))
        console.print(str(page), highlight=False, markup=False, soft_wrap=True)
        return
    if as_json:
        say_json(lecture or found)
        return
    for line in lines_of(like_panels(lecture) if lecture else found):
        console.print(printable(line), highlight=False, markup=False, soft_wrap=True)


def rows_of_case(tables: Tables, case: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a panel or article of the newest batch that has it, by table; none where no batch does.

    Args:
        tables: below the data root.
        case: a panel_id, or an article's number with or without "PMC".
    """
    import polars as pl

    number = case.upper().removeprefix("PMC")
    wanted = pl.col("article_id") == int(number) if number.isdecimal() else pl.col("panel_id") == case
    for batch in reversed(tables.batches("cues")):
        rows = tables.read("cues", batch).filter(wanted)
        if not rows.is_empty():
            own = {name: tables.read(name, batch).filter(wanted).to_dicts() for name in _TABLES[1:]}
            return {"cues": rows.to_dicts(), **own}
    return {name: [] for name in _TABLES}


def panels_of_case(tables: Tables, found: dict[str, list[dict[str, Any]]]) -> list[InstructedPanel]:
    """Return the panels of a case with their words and pictures, for its page.

    Args:
        tables: below the data root.
        found: from `rows_of_case`, with cues.
    """
    import polars as pl

    from pmo_assets.pipeline.dataset.panel_boxes import box_of_panel
    from pmo_assets.records.geometry import as_box
    from pmo_assets.storage.pixels import ParquetPixels
    from pmo_assets.viewing.instruction_page import InstructedPanel, ShownInstruction

    (article,) = {row["article_id"] for row in found["cues"]}
    names = {row["panel_id"] for row in found["cues"]}
    batch = next(
        batch
        for batch in reversed(tables.batches("cues"))
        if names <= set(tables.read("cues", batch, ["panel_id"])["panel_id"])
    )

    def rows(table: str, *key: str) -> dict[tuple[Any, ...], dict[str, Any]]:
        own = tables.read(table, batch).filter(pl.col("article_id") == article)
        return {tuple(row[name] for name in key): row for row in own.to_dicts()}

    figures = rows("figures", "image_cluster_id")
    reviewed, told = rows("reviewed_panels", "image_cluster_id", "ordinal"), rows("panel_summaries", "panel_id")
    scores = {row["panel_id"]: row for row in found["cue_scores"]}
    verdicts = {(row["panel_id"], row["number"]): row for row in found["verdicts"]}
    pictures = ParquetPixels(tables.data_root, "panels", batch).read(article)
    shown = []
    for row in found["cues"]:
        name = row["panel_id"]
        panel = reviewed[row["image_cluster_id"], row["ordinal"]]
        figure = figures[row["image_cluster_id"],]
        mentions = told[name,]["mentions"] if (name,) in told else []
        items = []
        for item in (item for item in found["instructions"] if item["panel_id"] == name):
            placed = (
                box_of_panel(box, panel["content_box"], figure["width"], figure["height"]) for box in item["boxes"]
            )
            boxes = tuple(as_box(box) for box in placed if box is not None)
            items.append(ShownInstruction(item, verdicts.get((name, item["number"])), boxes))
        picture = pictures.get(name)
        texts = [panel["subcaption"] or "", *(cell["text"] for cell in mentions)]
        shown.append(
            InstructedPanel(name, texts, row, scores.get(name), items, None if picture is None else picture.png)
        )
    return shown


def lines_of(found: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Yield what `pmo instruct` says of a case, panel by panel."""
    scores = {row["panel_id"]: row for row in found["cue_scores"]}
    verdicts = {(row["panel_id"], row["number"]): row for row in found["verdicts"]}
    for row in found["cues"]:
        name = row["panel_id"]
        yield f"{name}"
        yield from (f"  scene    {cue['text']}" for cue in row["scenes"])
        yield from (f"  context  {cue['text']} ({cue['kind']})" for cue in row["context"])
        if (score := scores.get(name)) is not None:
            said = ", ".join(f"{part} {score[part]}" for part in ("quality", "difficulty", "relevance"))
            yield f"  scores   {said}; {'kept' if score['is_kept'] else 'not kept: nothing is asked'}"
        own = [item for item in found["instructions"] if item["panel_id"] == name]
        for item in own:
            yield from _instruction_lines(item, verdicts.get((name, item["number"])))


def _instruction_lines(item: dict[str, Any], verdict: dict[str, Any] | None) -> Iterator[str]:
    turns: Sequence[dict[str, str]] = item["messages"]
    yield f"  {item['kind']} ({item['maker']}, confidence {item['confidence']:.2f})"
    for turn in turns:
        yield f"    {'Q' if turn['role'] == 'user' else 'A'}  {turn['content']}"
    yield f"    rests on: {'; '.join(piece['text'] for piece in item['evidence'])}"
    if verdict is None:
        yield "    no verdict"
    elif verdict["is_kept"]:
        people = [said["who"] for said in verdict["verdicts"] if said["criterion"] == "audit"]
        yield "    kept by every check" + (f", and right by {', '.join(people)}" if people else "")
    else:
        against = next(said for said in verdict["verdicts"] if said["verdict"] == "discard")
        yield f"    discarded by {against['who']}, {against['criterion']}: {against['reason']}"
