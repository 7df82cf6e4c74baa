"""Differences of two releases: panels that are new, changed and gone, with the reasons; `CHANGES.md`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import polars as pl

from pmo_assets.release.row_index import facets as facets_of_rows

NEW_ARTICLE: Final = "of an article that was not in the release before"
NEW_PANEL: Final = "of an article that was"
NOT_MADE: Final = "no longer made of an article that is still in the release"
NO_PANEL_LEFT: Final = "of an article that has no panel in the release any more"


@dataclass(frozen=True, slots=True)
class Changes:
    """Differences of a release from another one, in panels.

    Attributes:
        since: version of the other one; None for the first release.
        rows_before, rows_after: panels of either.
        new: new panels by reason.
        changed: panels with another content, by facet (`row_index.facets`); one panel may count several times.
        changed_panels: panels with another content, each once.
        gone: panels that are gone, by reason.
        columns: true if columns or their types changed.
        moved: articles that are in another split than before, by "train → test".
    """

    since: str | None
    rows_before: int
    rows_after: int
    new: Mapping[str, int] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)
    changed_panels: int = 0
    gone: Mapping[str, int] = field(default_factory=dict)
    columns: bool = False
    moved: Mapping[str, int] = field(default_factory=dict)

    @property
    def nothing(self) -> bool:
        """True if no panel is new, changed or gone, and no article in another split."""
        return not (self.new or self.changed or self.gone or self.moved)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON takes it; `Changes(**…)` reads it back."""
        return asdict(self)


def changed_rows(before: pl.DataFrame, after: pl.DataFrame, reasons: Mapping[int, str]) -> pl.DataFrame:
    """Return every panel that is new, changed or gone: panel_id, article_id, change, why; by panel_id.

    Args:
        before: `RowIndex` of the older release.
        after: of the newer one.
        reasons: for articles that are out of the newer release, by number, as far as known.
    """
    facets = list(facets_of_rows())
    known, present = before["article_id"].unique(), after["article_id"].unique()
    shared = before.join(after, on="panel_id", how="inner", suffix="_after")
    differing = pl.concat_list(
        pl.when(pl.col(name) != pl.col(f"{name}_after")).then(pl.lit(name)).otherwise(None) for name in facets
    ).list.drop_nulls()
    changed = (
        shared.with_columns(why=differing.list.join(", "), change=pl.lit("changed")).filter(pl.col("why") != "")
    )  # fmt: skip
    is_known = pl.col("article_id").is_in(known.implode())
    new = after.join(before, on="panel_id", how="anti").with_columns(
        change=pl.lit("new"), why=pl.when(is_known).then(pl.lit(NEW_PANEL)).otherwise(pl.lit(NEW_ARTICLE))
    )
    given = pl.DataFrame(
        {"article_id": list(reasons), "reason": list(reasons.values())},
        schema={"article_id": pl.Int64, "reason": pl.String},
    )
    still = pl.col("article_id").is_in(present.implode())
    default = pl.when(still).then(pl.lit(NOT_MADE)).otherwise(pl.lit(NO_PANEL_LEFT))
    gone = before.join(after, on="panel_id", how="anti").join(given, on="article_id", how="left").with_columns(
        change=pl.lit("gone"), why=pl.coalesce("reason", default)
    )  # fmt: skip
    columns = ("panel_id", "article_id", "change", "why")
    return pl.concat([new.select(columns), changed.select(columns), gone.select(columns)]).sort("panel_id")


def moved_articles(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, int]:
    """Return the number of articles of both releases that have another split, by "train → test".

    Args:
        before: article_id and split of the older release; null where an article has no panels.
        after: of the newer one.
    """
    splits = [table.select("article_id", pl.col("split").cast(pl.String)).drop_nulls() for table in (before, after)]
    both = splits[0].join(splits[1], on="article_id", suffix="_after").filter(pl.col("split") != pl.col("split_after"))
    ways = both.select(pl.format("{} → {}", "split", "split_after").alias("way"))
    return dict(ways.group_by("way").len().sort("way").iter_rows())


def differences(
    since: str | None, before: pl.DataFrame, after: pl.DataFrame, reasons: Mapping[int, str], *, columns: bool = False
) -> Changes:
    """Count what `changed_rows` lists; the arguments are its, and the older release's version."""
    rows = changed_rows(before, after, reasons)

    def counted(change: str) -> dict[str, int]:
        why = rows.filter(pl.col("change") == change).group_by("why").len().sort("len", "why", descending=[True, False])
        return dict(why.iter_rows())

    changed = rows.filter(pl.col("change") == "changed")
    facets = changed.select(pl.col("why").str.split(", ").explode()).to_series()
    return Changes(
        since=since,
        rows_before=before.height,
        rows_after=after.height,
        new=counted("new"),
        changed={name: count for name in facets_of_rows() if (count := int((facets == name).sum()))},
        changed_panels=changed.height,
        gone=counted("gone"),
        columns=columns,
    )


def _section(version: str, changes: Changes) -> str:
    if changes.since is None:
        return f"## {version}\n\nThe first release: {changes.rows_after} panels.\n"
    lines = [f"## {version}", "", f"Since {changes.since}: {changes.rows_before} panels became {changes.rows_after}."]
    if changes.columns:
        lines.append("Columns or their types changed.")
        if changes.changed:
            lines.append("A panel that has something in a new column counts as changed.")
    if changes.nothing:
        lines.append("No panel is new, changed or gone: what lies beside the panels changed.")
    lines.append("")
    lines += [f"* {count} new: {why}" for why, count in changes.new.items()]
    if changes.changed:
        facets = ", ".join(f"{name} ({count})" for name, count in changes.changed.items())
        lines.append(f"* {changes.changed_panels} changed: {facets}")
    lines += [f"* {count} gone: {why}" for why, count in changes.gone.items()]
    lines += [f"* {count} articles moved to another split: {way}" for way, count in changes.moved.items()]
    return "\n".join(lines).rstrip() + "\n"


def changes_file(history: Sequence[tuple[str, Changes]]) -> str:
    """Return `CHANGES.md`.

    Args:
        history: (version, its changes), newest first.
    """
    sections = "\n".join(_section(version, changes) for version, changes in history)
    return (
        "# Changes\n\nThe first number of a version changes with the columns, the second when panels are new or gone, "
        "the third when only their content changed. `panel_id` is the same in every release.\n\n" + sections
    )
