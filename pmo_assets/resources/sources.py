"""Article sources: a local folder of packages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pmo_assets.pipeline.articles.packages import ArticleSource, FileMissing, PackageListing, SourceError, list_package


@dataclass(frozen=True)
class LocalFolder:
    """Packages in the subfolders of a folder, in either shape of `pipeline.articles.packages`."""

    folder: Path

    @property
    def uri(self) -> str:
        """The folder as a `file://` URL."""
        return self.folder.absolute().as_uri()

    def listings(self) -> Iterator[PackageListing]:
        """Yield every package below the folder by name; a folder that is itself a package yields that one."""
        if not self.folder.is_dir():
            raise SourceError(f"{self.folder} is not a folder: give one whose subfolders are article packages")
        found = False
        for place in sorted(path for path in self.folder.iterdir() if path.is_dir()):
            listing = list_package(place, self.folder)
            if listing is not None:
                found = True
                yield listing
        if not found:
            raise SourceError(
                f"{self.folder} holds no article package: expected subfolders with article.pdf and/or article.xml, "
                "or PMC Cloud folders such as PMC10009416.1/"
            )

    def read(self, path: str) -> bytes:
        """Return a file's bytes; see `ArticleSource`."""
        try:
            return (self.folder / path).read_bytes()
        except FileNotFoundError as error:
            if self.folder.is_dir() and any(self.folder.iterdir()):
                raise FileMissing(f"{path} is gone from {self.folder} since the batch was registered") from error
            raise SourceError(f"{self.folder} is gone or empty: is its disk mounted?") from error
        except OSError as error:
            raise SourceError(
                f"cannot read {self.folder / path}: {error}; is the source folder still there?"
            ) from error


def open_source(uri: str) -> ArticleSource:
    """Return the source that a manifest names.

    Raises:
        SourceError: for a kind of source that this version does not know.
    """
    scheme, separator, rest = uri.partition("://")
    if separator and scheme == "file":
        from urllib.parse import unquote

        return LocalFolder(Path(unquote(rest)))
    if not separator:
        return LocalFolder(Path(uri))
    raise SourceError(f"cannot open the article source {uri}: this version reads local folders (file://)")
