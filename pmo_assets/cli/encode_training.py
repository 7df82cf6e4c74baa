"""`pmo encode train | average | embed | vectors | ablate`: dual encoders of a release's pairs."""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pmo_assets.cli.console import CommandError, console, counted, messages, progress_bars
from pmo_assets.cli.train import need_torch

Split = Literal["train", "validation", "test"]
Device = Literal["cpu", "cuda"]

Places = Annotated[
    list[Path],
    typer.Argument(help="Releases, or folders of tar shards of pairs (`pmo release webdataset --config pairs`)."),
]
Cache = Annotated[
    Path | None, typer.Option("--cache", help="Folder of features of frozen encoders; the run's own if not given.")
]


def train(
    run: Annotated[Path, typer.Argument(help="Folder of the run; an interrupted run in it goes on.")],
    places: Places,
    recipe: Annotated[
        str, typer.Option("--recipe", help="embedded, open-pmc, open-pmc-18m, panel2patch, or a TOML file.")
    ] = "embedded",
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="A number of the recipe, as TOML; may be repeated.", metavar="PLACE=VALUE"),
    ] = None,
    device: Annotated[Device, typer.Option("--device", help="Where the encoder is computed.")] = "cpu",
    at_once: Annotated[
        int, typer.Option("--at-once", min=0, help="Examples with a graph in memory at once; 0: the whole batch.")
    ] = 0,
    cache: Cache = None,
    threads: Annotated[int, typer.Option("--threads", min=0, help="CPU threads; 0 lets PyTorch choose.")] = 0,
    save_every: Annotated[
        int, typer.Option("--save-every", min=0, help="Steps between checkpoints beside those every two minutes.")
    ] = 0,
) -> None:
    """Train a dual encoder on a release's pairs.

    Weights are chosen by retrieval on the validation split, or on a tenth of
    the articles where there is none. RUN/model is what open_clip loads, with
    its card. Several processes: torchrun --nproc-per-node 2 -m pmo_assets.cli
    encode train ….
    """
    need_torch(device)
    from pmo_assets.encoders.examples.reading import read_training_examples
    from pmo_assets.encoders.training.recipes import read_recipe, recipe_text

    read = read_recipe(recipe, _changes(changes or ()))
    with _processes(device) as (rank, own_device):
        import torch

        from pmo_assets.encoders.networks.building import need_packages
        from pmo_assets.encoders.training.run import RunOptions, train_encoder

        need_packages()
        if threads:
            torch.set_num_threads(threads)
        learn, choose = read_training_examples(places, read.read_levels, read.data.min_confidence)
        if rank == 0:
            for note in (
                *learn.left_out,
                f"{counted(len(learn), 'unit')} of {counted(len(learn.sources()), 'source')}",
            ):
                messages.print(note, highlight=False, markup=False)
        options = RunOptions(own_device, at_once, cache, save_every=save_every)
        for record in train_encoder(
            run, learn, choose, read, _kept_text(recipe, recipe_text(recipe), changes), options
        ):
            if rank == 0:
                console.print(_line(record), highlight=False, markup=False, soft_wrap=True)
    if rank == 0:
        console.print(f"the encoder is in {run / 'model'}", highlight=False, markup=False, soft_wrap=True)


def _kept_text(name: str, text: str, changes: list[str] | None) -> str:
    changed = "".join(f"#   {item}\n" for item in changes or ())
    return f"# Recipe {name}" + (f", changed by --set:\n{changed}" if changed else "\n") + text


