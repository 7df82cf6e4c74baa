"""Inputs of an encoder made of entries: pixels and tokens, or features that a frozen body gave before."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from pmo_assets.encoders.examples.units import ExamplesError, Unit, picture_digest, shown
from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.encoders.training.features import FeatureCache
from pmo_assets.encoders.training.losses import LEVEL_NUMBERS, BatchLayout, region_features
from pmo_assets.encoders.training.sampling import Entry


def layout_of(entries: Sequence[Entry], device: str = "cpu") -> BatchLayout:
    """Return the layout of a batch."""
    looks: dict[tuple[str, str], int] = {}
    wordings: dict[str, int] = {}
    levels = [LEVEL_NUMBERS[entry.unit.level] for entry in entries]
    looks_alike, says_alike, parents = (
        [looks.setdefault((entry.unit.level, entry.unit.looks), len(looks)) for entry in entries],
        [wordings.setdefault(" ".join(entry.text.split()), len(wordings)) for entry in entries],
        [entry.parent for entry in entries],
    )

    def column(numbers: list[int]) -> Tensor:
        return torch.tensor(numbers, dtype=torch.int64, device=device)

    return BatchLayout(
        column(levels),
        column(looks_alike),
        column(says_alike),
        column(parents),
        torch.tensor([entry.counted for entry in entries], device=device),
        column([place for place, level in enumerate(levels) if level == LEVEL_NUMBERS["region"]]),
    )


@dataclass(frozen=True)
class Inputs:
    """Inputs of some entries, as a body takes them, or as it gave them.

    Attributes:
        images: (n, 3, h, w) pixels, (n, c, h, w) maps of the frozen first blocks, or (n, f) features.
        texts: (n, t) tokens, or (n, f) features.
        panels: of the regions, pixels or maps of their panels, or (r, f) features pooled from them.
        boxes: (r, 4) of the regions in their panels.
    """

    images: Tensor
    texts: Tensor
    panels: Tensor
    boxes: Tensor


class InputMaker:
    """Makes inputs; features of frozen bodies are computed once, one at a time.

    One at a time, because what stands beside a picture in a batch changes the last bits of its features.
    """

    def __init__(self, encoder: DualEncoder, cache: Path | None, *, crop: float = 1.0, device: str = "cpu") -> None:
        """Look up what is known of the encoder's frozen bodies.

        Args:
            encoder: whose blocks are free or frozen as they will be trained.
            cache: folder of features.
            crop: smallest share of the area of a random crop, in views other than 0, and of pixels.
            device: where the encoder is.
        """
        self.encoder, self.device = encoder, device
        self.crop = crop if crop < 1 else None
        self.frozen_images = encoder.is_frozen(encoder.image)
        self.frozen_texts = encoder.is_frozen(encoder.text)
        self._split = None if self.frozen_images else encoder.image_split
        lower = None if self._split is None else self._split.lower_modules
        kept = self.frozen_images or lower is not None
        self._images = FeatureCache(cache, encoder.digest(encoder.image, lower)) if kept else None
        self._texts = FeatureCache(cache, encoder.digest(encoder.text)) if self.frozen_texts else None
        self._digests: dict[str, bytes] = {}

    def flush(self) -> None:
        """Write features that are new."""
        for cache in (self._images, self._texts):
            if cache is not None:
                cache.flush()

    def inputs(self, entries: Sequence[Entry], *, seed: int = 0, with_regions: bool = False) -> Inputs:
        """Return the inputs of entries, at least one.

        Args:
            entries: of a batch.
            seed: of the crops of pixels.
            with_regions: pictures of the regions' panels are wanted, too.

        Raises:
            ExamplesError: naming the unit whose picture is broken.
        """
        images = torch.stack([self._image(entry, seed + place) for place, entry in enumerate(entries)])
        texts = [self._text(entry.text) for entry in entries]
        joined = torch.cat(texts) if self.frozen_texts else self.encoder.token_batch(texts)
        regions = [entry for entry in entries if entry.unit.level == "region"] if with_regions else []
        panels = torch.stack([self._panel(entry.unit) for entry in regions]) if regions else images[:0]
        boxes = torch.tensor([entry.unit.box for entry in regions], dtype=torch.float32).reshape(-1, 4)
        return Inputs(*(item.to(self.device) for item in (images, joined, panels, boxes)))

    def embed(self, inputs: Inputs) -> tuple[Tensor, Tensor, Tensor]:
        """Return embeddings of pictures (n, d), texts (n, d), and regions as pooled from their panels (r, d)."""
        image, text = self.encoder.image, self.encoder.text
        images = image.head(self._features(inputs.images))
        texts = text.head(inputs.texts if self.frozen_texts else text.body(inputs.texts))
        if not len(inputs.panels):
            return images, texts, images[:0]
        pooled = inputs.panels if self.frozen_images else self._pooled(inputs.panels, inputs.boxes)
        return images, texts, image.head(pooled)

    def _pooled(self, panels: Tensor, boxes: Tensor) -> Tensor:
        tower = self.encoder.image
        if tower.feature_map is None or tower.of_region is None:
            raise ExamplesError(f"{self.encoder.name} has no feature map to pool regions from: loss.roi must be 0")
        owners = torch.arange(len(panels), device=panels.device)
        maps = tower.feature_map(panels) if self._split is None else self._split.upper(panels)
        return tower.of_region(region_features(maps, boxes, owners))

    def _features(self, given: Tensor) -> Tensor:
        if self.frozen_images:
            return given
        tower = self.encoder.image
        if self._split is None or tower.of_map is None:
            return tower.body(given)
        return tower.of_map(self._split.upper(given))

    def _kept_part(self) -> Callable[[Tensor], Tensor]:
        return self.encoder.image.body if self._split is None else self._split.lower

    def _image(self, entry: Entry, seed: int) -> Tensor:
        unit = entry.unit
        if self._images is None:
            return self.encoder.pixels(shown(unit), self.crop, seed)
        view = entry.view if self.crop else 0
        key = self._digest(unit) + view.to_bytes(2, "big")
        if view:
            key += hashlib.sha256(repr(self.crop).encode()).digest()[:6]
        key = key.ljust(24, b"\0")
        known = self._images.get(key)
        if known is None:
            crop_seed = int.from_bytes(key[:7], "big") + view
            pixels = self.encoder.pixels(shown(unit), self.crop if view else None, crop_seed)
            known = self._images.put(key, self._alone(self._kept_part(), pixels[None]))
        return torch.from_numpy(known.astype(np.float32))

    def _panel(self, unit: Unit) -> Tensor:
        if self._images is None:
            return self.encoder.pixels(shown(unit, whole=True))
        key = (self._digest(unit) + b"roi").ljust(24, b"\0")
        known = self._images.get(key)
        if known is None:
            pixels = self.encoder.pixels(shown(unit, whole=True))[None]
            boxes = torch.tensor([unit.box], device=self.device)
            pooled = self._alone(lambda panels: self._pooled(panels, boxes), pixels) if self._split is None else None
            known = self._images.put(key, self._alone(self._kept_part(), pixels) if pooled is None else pooled)
        return torch.from_numpy(known.astype(np.float32))

    def _text(self, text: str) -> Tensor:
        if self._texts is None:
            return self.encoder.tokens(text)
        key = hashlib.sha256(text.encode()).digest()[:24]
        known = self._texts.get(key)
        if known is None:
            known = self._texts.put(key, self._alone(self.encoder.text.body, self.encoder.tokens(text)))
        return torch.from_numpy(known.astype(np.float32))[None]

    def _alone(self, body: object, given: Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        assert callable(body)
        with torch.no_grad():
            found: Tensor = body(given.to(self.device))
        return np.asarray(found[0].float().cpu().numpy())

    def _digest(self, unit: Unit) -> bytes:
        key = f"{unit.level}/{unit.name}"
        if key not in self._digests:
            self._digests[key] = picture_digest(unit.picture.read(), unit.box)
        return self._digests[key]
