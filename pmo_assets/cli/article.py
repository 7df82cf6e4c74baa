"""`pmo article`: the whole pipeline on one article package, without Dagster."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from pmo_assets.cli.console import CommandError, counted, data_root_of, messages, settings_from_environment, write_json


def article(
    folder: Annotated[Path, typer.Argument(help="Package: article.pdf, optional article.xml, optional figures/.")],
    out: Annotated[Path, typer.Option("--out", help="JSON file to write; - for standard output.")],
    overlays: Annotated[
        Path | None,
        typer.Option(
            "--overlays",
            help="Folder for pictures of what was found: panels, images, marks, regions and the words about them; "
            "p3-1.png is the first figure on page 3, index.html shows all.",
        ),
    ] = None,
    ignore_xml: Annotated[bool, typer.Option("--ignore-xml", help="Work as if the package had no XML.")] = False,
) -> None:
    """Run the whole pipeline on one article package, without Dagster, and write what it found as JSON.

    The format is the annotation format: figures with panels, identifiers, images and subcaptions, plus scores.
    """
    from pmo_assets.configuration.step_inputs import Surroundings, step_input
    from pmo_assets.models.chat import chat_model, vision_model
    from pmo_assets.pipeline.article import OWN_INPUTS, annotation, process_article
    from pmo_assets.pipeline.articles.fetching import fetch_package
    from pmo_assets.pipeline.articles.relevance import load_specialty
    from pmo_assets.records.memory_stores import MemoryObjects, MemoryPixels
    from pmo_assets.records.panels import is_undecided
    from pmo_assets.settings.step_options import fetch_limits
    from pmo_assets.sources.local import LocalFolder
    from pmo_assets.sources.package_folders import list_package
    from pmo_assets.viewing.article_pictures import write_article_pictures

    settings = settings_from_environment()
    folder = Path(os.path.abspath(folder))  # not resolve(): a link's own name is the package's name
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder: give the folder of one article package")
    listing = list_package(folder, folder)  # what lies outside of it is not read
    if listing is None:
        raise CommandError(f"{folder} is no article package: it holds neither article.pdf nor article.xml")
    objects, pixels = MemoryObjects({}), MemoryPixels({})
    row = {
        **asdict(listing),
        "files": [asdict(item) for item in listing.files if not (ignore_xml and item.role == "xml")],
    }
    package = fetch_package(row, LocalFolder(folder), objects, fetch_limits(settings))
    if not package.rows:
        raise CommandError("; ".join(item.message for item in package.rejections))
    start = time.perf_counter()
    root = data_root_of(settings)
    with chat_model(settings, root) as model, vision_model(settings, root, model) as vision:
        models = {"chat": model, "vision": vision}
        around = Surroundings(settings, objects, lambda store: pixels, lambda name: models[name])
        result = process_article(
            package.rows[0],
            objects,
            specialty=load_specialty(settings.specialty),
            pixels=pixels,
            **{name: step_input(name, around) for name in OWN_INPUTS},
        )
    seconds = time.perf_counter() - start
    result = replace(result, rejections=[*package.rejections, *result.rejections])
    write_json(out, annotation(folder.name, result))
    panels = [panel for rows in result.assembled.values() for panel in rows]
    least = settings.min_assembly_confidence
    undecided = sum(is_undecided(item["subcaption"], item["assembly"], item["confidence"], least) for item in panels)
    messages.print(
        f"{len(result.figures)} figures, {len(panels)} panels, "
        f"{sum(panel['subcaption'] is not None for panel in panels)} with a subcaption, {undecided} undecided, "
        f"{len(result.rejections)} rejections, {seconds:.1f} s"
    )
    if overlays is not None:
        page = write_article_pictures(overlays, result, pixels.read(result.article["article_id"]))
        messages.print(f"pictures of {counted(len(result.figures), 'figure')}: {page}", highlight=False, markup=False,
                       soft_wrap=True)  # fmt: skip
    for item in result.rejections:
        text = escape(f"{item.stage}: {item.error_class}: {item.message}")
        messages.print(f"[yellow]rejected[/] {text}", highlight=False, soft_wrap=True)
    if any(item.part is None for item in result.rejections) and not result.figures:
        raise CommandError("the article could not be processed; the reason is above and in the JSON")
