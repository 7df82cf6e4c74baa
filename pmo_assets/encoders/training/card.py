"""The card of a trained encoder: what it is, what it was taught by, how good it is, how it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.encoders.training.recipes import Recipe


def card_of(
    encoder: DualEncoder, recipe: Recipe, best: Mapping[str, Any], counts: Mapping[str, Any], cut_texts: int
) -> str:
    """Return the README of a model.

    Args:
        encoder: with the best weights.
        recipe: of the run.
        best: `step` and `validation` of the weights.
        counts: units of each level in `train` and `validation`, and `articles`.
        cut_texts: texts that were longer than the context.
    """
    rows = "\n".join(
        f"| {name} | {value:.3f} |"
        for name, value in best["validation"].items()
        if name != "score" and "candidates" not in name
    )
    units = "\n".join(
        f"| {level} | {count:,} | {counts['validation'].get(level, 0):,} |" for level, count in counts["train"].items()
    )
    unknown = "\n".join(f"* `{name}`: {text}" for name, text in recipe.unknown.items())
    left = f"\nWhat the recipe's source leaves open, and what stands in its place:\n\n{unknown}\n" if unknown else ""
    offline = (
        "\nThe configuration of the text encoder is looked up by its name; offline, set `text_cfg.hf_model_name` of "
        "`open_clip_config.json` to this folder, which has it.\n"
        if "hf_model_name" in encoder.config["text_cfg"]
        else ""
    )
    return f"""\
# {encoder.name}

A dual encoder of pictures and texts, trained by `pmo encode train` with the recipe {recipe.title!r} ({recipe.source}).
Embeddings have {encoder.dimensions} numbers; what belongs together is similar by cosine.

```python
import open_clip

model, preprocess = open_clip.create_model_from_pretrained("local-dir:MODEL")
tokenizer = open_clip.get_tokenizer("local-dir:MODEL")
```
{offline}
## Training

{counts["articles"]:,} articles; weights of step {best["step"]:,}, chosen by retrieval on validation articles.
{cut_texts:,} texts were longer than {encoder.tokenizer.context_length} tokens and were cut at a word.

| level | units | validation units |
| --- | ---: | ---: |
{units}
{left}
## Validation

Both directions, averaged; the weights were chosen by these numbers, so that they flatter. `pmo encode evaluate`
measures on the test split.

| | |
| --- | ---: |
{rows}

## Limits

Taught by published figures: what authors choose to show, in their words, in English. Not for diagnosis. The pictures'
licences are those of their articles.
"""
