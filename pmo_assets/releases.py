"""The release: dataset rows of all batches with their pictures, licences applied, streamed into one Parquet file.

Of an article that several batches hold, the newest version counts (highest version, then latest batch), also when
that version was retracted or rejected: then none of its rows is in the release.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
import pyarrow as pa

from pmo_assets import __version__, schemas
from pmo_assets.pipeline.articles.relevance import Specialty
from pmo_assets.pipeline.dataset.card import ReleaseFacts, dataset_card
from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.pipeline.stores import StorageError
from pmo_assets.resources.storage import DataRoot, ParquetPixels, Tables, stream_release

RELEASE_KEY = "release/pubmed_ophtha.parquet"
CARD_KEY = "release/README.md"

ROW_GROUP_ROWS = 200
"""Rows per row group: with panel pictures some 50 MB, which viewers and streaming readers like."""


@dataclass(frozen=True)
class Release:
    """What a release holds."""

    key: str
    card_key: str
    rows: int
    expected: int
    articles: int
    batches: int
    withheld: int
    digest: str
    panel_ids: pl.Series = field(repr=False)


def current_articles(tables: Tables, finished: str = "dataset_rows") -> dict[str, list[int]]:
    """Return for every finished batch the articles whose newest version it holds, in order.

    A batch is finished when it has a table of the asset `finished`.
    """
    newest: dict[int, tuple[int, int]] = {}
    batches = tables.batches(finished)
    for place, batch in enumerate(batches):
        for article_id, version in tables.read("article_packages", batch).select("article_id", "version").iter_rows():
            newest[article_id] = max(newest.get(article_id, (0, 0)), (version, place))
    return {
        batch: sorted(article_id for article_id, (_, owner) in newest.items() if owner == place)
        for place, batch in enumerate(batches)
    }


def current_rows(tables: Tables, batch: str, articles: Sequence[int]) -> pl.DataFrame:
    """Return a batch's dataset rows of the articles that it holds in their newest version, ordered by figure."""
    rows = tables.read("dataset_rows", batch)
    return rows.filter(pl.col("article_id").is_in(list(articles))).sort("article_id", "image_cluster_id", "panel_id")


def _released(rows: pl.DataFrame, pixels: ParquetPixels) -> Iterator[pl.DataFrame]:
    """Yield a batch's rows with their pictures, article by article, nulls where the licence forbids redistribution."""
    for (article_id,), part in rows.group_by("article_id", maintain_order=True):
        pictures = pixels.read(int(str(article_id)))
        forbidden = withheld(part["license"][0])
        if not forbidden and (missing := [key for key in part["panel_id"] if key not in pictures]):
            raise StorageError(
                f"batch {pixels.batch} has dataset rows without a picture ({missing[0]} …): its panels were made again "
                "and the run ended before its dataset rows were; run `pmo run` or materialise the batch in the UI"
            )
        images = [None if forbidden else pictures[key].png for key in part["panel_id"]]
        texts = pl.lit(None, dtype=pl.String) if forbidden else pl.col("subcaption_text")
        yield part.with_columns(
            pl.Series("panel_image_bytes", images, dtype=pl.Binary), texts.alias("subcaption_text")
        ).select(schemas.RELEASE_COLUMNS)


def _row_groups(parts: Iterator[pl.DataFrame], digest: Callable[[pl.DataFrame], None]) -> Iterator[pa.Table]:
    waiting: list[pl.DataFrame] = []
    for part in parts:
        digest(part)
        waiting.append(part)
        if sum(item.height for item in waiting) >= ROW_GROUP_ROWS:
            yield pl.concat(waiting).to_arrow(compat_level=pl.CompatLevel.oldest())
            waiting = []
    if waiting:
        yield pl.concat(waiting).to_arrow(compat_level=pl.CompatLevel.oldest())


def write_release(
    data_root: DataRoot,
    tables: Tables,
    current: Mapping[str, Sequence[int]],
    *,
    specialty: Specialty,
    say: Callable[[str], None],
) -> Release:
    """Write `pubmed_ophtha.parquet` and its card; of the pictures, memory holds one row group at a time.

    Args:
        data_root: where tables, pictures and the release are.
        tables: the tables below it.
        current: see `current_articles`.
        specialty: what the dataset is about, for the card.
        say: told of progress, batch by batch.
    """
    rows = {batch: current_rows(tables, batch, articles) for batch, articles in current.items()}
    facts = pl.concat([schemas.empty_table(schemas.DatasetRows), *rows.values()])
    checksum = hashlib.sha256()

    def parts() -> Iterator[pl.DataFrame]:
        for number, (batch, table) in enumerate(rows.items(), start=1):
            say(f"release: batch {number} of {len(rows)} ({batch}, {table.height} rows)")
            yield from _released(table, ParquetPixels(data_root, "panels", batch))

    def digest(part: pl.DataFrame) -> None:
        for panel_id, png in part.select("panel_id", "panel_image_bytes").iter_rows():
            checksum.update(panel_id.encode() + hashlib.sha256(png or b"").digest())

    metadata = {b"pmo-assets": __version__.encode(), b"specialty": specialty.name.encode()}
    written = stream_release(
        data_root, RELEASE_KEY, schemas.release_arrow_schema(), _row_groups(parts(), digest), metadata
    )
    checksum.update(facts.drop("subcaption_segments", "in_text_mention").write_csv().encode())
    withheld_rows = sum(withheld(code) for code in facts["license"])
    card = dataset_card(
        ReleaseFacts(
            rows=written,
            withheld=withheld_rows,
            articles=facts["article_id"].n_unique(),
            figures=facts.select("article_id", "image_cluster_id").n_unique(),
            licences=_counts(facts["license"].fill_null("none stated")),
            contains={
                name.removeprefix("contains_"): int(facts[name].sum())
                for name in schemas.RELEASE_COLUMNS
                if name.startswith("contains_")
            },
            assembly=_counts(facts["assembly"]),
            columns=[
                row
                for name in schemas.RELEASE_COLUMNS
                for row in schemas.column_descriptions(schemas.PubmedOphtha)
                if row[0] == name
            ],
            specialty=specialty,
            version=__version__,
        )
    )
    data_root.write(CARD_KEY, card.encode())
    return Release(
        key=RELEASE_KEY,
        card_key=CARD_KEY,
        rows=written,
        expected=facts.height,
        articles=facts["article_id"].n_unique(),
        batches=len(rows),
        withheld=withheld_rows,
        digest=checksum.hexdigest()[:16],
        panel_ids=facts["panel_id"],
    )


def _counts(values: pl.Series) -> dict[str, int]:
    return dict(values.value_counts().sort("count", values.name, descending=[True, False]).iter_rows())
