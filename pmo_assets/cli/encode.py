"""`pmo encode …`: how good the embeddings of a dual encoder are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.table import Table

from pmo_assets.cli.console import CommandError, console, spinner, write_text

if TYPE_CHECKING:
    from pmo_assets.encoders.evaluation.embeddings import Embeddings
    from pmo_assets.encoders.evaluation.ranks import RightAnswers
    from pmo_assets.encoders.evaluation.results import Evaluation

EncodedLevel = Literal["figure", "panel", "region"]

encode_app = typer.Typer(help="Evaluate dual encoders of pictures and texts.", no_args_is_help=True)


@encode_app.callback()
def encode() -> None:
    """Evaluate dual encoders of pictures and texts."""


@encode_app.command("evaluate")
def evaluate(
    images: Annotated[
        Path,
        typer.Option(
            "--images",
            help="Embeddings of pictures: (rows, dimensions) in .npy, or a Parquet file {id, kind, level, embedding}.",
        ),
    ],
    texts: Annotated[
        Path, typer.Option("--texts", help="Embeddings of texts, as the pictures'; may be the same file.")
    ],
    groups: Annotated[
        Path | None,
        typer.Option("--groups", help="Of arrays: ids, .npy; rows of one group are all right answers to each other."),
    ] = None,
    articles: Annotated[
        Path | None,
        typer.Option("--articles", help="Of arrays: ids of articles, .npy, which the bootstrap draws; else groups."),
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option("--pairs", help="Of Parquet files: a release, or a Parquet file of pairs."),
    ] = None,
    level: Annotated[EncodedLevel, typer.Option("--level", help="Of Parquet files: what is compared.")] = "panel",
    split: Annotated[str | None, typer.Option("--split", help="Of the pairs: train, validation or test.")] = None,
    text_kind: Annotated[
        list[str] | None, typer.Option("--text-kind", help="Of the pairs, e.g. subcaption; may be repeated.")
    ] = None,
    bootstrap: Annotated[int, typer.Option("--bootstrap", min=0, help="Replicates of the intervals; 0: none.")] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the bootstrap.")] = 0,
    encoder: Annotated[str, typer.Option("--encoder", help="Name of the encoder in the result.")] = "",
    data: Annotated[str, typer.Option("--data", help="Name of the data set in the result.")] = "",
    as_json: Annotated[Path | None, typer.Option("--json", help="Write the result here.", metavar="OUT")] = None,
    page: Annotated[Path | None, typer.Option("--page", help="Write a page here.", metavar="OUT.html")] = None,
) -> None:
    """Look for each picture's text among all texts, and for each text's picture among all pictures.

    Row i of two arrays belongs together; what belongs together in Parquet
    files is said by --pairs. Similarity is the cosine. Of several right
    answers the best counts, and the others take no place. A wrong answer that
    is as similar as the right one stands before it.
    """
    from pmo_assets.encoders.evaluation.evaluate import evaluate_retrieval
    from pmo_assets.encoders.evaluation.results import Evaluation

    if (images.suffix == ".parquet") != (texts.suffix == ".parquet"):
        raise CommandError("give two arrays (.npy) or two Parquet files")
    if images.suffix == ".parquet":
        if pairs is None or groups or articles:
            raise CommandError("Parquet files need --pairs, a release or a Parquet file, and no --groups or --articles")
        task = _paired_task(images, texts, pairs, level, split, text_kind)
    else:
        if pairs is not None or split or text_kind:
            raise CommandError("--pairs, --split and --text-kind are for Parquet files; arrays take --groups")
        task = _array_task(images, texts, groups, articles)
    with spinner("comparing") as say:
        one, other = evaluate_retrieval(
            task.images,
            task.texts,
            task.right,
            clusters=task.clusters,
            replicates=bootstrap,
            seed=seed,
            tell=lambda done, total: say(f"{done:,} of {total:,} pictures"),
        )
    result = Evaluation(
        encoder=encoder or images.stem,
        data=data or (pairs or texts).stem,
        notes=task.notes,
        image_to_text=one,
        text_to_image=other,
    )
    hand_out(result, as_json, page)


@dataclass(frozen=True)
class _Task:
    images: Embeddings
    texts: Embeddings
    right: RightAnswers | None
    clusters: tuple[Any, Any] | None
    notes: tuple[str, ...] = ()


def _array_task(images: Path, texts: Path, groups: Path | None, articles: Path | None) -> _Task:
    from pmo_assets.encoders.evaluation.embeddings import read_embeddings, read_ids
    from pmo_assets.encoders.evaluation.ranks import RightAnswers

    pictures, words = read_embeddings(images), read_embeddings(texts)
    if len(pictures) != len(words):
        raise CommandError(f"{images} has {len(pictures)} rows, {texts} {len(words)}: row i belongs to row i")
    right = RightAnswers.of_groups(read_ids(groups, len(pictures))) if groups else None
    clusters = read_ids(articles, len(pictures)) if articles else None
    return _Task(pictures, words, right, None if clusters is None else (clusters, clusters))


def _paired_task(
    images: Path, texts: Path, pairs: Path, level: EncodedLevel, split: str | None, text_kinds: Sequence[str] | None
) -> _Task:
    from pmo_assets.encoders.evaluation.embedding_files import read_embedding_table
    from pmo_assets.encoders.evaluation.pairs import paired, read_pairs

    task = paired(
        read_embedding_table(images, "image", level),
        read_embedding_table(texts, "text", level),
        read_pairs(pairs, level, split=split, text_kinds=text_kinds),
    )
    return _Task(
        task.images.embeddings,
        task.texts.embeddings,
        task.right,
        (task.image_articles, task.text_articles),
        (f"level {level}, split {split or 'any'}", *task.left_out),
    )


@encode_app.command("compare")
def compare(
    results: Annotated[list[Path], typer.Argument(help="Results of `pmo encode evaluate`, of several encoders.")],
    k: Annotated[int, typer.Option("--k", help="Compare by recall@k: 1, 5, 10, 50 or 200.")] = 200,
) -> None:
    """Compare encoders over data sets: recall@k in both directions, their mean (AR), and the mean of 1 / place."""
    from pmo_assets.encoders.evaluation.results import compared, read_evaluation

    headings, lines = compared([read_evaluation(path) for path in results], k)
    table = Table(title=f"recall@{k}", title_justify="left", box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="left" if not table.columns else "right")
    for encoder, numbers in lines.items():
        table.add_row(escape(encoder), *(f"{number:.3f}" for number in numbers))
    console.print(table)


def hand_out(result: Evaluation, as_json: Path | None, page: Path | None) -> None:
    """Write a result where it is wanted, and print it."""
    if as_json is not None:
        write_text(as_json, result.to_json())
    if page is not None:
        from pmo_assets.encoders.evaluation.page import evaluation_page

        write_text(page, evaluation_page(result))
    show_evaluation(result)


def show_evaluation(result: Evaluation) -> None:
    """Print a result as tables."""
    from pmo_assets.encoders.evaluation.page import result_tables

    console.print(f"{escape(result.encoder)} on {escape(result.data)}", style="bold", highlight=False)
    for part in result_tables(result):
        table = Table(title=part.title, title_justify="left", box=None, pad_edge=False)
        for heading in part.columns:
            table.add_column(heading, justify="left" if not table.columns else "right")
        for row in part.rows:
            table.add_row(*(escape(str(cell)) for cell in row))
        console.print(table)
    for note in result.notes:
        console.print(f"note: {escape(note)}", highlight=False, soft_wrap=True)
