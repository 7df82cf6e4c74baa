"""Group `encoders`: a dual encoder taught by the release's pairs, and the release embedded by it.

No part of any batch; made by the job `encode`. Runs lie in a local folder (`EncoderConfig.folder`); an interrupted run
goes on where it was. Needs the extras `models` and `encoders`.
"""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from pmo_assets.defs.job_assets import GroupJob, made_by
from pmo_assets.defs.stage_table import Stopwatch
from pmo_assets.settings import Settings
from pmo_assets.viewing.overlays import data_uri

ENCODE = GroupJob(
    "encode",
    "encoders",
    "Train a dual encoder of pictures and texts on the release's pairs, and embed the release by it: minutes to days "
    "by the recipe, and PyTorch (extras models, encoders). Launched in the launchpad, where the recipe is chosen.",
)


class EncoderConfig(dg.Config):  # type: ignore[misc, unused-ignore]
    """Configuration of the job `encode`."""

    folder: str = Field(default="encoders", description="Local folder for runs and embeddings.")
    recipe: str = Field(
        default="embedded", description="embedded, open-pmc, open-pmc-18m, panel2patch, or a TOML file."
    )
    changes: str = Field(
        default="{}", description='Numbers of the recipe by their place, as JSON: {"optimiser.steps": 500}.'
    )
    release: str = Field(default="", description="Release to learn from; that of the data root if empty.")
    device: str = Field(default="cpu", description="cpu or cuda.")

    @property
    def run(self) -> Path:
        """Folder of the run."""
        return Path(self.folder) / "runs" / Path(self.recipe).stem


def _need_packages() -> None:
    missing = [name for name in ("torch", "open_clip", "timm") if find_spec(name) is None]
    if missing:
        raise dg.Failure(
            f"encoders need {', '.join(missing)}: pip install 'pmo-assets[models,encoders]'", allow_retries=False
        )


@made_by(
    ENCODE,
    makers=["pmo_assets.encoders.training.run:train_encoder", "pmo_assets.encoders.training.losses:training_loss"],
    kinds={"pytorch"},
    deps=["pubmed_ophtha"],
    pool="gpu",
)
def dual_encoder(
    context: dg.OpExecutionContext, config: EncoderConfig, settings: dg.ResourceParam[Settings]
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """A dual encoder of pictures and texts, taught by the release's pairs; open_clip loads it."""
    _need_packages()
    from pmo_assets.encoders.examples.reading import read_training_examples
    from pmo_assets.encoders.training.recipes import read_recipe, recipe_text
    from pmo_assets.encoders.training.run import RunOptions, train_encoder
    from pmo_assets.records.stores import SystemicError

    watch = Stopwatch()
    try:
        recipe = read_recipe(config.recipe, json.loads(config.changes))
        place = config.release or settings.data_root
        learn, choose = read_training_examples([place], recipe.read_levels, recipe.data.min_confidence)
        text, options = recipe_text(config.recipe), RunOptions(config.device)
        for record in train_encoder(config.run, learn, choose, recipe, text, options):
            context.log.info(str(record))
    except (SystemicError, ValueError) as error:
        raise dg.Failure(str(error), allow_retries=False) from error
    result = json.loads((config.run / "result.json").read_text("utf-8"))
    numbers = {
        f"validation_{name.replace(' ', '_').replace('@', '_at_')}": value
        for name, value in result["validation"].items()
    }
    picture = data_uri((config.run / "curves.png").read_bytes(), "image/png")
    return dg.MaterializeResult(
        metadata={
            "seconds": watch.seconds,
            "steps": result["step"],
            "articles": result["articles"],
            "units": {name: int(count) for name, count in result["train"].items()},
            **numbers,
            "model": dg.MetadataValue.path(str((config.run / "model").resolve())),
            "curve": dg.MetadataValue.md(f"![curves of the training]({picture})"),
            "tensorboard": dg.MetadataValue.text(f"tensorboard --logdir {config.run.resolve()}"),
        }
    )


@made_by(
    ENCODE,
    makers=["pmo_assets.encoders.embedding:embed_examples"],
    kinds={"pytorch", "parquet"},
    deps=["dual_encoder", "pubmed_ophtha"],
    pool="gpu",
)
def release_embeddings(
    context: dg.OpExecutionContext, config: EncoderConfig, settings: dg.ResourceParam[Settings]
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Embeddings of the release's figures, panels, regions and their texts, with retrieval on the test articles."""
    _need_packages()
    from pmo_assets.encoders.embedding import embed_examples, retrieval_in_test
    from pmo_assets.encoders.examples.reading import read_examples
    from pmo_assets.encoders.networks.building import load_encoder
    from pmo_assets.records.stores import SystemicError

    watch = Stopwatch()
    out = Path(config.folder) / "embeddings" / f"{config.run.name}.parquet"
    place = config.release or settings.data_root
    try:
        encoder = load_encoder(config.run)
        counts = embed_examples(encoder, read_examples([place], None), out, device=config.device)
    except SystemicError as error:
        raise dg.Failure(str(error), allow_retries=False) from error
    numbers: dict[str, Any] = {} if place.startswith("s3://") else retrieval_in_test(out, Path(place))
    context.log.info(f"{counts} in {out}")
    return dg.MaterializeResult(
        metadata={
            "seconds": watch.seconds,
            "pictures": counts["image"],
            "texts": counts["text"],
            **numbers,
            "file": dg.MetadataValue.path(str(out.resolve())),
        }
    )
