"""`pmo release push` and `pmo release webdataset` as a person runs them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pmo_assets_tests.cli.command_line import Pmo
from pmo_assets_tests.release.fake_hub import fake_hub
from pmo_assets_tests.release.hub_folder import write_hub_folder

NAME = "eyes/pubmed-ophtha"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release") / "hub"
    write_hub_folder(folder)
    return folder


@pytest.mark.slow  # a process; release/hub/test_pushing holds it
def test_a_push_says_what_it_would_do_does_it_and_then_there_is_nothing_to_do(
    pmo: Pmo, written: Path, tmp_path: Path
) -> None:
    pytest.importorskip("huggingface_hub")
    shutil.copytree(written, tmp_path / "data" / "release" / "hub")
    with fake_hub() as hub:
        variables = {
            "HF_ENDPOINT": hub.address, "HF_TOKEN": "hf_right", "HF_HOME": str(tmp_path), "HF_HUB_DISABLE_XET": "1",
        }  # fmt: skip
        dry = pmo("release", "push", NAME, **variables)
        assert dry.returncode == 0, dry.stderr
        assert "release 1.2.0" in dry.stdout
        assert "not there, or private; it would be made, public" in dry.stdout
        assert "new      README.md" in dry.stdout
        assert "nothing was sent" in dry.stdout
        assert hub.repositories == {}

        done = pmo("release", "push", NAME, "--yes", **variables)
        assert done.returncode == 0, done.stderr
        assert "tag v1.2.0" in done.stdout
        assert hub.repositories[NAME].files()["README.md"] == (written / "README.md").read_bytes()

        again = pmo("release", "push", NAME, **variables)
        assert "all of it is there already" in again.stdout

        refused = pmo("release", "push", NAME, "--yes", **variables | {"HF_TOKEN": "hf_wrong"})
        assert refused.returncode == 1
        assert "set HF_TOKEN" in refused.stderr
        assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_without_a_hub_the_folder_is_still_checked(pmo: Pmo, written: Path, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    variables = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path)}
    dry = pmo("release", "push", NAME, "--folder", written, **variables)
    assert dry.returncode == 0, dry.stderr
    assert "not compared" in dry.stderr
    assert "nothing was sent" in dry.stdout
    wrong = pmo("release", "push", "no name", "--folder", written)
    assert (wrong.returncode, "give OWNER/NAME" in wrong.stderr) == (1, True)
    absent = pmo("release", "push", NAME, "--folder", tmp_path)
    assert absent.returncode == 1
    assert "the folder of a release" in absent.stderr


@pytest.mark.slow
def test_tar_shards_are_written_beside_the_folder(pmo: Pmo, written: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(written, tmp_path / "release" / "hub"))
    done = pmo("release", "webdataset", folder, "--split", "train", "--shard-size", "1")
    assert done.returncode == 0, done.stderr
    assert "2 samples in 1 shard" in done.stdout
    assert "2 withheld rows left out" in done.stdout
    assert [path.name for path in (tmp_path / "release" / "webdataset-panels").iterdir()] == ["train-000000.tar"]
    assert pmo("release", "webdataset", folder).returncode == 1
