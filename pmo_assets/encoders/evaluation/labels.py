"""Label sets: classes, the prompts that speak for them, and which class the lexicon's terms make."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError
from pmo_assets.lexicon.terms import LexiconError, terms_within

PACKAGE_DATA = ("encoders/evaluation/label_sets",)
"""Files of the package that this module reads."""

_PLACE: Final = "{}"


class LabelClass(BaseModel):
    """A class.

    Attributes:
        prompts: names that stand in the templates' place.
        terms: of the lexicon's group disease that the class is made of; empty for other label sets.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompts: tuple[str, ...] = Field(min_length=1)
    terms: tuple[str, ...] = ()


class LabelSet(BaseModel):
    """Classes of one task, each picture being of one.

    Attributes:
        title: for people.
        source: where the classes come from.
        templates: sentences with `{}` where a prompt goes.
        kinds: each prompt is a kind of pictures of its own, as a class of many modalities has them: the class of the
            nearest kind wins. Else the prompts of a class are averaged.
        classes: by name, in the order of numbers as labels.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    source: str
    templates: tuple[str, ...] = Field(min_length=1)
    kinds: bool = False
    classes: Mapping[str, LabelClass] = Field(min_length=2)

    @field_validator("templates")
    @classmethod
    def _with_a_place(cls, templates: tuple[str, ...]) -> tuple[str, ...]:
        for template in templates:
            if template.count(_PLACE) != 1:
                raise ValueError(f"{template!r} must have {{}} once")
        return templates

    @property
    def names(self) -> tuple[str, ...]:
        """Return the classes' names."""
        return tuple(self.classes)

    def prompts(self) -> tuple[tuple[str, str], ...]:
        """Return (class, sentence) of every prompt in every template, class by class: what an encoder embeds."""
        return tuple(
            (name, template.replace(_PLACE, prompt))
            for name, item in self.classes.items()
            for prompt in item.prompts
            for template in self.templates
        )

    def kind_of_each_prompt(self) -> tuple[tuple[str, int], ...]:
        """Return, for each sentence of `prompts`, the name of the kind that it speaks for and the number of its class.

        A kind is a class, or one prompt of it in all templates (`kinds`).
        """
        return tuple(
            (f"{name}: {prompt}" if self.kinds else name, number)
            for number, (name, item) in enumerate(self.classes.items())
            for prompt in item.prompts
            for _ in self.templates
        )

    def class_of_diseases(self, diseases: Iterable[str]) -> str | None:
        """Return the one class that a panel's diseases lie within; None if there is none, or more than one.

        Args:
            diseases: terms of the lexicon, as a release's column `diseases` has them.
        """
        known = set(diseases)
        found = [name for name, item in self.classes.items() if known & _within(item.terms)]
        return found[0] if len(found) == 1 else None


@cache
def _within(terms: tuple[str, ...]) -> frozenset[str]:
    try:
        return frozenset[str]().union(*(terms_within(term, "disease") for term in terms))
    except LexiconError as error:
        raise EmbeddingsError(f"a label set names what is no disease of the lexicon: {error}") from error


def shipped_label_sets() -> tuple[str, ...]:
    """Return the names of the label sets that come with the package."""
    folder = resources.files("pmo_assets") / "encoders" / "evaluation" / "label_sets"
    return tuple(sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")))


def label_set(name: str) -> LabelSet:
    """Return a label set by its name in the package, or by the path of a TOML file.

    Raises:
        EmbeddingsError: if there is none, or it is damaged; says where.
    """
    folder = resources.files("pmo_assets") / "encoders" / "evaluation" / "label_sets"
    try:
        if name in shipped_label_sets():
            text = (folder / f"{name}.toml").read_text("utf-8")
        elif Path(name).is_file():
            text = Path(name).read_text("utf-8")
        else:
            known = ", ".join(shipped_label_sets())
            raise EmbeddingsError(f"there is no label set {name!r}: {known}, or the path of a TOML file")
        read: dict[str, Any] = tomllib.loads(text)
        return LabelSet.model_validate(read)
    except ValidationError as error:
        first = error.errors()[0]
        raise EmbeddingsError(f"label set {name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EmbeddingsError(f"label set {name} is no TOML: {error}") from error
