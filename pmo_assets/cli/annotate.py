"""`pmo annotate …`: cases out to Label Studio, people's answers back in, and how far they agree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.markup import escape
from rich.table import Table

from pmo_assets.cli.console import (
    CommandError,
    console,
    counted,
    data_root_of,
    messages,
    place_of,
    say_list,
    settings_from_environment,
    spinner,
)
from pmo_assets.settings import Settings

if TYPE_CHECKING:
    from pmo_assets.annotation.cases import FigureCase
    from pmo_assets.annotation.interfaces import Interface
    from pmo_assets.annotation.server import LabelStudio
    from pmo_assets.storage.tables import Tables

annotate_app = typer.Typer(
    help="People: undecided cases, audits and whole articles, by Label Studio.", no_args_is_help=True
)

TOKEN = "LABEL_STUDIO_API_KEY"
"""Environment variable with the server's token: options are shown in process lists, environments are not."""

Url = Annotated[str | None, typer.Option("--url", help="Address of Label Studio; LABEL_STUDIO_URL if not given.")]
Into = Annotated[
    str | None, typer.Option("--annotations", help="Folder of annotation files; PMO_ANNOTATIONS if not given.")
]


def _server(url: str | None) -> LabelStudio:
    from pmo_assets.annotation.server import LabelStudio

    address = url or os.environ.get("LABEL_STUDIO_URL")
    if not address:
        raise CommandError("which Label Studio? Give --url http://127.0.0.1:8080, and the token in " + TOKEN)
    return LabelStudio(address, os.environ.get(TOKEN, ""))


def _folder(annotations: str | None, settings: Settings) -> Path:
    place = annotations or settings.annotations
    if not place:
        raise CommandError("where are the annotations? Give --annotations FOLDER or set PMO_ANNOTATIONS")
    if any(sign in place for sign in "*?["):
        raise CommandError(f"{place} is a pattern: answers need a folder (--annotations FOLDER)")
    return Path(place).expanduser()


def _assembled(settings: Settings) -> tuple[Tables, dict[str, list[int]]]:
    from pmo_assets.release.selection import current_articles
    from pmo_assets.storage.tables import Tables

    tables = Tables(data_root_of(settings))
    if not tables.batches("panel_assembly"):
        raise CommandError(f"no batch has been processed yet below {place_of(settings)}: run `pmo run`")
    return tables, current_articles(tables, "panel_assembly")


def _chosen(
    tables: Tables,
    current: dict[str, list[int]],
    kind: str,
    numbers: Sequence[int] | None,
    *,
    below: float,
    audit: int,
    seed: int,
    by_figure: bool,
) -> list[FigureCase] | object:
    from pmo_assets.annotation.cases import audit_sample, figure_cases, is_undecided

    if kind == "resolve":
        return (case for case in figure_cases(tables, current, "resolve") if is_undecided(case, below))
    if kind == "audit":
        return audit_sample(lambda: figure_cases(tables, current, "audit"), audit, seed, by_figure=by_figure)
    return figure_cases(tables, current, "full", numbers)