def _changes(given: list[str] | tuple[str, ...]) -> dict[str, Any]:
    found = {}
    for item in given:
        place, equals, value = item.partition("=")
        if not equals or not place.strip():
            raise CommandError(f"--set {item}: give PLACE=VALUE, e.g. optimiser.steps=500")
        try:
            found[place.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[place.strip()] = value.strip()  # a name without quotes
    return found


def _line(record: dict[str, Any]) -> str:
    shown = {name: value for name, value in record.items() if "recall@10" in name or name.endswith("mrr")}
    numbers = ", ".join(f"{name} {value:.3f}" for name, value in shown.items())
    return f"step {record['step']}: loss {record['loss']:.4f}, {record['per_second']:,.0f} examples/s; {numbers}"


@contextmanager
def _processes(device: str) -> Iterator[tuple[int, str]]:
    """Join the processes that `torchrun` started, if it did; give this one's number and device."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2 or "RANK" not in os.environ:
        yield 0, device
        return
    import torch
    from torch import distributed

    rank = int(os.environ["RANK"])
    logging.getLogger().setLevel(logging.INFO if rank == 0 else logging.WARNING)
    if device == "cuda":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    distributed.init_process_group("nccl" if device == "cuda" else "gloo")
    try:
        yield rank, device
    finally:
        distributed.destroy_process_group()


def ablate(
    out: Annotated[Path, typer.Argument(help="Folder of runs and results; runs that are there are kept.")],
    places: Places,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="captions, figures, …; may be repeated; all by default."),
    ] = None,
    recipe: Annotated[str, typer.Option("--recipe", help="What all variants start from.")] = "embedded",
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="A number of it, for all variants.", metavar="PLACE=VALUE")
    ] = None,
    steps: Annotated[int, typer.Option("--steps", min=1, help="Of every variant.")] = 300,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many.")] = 3,
    device: Annotated[Device, typer.Option("--device", help="Where the encoder is computed.")] = "cpu",
    threads: Annotated[int, typer.Option("--threads", min=0, help="CPU threads; 0 lets PyTorch choose.")] = 0,
) -> None:
    """Say what parts of the data are worth: encoders that differ in one of them, and see equally many examples.

    Compound captions or subcaptions; whole figures or panels; with and
    without summaries, mentions, regions; by confidence; by size.
    """
    need_torch(device)
    import json
    from dataclasses import asdict

    import torch

    from pmo_assets.cli.console import write_text
    from pmo_assets.encoders.ablation import ABLATIONS, ablation_page, ablation_plot, run_ablations
    from pmo_assets.system.aside import write_bytes

    if unknown := set(only or ()) - set(ABLATIONS):
        raise CommandError(f"there is no ablation {sorted(unknown)[0]}: {', '.join(ABLATIONS)}")
    if threads:
        torch.set_num_threads(threads)
    scores = []
    for score in run_ablations(
        only or list(ABLATIONS), places, out, recipe=recipe, changes=_changes(changes or ()), steps=steps,
        seeds=range(seeds), device=device, tell=lambda text: messages.print(text, highlight=False, markup=False),
    ):  # fmt: skip
        scores.append(score)
        numbers = ", ".join(f"{name} {value:.3f}" for name, value in score.numbers.items())
        console.print(f"{score.ablation}: {score.variant}, seed {score.seed}: {numbers}", highlight=False, markup=False)
    write_text(out / "scores.json", json.dumps([asdict(score) for score in scores], indent=1) + "\n")
    write_bytes(out / "plot.png", ablation_plot(scores))
    write_text(out / "page.html", ablation_page(scores, recipe))
    console.print(f"the page is {out / 'page.html'}", highlight=False, markup=False, soft_wrap=True)


def average(
    runs: Annotated[list[Path], typer.Argument(help="Runs of `pmo encode train`, or folders that open_clip loads.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write OUT/model in.")],
) -> None:
    """Average the weights of runs that started alike: one encoder, often better than each.

    Runs start alike with the same `--set run.weights_seed=…` and different
    `--set run.seed=…`. OUT is used as a run is.
    """
    need_torch("cpu")
    from pmo_assets.encoders.networks.averaging import average_encoders, card_of_average
    from pmo_assets.encoders.networks.building import load_encoder
    from pmo_assets.encoders.networks.saving import save_encoder

    if len(runs) < 2:
        raise CommandError("name two runs or more: the mean of one is itself")
    encoder = average_encoders([load_encoder(run) for run in runs])
    save_encoder(encoder, out / "model", card_of_average(encoder, [str(run) for run in runs]))
    console.print(
        f"the mean of {counted(len(runs), 'encoder')} is {out / 'model'}",
        highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip


def embed(
    model: Annotated[Path, typer.Argument(help="A run of `pmo encode train`, or a folder that open_clip loads.")],
    places: Places,
    out: Annotated[Path, typer.Option("--out", help="Parquet file to write.", metavar="OUT.parquet")],
    level: Annotated[
        list[str] | None,
        typer.Option("--level", help="figure, panel, region or video; may be repeated; all by default."),
    ] = None,
    split: Annotated[Split | None, typer.Option("--split", help="One split; all by default.")] = None,
    device: Annotated[Device, typer.Option("--device", help="Where the encoder is computed.")] = "cpu",
    threads: Annotated[int, typer.Option("--threads", min=0, help="CPU threads; 0 lets PyTorch choose.")] = 0,
) -> None:
    """Embed the pictures and texts of a release's pairs, for `pmo encode evaluate --pairs`."""
    need_torch(device)
    import torch

    from pmo_assets.encoders.embedding import embed_examples
    from pmo_assets.encoders.examples.reading import read_examples
    from pmo_assets.encoders.networks.building import load_encoder
    from pmo_assets.records.pairs import PAIR_LEVELS

    levels = [name for name in PAIR_LEVELS if name in (level or PAIR_LEVELS)]
    if unknown := set(level or ()) - set(PAIR_LEVELS):
        raise CommandError(f"there is no level {sorted(unknown)[0]}: {', '.join(PAIR_LEVELS)}")
    if threads:
        torch.set_num_threads(threads)
    encoder = load_encoder(model)
    examples = read_examples(places, split, levels)
    with progress_bars() as (_, tell):
        counts = embed_examples(encoder, examples, out, device=device, tell=tell)
    cut = len(encoder.cut_texts)
    told = f"; {counted(cut, 'text')} cut at {encoder.tokenizer.context_length} tokens" if cut else ""
    console.print(
        f"{counted(counts['image'], 'picture')} and {counted(counts['text'], 'text')} in {out}{told}",
        highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip


def vectors(
    model: Annotated[Path, typer.Argument(help="A run of `pmo encode train`, or a folder that open_clip loads.")],
    what: Annotated[
        Path,
        typer.Argument(
            help="A folder of pictures, a text file with a text a line, or rows.jsonl of `pmo encode examples`."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="OUT", help="OUT.npy; of rows.jsonl OUT/images.npy and OUT/texts.npy.")
    ],
    device: Annotated[Device, typer.Option("--device", help="Where the encoder is computed.")] = "cpu",
    threads: Annotated[int, typer.Option("--threads", min=0, help="CPU threads; 0 lets PyTorch choose.")] = 0,
) -> None:
    """Embed pictures or texts of your own as arrays: for `evaluate`, `classify`, `robustness`, `distance` and `map`.

    Rows are in the order of the pictures' names, of the lines, or of rows.jsonl.
    """
    need_torch(device)
    import PIL.Image
    import torch

    from pmo_assets.encoders.embedding import picture_rows, text_rows, write_vectors
    from pmo_assets.encoders.evaluation.datasets.examples import read_picture
    from pmo_assets.encoders.evaluation.datasets.reading import rows_to_embed
    from pmo_assets.encoders.networks.building import load_encoder

    if threads:
        torch.set_num_threads(threads)
    given = rows_to_embed(what)
    encoder = load_encoder(model)
    both = given.pictures and given.texts
    with progress_bars() as (_, tell):
        for name, kind, count in (("images", "pictures", len(given.pictures)), ("texts", "texts", len(given.texts))):
            if not count:
                continue
            shown = (PIL.Image.fromarray(read_picture(path)) for path in given.pictures)
            found = (
                picture_rows(encoder, shown, device) if kind == "pictures" else text_rows(encoder, given.texts, device)
            )
            file = out / f"{name}.npy" if both else out
            file.parent.mkdir(parents=True, exist_ok=True)
            write_vectors(found, count, encoder, file, kind, tell)
            console.print(f"{counted(count, kind[:-1])} in {file}", highlight=False, markup=False, soft_wrap=True)
