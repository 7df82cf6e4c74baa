"""Train the image type network with a part of the sources held out, part after part, and keep what it says of them.

    python benchmarks/image_type_folds.py IMAGES FOLDS [--shared ../shared] [--folds 6] [--only 0 1]

IMAGES holds `<source>/<modality>/` pictures (`training/data/typed_pictures.py`). A source (data set, repository,
article) lies in one fold as a whole; the sources of one modality lie in different folds as far as there are enough.
FOLDS gets a run per fold, its network as `fold_<k>.onnx`, and `fold_<k>.npz`: names, sources, modalities and logits of
the pictures that this network has not seen, once whole and four times as figures show them, with their measures. A fold
that is there is not trained again. `fit_image_type.py` reads them.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pmo_assets.pipeline.detection.image_types.measures import picture_features
from pmo_assets.training.architectures.image_type_network import ImageTypeNetwork
from pmo_assets.training.data.typed_pictures import TypedPicture, typed_pictures
from pmo_assets.training.options import ImageTypeOptions
from pmo_assets.training.synthetic.figure_crops import figure_crop

CROPS = 4
"""Examples as figures show them, per held-out picture."""


def fold_of_source(pictures: Sequence[TypedPicture], folds: int) -> dict[str, int]:
    """Return the fold of every source: rare modalities first, each source where its modality is rarest."""
    sources: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for picture in pictures:
        sources[picture.modalities].add(picture.source)
    result: dict[str, int] = {}
    size = [0] * folds
    for _, names in sorted(sources.items(), key=lambda item: (len(item[1]), item[0])):
        here = [0] * folds
        for name in names:
            if name in result:
                here[result[name]] += 1
        for name in sorted(names - result.keys()):
            k = min(range(folds), key=lambda f: (here[f], size[f], f))
            result[name] = k
            here[k] += 1
            size[k] += 1
    return result


def main() -> None:
    """Train what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", type=Path)
    parser.add_argument("to", type=Path)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--folds", type=int, default=6)
    parser.add_argument("--only", type=int, nargs="*")
    parser.add_argument("--steps", type=int, default=ImageTypeOptions().steps)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    import torch

    from pmo_assets.training.architectures.export import export_types
    from pmo_assets.training.loop.train_image_type import modality_logits, right_types, train_image_type

    pictures = typed_pictures(args.images, args.shared / "corpus", args.shared / "annotations")
    fold = fold_of_source(pictures, args.folds)
    for k in range(args.folds):
        target = args.to / f"fold_{k}.npz"
        if target.exists() or (args.only is not None and k not in args.only):
            continue
        unseen = [p for p in pictures if fold[p.source] == k]
        print(f"fold {k}: {len(unseen)} pictures of {sorted({p.source for p in unseen})}", flush=True)
        options = ImageTypeOptions(steps=args.steps, threads=args.threads, seed=13 + k)
        run = args.to / f"run_{k}"
        for record in train_image_type(run, [p for p in pictures if fold[p.source] != k], options, unseen):
            print(record, flush=True)
        args.to.mkdir(parents=True, exist_ok=True)
        export_types(run / "best.pt", target.with_suffix(".onnx"))
        model = ImageTypeNetwork()
        model.load_state_dict(torch.load(run / "best.pt", map_location="cpu", weights_only=True)["model"])
        rng = np.random.default_rng(k)
        shown = [(p, p.pixels) for p in unseen]
        for _ in range(CROPS):
            shown += [
                (p, figure_crop(rng, p.pixels, p.modalities[0] if len(p.modalities) == 1 else None)) for p in unseen
            ]
        logits = modality_logits(model, [pixels for _, pixels in shown])
        whole = logits[: len(unseen)]
        print(f"fold {k}: right types {right_types(whole, unseen).mean():.3f} of whole pictures", flush=True)
        np.savez_compressed(
            target,
            names=np.asarray([p.name for p, _ in shown]), sources=np.asarray([p.source for p, _ in shown]),
            modalities=np.asarray(["|".join(p.modalities) for p, _ in shown]), logits=logits,
            whole=np.arange(len(shown)) < len(unseen),
            measures=np.stack([picture_features(pixels) for _, pixels in shown]),
        )  # fmt: skip


if __name__ == "__main__":
    main()
