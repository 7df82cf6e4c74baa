"""A release's instructions as files that trainers read: messages JSONL, ShareGPT, LLaVA; with the pictures.

Add here: forms of a row. Keep out: the rows themselves (`pipeline.dataset.instruction_rows`).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from pmo_assets.records.geometry import as_box
from pmo_assets.records.stores import StorageError
from pmo_assets.release.deidentification import CleanPicture, Masker
from pmo_assets.release.hub.exports import shards_to_export
from pmo_assets.release.hub.webdataset import picture_extension
from pmo_assets.system.aside import folder_aside

InstructionForm = Literal["messages", "sharegpt", "llava"]
"""Form of a file: JSON lines with role and content (TRL, ms-swift); conversations with from and value, and a list of
pictures; the same with one picture (LLaVA)."""

INSTRUCTION_FORMS: Final[tuple[InstructionForm, ...]] = get_args(InstructionForm)

PICTURES: Final = "images"
"""Folder of the pictures beside the files."""

MASKED_FILE: Final = "masked.jsonl"
"""File that lists what was masked: panel or pair of a lecture, split, boxes, what each shows, instructions that are
left out for it."""

RECIPES: Final = ("trl_sft.yaml", "ms_swift_sft.yaml")
"""LoRA recipes of OphIn-VL for TRL and ms-swift (`pmo_assets/release/recipes`), which go with the form `messages`."""

IMAGE_TOKEN: Final = "<image>\n"
"""Stands before the first question: where the picture goes."""

_CREDIT: Final = ("kind", "maker", "confidence", "article_id", "license", "attribution")
_OF_LECTURES: Final = ("video_id", "start", "end")
"""What rows about lectures say besides."""

_SPEAKERS: Final = {"user": "human", "assistant": "gpt"}


@dataclass(frozen=True)
class WrittenInstructions:
    """What was written of a split.

    Attributes:
        split: its name.
        instructions: in the file.
        pictures: that they are about.
        path: of the file.
        masked: pictures with a part that is black.
        left_out: instructions about pictures of persons, or about what is black.
    """

    split: str
    instructions: int
    pictures: int
    path: Path
    masked: int = 0
    left_out: int = 0


def messages_row(row: Mapping[str, Any], picture: str) -> dict[str, Any]:
    """Return an instruction in the form `messages`.

    Args:
        row: of the hub's table.
        picture: path of the picture, as the file names it.
    """
    turns = [{"role": turn["role"], "content": turn["content"]} for turn in row["messages"]]
    turns[0]["content"] = IMAGE_TOKEN + turns[0]["content"]
    return {"id": row["instruction_id"], "images": [picture], "messages": turns, **_credit(row)}


def sharegpt_row(row: Mapping[str, Any], picture: str) -> dict[str, Any]:
    """Return an instruction in the form `sharegpt`; arguments as above."""
    return {
        "id": row["instruction_id"],
        "images": [picture],
        "conversations": _conversations(row),
        **_credit(row),
    }


def llava_row(row: Mapping[str, Any], picture: str) -> dict[str, Any]:
    """Return an instruction in the form `llava`; arguments as above."""
    return {"id": row["instruction_id"], "image": picture, "conversations": _conversations(row), **_credit(row)}


def _conversations(row: Mapping[str, Any]) -> list[dict[str, str]]:
    said = [{"from": _SPEAKERS[turn["role"]], "value": turn["content"]} for turn in row["messages"]]
    said[0]["value"] = IMAGE_TOKEN + said[0]["value"]
    return said


def _credit(row: Mapping[str, Any]) -> dict[str, Any]:
    names = (*_CREDIT, *_OF_LECTURES) if row.get("video_id") is not None else _CREDIT
    return {name: row[name] for name in names}


_ROWS: Final[Mapping[InstructionForm, Callable[[Mapping[str, Any], str], dict[str, Any]]]] = {
    "messages": messages_row,
    "sharegpt": sharegpt_row,
    "llava": llava_row,
}


def write_instructions(
    folder: Path,
    target: Path,
    *,
    form: InstructionForm = "messages",
    splits: Sequence[str] = (),
    kinds: Sequence[str] = (),
    masker: Masker | None = None,
    tell: Callable[[str, int, int], object] = lambda *_: None,
) -> list[WrittenInstructions]:
    """Write the instructions of a release as one file a split, beside a folder of pictures: whole or not at all.

    `messages` has a JSON object a line (`train.jsonl`) and recipes of training beside it, the other forms a JSON list
    (`train.json`). With a masker faces and print that tells who somebody is are black, `MASKED_FILE` lists them, and an
    instruction about a person's picture, or about what is black, is left out.

    Args:
        folder: of the release, with `data/instructions`, `data/panels`, and `data/videos` if there are lectures.
        target: a folder that is not there yet.
        form: of the files.
        splits: which; none for all.
        kinds: of instructions; none for all.
        masker: of pictures; None leaves them as they are.
        tell: is told of the progress: split, instructions done, instructions altogether.

    Raises:
        StorageError: if there is no such split, no instructions, the target is there already, or a file cannot be read
            or written.
    """
    wanted = shards_to_export(folder, "instructions", splits, target, form, INSTRUCTION_FORMS)
    try:
        with folder_aside(target) as partial:
            (partial / PICTURES).mkdir()
            recipes = resources.files("pmo_assets") / "release" / "recipes"
            for name in RECIPES if form == "messages" else ():
                (partial / name).write_bytes((recipes / name).read_bytes())
            return [
                _write_split(folder, paths, partial, target, split, form, frozenset(kinds), masker, tell)
                for split, paths in wanted.items()
            ]
    except (OSError, pa.ArrowException) as error:
        raise StorageError(f"{target} cannot be written from {folder}: {error}") from error


def _write_split(
    folder: Path,
    paths: Sequence[Path],
    partial: Path,
    target: Path,
    split: Any,
    form: InstructionForm,
    kinds: frozenset[str],
    masker: Masker | None,
    tell: Callable[[str, int, int], object],
) -> WrittenInstructions:
    total = sum(pq.read_metadata(path).num_rows for path in paths)
    pictures = {
        config: _Pictures(config, sorted((folder / "data" / config).glob(f"{split}-*.parquet"))) for config in _COLUMNS
    }
    name = f"{split}.{'jsonl' if form == 'messages' else 'json'}"
    count = drawn = masked = left_out = 0
    with (
        (partial / MASKED_FILE).open("a", encoding="utf-8", newline="\n") as listed,
        (partial / name).open("w", encoding="utf-8", newline="\n") as out,
    ):
        if form != "messages":
            out.write("[")
        for (config, _), group in itertools.groupby(_read(paths), _picture_of):
            wanted = [row for row in group if not kinds or row["kind"] in kinds]
            if not wanted:
                continue
            name_of = wanted[0][_COLUMNS[config][0]]
            content, modality = pictures[config].at(wanted[0]["picture_row"], name_of)
            clean = CleanPicture(content) if masker is None else masker.clean(content, modality)
            shown = [row for row in wanted if clean.shows([as_box(box) for box in row["boxes"]])]
            if clean.masked:
                masked, left_out = masked + 1, left_out + len(wanted) - len(shown)
                listed.write(json.dumps(_masked_row(clean, config, name_of, split, len(wanted) - len(shown))) + "\n")
            if not shown:
                continue
            picture = f"{PICTURES}/{_file_name(name_of)}.{picture_extension(clean.content, name_of)}"
            (partial / picture).write_bytes(clean.content)
            drawn += 1
            for row in shown:
                said = json.dumps(_ROWS[form](row, picture), ensure_ascii=False)
                out.write(said + "\n" if form == "messages" else f"{',' if count else ''}\n{said}")
                count += 1
            tell(split, count, total)
        if form != "messages":
            out.write("\n]\n")
    tell(split, total, total)
    return WrittenInstructions(split, count, drawn, target / name, masked, left_out)


_COLUMNS: Final[Mapping[str, tuple[str, str]]] = {
    "panels": ("panel_id", "panel_image"),
    "videos": ("pair_id", "picture"),
}
"""Configs that hold pictures of instructions: columns of their key and of the picture."""


def _picture_of(row: Mapping[str, Any]) -> tuple[str, int]:
    return row.get("picture_config") or "panels", row["picture_row"]


def _masked_row(clean: CleanPicture, config: str, owner: str, split: str, left_out: int) -> dict[str, Any]:
    return {
        _COLUMNS[config][0]: owner,
        "split": split,
        "boxes": [[round(edge, 6) for edge in item.box] for item in clean.masked],
        "what": [item.what for item in clean.masked],
        "share": round(clean.share, 4),
        "instructions_left_out": left_out,
    }


def _file_name(panel_id: str) -> str:
    return "".join(sign if sign.isalnum() or sign in "._-" else "_" for sign in panel_id)


class _Pictures:
    """The pictures of a config's split, read in the order of their rows."""

    def __init__(self, config: str, paths: Sequence[Path]) -> None:
        self._key, self._picture = _COLUMNS[config]
        self._modality = "modality" if config == "panels" else "modalities"
        self._rows = enumerate(_read(paths, [self._key, self._picture, self._modality]))

    def at(self, row: int, owner: str) -> tuple[bytes, str | None]:
        """Return picture and modality of a row, which comes after those that were asked for before.

        Raises:
            StorageError: if the row is another one's than the owner's, or has no picture.
        """
        for number, found in self._rows:
            if number == row:
                if found[self._key] != owner or found[self._picture] is None:
                    break
                content = found[self._picture]["bytes"]
                assert isinstance(content, bytes)
                said = found.get(self._modality)
                return content, next(iter(said), None) if isinstance(said, list) else said
        raise StorageError(f"{owner} has no picture in row {row}: the files are not of one release")


def _read(paths: Sequence[Path], columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    for path in paths:
        for batch in pq.ParquetFile(path).iter_batches(256, columns=columns):
            yield from batch.to_pylist()