@annotate_app.command("export")
def export(
    folder: Annotated[Path, typer.Argument(help="Where the projects go, a folder each.")],
    undecided_cases: Annotated[
        bool,
        typer.Option(
            "--undecided", "--open", help="Figures with a panel that neither rules nor a model nor people decided."
        ),
    ] = False,
    below: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="With --undecided: the least confidence that is enough; PMO_MIN_ASSEMBLY_CONFIDENCE if not given.",
        ),
    ] = None,
    audit: Annotated[
        int | None, typer.Option("--audit", min=1, help="A random sample of so many panels, to be judged.")
    ] = None,
    seed: Annotated[int, typer.Option(help="With --audit or --instructions: seed of the sample.")] = 0,
    by_figure: Annotated[
        bool, typer.Option("--by-figure", help="With --audit: draw figures, and judge all their panels.")
    ] = False,
    articles: Annotated[
        list[str] | None, typer.Option("--articles", help="Whole articles, by name (PMC123), for full annotation.")
    ] = None,
    reports: Annotated[
        list[Path] | None,
        typer.Option("--reports", help="Figures whose mistakes people reported: files that the gallery gave."),
    ] = None,
    regions: Annotated[
        bool,
        typer.Option(
            "--regions",
            help="Figures of which it is not sure what a mark shows: marks and regions. With --articles: all of "
            "their figures, and no other task.",
        ),
    ] = False,
    instructions: Annotated[
        int | None,
        typer.Option(
            "--instructions",
            min=1,
            help="A random sample of so many kept instructions, by kind and confidence, to be judged.",
        ),
    ] = None,
    batch: Annotated[list[str] | None, typer.Option("--batch", help="Only of this batch (repeatable).")] = None,
    interfaces: Annotated[
        str | None,
        typer.Option(help="Which of pages, boxes, captions, regions (commas); what suits the cases if not given."),
    ] = None,
    pictures: Annotated[
        str,
        typer.Option(help="embedded in the tasks; folder (Label Studio's local files); or the address of the folder."),
    ] = "embedded",
    push: Annotated[bool, typer.Option("--push", help="Create the projects at --url.")] = False,
    url: Url = None,
) -> None:
    """Write cases as Label Studio projects, with what the machine found filled in."""
    from pmo_assets.annotation.export import EMBEDDED, FOLDER, Exported, Served, export_tasks, write_export
    from pmo_assets.storage.objects import ContentStore
    from pmo_assets.storage.pixels import ParquetPixels

    kind = _kind_of_cases(
        {
            "undecided": undecided_cases, "audit": audit is not None, "reports": bool(reports),
            "instructions": instructions is not None, "articles": bool(articles),
        },
        regions=regions, batch=bool(batch), interfaces=interfaces,
    )  # fmt: skip
    if pictures not in (EMBEDDED, FOLDER) and not pictures.startswith(("http://", "https://")):
        raise CommandError("--pictures is embedded, folder, or an address with http:// or https://")
    server = _server(url) if push else None
    settings = settings_from_environment(made_later=("annotations",))
    tables, current = _assembled(settings)
    if unknown := sorted(set(batch or ()) - set(current)):
        raise CommandError(f"no such batch is assembled: {', '.join(unknown)}")
    current = {key: numbers for key, numbers in current.items() if not batch or key in batch}
    numbers = _numbers(tables, current, articles) if articles else None
    least = settings.min_assembly_confidence if below is None else below
    if reports:
        parts = _reported(tables, current, reports, interfaces)
    elif regions:
        kind = "full" if articles else "resolve"
        parts = [(("regions",), _of_regions(tables, current, kind, numbers))]
    elif instructions is not None:
        parts = [(("instructions",), _of_instructions(tables, current, instructions, seed))]
    else:
        cases = _chosen(tables, current, kind, numbers, below=least, audit=audit or 0, seed=seed, by_figure=by_figure)
        names = _interfaces(interfaces, kind)
        parts = [(tuple(name for name in names if name != "regions"), cases)]  # type: ignore[list-item]
        if "regions" in names:
            parts.append((("regions",), _of_regions(tables, current, kind, numbers)))
    folder = folder.expanduser().absolute()
    exported = Exported()
    with spinner("writing tasks"):
        tasks = chain.from_iterable(
            export_tasks(
                shown,
                names,
                Served(pictures, folder),
                lambda key, number: ParquetPixels(tables.data_root, "figures", key).read(number),
                ContentStore(tables.data_root),
                exported,
            )
            for names, shown in parts
        )
        write_export(folder, tasks, kind, exported)
    for interface, count in sorted(exported.tasks.items()):
        console.print(f"{interface:9s} {counted(count, 'task')}  {folder / interface}", highlight=False, soft_wrap=True)
    say_list("not exported", "figure", exported.left_out)
    if pictures == FOLDER:
        messages.print(
            "Label Studio shows the pictures when it runs with LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true and "
            f"LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT={folder.parent}",
            highlight=False, soft_wrap=True, markup=False,
        )  # fmt: skip
    if server is not None:
        with server:
            for interface in sorted(exported.tasks):
                number, count = server.push(folder, interface, local_files=pictures == FOLDER)
                console.print(
                    f"project {number}: {counted(count, 'task')}  {server.url.rstrip('/')}/projects/{number}/data",
                    highlight=False, soft_wrap=True, markup=False,
                )  # fmt: skip
    _say_next(folder, sorted(exported.tasks), pushed=server is not None)


