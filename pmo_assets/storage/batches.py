"""Article batches: a batch is a manifest that is written once and never changes.

A batch's key is `<sequence>-<digest>`: the sequence orders batches (a later batch supersedes an earlier one in the
release), the digest is taken over what the batch holds. A package that some manifest already holds with the same
content is not registered again; a changed one goes into a new batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Any

from pmo_assets.records.packages import (
    _PMC_NAME,
    REGISTRATION_STAGE,
    PackageListing,
)
from pmo_assets.records.rejections import ArticleError, Rejection, rejection_from
from pmo_assets.storage.article_numbers import RegisteredPackage, content_of
from pmo_assets.storage.manifests import batch_key, next_sequence


def manifest_rows(listings: Sequence[PackageListing], source: str) -> list[dict[str, Any]]:
    """Return the manifest of one batch as rows of the table `article_batch`."""
    rows = [asdict(listing) for listing in listings]
    return [{**row, "source": source, "files": list(row["files"]), "problems": list(row["problems"])} for row in rows]


def new_batches(
    listings: Iterable[PackageListing],
    *,
    registered: Iterable[tuple[int, int, str]],
    existing_keys: Iterable[str],
    size: int,
) -> Iterator[tuple[str, list[PackageListing]]]:
    """Yield (key, packages) of new batches: `size` unregistered packages each, ordered by article number.

    Args:
        listings: packages of the source; of several versions of an article the best is taken.
        registered: (article number, version, digest) of every package in an existing manifest, oldest batch first; the
            last digest of a version counts, so that a change that is taken back is registered as well.
        existing_keys: keys of the existing batches.
        size: packages per batch.
    """
    known = {(article_id, version): digest for article_id, version, digest in registered}
    newest = newest_versions(list(listings))
    fresh = iter([item for item in newest if known.get((item.article_id, item.version)) != item.digest])
    sequence = next_sequence(existing_keys)
    while group := list(islice(fresh, size)):
        yield batch_key(sequence, ((item.article_id, item.digest) for item in group)), group
        sequence += 1


def said_before(
    listings: Iterable[PackageListing], source: str, registered: Iterable[RegisteredPackage]
) -> tuple[list[PackageListing], list[PackageListing]]:
    """Part packages into those that may be registered, and those whose content was registered and superseded before.

    The latter have not changed since their source was registered, or have the last manifest's files and metadata that
    an earlier one had: nothing is made anew for it, and a licence or a retraction that was said since stands.

    Args:
        listings: packages that a source lists.
        source: its URI.
        registered: packages of the manifests of that kind of source, oldest first.
    """
    ever: dict[tuple[int, int], dict[str, None]] = {}
    last: dict[tuple[int, int], RegisteredPackage] = {}
    own: dict[tuple[int, int], str] = {}
    for item in registered:
        key = item.article_id, item.version
        ever.setdefault(key, {})[item.digest] = None
        last[key] = item
        if item.source == source:
            own[key] = item.digest
    new: list[PackageListing] = []
    again: list[PackageListing] = []
    for listing in listings:
        key = listing.article_id, listing.version
        latest = last.get(key)
        is_old = latest is not None and latest.digest != listing.digest and listing.digest in ever[key]
        unchanged = own.get(key) == listing.digest
        same_files = latest is not None and latest.content == content_of(listing.files)
        (again if is_old and (unchanged or same_files) else new).append(listing)
    return new, again


def duplicate_packages(listings: Sequence[PackageListing]) -> list[Rejection]:
    """Return the packages that `newest_versions` leaves out although they are no older version, by article."""
    kept = {listing.article_id: listing for listing in newest_versions(listings)}
    left_out = [item for item in listings if item.name != kept[item.article_id].name]
    return [
        replace(
            rejection_from(
                DuplicatePackage(
                    f"{item.name} is article {item.article_id} like {kept[item.article_id].name}, which counts: "
                    "give one of them another version, or take it away"
                ),
                stage=REGISTRATION_STAGE,
                unit_id=item.article_id,
            ),
            owner=item.name,
        )
        for item in sorted(left_out, key=lambda item: (item.article_id, item.name))
        if item.version == kept[item.article_id].version and item.is_manuscript == kept[item.article_id].is_manuscript
    ]


def newest_versions(listings: Sequence[PackageListing]) -> list[PackageListing]:
    """Keep one package per article: published before manuscript, then the highest version.

    Of several packages of one version a retracted one counts, because what it says holds for the article; then the one
    that is named by its number.
    """

    def preference(item: PackageListing) -> tuple[object, ...]:
        named = _PMC_NAME.match(item.name) is not None
        return not item.is_manuscript, item.version, item.is_retracted, named, item.name

    best: dict[int, PackageListing] = {}
    for listing in sorted(listings, key=preference):
        best[listing.article_id] = listing
    return [best[article_id] for article_id in sorted(best)]


class DuplicatePackage(ArticleError):
    """Another package of the source is the same version of the same article, and counts."""
