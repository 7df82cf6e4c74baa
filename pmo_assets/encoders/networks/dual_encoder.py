"""A dual encoder: two towers as open_clip has them, taken apart into a body and a head each.

A body that is not trained gives the same features for the same picture every time, so that these can be kept; a head
is what is trained then. Of an encoder whose projection is part of the tower the whole tower is the body.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import PIL.Image
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pmo_assets.encoders.examples.texts import cut_at_word
from pmo_assets.encoders.networks.choice import Blocks, EncoderError

_RESIZING: Final = -2
"""Before the last two of open_clip's parts a picture is resized; they make a tensor and normalise it."""

LARGEST_LOG_SCALE: Final = 4.605170185988092
"""ln 100: the learned logit scale is held below 100 (CLIP, section 2.5)."""


@dataclass(frozen=True)
class Tower:
    """A tower in two parts: `head(body(input))` are the embeddings.

    Attributes:
        module: the whole tower.
        body: input to features (n, f).
        head: features to embeddings (n, d).
        body_modules: modules of the body.
        blocks: blocks of the body, first to last.
        after_blocks: modules and parameters of the body behind its blocks.
        feature_map: pictures to (n, c, h, w); None where there is none, and for texts.
        of_region: (r, c) pooled from the feature map to features (r, f); None likewise.
        split: given a number of last blocks, what comes before them (pictures to maps), they themselves (maps to the
            feature map), and the modules before; None where a tower cannot be cut so.
        of_map: the feature map to features (n, f); where there is a `split`.
    """

    module: nn.Module
    body: Callable[[Tensor], Tensor]
    head: nn.Module
    body_modules: tuple[nn.Module, ...]
    blocks: tuple[nn.Module, ...]
    after_blocks: tuple[Any, ...]
    feature_map: Callable[[Tensor], Tensor] | None = None
    of_region: Callable[[Tensor], Tensor] | None = None
    split: Callable[[int], Split] | None = None
    of_map: Callable[[Tensor], Tensor] | None = None


@dataclass(frozen=True)
class Split:
    """A body cut before its last blocks.

    Attributes:
        lower: pictures to maps (n, c, h, w), never trained.
        upper: these to the feature map, trained.
        lower_modules: modules of the lower part.
    """

    lower: Callable[[Tensor], Tensor]
    upper: Callable[[Tensor], Tensor]
    lower_modules: tuple[nn.Module, ...]


