"""`pmo encode …`: how good the embeddings of a dual encoder are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from pmo_assets.cli.console import CommandError, console, spinner, write_text

if TYPE_CHECKING:
    from pmo_assets.encoders.evaluation.results import Evaluation

encode_app = typer.Typer(help="Evaluate dual encoders of pictures and texts.", no_args_is_help=True)


@encode_app.callback()
def encode() -> None:
    """Evaluate dual encoders of pictures and texts."""


@encode_app.command("evaluate")
def evaluate(
    images: Annotated[Path, typer.Option("--images", help="Embeddings of pictures: .npy, (rows, dimensions).")],
    texts: Annotated[Path, typer.Option("--texts", help="Embeddings of texts: .npy; row i belongs to picture i.")],
    groups: Annotated[
        Path | None,
        typer.Option("--groups", help="Ids, .npy: rows of one group are all right answers to each other."),
    ] = None,
    articles: Annotated[
        Path | None,
        typer.Option("--articles", help="Ids of articles, .npy, which the bootstrap draws; else groups."),
    ] = None,
    bootstrap: Annotated[int, typer.Option("--bootstrap", min=0, help="Replicates of the intervals; 0: none.")] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the bootstrap.")] = 0,
    encoder: Annotated[str, typer.Option("--encoder", help="Name of the encoder in the result.")] = "",
    data: Annotated[str, typer.Option("--data", help="Name of the data set in the result.")] = "",
    as_json: Annotated[Path | None, typer.Option("--json", help="Write the result here.", metavar="OUT")] = None,
) -> None:
    """Look for each picture's text among all texts, and for each text's picture among all pictures.

    Similarity is the cosine. Of several right answers the best counts, and the
    others take no place. A wrong answer that is as similar as the right one
    stands before it.
    """
    from pmo_assets.encoders.evaluation.embeddings import read_embeddings, read_ids
    from pmo_assets.encoders.evaluation.evaluate import evaluate_retrieval
    from pmo_assets.encoders.evaluation.ranks import RightAnswers
    from pmo_assets.encoders.evaluation.results import Evaluation

    pictures, words = read_embeddings(images), read_embeddings(texts)
    if len(pictures) != len(words):
        raise CommandError(f"{images} has {len(pictures)} rows, {texts} {len(words)}: row i belongs to row i")
    right = RightAnswers.of_groups(read_ids(groups, len(pictures))) if groups else None
    clusters = read_ids(articles, len(pictures)) if articles else None
    with spinner("comparing") as say:
        one, other = evaluate_retrieval(
            pictures,
            words,
            right,
            clusters=None if clusters is None else (clusters, clusters),
            replicates=bootstrap,
            seed=seed,
            tell=lambda done, total: say(f"{done:,} of {total:,} pictures"),
        )
    result = Evaluation(encoder=encoder or images.stem, data=data or texts.stem, image_to_text=one, text_to_image=other)
    if as_json is not None:
        write_text(as_json, result.to_json())
    show_evaluation(result)


def show_evaluation(result: Evaluation) -> None:
    """Print a result as tables."""
    table = Table(title=f"{result.encoder} on {result.data}", title_justify="left", box=None, pad_edge=False)
    table.add_column("")
    for heading in ("image to text", "text to image"):
        table.add_column(heading, justify="right")
    directions = [item for item in (result.image_to_text, result.text_to_image) if item is not None]
    if directions:
        for name in directions[0].numbers():
            table.add_row(
                name, *(_number(item.numbers()[name], (item.intervals or {}).get(name)) for item in directions)
            )
        table.add_row("queries", *(f"{item.queries:,}" for item in directions))
        table.add_row("candidates", *(f"{item.candidates:,}" for item in directions))
        console.print(table)


def _number(value: float, interval: tuple[float, float] | None) -> str:
    text = f"{value:,.1f}" if value > 1 else f"{value:.4f}"
    return text if interval is None else f"{text} [{_number(interval[0], None)}, {_number(interval[1], None)}]"