_PURPOSES: Final = {"undecided": "resolve", "audit": "audit", "reports": "reports", "instructions": "audit"}
"""Purpose of the cases that an option asks for; whole articles and batches are annotated in full."""


def _kind_of_cases(given: Mapping[str, bool], *, regions: bool, batch: bool, interfaces: str | None) -> str:
    """Return the purpose of the cases that are asked for; `given` says which options of that kind are.

    Raises:
        CommandError: if they do not go together.
    """
    chosen = [name for name, is_given in given.items() if is_given]
    if len(chosen) > 1 or not (chosen or batch or regions):
        raise CommandError(
            "say what: --undecided, --audit N, --instructions N, --reports FILE, --regions, or --articles NAME (or "
            "--batch KEY for all of a batch)"
        )
    if regions and (interfaces is not None or _PURPOSES.keys() & set(chosen)):
        raise CommandError("--regions is a kind of case, or with --articles their one task: give nothing else")
    if "instructions" in chosen and interfaces is not None:
        raise CommandError("--instructions has an interface of its own: give no other")
    return _PURPOSES.get(chosen[0], "full") if chosen else "full"


def _say_next(folder: Path, interfaces: Sequence[str], *, pushed: bool) -> None:
    """Say what to do with exported tasks, in a line; nothing if there are none."""
    if not interfaces:
        return
    tasks = " and ".join(str(folder / name / "tasks.json") for name in interfaces)
    messages.print(
        "next: people answer there; then pmo annotate import --pull"
        if pushed
        else f"next: in Label Studio a project of each: config.xml as labelling interface, {tasks} imported (or all "
        "that by --push); when people have answered, Export → JSON and pmo annotate import FILE",
        highlight=False, soft_wrap=True, markup=False,
    )  # fmt: skip


def _of_regions(
    tables: Tables, current: dict[str, list[int]], kind: str, numbers: Sequence[int] | None
) -> Iterable[FigureCase]:
    """Return the figures whose marks and regions are asked about: the unsure ones, or all of whole articles."""
    from pmo_assets.annotation.region_cases import region_cases

    if not set(tables.batches("regions")) & set(current):
        raise CommandError("no batch has marks and regions yet: run `pmo run`")
    if kind == "resolve":
        return region_cases(tables, current, "resolve", numbers, unsure=True)
    return region_cases(tables, current, "full", numbers)


def _of_instructions(tables: Tables, current: dict[str, list[int]], count: int, seed: int) -> Iterable[FigureCase]:
    """Return the figures whose instructions an audit judges."""
    from pmo_assets.annotation.instruction_cases import instruction_cases

    if not set(tables.batches("verdicts")) & set(current):
        raise CommandError("no batch has instructions yet: run `pmo run`")
    return instruction_cases(tables, current, count, seed)


def _reported(
    tables: Tables, current: dict[str, list[int]], files: Sequence[Path], wanted: str | None
) -> list[tuple[tuple[Interface, ...], Iterable[FigureCase]]]:
    """Return for each interface the figures whose reported mistakes are put right in it."""
    from pmo_assets.annotation.reports import not_there, read_reports, reported_cases

    found = read_reports(files)
    missing = not_there(tables, current, found)
    say_list("not here", "report", [f"{item.article_id} {item.figure}: {item.words()}" for item in missing])
    return [((name,), reported_cases(tables, current, found, name)) for name in _interfaces(wanted, "reports")]


def _numbers(tables: Tables, current: dict[str, list[int]], names: Sequence[str]) -> list[int]:
    from pmo_assets.annotation.cases import known_figures

    known = known_figures(tables, current, names)
    if missing := [name for name in names if name not in known]:
        raise CommandError(f"no such article is assembled: {', '.join(missing)} (the names of packages, e.g. PMC123)")
    if without := [name for name in names if not known[name]]:
        raise CommandError(f"no figure was found in {', '.join(without)}: there is nothing to annotate")
    return [next(iter(figures.values())).article_id for figures in known.values()]


