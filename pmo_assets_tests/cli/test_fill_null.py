"""`pmo release fill-null` puts what may not be passed on where nobody is served it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmo_assets.cli.console import CommandError
from pmo_assets.cli.release.fill_null import _beside, fill_null, served_folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """The folder of a data root's releases."""
    for folder in ("hub", "versions"):
        (tmp_path / "data" / "release" / folder).mkdir(parents=True)
    (tmp_path / "data" / "release" / "pubmed_ophtha.parquet").write_bytes(b"PAR1")
    return tmp_path / "data" / "release"


def test_what_is_restored_of_a_data_root_s_release_goes_below_private(release: Path) -> None:
    private = release.parent / "private"
    assert _beside(release / "pubmed_ophtha.parquet") == private / "pubmed_ophtha.filled.parquet"
    assert _beside(release / "hub") == private / "hub-filled"
    assert served_folder(private / "hub-filled") is None


def test_of_a_copy_it_goes_beside_it(tmp_path: Path) -> None:
    assert _beside(tmp_path / "release.parquet") == tmp_path / "release.filled.parquet"


@pytest.mark.parametrize("target", ["hub-filled", "hub", "filled.parquet", "gallery/x.parquet"])
def test_into_what_is_served_nothing_is_written(release: Path, target: str) -> None:
    before = sorted(path for path in release.rglob("*"))
    with pytest.raises(
        CommandError, match=r"others: what licences withhold may not be there. Give --out outside of it"
    ):
        fill_null(release / "pubmed_ophtha.parquet", out=release / target)
    with pytest.raises(CommandError, match="may not be there"):
        fill_null(release / "pubmed_ophtha.parquet", in_place=True)
    assert sorted(path for path in release.rglob("*")) == before
