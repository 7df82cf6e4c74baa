"""A data root remembers the settings that it was made with, and stops what has others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pmo_assets.configuration.reading import ConfigurationError
from pmo_assets.configuration.remembered import (
    OtherSettings,
    check_settings,
    differences,
    remembered_settings,
    renew_settings,
    with_remembered,
)
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.provenance import Provenance
from pmo_assets.storage.tables import Tables


def options(root: Path, **given: object) -> Settings:
    return Settings(_env_file=None, data_root=str(root), **given)  # type: ignore[call-arg,arg-type]


@pytest.fixture
def new_root(tmp_path: Path) -> DataRoot:
    """A data root below which nothing was made yet."""
    return DataRoot(str(tmp_path / "data"))


@pytest.fixture
def root(new_root: DataRoot) -> DataRoot:
    """A data root below which something was made."""
    for asset in ("articles", "pdf_figures", "reviewed_panels"):
        Tables(new_root).write(asset, "0001-a", [])
    return new_root


def test_the_first_settings_are_remembered(root: DataRoot, tmp_path: Path) -> None:
    first = options(tmp_path, specialty="everything")
    check_settings(root, first)
    check_settings(root, first)
    assert root.keys("settings") == ["0001.json"]
    kept = remembered_settings(root)
    assert kept is not None
    assert kept.values["specialty"] == "everything"


def test_a_shell_without_a_variable_is_stopped_and_told_both_ways_on(root: DataRoot, tmp_path: Path) -> None:
    check_settings(root, options(tmp_path, specialty="everything"))
    with pytest.raises(OtherSettings) as stopped:
        check_settings(root, options(tmp_path))
    words = str(stopped.value)
    assert "PMO_SPECIALTY is ophthalmology, was everything" in words
    assert "--with-stored-settings" in words
    assert "--with-new-settings" in words
    assert root.keys("settings") == ["0001.json"]


def test_a_first_try_that_made_nothing_binds_nobody(new_root: DataRoot, tmp_path: Path) -> None:
    check_settings(new_root, options(tmp_path, specialty="everything"))
    check_settings(new_root, options(tmp_path))
    assert new_root.keys("settings") == ["0001.json", "0002.json"]


def test_what_does_not_change_results_is_free(root: DataRoot, tmp_path: Path) -> None:
    check_settings(root, options(tmp_path))
    check_settings(root, options(tmp_path, workers=1, pages_url="http://127.0.0.1:9", article_timeout=60))


def test_the_stored_settings_are_taken_up(root: DataRoot, tmp_path: Path) -> None:
    made_with = options(tmp_path, specialty="everything", max_dpi=150, panel_checkpoint=None)
    check_settings(root, made_with)
    adopted = with_remembered(root, options(tmp_path, workers=3))
    assert (adopted.specialty, adopted.max_dpi, adopted.workers) == ("everything", 150, 3)
    check_settings(root, adopted)


def test_a_default_is_taken_up_in_place_of_what_a_shell_sets(root: DataRoot, tmp_path: Path) -> None:
    check_settings(root, options(tmp_path))
    adopted = with_remembered(root, options(tmp_path, specialty="everything"))
    assert adopted.specialty == "ophthalmology"


def test_new_settings_get_a_number_of_their_own(root: DataRoot, tmp_path: Path) -> None:
    check_settings(root, options(tmp_path))
    other = options(tmp_path, specialty="everything")
    assert renew_settings(root, other).number == 2
    assert renew_settings(root, other).number == 2
    check_settings(root, other)
    with pytest.raises(OtherSettings):
        check_settings(root, options(tmp_path))


def test_files_count_by_content(root: DataRoot, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("a = 1\n")
    named = options(tmp_path, specialty=str(file))
    check_settings(root, named)
    moved = tmp_path / "moved.toml"
    moved.write_text("a = 1\n")
    check_settings(root, options(tmp_path, specialty=str(moved)))
    file.write_text("a = 2\n")
    with pytest.raises(OtherSettings, match="PMO_SPECIALTY"):
        check_settings(root, named)
    with pytest.raises(ConfigurationError, match="is not what it was"):
        with_remembered(root, options(tmp_path))


def test_people_s_decisions_may_be_added_but_not_lost(root: DataRoot, tmp_path: Path) -> None:
    check_settings(root, options(tmp_path))
    check_settings(root, options(tmp_path, annotations="truth"))
    assert root.keys("settings") == ["0001.json", "0002.json"]
    with pytest.raises(OtherSettings, match="PMO_ANNOTATIONS is not set, was truth"):
        check_settings(root, options(tmp_path))


def test_decisions_that_were_only_measured_on_are_not_applied_by_another_shell(root: DataRoot, tmp_path: Path) -> None:
    measured = options(tmp_path, annotations="truth", apply_annotations=False)
    check_settings(root, measured)
    with pytest.raises(OtherSettings, match="PMO_APPLY_ANNOTATIONS is True, was False"):
        check_settings(root, options(tmp_path, annotations="truth"))
    assert with_remembered(root, options(tmp_path)).apply_annotations is False


def test_without_decisions_what_becomes_of_them_says_nothing(root: DataRoot, tmp_path: Path) -> None:
    check_settings(root, options(tmp_path))
    check_settings(root, options(tmp_path, apply_annotations=False))
    check_settings(root, options(tmp_path, annotations="truth"))


def test_a_root_of_an_older_version_is_compared_with_its_tables(new_root: DataRoot, tmp_path: Path) -> None:
    root, tables = new_root, Tables(new_root)
    for asset in (
        "article_packages", "pdf_figures", "subcaptions", "panel_detections", "image_detections", "panel_assembly",
        "dataset_rows",
    ):  # fmt: skip
        tables.write(asset, "0001-a", [], provenance=Provenance("v1", {"specialty": "everything"}))
    with pytest.raises(OtherSettings, match="was everything"):
        check_settings(root, options(tmp_path))
    assert with_remembered(root, options(tmp_path)).specialty == "everything"
    check_settings(root, options(tmp_path, specialty="everything"))
    assert root.keys("settings") == ["0001.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"schema": 2, "number": 1, "shaping": {}, "values": {}})])
def test_what_is_not_understood_allows_nothing(root: DataRoot, tmp_path: Path, text: str) -> None:
    root.write("settings/0001.json", text.encode())
    with pytest.raises(ConfigurationError, match="cannot be understood"):
        check_settings(root, options(tmp_path))


def test_an_option_that_only_one_version_knows_is_no_difference() -> None:
    assert differences({"a": 1, "gone": 2}, {"a": 1, "new": 3}) == {}
    assert differences({"a": 1}, {"a": 2}) == {"a": (1, 2)}
