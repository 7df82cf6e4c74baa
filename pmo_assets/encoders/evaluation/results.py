"""The one form of results: JSON at the border, checked when it is read again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError
from pmo_assets.encoders.evaluation.retrieval import average_recall, model_reciprocal_ranks

FORMAT: Literal["pmo-encoder-evaluation/1"] = "pmo-encoder-evaluation/1"

Share = float
Interval = tuple[float, float]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False)


class Direction(_Part):
    """Retrieval in one direction.

    Attributes:
        recall_at_1: share of queries whose best right answer is first; and so on.
        mrr: mean of 1 / rank of the best right answer.
        median_rank: of the best right answers.
        queries: that were counted: those that have a right answer.
        candidates: answers to choose from.
        unanswerable: queries that have no right answer among the candidates; not counted.
        intervals: of each number, 95 %, by bootstrap over clusters.
    """

    recall_at_1: float = Field(alias="recall@1", ge=0, le=1)
    recall_at_5: float = Field(alias="recall@5", ge=0, le=1)
    recall_at_10: float = Field(alias="recall@10", ge=0, le=1)
    recall_at_50: float = Field(alias="recall@50", ge=0, le=1)
    recall_at_200: float = Field(alias="recall@200", ge=0, le=1)
    mrr: float = Field(ge=0, le=1)
    median_rank: float = Field(ge=1)
    queries: int = Field(ge=1)
    candidates: int = Field(ge=1)
    unanswerable: int = Field(default=0, ge=0)
    intervals: dict[str, Interval] | None = None

    def numbers(self) -> dict[str, float]:
        """Return the seven numbers by their names in JSON."""
        values = self.model_dump(by_alias=True)
        return {name: values[name] for name in values if name.startswith("recall@") or name in ("mrr", "median_rank")}


class Classified(_Part):
    """How good a classification is; numbers as of `classification_numbers`.

    Attributes:
        method: how classes were told.
        classes: how many pictures are of each class.
        chosen: what was chosen by validation.
        auroc: None where pictures are of one class only.
        intervals: of the other numbers, 95 %, by bootstrap over articles.
    """

    method: Literal["zero-shot", "linear probe", "nearest neighbours"]
    classes: dict[str, int]
    chosen: str = ""
    accuracy: float = Field(ge=0, le=1)
    balanced_accuracy: float = Field(ge=0, le=1)
    macro_f1: float = Field(ge=0, le=1)
    auroc: float | None = Field(default=None, ge=0, le=1)
    intervals: dict[str, Interval] | None = None


class Perturbed(_Part):
    """What a perturbation of the pictures leaves of retrieval: ratios to the clean numbers, and p of Wilcoxon's test.

    Attributes:
        perturbation: name and strength.
        image_to_text, text_to_image: ratio of each number; None where the clean one is 0.
        image_to_text_p, text_to_image_p: that reciprocal ranks differ.
    """

    perturbation: str
    image_to_text: dict[str, float | None]
    image_to_text_p: float = Field(ge=0, le=1)
    text_to_image: dict[str, float | None]
    text_to_image_p: float = Field(ge=0, le=1)


class Distance(_Part):
    """MMD between two sets of embeddings; numbers as of `Discrepancy`."""

    one: str
    other: str
    squared_mmd: float
    bandwidth: float
    p_value: float = Field(ge=0, le=1)
    permutations: int
    null: Interval
    interval: Interval
    rows: tuple[int, int]


class Evaluation(_Part):
    """Results of one encoder on one data set.

    Attributes:
        format: of the file.
        encoder: name of the encoder.
        data: name of the data set.
        notes: what was left out, or holds for all numbers.
        image_to_text, text_to_image: retrieval.
        classification: by each method.
        robustness: for each perturbation.
        distances: between sets of embeddings.
    """

    format: Literal["pmo-encoder-evaluation/1"] = FORMAT
    encoder: str
    data: str
    notes: tuple[str, ...] = ()
    image_to_text: Direction | None = None
    text_to_image: Direction | None = None
    classification: tuple[Classified, ...] | None = None
    robustness: tuple[Perturbed, ...] | None = None
    distances: tuple[Distance, ...] | None = None

    def to_json(self) -> str:
        """Return the result as JSON, with what is not there left out."""
        return self.model_dump_json(by_alias=True, exclude_none=True, indent=1) + "\n"


def compared(results: Sequence[Evaluation], k: int) -> tuple[list[str], dict[str, list[float]]]:
    """Return encoders side by side.

    Args:
        results: of retrieval, each encoder on each data set once.
        k: of recall@k.

    Returns:
        Headings ("encoder", a data set in a direction …, "AR", "model MRR"), and the numbers of each encoder.

    Raises:
        EmbeddingsError: if an encoder lacks a data set, has one twice, or a result has no such recall.
    """
    tasks: dict[str, dict[str, float]] = {}
    for result in results:
        for arrow, direction in (("image to text", result.image_to_text), ("text to image", result.text_to_image)):
            if direction is None or f"recall@{k}" not in direction.numbers():
                raise EmbeddingsError(f"the result of {result.encoder} on {result.data} has no recall@{k}, {arrow}")
            mine = tasks.setdefault(result.encoder, {})
            if f"{result.data}, {arrow}" in mine:
                raise EmbeddingsError(f"there are two results of {result.encoder} on {result.data}")
            mine[f"{result.data}, {arrow}"] = direction.numbers()[f"recall@{k}"]
    names = sorted({name for mine in tasks.values() for name in mine})
    for encoder, mine in tasks.items():
        if missing := [name for name in names if name not in mine]:
            raise EmbeddingsError(f"{encoder} has no result on {missing[0]}, which another encoder has")
    recalls = {encoder: [mine[name] for name in names] for encoder, mine in tasks.items()}
    places = model_reciprocal_ranks(recalls)
    lines = {name: [*values, average_recall(values), places[name]] for name, values in recalls.items()}
    return ["encoder", *names, "AR", "model MRR"], lines


def read_evaluation(path: Path) -> Evaluation:
    """Return the result in a file.

    Raises:
        EmbeddingsError: if it is no such result; says where.
        OSError: if it cannot be read.
    """
    try:
        return Evaluation.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise EmbeddingsError(f"{path} is no result of `pmo encode evaluate`: {place}: {first['msg']}") from error
