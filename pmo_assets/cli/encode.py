"""`pmo encode …`: how good the embeddings of a dual encoder are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from pmo_assets.cli.console import CommandError, console, counted, messages, spinner, write_text

if TYPE_CHECKING:
    from pmo_assets.encoders.evaluation.embeddings import Embeddings
    from pmo_assets.encoders.evaluation.ranks import RightAnswers
    from pmo_assets.encoders.evaluation.results import Evaluation

EncodedLevel = Literal["figure", "panel", "region", "video"]
MapColouring = Literal["image_type", "modality", "split"]
MapMethod = Literal["tsne", "pca"]

encode_app = typer.Typer(help="Train and evaluate dual encoders of pictures and texts.", no_args_is_help=True)


@encode_app.callback()
def encode() -> None:
    """Train and evaluate dual encoders of pictures and texts."""


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
    from pmo_assets.encoders.encoder_mark import need_one_encoder
    from pmo_assets.encoders.evaluation.embedding_files import read_embedding_table
    from pmo_assets.encoders.evaluation.pairs import paired, read_pairs

    need_one_encoder(images, texts)
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


@encode_app.command("prompts")
def prompts(
    name: Annotated[str, typer.Argument(help="A label set of the package, or a TOML file.")] = "",
    as_json: Annotated[Path | None, typer.Option("--json", help="Write {class, prompt} of each here.")] = None,
) -> None:
    """Print the sentences of a label set, one a line: what an encoder embeds for `pmo encode classify --prompts`."""
    from pmo_assets.encoders.evaluation.labels import label_set, shipped_label_sets

    if not name:
        for known in shipped_label_sets():
            console.print(
                f"{known}: {label_set(known).title}; {label_set(known).source}", markup=False, highlight=False
            )
        return
    rows = label_set(name).prompts()
    if as_json is not None:
        write_text(as_json, json.dumps([{"class": one, "prompt": text} for one, text in rows], indent=1) + "\n")
    for _, text in rows:
        console.print(text, markup=False, highlight=False, soft_wrap=True)


@encode_app.command("classify")
def classify(
    images: Annotated[
        Path, typer.Option("--images", help="Embeddings of pictures: .npy, or of panels in a Parquet file.")
    ],
    name: Annotated[str, typer.Option("--label-set", help="`pmo encode prompts` lists them; or a TOML file.")] = "",
    prompt_rows: Annotated[
        Path | None, typer.Option("--prompts", help="Embeddings of the label set's sentences, .npy: zero-shot.")
    ] = None,
    release: Annotated[
        Path | None,
        typer.Option(
            "--release", help="Of a Parquet file: its test split is told; probe and neighbours learn from train."
        ),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="Of an array: names or numbers of classes, .npy.")
    ] = None,
    train_images: Annotated[
        Path | None, typer.Option("--train-images", help="Embeddings to learn from, .npy: linear probe and neighbours.")
    ] = None,
    train_labels: Annotated[Path | None, typer.Option("--train-labels", help="Their classes, .npy.")] = None,
    train_articles: Annotated[
        Path | None, typer.Option("--train-articles", help="Their articles, .npy: none is in two folds.")
    ] = None,
    articles: Annotated[Path | None, typer.Option("--articles", help="Of an array, for the bootstrap.")] = None,
    bootstrap: Annotated[int, typer.Option("--bootstrap", min=0, help="Replicates of the intervals; 0: none.")] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of folds and bootstrap.")] = 0,
    encoder: Annotated[str, typer.Option("--encoder", help="Name of the encoder in the result.")] = "",
    data: Annotated[str, typer.Option("--data", help="Name of the data set in the result.")] = "",
    as_json: Annotated[Path | None, typer.Option("--json", help="Write the result here.", metavar="OUT")] = None,
    page: Annotated[Path | None, typer.Option("--page", help="Write a page here.", metavar="OUT.html")] = None,
) -> None:
    """Tell classes of pictures: by prompts, by a linear probe, and by nearest neighbours."""
    from pmo_assets.encoders.evaluation.classification import (
        linear_probe,
        nearest_neighbours,
        zero_shot_by_prompts,
    )
    from pmo_assets.encoders.evaluation.embeddings import read_embeddings
    from pmo_assets.encoders.evaluation.evaluate import evaluate_classification
    from pmo_assets.encoders.evaluation.labels import label_set
    from pmo_assets.encoders.evaluation.results import Evaluation

    _check_scikit_learn()
    if prompt_rows is not None and not name:
        raise CommandError("--prompts needs --label-set, which says what they are")
    if (images.suffix == ".parquet") != (release is not None):
        raise CommandError("a Parquet file needs --release, which says the classes; an array takes --labels")
    known: _Classes | None
    if release is not None:
        told, known, classes = _release_classes(images, release, name)
    else:
        told, known, classes = _array_classes(
            images, labels, train_images, train_labels, train_articles, articles, name
        )
    found = {}
    if prompt_rows is not None:
        found["zero-shot"] = zero_shot_by_prompts(told.images, read_embeddings(prompt_rows), label_set(name))
    if known is not None:
        groups = np.arange(len(known.images)) if known.articles is None else known.articles
        probe = linear_probe(known.images, known.labels, groups, told.images, len(classes), seed=seed)
        near = nearest_neighbours(known.images, known.labels, told.images, len(classes))
        found |= {"linear probe": probe, "nearest neighbours": near}
    if not found:
        raise CommandError("give --prompts (zero-shot), or --train-images and --train-labels (probe and neighbours)")
    result = Evaluation(
        encoder=encoder or images.stem,
        data=data or (release or labels or images).stem,
        notes=told.notes,
        classification=tuple(
            evaluate_classification(
                method, told.labels, predicted, classes, clusters=told.articles, replicates=bootstrap, seed=seed
            )
            for method, predicted in found.items()
        ),
    )
    hand_out(result, as_json, page)


@dataclass(frozen=True)
class _Classes:
    images: Embeddings
    labels: NDArray[np.intp]
    articles: NDArray[np.intp] | None
    notes: tuple[str, ...] = ()


def _release_classes(images: Path, release: Path, name: str) -> tuple[_Classes, _Classes | None, tuple[str, ...]]:
    from pmo_assets.encoders.evaluation.embedding_files import read_embedding_table
    from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError
    from pmo_assets.encoders.evaluation.labels import label_set
    from pmo_assets.encoders.evaluation.release_labels import labelled_panels

    table = read_embedding_table(images, "image", "panel")
    test = labelled_panels(table, release, name, "test")
    notes = ("classes are the release's own findings, not people's", *test.left_out)
    try:
        train = labelled_panels(table, release, name, "train")
    except EmbeddingsError as error:  # zero-shot needs none
        return (
            _Classes(test.table.embeddings, test.labels, test.articles, (*notes, str(error))),
            None,
            label_set(name).names,
        )
    return (
        _Classes(test.table.embeddings, test.labels, test.articles, (*notes, *train.left_out)),
        _Classes(train.table.embeddings, train.labels, train.articles),
        label_set(name).names,
    )


def _array_classes(
    images: Path,
    labels: Path | None,
    train_images: Path | None,
    train_labels: Path | None,
    train_articles: Path | None,
    articles: Path | None,
    name: str,
) -> tuple[_Classes, _Classes | None, tuple[str, ...]]:
    from pmo_assets.encoders.evaluation.embeddings import label_names, read_embeddings, read_ids, read_labels
    from pmo_assets.encoders.evaluation.labels import label_set

    if labels is None:
        raise CommandError("an array needs --labels, the classes of its rows")
    if (train_images is None) != (train_labels is None):
        raise CommandError("give --train-images and --train-labels together")
    pictures = read_embeddings(images)
    classes = label_set(name).names if name else label_names(train_labels or labels)
    own = read_ids(articles, len(pictures)) if articles else None
    told = _Classes(pictures, read_labels(labels, len(pictures), classes), own)
    if train_images is None or train_labels is None:
        return told, None, classes
    known = read_embeddings(train_images)
    groups = read_ids(train_articles, len(known)) if train_articles else None
    return told, _Classes(known, read_labels(train_labels, len(known), classes), groups), classes


@encode_app.command("robustness")
def robustness(
    images: Annotated[Path, typer.Option("--images", help="Embeddings of the clean pictures, .npy.")],
    texts: Annotated[Path, typer.Option("--texts", help="Embeddings of texts, .npy; row i belongs to picture i.")],
    perturbed: Annotated[
        list[str],
        typer.Option("--perturbed", help="Of the same pictures, perturbed; may be repeated.", metavar="NAME=X.npy"),
    ],
    groups: Annotated[Path | None, typer.Option("--groups", help="As of `evaluate`.")] = None,
    articles: Annotated[Path | None, typer.Option("--articles", help="Ids, .npy: the test is of articles.")] = None,
    encoder: Annotated[str, typer.Option("--encoder", help="Name of the encoder in the result.")] = "",
    data: Annotated[str, typer.Option("--data", help="Name of the data set in the result.")] = "",
    as_json: Annotated[Path | None, typer.Option("--json", help="Write the result here.", metavar="OUT")] = None,
    page: Annotated[Path | None, typer.Option("--page", help="Write a page here.", metavar="OUT.html")] = None,
) -> None:
    """Say what is kept of retrieval when pictures are perturbed (`pmo encode perturb` makes them)."""
    from pmo_assets.encoders.evaluation.embeddings import read_embeddings
    from pmo_assets.encoders.evaluation.evaluate import evaluate_robustness
    from pmo_assets.encoders.evaluation.ranks import RightAnswers
    from pmo_assets.encoders.evaluation.results import Evaluation

    task = _array_task(images, texts, groups, articles)
    changed = {}
    for given in perturbed:
        name, equals, place = given.partition("=")
        if not equals or not name or name in changed:
            raise CommandError(f"--perturbed {given}: give NAME=X.npy, each name once")
        changed[name] = read_embeddings(Path(place))
    right = task.right or RightAnswers.of_rows(len(task.images))
    with spinner("comparing"):
        found = evaluate_robustness(task.images, changed, task.texts, right, task.clusters)
    result = Evaluation(encoder=encoder or images.stem, data=data or texts.stem, robustness=found)
    hand_out(result, as_json, page)


@encode_app.command("distance")
def distance(
    one: Annotated[Path, typer.Argument(help="Embeddings, .npy.")],
    other: Annotated[Path, typer.Argument(help="Embeddings of the same encoder, .npy.")],
    permutations: Annotated[int, typer.Option("--permutations", min=1, help="Of the test.")] = 10_000,
    bootstrap: Annotated[int, typer.Option("--bootstrap", min=1, help="Replicates of the 99 % interval.")] = 1_000,
    most: Annotated[int, typer.Option("--most", min=2, help="Rows of a set; of more, so many are drawn.")] = 2_000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of all random numbers.")] = 0,
    as_json: Annotated[Path | None, typer.Option("--json", help="Write the result here.", metavar="OUT")] = None,
    page: Annotated[Path | None, typer.Option("--page", help="Write a page here.", metavar="OUT.html")] = None,
) -> None:
    """Say how far two sets of embeddings are apart (MMD), and whether by more than chance."""
    from pmo_assets.encoders.evaluation.distances import discrepancy
    from pmo_assets.encoders.evaluation.embeddings import read_embeddings
    from pmo_assets.encoders.evaluation.evaluate import distance_result
    from pmo_assets.encoders.evaluation.results import Evaluation

    with spinner("permuting"):
        found = discrepancy(
            read_embeddings(one),
            read_embeddings(other),
            permutations=permutations,
            replicates=bootstrap,
            most_rows=most,
            seed=seed,
        )
    result = Evaluation(encoder=one.stem, data=other.stem, distances=(distance_result(one.stem, other.stem, found),))
    hand_out(result, as_json, page)


@encode_app.command("perturb")
def perturb(
    pictures: Annotated[Path, typer.Argument(help="A folder of pictures.")],
    out: Annotated[Path, typer.Argument(help="A folder for each perturbation and strength is made here.")],
    only: Annotated[list[str] | None, typer.Option("--only", help="This perturbation; may be repeated.")] = None,
) -> None:
    """Write perturbed pictures: brightness, shift, rotation, flip and zoom, as PNG under the same names."""
    from pmo_assets.encoders.evaluation.datasets.examples import read_picture
    from pmo_assets.encoders.evaluation.datasets.folders import picture_files
    from pmo_assets.encoders.evaluation.perturbations import PERTURBATIONS
    from pmo_assets.pictures import png_bytes
    from pmo_assets.system.aside import write_bytes

    if unknown := set(only or ()) - set(PERTURBATIONS):
        raise CommandError(f"there is no perturbation {sorted(unknown)[0]}: {', '.join(PERTURBATIONS)}")
    files = picture_files(pictures)
    for file in files:
        pixels = read_picture(file)
        for name in only or PERTURBATIONS:
            target = out / name / file.relative_to(pictures).with_suffix(".png")
            write_bytes(target, png_bytes(PERTURBATIONS[name](pixels)), durable=False)
    console.print(f"{counted(len(files), 'picture')} in {counted(len(only or PERTURBATIONS), 'folder')} below {out}")


@encode_app.command("examples")
def examples(
    name: Annotated[
        str,
        typer.Argument(help="mimic-cxr, quilt, deepeyenet, retinamnist, octmnist, class-folders or captioned-folder."),
    ],
    root: Annotated[Path, typer.Argument(help="Folder of the data set, in its published layout.")],
    out: Annotated[Path, typer.Argument(help="This folder is made.")],
    split: Annotated[str, typer.Option("--split", help="Part, as the data set calls it.")] = "test",
    size: Annotated[int, typer.Option("--size", help="Of MedMNIST: pixels of a side.")] = 28,
) -> None:
    """Write the pictures, texts and classes of another data set as rows that an encoder can embed.

    Embed pictures and texts of rows.jsonl, a row each, and give both arrays
    with groups.npy or labels.npy to `evaluate` or `classify`.
    """
    from pmo_assets.encoders.evaluation.datasets.reading import read_data_set, write_examples

    if out.exists():
        raise CommandError(f"{out} is there already: name a folder to be made")
    with spinner(f"reading {name}"):
        data = read_data_set(name, root, split, size)
        rows = write_examples(data, out)
    what = f"{counted(rows, 'row')} of {counted(len(data.examples), 'picture')} in {out}"
    console.print(what, highlight=False, soft_wrap=True, markup=False)
    for reason in data.left_out:
        messages.print(f"[yellow]left out[/] {escape(reason)}", highlight=False)


@encode_app.command("map")
def draw_map(
    embeddings: Annotated[
        Path, typer.Argument(help="Embeddings: .npy, or a Parquet file {id, kind, level, embedding}.")
    ],
    page: Annotated[Path | None, typer.Option("--page", help="Write a page here.", metavar="OUT.html")] = None,
    picture: Annotated[Path | None, typer.Option("--picture", help="Write a picture here.", metavar="OUT.png")] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="Of an array: names or numbers of classes, .npy.")
    ] = None,
    release: Annotated[
        Path | None, typer.Option("--release", help="Of a Parquet file: the release whose panels are shown.")
    ] = None,
    colour: Annotated[MapColouring, typer.Option("--colour", help="Of a release's panels.")] = "modality",
    method: Annotated[MapMethod, typer.Option("--method", help="t-SNE, or two principal components.")] = "tsne",
    most: Annotated[int, typer.Option("--most", min=3, help="Points; of more, so many are drawn at random.")] = 2_000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of all random numbers.")] = 0,
) -> None:
    """Draw embeddings in two dimensions; a release's panels show their pictures where the licence allows."""
    from pmo_assets.encoders.evaluation import maps
    from pmo_assets.encoders.evaluation.embedding_files import read_embedding_table
    from pmo_assets.encoders.evaluation.embeddings import Embeddings, label_names, read_embeddings, read_labels
    from pmo_assets.system.aside import write_bytes
    from pmo_assets.viewing.maps import map_page, map_picture

    _check_scikit_learn()
    if page is None and picture is None:
        raise CommandError("give --page OUT.html, --picture OUT.png, or both")
    if (embeddings.suffix == ".parquet") != (release is not None) or (labels and release):
        raise CommandError("a Parquet file needs --release; an array takes --labels")
    if release is not None:
        table = read_embedding_table(embeddings, "image", "panel")
        total = len(table.ids)
        table = table.chosen(maps.sampled(total, most, seed).tolist())
        with spinner("drawing"):
            places = maps.in_two_dimensions(table.embeddings, method, seed)
        points, heading = maps.panel_points(table, places, release, colour), colour.replace("_", " ").capitalize()
    else:
        rows = read_embeddings(embeddings)
        total = len(rows)
        chosen = maps.sampled(total, most, seed)
        names = label_names(labels) if labels else ("",)
        numbers = read_labels(labels, total, names) if labels else np.zeros(total, np.intp)
        with spinner("drawing"):
            places = maps.in_two_dimensions(Embeddings(rows.values[chosen], rows.name), method, seed)
        points, heading = maps.array_points(places, [names[number] for number in numbers[chosen]]), "Class"
    title = f"{embeddings.stem}, {'t-SNE' if method == 'tsne' else 'principal components'}"
    if picture is not None:
        write_bytes(picture, map_picture(points, maps.class_colour, title=title))
    if page is not None:
        facts = (("points", f"{len(points):,} of {total:,}"), ("seed", str(seed)))
        write_text(page, map_page(title, points, maps.class_colour, heading=heading, facts=facts))
    for place in filter(None, (page, picture)):
        console.print(f"{counted(len(points), 'point')} in {place}", highlight=False, soft_wrap=True, markup=False)


def _check_scikit_learn() -> None:
    if find_spec("sklearn") is None:
        raise CommandError("scikit-learn is missing: pip install 'pmo-assets[encoders]'")


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