class DualEncoder:
    """An encoder with what belongs to it: preprocessing, tokenizer, configuration.

    Attributes:
        model: open_clip's CustomTextCLIP.
        config: its configuration (`model_cfg` of open_clip).
        preprocess: of pictures (`preprocess_cfg` of open_clip).
        tokenizer: of open_clip.
        name: for people.
        folder: that it was loaded from, as it is there; None for one that was made.
        image, text: the towers.
        kept_form: the state of the weights, and what `folded.embedding_form` made of them.
    """

    def __init__(
        self,
        model: Any,
        config: dict[str, Any],
        preprocess: dict[str, Any],
        tokenizer: Any,
        name: str,
        folder: Path | None = None,
    ) -> None:
        """Take the towers apart; nothing is trained until `train_blocks` says so."""
        self.model, self.config, self.preprocess = model, config, preprocess
        self.tokenizer, self.name, self.folder = tokenizer, name, folder
        self.image, self.text = image_tower(model.visual), text_tower(model.text)
        self.image_split: Split | None = None
        self._parts: Sequence[Callable[[Any], Any]] | None = None
        self._transforms: dict[float, Callable[[PIL.Image.Image], Tensor]] = {}
        self.cut_texts: set[str] = set()
        self.kept_form: tuple[Any, Any] | None = None

    @property
    def dimensions(self) -> int:
        """Length of an embedding."""
        return int(self.config["embed_dim"])

    @property
    def scale(self) -> Tensor:
        """The logit scale, 1 / temperature, with its graph."""
        return self.model.logit_scale.exp()

    def hold_scale(self) -> None:
        """Bring the logit scale back between 1 and 100 after a step."""
        with torch.no_grad():
            self.model.logit_scale.clamp_(0, LARGEST_LOG_SCALE)

    def train_blocks(self, image: Blocks, text: Blocks) -> list[str]:
        """Free the last blocks of each tower and the heads, freeze the rest; return the names of what is trained."""
        for tower, count in ((self.image, image), (self.text, text)):
            _free(tower, count)
        self.model.logit_scale.requires_grad_(True)
        cut = self.image.split is not None and image != "all" and image > 0
        self.image_split = self.image.split(int(image)) if cut and self.image.split is not None else None
        return [name for name, parameter in self.model.named_parameters() if parameter.requires_grad]

    def head_parameters(self) -> list[Tensor]:
        """Return the parameters of both heads, and the logit scale."""
        return [*self.image.head.parameters(), *self.text.head.parameters(), self.model.logit_scale]

    def is_frozen(self, tower: Tower) -> bool:
        """Say whether a tower's body is not trained."""
        return not any(item.requires_grad for module in tower.body_modules for item in module.parameters())

    def set_training(self, training: bool) -> None:
        """Turn dropout on or off; batch normalisation keeps its statistics, and frozen bodies have no dropout."""
        self.model.train(training)
        for tower in (self.image, self.text):
            frozen = self.is_frozen(tower)
            for module in tower.module.modules():
                if isinstance(module, nn.modules.batchnorm._BatchNorm):
                    module.eval()
            for module in tower.body_modules if frozen else ():
                module.eval()

    def pixels(self, picture: PIL.Image.Image, crop: float | None = None, seed: int = 0) -> Tensor:
        """Return a picture as the encoder takes it, (3, size, size) float32.

        Args:
            picture: RGB.
            crop: smallest share of the area of a random crop, with sides 3:4 to 4:3; None: no crop.
            seed: of the crop.
        """
        from open_clip.transform import AugmentationCfg, PreprocessCfg, image_transform_v2

        if crop is None:
            found = self.bytes_of(picture)
            for part in self._whole()[_RESIZING:]:
                found = part(found)
            return found
        if crop not in self._transforms:
            self._transforms[crop] = image_transform_v2(
                PreprocessCfg(**self.preprocess), is_train=True, aug_cfg=AugmentationCfg(scale=(crop, 1.0))
            )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return self._transforms[crop](picture)

    def bytes_of(self, picture: PIL.Image.Image) -> NDArray[np.uint8]:
        """Return a whole picture (RGB) as it is before it is normalised, (size, size, 3) uint8."""
        size, told = self.preprocess["size"], self.preprocess
        if isinstance(size, int) and (told["resize_mode"], told["interpolation"]) == ("squash", "bicubic"):
            return squashed(picture, size)
        for part in self._whole()[:_RESIZING]:
            picture = part(picture)
        return np.array(picture, dtype=np.uint8)

    def _whole(self) -> Sequence[Callable[[Any], Any]]:
        """Return open_clip's parts: `_RESIZING` of them to a picture's size, then to a tensor, then normalised."""
        from open_clip.transform import PreprocessCfg, image_transform_v2

        if self._parts is None:
            self._parts = image_transform_v2(PreprocessCfg(**self.preprocess), is_train=False).transforms
            assert self._parts is not None
        return self._parts

    def pixel_batch(self, pictures: Sequence[PIL.Image.Image]) -> Tensor:
        """Return whole pictures (RGB) as the encoder takes them, (n, 3, size, size) float32.

        Channels lie last in memory: convolutions take half the time on a CPU.
        """
        return torch.stack([self.pixels(item) for item in pictures]).contiguous(memory_format=torch.channels_last)

    def tokens(self, text: str) -> Tensor:
        """Return the tokens of a text, (1, t) int64; of a longer one than the context its first words (`cut_texts`)."""
        fitting, cut = cut_at_word(text, self._fits)
        if cut:
            self.cut_texts.add(text)
        found: Tensor = self.tokenizer([fitting])
        padding = self._padding()
        if padding is not None:  # trailing padding that attention does not see
            found = found[:, : max(1, int((found != padding).sum()))]
        return found

    def token_batch(self, rows: Sequence[Tensor]) -> Tensor:
        """Return rows of `tokens` as one tensor, the shorter ones padded."""
        longest = max(row.shape[1] for row in rows)
        padding = self._padding() or 0
        return torch.cat([nn.functional.pad(row, (0, longest - row.shape[1]), value=padding) for row in rows])

    def _padding(self) -> int | None:
        config = getattr(self.model.text, "config", None)
        return None if config is None else int(config.pad_token_id)

    def _fits(self, text: str) -> bool:
        if len(text) < self.tokenizer.context_length - 2:
            return True  # a token is no shorter than a character
        inner = getattr(self.tokenizer, "tokenizer", None)
        if inner is not None:
            return len(inner(text, truncation=False, verbose=False)["input_ids"]) <= int(self.tokenizer.context_length)
        return len(self.tokenizer.encode(text)) + 2 <= int(self.tokenizer.context_length)

    def digest(self, tower: Tower, modules: Sequence[nn.Module] | None = None) -> str:
        """Return what stands for what a tower's body gives, or modules of it: weights and how the input is prepared."""
        found = hashlib.sha256(str(None if modules is None else len(modules)).encode())
        for module in tower.body_modules if modules is None else modules:
            for name, value in module.state_dict().items():
                found.update(name.encode())
                found.update(value.detach().cpu().contiguous().numpy().tobytes())
        own = sorted(self.preprocess.items()) if tower is self.image else self.tokenizer.context_length
        found.update(repr(own).encode())
        return found.hexdigest()[:24]


