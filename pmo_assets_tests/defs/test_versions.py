"""Code versions: what depends on changed code becomes stale, and nothing else."""

from __future__ import annotations

import ast
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import pmo_assets
from pmo_assets.defs import versions
from pmo_assets.defs.versions import code_version, dependencies
from pmo_assets.pipeline.captions.steps import split_article_captions
from pmo_assets.pipeline.figures.steps import locate_pdf_figures
from pmo_assets_tests.forked import Forking

PACKAGE = Path(pmo_assets.__file__).parent

VERSIONS = """
import json
from pmo_assets.defs.loading import all_assets
print(json.dumps({spec.key.path[-1]: spec.code_version for item in all_assets() for spec in item.specs}))
"""


VersionsOf = Callable[[Path], dict[str, str]]


@pytest.fixture(scope="module")
def versions_of() -> Iterator[VersionsOf]:
    """Gives the code version of every asset of a copy of the package."""
    libraries = Forking()

    def ask(folder: Path) -> dict[str, str]:
        environment = {**os.environ, "PYTHONPATH": str(folder)}  # what is kept beside the bytecode is part of the test
        done = libraries.run(VERSIONS, env=environment, cwd=folder)
        assert done.returncode == 0, done.stderr
        said: dict[str, str] = json.loads(done.stdout)
        return said

    yield ask
    libraries.close()


@pytest.fixture(scope="module")
def original(versions_of: VersionsOf, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A copy of the package with what is kept of its analysis, and the code versions of its assets."""
    folder = tmp_path_factory.mktemp("original")
    shutil.copytree(PACKAGE, folder / "pmo_assets", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PACKAGE.parent / "prompts", folder / "prompts")
    return folder, versions_of(folder)


@pytest.fixture
def before(original: tuple[Path, dict[str, str]]) -> dict[str, str]:
    return original[1]


@pytest.fixture
def copy(original: tuple[Path, dict[str, str]], tmp_path: Path) -> Path:
    shutil.copytree(original[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


RELEASE = {"retractions", "panel_duplicates", "pubmed_ophtha", "dataset_report"}
JUDGED = {"annotation_quality", "figure_quality", "subcaption_quality", "detection_quality", "assembly_quality"}


def replaced(folder: Path, module: str, old: str, new: str) -> None:
    path = folder / "pmo_assets" / module
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {module}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name in before if before[name] != after[name]}


@pytest.mark.slow  # the code location is loaded anew
def test_a_changed_comment_or_docstring_makes_nothing_stale(
    versions_of: VersionsOf, copy: Path, before: dict[str, str]
) -> None:
    for module in ("records/geometry.py", "pipeline/captions/grammar.py", "tables/figures.py"):
        path = copy / "pmo_assets" / module
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"""', '"""New words. ', 1) + "\n\n# a comment\n", encoding="utf-8")
    assert versions_of(copy) == before


CHANGES: list[tuple[str, str, str, set[str]]] = [
    ("pipeline/figures/matching.py", "MIN_CRITERIA = 2", "MIN_CRITERIA = 3",
     {"figure_matches", "biomedica_matches"}),
    (
        "pipeline/dataset/rows.py", "round(panel.score, 4)", "round(panel.score, 5)", {"dataset_rows"},
    ),
    (
        "pipeline/dataset/published.py", 'SINGLE_PANEL_NAME: Final = "', 'SINGLE_PANEL_NAME: Final = "another ',
        {"pubmed_ophtha"},
    ),
    (
        "pipeline/dataset/near_duplicates.py", "THRESHOLD: Final = 32", "THRESHOLD: Final = 33",
        {"panel_duplicates", "pubmed_ophtha"},
    ),
    (
        "records/defaults.py", "NMS_IOU: Final = 0.3", "NMS_IOU: Final = 0.4",
        {"panel_detections", "image_detections", "marks", "regions", "video_episodes", "pubmed_ophtha"},
    ),
    (
        "storage/batches.py", '"source": source', '"source": str(source)',
        {"article_batch", "pmc_batches", *RELEASE, *JUDGED},  # which articles count is said by the manifests
    ),
    ("pipeline/captions/cascade.py", "if cascade.reader is None:", "if not cascade.reader:", {"subcaptions"}),
    ("sources/source_files.py", '"O_NOCTTY", 0)', '"O_NOCTTY", 1)',
     {"article_packages", "video_episodes", "video_words"}),
    (
        "tables/quality.py", "caption_similarity = dy.Float64(min=0", "caption_similarity = dy.Float64(min=0.0",
        {"figure_quality"},
    ),
    ("release/reports.py", 'title=f"{specialty.title} report"', 'title=specialty.title', {"dataset_report"}),
    (
        "training/architectures/torchvision_detectors.py", "SSD_SCALES = (0.05,", "SSD_SCALES = (0.06,",
        {"panel_detector", "image_detector"},
    ),
]  # fmt: skip
"""Module, what is replaced by what in it, and the assets that depend on it."""


@pytest.mark.slow
@pytest.mark.parametrize(("module", "old", "new", "stale"), CHANGES)
def test_a_changed_constant_makes_stale_exactly_what_depends_on_it(
    versions_of: VersionsOf, copy: Path, before: dict[str, str], module: str, old: str, new: str, stale: set[str]
) -> None:
    replaced(copy, module, old, new)
    assert changed(before, versions_of(copy)) == stale


@pytest.mark.slow  # the code location is loaded anew
def test_a_changed_data_file_makes_stale_what_reads_it(
    versions_of: VersionsOf, copy: Path, before: dict[str, str]
) -> None:
    path = copy / "pmo_assets" / "weights" / "image_type.json"
    path.write_text(path.read_text() + " ")
    stale = changed(before, versions_of(copy))
    assert "image_detections" in stale
    assert not {"subcaptions", "pdf_figures", "dataset_rows"} & stale


def test_a_module_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        code_version("pmo_assets.pipeline.nowhere")
    with pytest.raises(ModuleNotFoundError, match="nothing"):
        code_version("pmo_assets.pipeline.captions.steps:nothing")


def test_what_several_imports_give_under_one_name_counts_whole() -> None:
    text = """
def made(kind):
    if kind:
        from pmo_assets.records.geometry import area as measure
    else:
        from pmo_assets.records.geometry import width as measure
    return measure
"""
    found = versions._imports(ast.parse(text))["measure"]
    assert found == [("pmo_assets.records.geometry", "area"), ("pmo_assets.records.geometry", "width")]


def test_what_an_asset_depends_on_is_read_from_what_it_names() -> None:
    found = dependencies((split_article_captions.__module__, split_article_captions.__name__))
    assert ("pmo_assets.pipeline.captions.grammar", "parsed") in found
    rooms = {module.split(".")[1] for module, _ in found}
    assert rooms <= {"pipeline", "records", "tables", "system"}  # `system` says how to mend a full disk
    assert code_version(split_article_captions) != code_version(locate_pdf_figures)
