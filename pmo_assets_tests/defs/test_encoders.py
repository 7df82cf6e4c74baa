"""The group `encoders`: an encoder is trained on a release and embeds it; what is missing is said."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import dagster as dg
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.assets.encoders import EncoderConfig
from pmo_assets_tests.encoders.tiny import recipe_toml, write_tiny_encoder
from pmo_assets_tests.loading.small_release import write_release


def encode(config: EncoderConfig, op: str) -> dg.ExecuteInProcessResult:
    """Launch one op of the job `encode`, as the launchpad does."""
    job = build_defs().resolve_job_def("encode")
    return job.execute_in_process(run_config=dg.RunConfig(ops={op: config}), op_selection=[op])


@pytest.mark.skipif(find_spec("open_clip") is not None, reason="open_clip is installed here")
@pytest.mark.parametrize("op", ["dual_encoder", "release_embeddings"])
def test_without_its_packages_it_says_what_is_missing(tmp_path: Path, op: str) -> None:
    with pytest.raises(dg.Failure, match="pmo-assets\\[models,encoders\\]"):
        encode(EncoderConfig(folder=str(tmp_path)), op)


needs_packages = pytest.mark.skipif(
    find_spec("open_clip") is None, reason="the extra `encoders` is not installed: make test-models"
)


@needs_packages
def test_an_encoder_is_trained_and_embeds_the_release(tmp_path: Path) -> None:
    write_release(tmp_path / "data", articles=10)
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(recipe_toml(write_tiny_encoder(tmp_path / "encoder")))
    config = EncoderConfig(
        folder=str(tmp_path / "out"), recipe=str(recipe), release=str(tmp_path / "data"),
        changes='{"optimiser.steps": 3}',
    )  # fmt: skip
    (event,) = encode(config, "dual_encoder").asset_materializations_for_node("dual_encoder")
    assert event.metadata["steps"].value == 3
    assert (tmp_path / "out" / "runs" / "tiny" / "model" / "open_clip_model.safetensors").exists()
    (event,) = encode(config, "release_embeddings").asset_materializations_for_node("release_embeddings")
    assert 0 <= float(event.metadata["test_panel_image_to_text_recall_at_10"].value) <= 1  # type: ignore[arg-type]
    assert (tmp_path / "out" / "embeddings" / "tiny.parquet").exists()


@needs_packages
def test_a_recipe_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(dg.Failure, match="there is no recipe"):
        encode(EncoderConfig(folder=str(tmp_path), recipe="nothing"), "dual_encoder")
