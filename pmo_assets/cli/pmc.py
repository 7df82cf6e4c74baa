"""`pmo pmc …`: look at what PubMed Central has, and fetch single articles; no account, no batch."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from pmo_assets.cli.console import CommandError, console, data_root_of, messages, settings_from_environment, spinner

pmc_app = typer.Typer(
    help="Look at what PubMed Central has, and fetch single articles; no account needed.", no_args_is_help=True
)


def pmc_number(text: str) -> int:
    """Return the number in `PMC4691483`, `pmc4691483`, `4691483` or an article's address.

    Raises:
        CommandError: if there is none.
    """
    match = re.fullmatch(r"(?:https?://\S*?/)?(?:PMC)?([1-9][0-9]{0,10})/?", text.strip(), re.IGNORECASE)
    if re.fullmatch(r"PMC[0-9]+\.[0-9]+", text.strip(), re.IGNORECASE):
        raise CommandError(f"{text!r} names a version: give the number alone, PMC says which version counts")
    if match is None:
        raise CommandError(f"{text!r} is no PMC number: give e.g. PMC4691483")
    return int(match[1])


@pmc_app.command("get")
def get(
    articles: Annotated[list[str], typer.Argument(metavar="PMC...", help="PMC numbers, e.g. PMC4691483.")],
    to: Annotated[Path, typer.Option("--to", help="Folder below which the packages go.")] = Path("articles"),
) -> None:
    """Fetch articles as packages: PDF, XML, figures and metadata of the version that counts, checksums verified.

    A package folder appears complete or not at all; what is there already is not downloaded again. Then:
    pmo article TO/PMC4691483.1, or pmo batches add TO.
    """
    from pmo_assets.records.rejections import ArticleError
    from pmo_assets.refresh.searching import pmc_options
    from pmo_assets.sources.pmc_bucket import PmcBucket
    from pmo_assets.sources.pmc_cloud import PmcCloud
    from pmo_assets.sources.pmc_download import download_package

    numbers = list(dict.fromkeys(pmc_number(text) for text in articles))
    cloud = PmcCloud(PmcBucket(pmc_options(settings_from_environment())))
    failed: list[str] = []
    for number in numbers:
        with spinner(f"PMC{number}") as tell:
            received = 0

            def count(size: int, tell: object = tell) -> None:
                nonlocal received
                received += size
                tell(f"{received / 2**20:.1f} MB")  # type: ignore[operator]

            try:
                listing, folder, size = download_package(cloud, number, to, count)
            except ArticleError as error:
                failed.append(f"PMC{number}: {error}")
                messages.print(f"[red]failed[/] PMC{number}: {escape(str(error))}", highlight=False, soft_wrap=True)
                continue
        pictures = sum(file.role == "figure" for file in listing.files)
        parts = [file.role.upper() for file in listing.files if file.role != "figure"]
        fetched = f"{size / 2**20:.1f} MB fetched" if size else "there already"
        console.print(
            f"{folder}  {', '.join([*parts, f'{pictures} pictures'])}, {listing.license_code or 'no licence stated'}, "
            f"{fetched}" + (", RETRACTED" if listing.is_retracted else ""),
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    if failed:
        raise CommandError(f"{len(failed)} of {len(numbers)} articles were not fetched: the reasons are above")


_DAY = ["%Y/%m/%d", "%Y-%m-%d"]


@pmc_app.command("find")
def find(
    first: Annotated[datetime | None, typer.Option("--from", formats=_DAY, help="First day of release at PMC.")] = None,
    last: Annotated[datetime | None, typer.Option("--to", formats=_DAY, help="Last day of release at PMC.")] = None,
    show: Annotated[int, typer.Option(min=0, help="So many of the new articles are listed, the newest first.")] = 20,
    query: Annotated[bool, typer.Option("--query", help="Also print what Entrez is asked.")] = False,
) -> None:
    """Say which articles of the specialty PMC released between two days: counts and a table; nothing is fetched.

    Without days, all that PMC has. `pmo refresh` brings them in.
    """
    from concurrent.futures import ThreadPoolExecutor

    from pmo_assets.records.packages import PackageListing
    from pmo_assets.records.rejections import ArticleError
    from pmo_assets.refresh.searching import pmc_options, query_of, released_between
    from pmo_assets.sources.pmc_bucket import PmcBucket
    from pmo_assets.sources.pmc_cloud import PmcCloud
    from pmo_assets.storage.candidates import left_out, read_candidates
    from pmo_assets.storage.registry import BatchRegistry

    settings = settings_from_environment()
    data_root = data_root_of(settings)
    with spinner("searching PMC"):
        days = [day.date() if day is not None else None for day in (first, last)]
        numbers = released_between(settings, *days)
    registered = {article for article, _ in BatchRegistry(data_root).registered(PmcCloud.uri_of(settings.pmc_bucket))}
    known = read_candidates(data_root)
    followed, unwanted = set(known.numbers()), set(left_out(known)) - registered
    new = [number for number in numbers if number not in registered and number not in unwanted]
    console.print(f"{len(numbers):,} articles of the specialty {settings.specialty}", highlight=False)
    console.print(f"{len(registered.intersection(numbers)):,} of them are in batches", highlight=False)
    if kept_out := len(unwanted.intersection(numbers)):
        console.print(f"{kept_out:,} are left out: retracted, or without a PDF at PMC", highlight=False)
    console.print(f"{len(new):,} would come in, {settings.refresh_max_articles:,} at a time", highlight=False)
    if query:
        console.print(query_of(settings), highlight=False, markup=False, soft_wrap=True)
    if not new or not show:
        return
    cloud = PmcCloud(PmcBucket(pmc_options(settings)))

    def described(number: int) -> PackageListing | str:
        try:
            return cloud.best(number)
        except ArticleError as error:
            return str(error)

    table = Table("article", "licence", "PDF", "pictures", "title", title_justify="left")
    newest = sorted(new, reverse=True)[:show]
    with spinner("reading metadata"), ThreadPoolExecutor(settings.pmc_concurrency) as pool:
        found = list(pool.map(described, newest))
    for number, item in zip(newest, found, strict=True):
        if isinstance(item, str):
            table.add_row(f"PMC{number}", "", "", "", escape(item))
            continue
        roles = [file.role for file in item.files]
        marks = " (retracted)" * item.is_retracted + " (manuscript)" * item.is_manuscript
        marks += " (found before, not taken in yet)" if number in followed else ""
        title = escape((item.title or "") + marks)
        table.add_row(
            item.name, item.license_code or "–", "yes" if "pdf" in roles else "no", str(roles.count("figure")), title
        )
    console.print(table)
    if len(new) > show:
        console.print(f"… and {len(new) - show:,} more (--show)", highlight=False)
