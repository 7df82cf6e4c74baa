"""`pmo encode index | search | odd`: panels of a release by their embeddings."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from pmo_assets.cli.console import (
    AsJson,
    CommandError,
    console,
    counted,
    messages,
    progress_bars,
    say_json,
    spinner,
    write_text,
)
from pmo_assets.cli.train import need_torch

_SHOWN_TEXT = 300
"""Characters of a subcaption in the terminal; --json has all."""

Embedded = Annotated[
    Path, typer.Argument(help="Embeddings of the release: E.parquet of `pmo encode embed`.", metavar="E.parquet")
]
ReleasePlace = Annotated[Path, typer.Argument(help="The release: a data root, or a hub's folder.", metavar="RELEASE")]
Words = Annotated[list[str] | None, typer.Option(help="Only panels that have it; may be repeated: one of them.")]


def index(
    embeddings: Embedded,
    release: ReleasePlace,
    out: Annotated[Path, typer.Argument(help="Folder to make.", metavar="INDEX")],
    exact: Annotated[
        bool, typer.Option("--exact", help="Without the graph of approximate search: every search compares all.")
    ] = False,
) -> None:
    """Index the embeddings of a release's panels, for `pmo encode search`.

    The index belongs to the encoder that made the embeddings and to this
    release; a search with another of them is refused.
    """
    from pmo_assets.encoders.encoder_mark import encoder_of
    from pmo_assets.encoders.search.index import need_usearch, write_index
    from pmo_assets.encoders.search.panels import panel_embeddings
    from pmo_assets.loading import load

    if not exact:
        need_usearch()
    opened = load(release)
    table = panel_embeddings(embeddings, opened)
    digest, name = encoder_of(embeddings)
    with progress_bars() as (_, tell):
        facts = write_index(
            out, table, encoder=digest or "", encoder_name=name, release=opened.digest, version=opened.version,
            graph=not exact, tell=lambda done, total: tell("panels", done, total),
        )  # fmt: skip
    rest = len(opened.panels) - facts.panels
    told = f"; {counted(rest, 'panel')} of the release have no embedding" if rest else ""
    console.print(f"{counted(facts.panels, 'panel')} in {out}{told}", highlight=False, markup=False, soft_wrap=True)


def search(
    place: Annotated[Path, typer.Argument(help="Folder of `pmo encode index`.", metavar="INDEX")],
    release: ReleasePlace,
    text: Annotated[str | None, typer.Argument(help="What to look for.", metavar="[TEXT]")] = None,
    picture: Annotated[Path | None, typer.Option("--picture", help="Look for what looks like this file.")] = None,
    panel: Annotated[str | None, typer.Option("--panel", help="Look for what looks like this panel_id.")] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", help="For a text or a picture: the run, or folder, of the encoder of the index."),
    ] = None,
    count: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many panels.")] = 10,
    modality: Words = None,
    disease: Words = None,
    eye: Words = None,
    exact: Annotated[bool, typer.Option("--exact", help="Compare all panels.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find the panels of a release that are nearest to a text, a picture file, or another panel.

    Filters take the words of `pmo_assets.load(…).panels.filter`: "OCT",
    "AMD", "right". They come before the search, which then compares all that
    are left. Scores are cosines, whose size differs from encoder to encoder.
    """
    import PIL.Image

    from pmo_assets.encoders.evaluation.datasets.examples import read_picture
    from pmo_assets.encoders.search.index import open_index
    from pmo_assets.encoders.search.panels import check_release, hits, rows_among
    from pmo_assets.loading import load

    if sum(item is not None for item in (text, picture, panel)) != 1:
        raise CommandError("look for one thing: a TEXT, --picture FILE, or --panel ID")
    if text is not None and not text.strip():
        raise CommandError("the text is empty")
    if (model is None) != (panel is not None):
        raise CommandError(
            "a text or a picture needs --model, the encoder of the index"
            if panel is None
            else "--panel needs no --model: the index has its embedding"
        )
    if model is not None:
        need_torch("cpu")
    opened = load(release)
    filters = {"modality": modality or (), "disease": disease or (), "eye": eye or ()}
    found_index = open_index(place, exact=exact or any(filters.values()))
    check_release(found_index, opened)
    among = rows_among(found_index, opened, filters)
    own = None if panel is None else found_index.row_of(panel)
    if own is not None:
        query = found_index.vectors[own]
    else:
        from pmo_assets.encoders.search.queries import embedded_picture, embedded_text, encoder_of_index

        assert model is not None
        pixels = None if picture is None else PIL.Image.fromarray(read_picture(picture))
        with spinner("embedding"):
            encoder = encoder_of_index(found_index, model)
            query = embedded_text(encoder, text or "") if pixels is None else embedded_picture(encoder, pixels)
    found = found_index.nearest(query, count, among=among, exact=exact, without=own)
    told = hits(found_index, opened, found)
    if as_json:
        say_json([{"score": round(hit.score, 6), **asdict(hit.panel)} for hit in told])
        return
    for number, hit in enumerate(told, 1):
        shown = hit.panel.subcaption
        shown = shown if len(shown) <= _SHOWN_TEXT else f"{shown[: _SHOWN_TEXT - 1]}…"
        credit = " · ".join(
            part for part in (hit.panel.license or "no licence is stated", hit.panel.attribution, hit.panel.article_url)
            if part
        )  # fmt: skip
        console.print(
            f"{number:>3}  {hit.score:.3f}  [bold]{escape(hit.panel.panel_id)}[/]\n     {escape(shown)}\n"
            f"     [dim]{escape(credit)}[/]",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
    if not found.exact:
        messages.print("approximate: --exact compares all panels", highlight=False)


def odd(
    embeddings: Embedded,
    release: ReleasePlace,
    out: Annotated[Path, typer.Option("--out", help="JSON lines to write.", metavar="OUT.jsonl")],
    near: Annotated[
        float, typer.Option("--near", min=-1, max=1, help="Least cosine of near-duplicates; look, and choose.")
    ] = 0.98,
    far: Annotated[
        float, typer.Option("--far", min=0, max=1, help="Least rank of a panel's text, as a share of all texts.")
    ] = 0.5,
    text_kind: Annotated[
        list[str] | None, typer.Option("--text-kind", help="Texts that are compared; subcaption if not given.")
    ] = None,
    reports: Annotated[
        Path | None,
        typer.Option("--reports", help="Write far texts for `pmo annotate export --reports`, too.", metavar="OUT.json"),
    ] = None,
) -> None:
    """List near-duplicates, and panels whose text is far from their picture: candidates for people to look at.

    A panel's own text is ranked among all texts of the file by their
    similarity to its picture. Panels that share a text, or look the same by
    the release's duplicate groups, share the right answer.
    """
    from pmo_assets.encoders.evaluation.embedding_files import read_embedding_table
    from pmo_assets.encoders.evaluation.pairs import read_pairs
    from pmo_assets.encoders.search.odd import far_reports, far_texts, near_duplicates, nearest_others, odd_lines
    from pmo_assets.encoders.search.panels import panel_embeddings, panels_by_id
    from pmo_assets.loading import load

    opened = load(release)
    images = panel_embeddings(embeddings, opened)
    texts = read_embedding_table(embeddings, "text", "panel")
    pairs = read_pairs(release, "panel", text_kinds=text_kind or ["subcaption"])
    with spinner("comparing") as say:
        others = nearest_others(images, near, lambda done, total: say(f"{done:,} of {total:,} panels"))
        told = far_texts(images, texts, pairs, far, lambda done, total: say(f"texts of {done:,} of {total:,} panels"))
    near_ids = [images.ids[row] for pair in others for row in pair[:2]]
    panels = panels_by_id(opened, list(dict.fromkeys([*near_ids, *(item.panel_id for item in told)])))
    duplicates = near_duplicates(images, others, panels)
    write_text(out, odd_lines(duplicates, told, panels))
    if reports is not None:
        write_text(reports, far_reports(told, panels))
    unknown = sum(not item.known for item in duplicates)
    console.print(
        f"{counted(len(duplicates), 'near-duplicate')}, {unknown:,} of them in no duplicate group; "
        f"{counted(len(told), 'panel')} with a text far from the picture: {out}",
        highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip
    if reports is not None:
        console.print(f"pmo annotate export FOLDER --reports {reports}", highlight=False, markup=False, soft_wrap=True)
