"""`docs/dataset.md` and `docs/notebook.ipynb` run as they stand."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from pmo_assets.loading import Release
from pmo_assets_tests.loading.conftest import Written

ROOT = Path(__file__).resolve().parents[2]

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


@pytest.mark.slow
@pytest.mark.parametrize("with_torch", [False, True])
def test_the_document_runs(written: Written, tmp_path: Path, with_torch: bool) -> None:
    """As one script, because its workers are other processes."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "dataset.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len([line for line in blocks[0].splitlines() if line]) <= 5
    training = [block for block in blocks if "torch" in block]
    assert len(training) == 1
    if with_torch:
        pytest.importorskip("torch", reason="PyTorch is in the extra `models` (make test-models)")
    else:
        blocks.remove(training[0])
    (tmp_path / "data").symlink_to(written.data_root)
    (tmp_path / "document.py").write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, "document.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert written.rows["panels"][0]["panel_id"] in done.stdout
    assert ("224, 224, 3) Panel" in done.stdout) == with_torch


def test_the_example_of_the_readme_runs(written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "data").symlink_to(written.data_root)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(block, "README.md", "exec"), names)
    assert names["panel"].subcaption


def test_the_statements_in_sql_say_what_python_says(
    written: Written, release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "data").symlink_to(written.data_root)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "dataset.md").read_text(encoding="utf-8")
    by_terms, by_entities = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)

    with duckdb.connect() as connection:
        found = connection.sql(by_terms).fetchall()
        counted = connection.sql(by_entities).fetchall()

    panels = release.panels.filter(disease="AMD", eye="OD", modality="OCT")
    assert {row[0] for row in found} == {panel.panel_id for panel in panels} != set()
    assert all("neovascular age-related macular degeneration" in row[1] for row in found), "a narrower term is found"
    expected = Counter(
        term
        for panel in release.panels
        for term in {item.term for item in panel.entities or () if item.group == "disease" and not item.negated}
    )
    assert {row[0]: row[1] for row in counted} == dict(expected) != {}
    assert "macular hole" not in expected, "which each panel's sentence denies"
    assert "diabetic macular edema" in expected


@pytest.mark.parametrize("place", ["data", "demo/data"])
def test_the_notebook_finds_what_make_demo_made_from_where_it_lies(
    written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.delenv("PMO_DATA_ROOT", raising=False)
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).symlink_to(written.data_root)
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    first = next(cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code")
    known: dict[str, Any] = {}
    exec(first.source, known)
    assert len(known["ds"].panels) == len(written.rows["panels"])


@pytest.fixture
def executed(written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the cells of the notebook printed or showed, as text; an error in one is raised."""
    monkeypatch.setenv("PMO_DATA_ROOT", str(written.data_root))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in ("HF_HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["\n".join(_shown(output) for output in cell.outputs) for cell in cells]


def _shown(output: nbformat.NotebookNode) -> str:
    return output["text"] if output["output_type"] == "stream" else "\n".join(map(str, output["data"].values()))


@pytest.mark.slow  # a notebook's kernel
def test_the_notebook_runs(executed: list[str], written: Written) -> None:
    whole = "\n".join(executed)
    assert f"{len(written.rows['panels'])} panels" in executed[0]
    assert "data:image/png;base64," in whole
    assert "of them image" in whole
    for module, proof in (
        ("torch", "(4, 3, 224, 224) (4, 224, 224)"),
        ("duckdb", "│ panels"),
        ("datasets", "p_9000000001_fig1_0 CC BY"),
    ):
        if importlib.util.find_spec(module) is not None:
            assert proof in whole
        else:
            assert f"{'PyTorch' if module == 'torch' else module}" in whole
            assert "is not installed" in whole


def test_the_notebook_is_stored_without_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in cells] == [[]] * len(cells)
    assert [cell.execution_count for cell in cells] == [None] * len(cells)