def _interfaces(wanted: str | None, kind: str) -> tuple[Interface, ...]:
    from pmo_assets.annotation.interfaces import AUDITS, INTERFACES

    if kind == "audit":
        return ("audit",)
    usual: tuple[Interface, ...] = ("captions",) if kind == "resolve" else ("pages", "boxes", "captions")
    if wanted is None:
        return usual
    names = [name.strip() for name in wanted.split(",")]
    never = {"resolve": {"pages", "regions"}, "reports": {"regions"}}.get(kind, set())
    allowed = [name for name in INTERFACES if name not in AUDITS | never]
    if unknown := [name for name in names if name not in allowed]:
        raise CommandError(f"no interface {', '.join(unknown)} for these cases; there are {', '.join(allowed)}")
    return tuple(name for name in allowed if name in names)


@annotate_app.command("import")
def import_answers(
    files: Annotated[list[Path] | None, typer.Argument(help="Exports of Label Studio (JSON).")] = None,
    pull: Annotated[bool, typer.Option("--pull", help="Take them from the server at --url instead.")] = False,
    url: Url = None,
    project: Annotated[
        list[int] | None, typer.Option(help="With --pull: only this project; all that `export` made if not given.")
    ] = None,
    annotations: Into = None,
    named: Annotated[
        bool, typer.Option("--named", help="Keep who answered as Label Studio says it, not as a digest.")
    ] = False,
) -> None:
    """Check people's answers and put them into the annotation files; what cannot be taken is named."""
    from pmo_assets.annotation.answers import KnownFigures, as_is, hashed, take_answers, task_article
    from pmo_assets.annotation.cases import known_figures
    from pmo_assets.annotation.files import write_answers
    from pmo_assets.annotation.instruction_cases import known_instructions
    from pmo_assets.annotation.label_studio import exported_tasks
    from pmo_assets.annotation.region_cases import region_words

    if pull == bool(files):
        raise CommandError("give exports of Label Studio, or --pull to take them from the server")
    settings = settings_from_environment(made_later=("annotations",))
    folder = _folder(annotations, settings)
    tables, current = _assembled(settings)
    tasks: list[object] = []
    for path in files or []:
        tasks += exported_tasks(path.read_bytes())
    if pull:
        with _server(url) as server:
            for number in project or sorted(server.projects()):
                tasks += exported_tasks(server.answers(number))
    names = {name for task in tasks if (name := task_article(task))}
    words = region_words(tables, current, {name for task in tasks if (name := task_article(task, "regions"))})
    judged = {name for task in tasks if (name := task_article(task, "instructions"))}
    known = KnownFigures(known_figures(tables, current, names), words, known_instructions(tables, current, judged))
    taken = take_answers(tasks, known, as_is if named else hashed)
    changed = write_answers(folder, taken, known)
    say_list("not taken", "answer", [f"{item.task}: {item.reason}" for item in taken.problems])
    console.print(
        f"{counted(taken.taken, 'answer')} of {counted(len(tasks), 'task')} taken, {taken.skipped} skipped by people; "
        f"{counted(len(changed), 'article')} changed in {folder}",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    if changed and settings.annotations is None:
        messages.print(f"set PMO_ANNOTATIONS={folder} and run `pmo run`: it applies what changed", highlight=False)
    if taken.problems and not taken.taken:
        raise CommandError("nothing could be taken")


@annotate_app.command("report")
def report(annotations: Into = None) -> None:
    """Say how far people agree, and what their audit of the machine came to."""
    from pmo_assets.annotation.annotations import annotation_files, read_annotations
    from pmo_assets.quality.metrics.agreement import annotation_metrics
    from pmo_assets.quality.metrics.instructions import instruction_audit_metrics
    from pmo_assets.quality.metrics.metric import metrics_by_threshold

    read = read_annotations(
        annotation_files(str(_folder(annotations, settings_from_environment(made_later=("annotations",)))))
    )
    say_list("not usable", "file", [f"{item.file}: {item.reason}" for item in read.problems])
    headings, lines = metrics_by_threshold(
        [*annotation_metrics(read.articles), *instruction_audit_metrics(read.articles)]
    )
    table = Table(title="annotation quality", title_justify="left")
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number < 2 else "right")
    for line in lines:
        table.add_row(*map(escape, line))
    console.print(table)
