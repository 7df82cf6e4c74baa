"""Conditions on panels by words of the field: diseases and findings with all narrower ones, eyes, modalities.

    ds.panels.filter(disease="AMD", eye="right", modality="OCT")

Add here: words that `Rows.filter` takes besides the names of columns. Keep out: terms and their hierarchy (`lexicon`).
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Literal

import polars as pl

from pmo_assets.lexicon.terms import LexiconError, terms_within
from pmo_assets.records.context import EYES, MODALITY_CLASSES
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.modalities import MODALITIES, modalities_of


def _terms_condition(column: str, group: Literal["disease", "finding"]) -> Callable[[str], pl.Expr]:
    def condition(word: str) -> pl.Expr:
        terms = sorted(_terms(word, group))
        return pl.col(column).list.eval(pl.element().is_in(terms)).list.any()

    return condition


def _terms(word: str, group: Literal["disease", "finding"]) -> frozenset[str]:
    """Return the terms that a word means, with all narrower ones.

    Raises:
        ValueError: if the lexicon does not know it, with similar words; or it is of the other group.
    """
    try:
        return terms_within(word, group)
    except LexiconError:
        other: Literal["disease", "finding"] = "finding" if group == "disease" else "disease"
        with contextlib.suppress(LexiconError):
            terms_within(word, other)
            raise ValueError(f"{word!r} is no {group} but a {other} of the lexicon: {other}={word!r}") from None
        raise


def _eye_condition(word: str) -> pl.Expr:
    return pl.col("eye") == eye_of(word)


def eye_of(word: str) -> str:
    """Return the eye that a word means, in any usual spelling: "OD", "right", "R", "right eye", "oculus dexter".

    Raises:
        ValueError: if it means none of them, or no certain one.
    """
    for name in (word, f"{word} eye", f"{word} eyes"):
        try:
            found = terms_within(name, "eye") & set(EYES)
        except LexiconError:
            continue
        if len(found) == 1:
            return next(iter(found))
    raise ValueError(f"there is no eye {word!r}: OD (right), OS (left) or OU (both)")


def _modality_condition(word: str) -> pl.Expr:
    same_class = [name for name in MODALITY_CLASSES if name.casefold() == _plain(word)]
    if same_class:
        return pl.col("modality_class") == same_class[0]
    return pl.col("modality").is_in(list(modalities_named(word)))


def modalities_named(word: str) -> tuple[str, ...]:
    """Return the modalities that a word names.

    In this order: a modality by its own name ("OCT", which is not OCT angiography), one of the paper's image types
    ("CFP", "Retinal Imaging": all modalities of it), a synonym of the lexicon ("FA", "optical coherence tomography"),
    a wider term of it ("angiography").

    Raises:
        ValueError: if it names none; it says what is near.
    """
    plain = _plain(word)
    if same := [name for name in MODALITIES if _plain(name) == plain]:
        return tuple(same)
    if types := [name for name in IMAGE_TYPES if _plain(name) == plain]:
        return modalities_of(types[0])
    meant = _imaging(word)
    terms = {name: own for name in MODALITIES if (own := _imaging(name))}
    if found := [name for name, own in terms.items() if own == meant] or [
        name for name, own in terms.items() if own < meant
    ]:
        return tuple(found)
    wider = [name for name, own in terms.items() if meant and meant < own]
    near = wider or difflib.get_close_matches(word, MODALITIES, n=3)
    hint = f"the nearest are {', '.join(map(repr, near))}; " if near else ""
    known = ", ".join(dict.fromkeys((*MODALITIES, *IMAGE_TYPES, *MODALITY_CLASSES)))
    raise ValueError(f"there is no modality {word!r}: {hint}there are {known}")


def _imaging(word: str) -> frozenset[str]:
    """Return the imaging methods that a word names, with all narrower ones; empty if it names none."""
    try:
        return terms_within(word, "imaging")
    except LexiconError:
        return frozenset()


def _plain(word: str) -> str:
    return " ".join(word.replace("-", " ").casefold().split())


_FILTERS: Final[Mapping[str, tuple[tuple[str, ...], Callable[[str], pl.Expr]]]] = {
    "disease": (("diseases",), _terms_condition("diseases", "disease")),
    "finding": (("findings",), _terms_condition("findings", "finding")),
    "eye": (("eye",), _eye_condition),
    "modality": (("modality", "modality_class"), _modality_condition),
}
"""Columns that a word is looked for in, and the condition that it means."""


def named_conditions(values: Mapping[str, Any], columns: Collection[str]) -> dict[str, pl.Expr]:
    """Return the conditions of those values that are words of the field, by name.

    Args:
        values: by name; a word, or a list, tuple or set of words, one of which is to fit; None: nothing is named.
        columns: of the rows.

    Raises:
        ValueError: if a word is unknown, with similar ones; or the rows have no column to look for it in.
    """
    found = {}
    for name in (name for name in _FILTERS if name in values):
        needed, condition = _FILTERS[name]
        if missing := [column for column in needed if column not in columns]:
            raise ValueError(
                f"{name}= looks for words in the column {missing[0]}, which these rows have not: figures and articles "
                "have none, and panels have it since releases say what the running text says of them; open a newer "
                "release, or make this one again (`pmo run`)"
            )
        value = values[name]
        words = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
        parts = [_nothing(needed[0]) if word is None else condition(_word(name, word)) for word in words]
        found[name] = pl.any_horizontal(pl.lit(False), *parts)
    return found


def _nothing(column: str) -> pl.Expr:
    return pl.col(column).is_null() if column in ("eye", "modality") else pl.col(column).list.len().fill_null(0) == 0


def _word(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name}= takes words, as {name}='…': {value!r} is none")
    return value
