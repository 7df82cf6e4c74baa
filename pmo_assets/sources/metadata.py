"""Metadata of an article: a package's `metadata.json`, or the PMC Cloud Service's `PMC….json`.

The file says whether an article is retracted and under which licence it is. A file that cannot be read may have said
either: the licence of such an article counts as unknown, whatever its own files say; nothing of it is passed on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.functional_validators import BeforeValidator

MAX_METADATA_BYTES = 16 * 2**20
"""Larger files are not read; real ones have some kilobytes."""

DECISIVE = frozenset({"license_code", "is_retracted"})
"""Fields that decide what is published."""


def _no_null(value: Any) -> Any:
    return False if value is None else value


Flag = Annotated[bool, BeforeValidator(_no_null)]
"""True and false, also as pydantic reads them: 1, "true", "yes" …; null is false."""


class StatedMetadata(BaseModel):
    """The fields that are used; others are ignored. A field that is absent or null states nothing."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    pmcid: str | None = None
    version: Annotated[int, Field(ge=0, le=999_999)] | None = None
    license_code: str | None = None
    is_retracted: Flag = False
    is_manuscript: Flag = False
    title: str | None = None
    citation: str | None = None
    doi: str | None = None


@dataclass(frozen=True, slots=True)
class MetadataReading:
    """A package's metadata as far as they could be read.

    Attributes:
        stated: the fields that are as they should be.
        problem: what is wrong with the file; None when nothing is.
        license_unknown: the part that is wrong may have stated a retraction or a licence.
    """

    stated: StatedMetadata
    problem: str | None = None
    license_unknown: bool = False


def read_metadata(content: bytes) -> MetadataReading:
    """Read a metadata file; fields of a wrong type count as not stated.

    Args:
        content: the file; untrusted.
    """
    try:
        fields = json.loads(content, object_pairs_hook=_unambiguous)
    except RecursionError:
        return unreadable("it is nested too deeply")
    except ValueError as error:
        return unreadable(f"it is no JSON: {error}")
    if not isinstance(fields, dict):
        return unreadable("it is no JSON object")
    try:
        return MetadataReading(StatedMetadata.model_validate(fields))
    except ValidationError as error:
        wrong = {str(item["loc"][0]): item["msg"] for item in error.errors(include_url=False)}
    stated = StatedMetadata.model_validate({name: value for name, value in fields.items() if name not in wrong})
    problem = "; ".join(f"{name}: {message}" for name, message in sorted(wrong.items()))
    return MetadataReading(stated, problem, license_unknown=not DECISIVE.isdisjoint(wrong))


def unreadable(reason: str) -> MetadataReading:
    """Return the reading of a file that is there and cannot be read."""
    return MetadataReading(StatedMetadata(), reason, license_unknown=True)


def _unambiguous(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object's fields; one that decides must not be stated twice."""
    names = Counter(name for name, _ in pairs)
    if repeated := sorted(name for name in DECISIVE if names[name] > 1):
        raise ValueError(f"{', '.join(repeated)} is there twice")
    return dict(pairs)