def squashed(picture: PIL.Image.Image, size: int) -> NDArray[np.uint8]:
    """Return a picture (RGB) of both sides `size`, (size, size, 3) uint8, by the bicubic filter that Pillow has.

    PyTorch has it for bytes, too, with other rounding (by 2 of 255 at most, in few pixels), in a quarter of the time.
    """
    given = torch.from_numpy(np.array(picture)).permute(2, 0, 1)[None]
    found = nn.functional.interpolate(given, (size, size), mode="bicubic", antialias=True)
    return np.ascontiguousarray(found[0].permute(1, 2, 0).numpy())


def _free(tower: Tower, count: Blocks) -> None:
    tower.module.requires_grad_(False)
    tower.head.requires_grad_(True)
    if count == "all":
        tower.module.requires_grad_(True)
    elif count:
        if count > len(tower.blocks):
            raise EncoderError(f"{type(tower.module).__name__} has {len(tower.blocks)} blocks, not {count} to train")
        for item in (*tower.blocks[-count:], *tower.after_blocks):
            item.requires_grad_(True)


def image_tower(visual: Any) -> Tower:
    """Return open_clip's picture tower in two parts.

    Raises:
        EncoderError: if it is of a kind that open_clip did not have when this was written.
    """
    if hasattr(visual, "trunk"):
        return _timm_tower(visual)
    blocks = tuple(visual.transformer.resblocks) if hasattr(visual, "transformer") else ()
    after = tuple(
        item for item in (getattr(visual, "ln_post", None), getattr(visual, "proj", None)) if item is not None
    )
    has_tokens = hasattr(visual, "output_tokens") and getattr(visual, "attn_pool", None) is None

    def feature_map(pictures: Tensor) -> Tensor:
        before, visual.output_tokens = visual.output_tokens, True
        try:
            _, found = visual(pictures)
        finally:
            visual.output_tokens = before
        found = found if visual.proj is None else found @ visual.proj
        return found.transpose(1, 2).unflatten(2, tuple(visual.grid_size))

    return Tower(
        visual, visual, nn.Identity(), (visual,), blocks, after,
        feature_map if has_tokens else None, (lambda pooled: pooled) if has_tokens else None,
    )  # fmt: skip


def _timm_tower(visual: Any) -> Tower:
    trunk = visual.trunk
    blocks = next((tuple(getattr(trunk, name)) for name in ("blocks", "stages", "layers") if hasattr(trunk, name)), ())
    after = tuple(getattr(trunk, name) for name in ("norm", "fc_norm", "conv_head", "bn2") if hasattr(trunk, name))
    channels_last = getattr(trunk, "output_fmt", "NCHW") == "NHWC"

    def feature_map(pictures: Tensor) -> Tensor:
        found: Tensor = trunk.forward_features(pictures)
        if found.ndim == 3:  # tokens
            found = found[:, getattr(trunk, "num_prefix_tokens", 0) :]
            return found.transpose(1, 2).unflatten(2, tuple(trunk.patch_embed.grid_size))
        return found.permute(0, 3, 1, 2) if channels_last else found

    def of_region(pooled: Tensor) -> Tensor:
        if hasattr(trunk, "fc_norm"):
            return trunk.fc_norm(pooled)
        one_cell = pooled[:, None, None, :] if channels_last else pooled[:, :, None, None]
        return trunk.forward_head(one_cell)

    def split(count: int) -> Split:
        first = (trunk.conv_stem, trunk.bn1, *blocks[:-count])

        def upper(maps: Tensor) -> Tensor:
            maps = maps.contiguous(memory_format=torch.channels_last)  # half the time of a step on a CPU
            return trunk.bn2(trunk.conv_head(nn.Sequential(*blocks[-count:])(maps)))

        return Split(nn.Sequential(*first), upper, first)

    # timm's EfficientNets and MobileNets: a chain of modules
    chain = all(hasattr(trunk, name) for name in ("conv_stem", "bn1", "blocks", "conv_head", "bn2", "forward_head"))
    return Tower(
        visual, trunk, visual.head, (trunk,), blocks, after, feature_map, of_region,
        split if chain else None, trunk.forward_head if chain else None,
    )  # fmt: skip


def text_tower(text: Any) -> Tower:
    """Return open_clip's text tower in two parts."""
    if not hasattr(text, "pooler"):
        blocks = tuple(text.transformer.resblocks)
        after = tuple(getattr(text, name) for name in ("ln_final", "text_projection") if hasattr(text, name))
        return Tower(text, text, nn.Identity(), (text,), blocks, tuple(item for item in after if item is not None))

    def body(tokens: Tensor) -> Tensor:
        mask = (tokens != text.config.pad_token_id).long()
        return text.pooler(text.transformer(input_ids=tokens, attention_mask=mask), mask)

    inner = getattr(text.transformer, "encoder", text.transformer)
    layers = next((tuple(getattr(inner, name)) for name in ("layer", "layers", "block") if hasattr(inner, name)), ())
    return Tower(text, body, text.proj, (text.transformer,), layers, ())
