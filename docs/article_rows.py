"""Print what the tables hold of one article, asset by asset, as Markdown: the examples of `docs/article.md`.

    pmo demo demo && python docs/article_rows.py demo/data 9000000002 [--figure JRIM2024-9000000002.001] [--rows 1]

Long values are shortened (`…`). Columns that are the same in every table (the article, the figure) are left out.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import polars as pl

from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.loading import group_assets
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables

LONGEST = 88
"""Characters of a value that are printed."""


def shortened(value: Any) -> str:
    """Return a value in one line; the middle of a long one is left out."""
    text = value if isinstance(value, str) else json.dumps(_rounded(value), ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 18]} … {text[-14:]}"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return value


def main() -> None:
    """Print the first rows of the article in every table of its batch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_root")
    parser.add_argument("article", type=int)
    parser.add_argument("--figure", help="image_cluster_id; rows of other figures are left out")
    parser.add_argument("--rows", type=int, default=1, help="of each table")
    options = parser.parse_args()
    tables = Tables(DataRoot(options.data_root))
    for asset in batch_graph(group_assets()).stages:
        for batch in tables.batches(asset):
            of_article = tables.read(asset, batch).filter(pl.col("article_id") == options.article)
            if "image_cluster_id" in of_article.columns and options.figure:
                of_article = of_article.filter(pl.col("image_cluster_id") == options.figure)
            if of_article.is_empty():
                continue
            rows = "1 row" if of_article.height == 1 else f"{of_article.height} rows"
            print(f"**`{asset}`**: {rows}\n\n| column | value |\n| --- | --- |")
            for number, row in enumerate(of_article.head(options.rows).to_dicts()):
                if number:
                    print("| | |")
                for column, value in row.items():
                    if column not in ("article_id", "image_cluster_id"):
                        print(f"| `{column}` | {shortened(value).replace('|', chr(92) + '|')} |")
            print()


if __name__ == "__main__":
    main()
