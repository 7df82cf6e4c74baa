"""`croissant.json`: the release in the vocabulary of Croissant 1.0 and of its extension for responsible AI.

Format: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.0.html and …/croissant-rai-spec.html. Version 1.0,
not 1.1: every reader of Croissant knows it, and nothing of 1.1 is needed. Addresses are relative to the file, so that
it describes the folder wherever it lies.

`mlcroissant` reads and checks the file in tests; it does not write it: its records are the same fields by other names,
as many lines, it drags in pandas, rdflib and SciPy (1.9 s to import, the whole file takes 8 ms here), and it writes
lists of one as the item alone, so that a property would change its type with its second sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from pmo_assets.release.facts import ConfigFacts, ReleaseFacts, ReleaseFile
from pmo_assets.release.hub.citation import SOFTWARE, bibtex
from pmo_assets.release.hub.features import PICTURE
from pmo_assets.release.hub.licence_list import LICENSE_FILE
from pmo_assets.tables.release import arrow_schema, release_tables
from pmo_assets.tables.released import KEYS

CROISSANT_FILE = "croissant.json"

PARQUET: Final = "application/x-parquet"

_CONTEXT: Final[Mapping[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context that the specification gives; readers compare it word for word."""

_DATA_TYPES: Final[Mapping[pa.DataType, str]] = {
    pa.string(): "sc:Text",
    pa.bool_(): "sc:Boolean",
    pa.int64(): "sc:Integer",
    pa.float64(): "sc:Float",
}


def croissant(facts: ReleaseFacts) -> dict[str, Any]:
    """Return the release's Croissant description as JSON-LD."""
    configs = [config for config in facts.configs if any(config.files.values())]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": _name(facts),
        "alternateName": facts.specialty.title,
        "description": _description(facts),
        "version": facts.version,
        "license": [LICENSE_FILE, *_deeds(facts)],
        "creator": {"@type": "sc:Organization", "name": facts.creator},
        "citeAs": bibtex(facts),
        "inLanguage": "en",
        "isLiveDataset": False,
        "keywords": ["medical", facts.specialty.name, "PubMed Central", "figures", "image-text"],
        **_responsible_ai(facts),
        "distribution": [*_files(configs, facts.side_tables), *(_file_set(config) for config in configs)],
        "recordSet": [_splits(facts), *(_record_set(config) for config in configs)],
    }


def croissant_file(facts: ReleaseFacts) -> str:
    """Return the release's Croissant description as the text of its file."""
    return json.dumps(croissant(facts), indent=2, ensure_ascii=False) + "\n"


def _name(facts: ReleaseFacts) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", facts.specialty.title).strip("-") or "dataset"


def _description(facts: ReleaseFacts) -> str:
    return (
        f"{facts.specialty.description} {facts.panels:,} panels of {facts.figures:,} figures from {facts.articles:,} "
        f"open-access articles of PubMed Central, each with its picture, its part of the caption, and its article's "
        f"licence; made with {SOFTWARE} {facts.software}."
    ).strip()


def _deeds(facts: ReleaseFacts) -> list[str]:
    """Return the deeds of the licences that the release's rows are under, most frequent first."""
    return list(dict.fromkeys(item.deed for item in facts.licences if item.deed is not None))


def _files(configs: Sequence[ConfigFacts], side_tables: Sequence[ReleaseFile]) -> Iterator[dict[str, Any]]:
    shards = [file for config in configs for files in config.files.values() for file in files]
    for file in [*shards, *side_tables]:
        yield {
            "@type": "cr:FileObject",
            "@id": file.path,
            "name": file.path.rpartition("/")[2],
            "description": f"{file.rows} rows",
            "contentUrl": file.path,
            "contentSize": f"{file.size} B",
            "encodingFormat": PARQUET,
            "sha256": file.sha256,
        }


def _file_set(config: ConfigFacts) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"{config.name}-shards",
        "name": f"{config.name}-shards",
        "description": f"All shards of {config.name}, below this file",
        "encodingFormat": PARQUET,
        "includes": f"data/{config.name}/*.parquet",
    }


def _splits(facts: ReleaseFacts) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": "splits",
        "name": "splits",
        "description": "The splits, by article",
        "dataType": "cr:Split",
        "key": {"@id": "splits/name"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": "splits/name",
                "name": "name",
                "description": "Name of the split, as in the field split of the other record sets",
                "dataType": "sc:Text",
            }
        ],
        "data": [{"splits/name": split} for split in facts.splits.shares],
    }


def _record_set(config: ConfigFacts) -> dict[str, Any]:
    schema = release_tables()[config.name]
    types, columns = arrow_schema(schema), schema.columns()
    fields = [
        _field(f"{config.name}/{field.name}", field.type, _source(config, field.name))
        | {"description": columns[field.name].description or field.name}
        for field in types
    ]
    for field in fields:
        if field["name"] == "split":
            field["references"] = {"field": {"@id": "splits/name"}}
    keys = [{"@id": f"{config.name}/{key}"} for name, key_of in KEYS.items() if name == config.name for key in key_of]
    return {
        "@type": "cr:RecordSet",
        "@id": config.name,
        "name": config.name,
        "description": " ".join((schema.__doc__ or config.name).split()),
        "key": keys if len(keys) > 1 else keys[0],
        "field": fields,
    }


def _source(config: ConfigFacts, column: str) -> dict[str, Any]:
    return {"fileSet": {"@id": f"{config.name}-shards"}, "extract": {"column": column}}


def _field(name: str, kind: pa.DataType, source: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a column, or of a part of one.

    A list is a repeated field. A list of structs has a field for each part, taken out by a path of JSON; lists below
    that, and lists of lists, arrive as lists of the parts' type.

    Raises:
        ValueError: if a type has no name in Croissant here.
    """
    field: dict[str, Any] = {"@type": "cr:Field", "@id": name, "name": name.rpartition("/")[2]}
    if kind == PICTURE:
        return field | {"dataType": "sc:ImageObject", "source": {**source, "transform": {"jsonPath": "bytes"}}}
    if pa.types.is_list(kind):
        kind, field["repeated"] = kind.value_type, True
    if pa.types.is_struct(kind):
        parts = [
            _field(f"{name}/{part.name}", _innermost(part.type), {**source, "transform": {"jsonPath": part.name}})
            for part in kind
        ]
        return field | {"subField": parts}
    kind = _innermost(kind)
    if kind not in _DATA_TYPES:
        raise ValueError(f"no type of Croissant is known for {kind}: name it in `_DATA_TYPES`")
    return field | {"dataType": _DATA_TYPES[kind], "source": source}


def _innermost(kind: pa.DataType) -> pa.DataType:
    """Return the innermost type of a list, or of a list of lists."""
    while pa.types.is_list(kind):
        kind = kind.value_type
    return kind


def _responsible_ai(facts: ReleaseFacts) -> dict[str, Any]:
    """Return the properties of the extension for responsible AI, as far as they are known."""
    return {
        "rai:dataCollection": "Figures, captions and paragraphs of open-access articles of PubMed Central that "
        "meet the rules of the specialty; located in the articles' PDFs and matched with their XML.",
        "rai:dataCollectionType": ["Secondary Data Analysis", "Software Collection"],
        "rai:dataCollectionMissingData": f"{facts.withheld} panels lie under a licence that forbids passing on "
        "adaptations: their pictures and texts are null. Types and marks that could not be decided are null.",
        "rai:dataPreprocessingProtocol": [
            "Figures are rendered from the PDF, cut into panels, and stored without loss.",
            "Captions are split into subcaptions; each is a list of character ranges of its caption.",
            "Articles that share pictures with the same look are in the same split.",
        ],
        "rai:dataAnnotationProtocol": [
            "Panels, images, their types and marks, and the assignment of subcaptions are made by machine, with "
            "scores; what people decided is marked in annotations and is_gt.",
            "Sentences of the running text, summaries, entities and modality are found by rules, a lexicon and a "
            "calibrated decision; summaries are verbatim sentences but for generated_summary, which a language model "
            "wrote and checks against the article let pass.",
        ],
        "rai:machineAnnotationTools": [f"{SOFTWARE} {facts.software}"],
        "rai:dataBiases": [
            "Published figures show what is typical, rare or striking; frequencies are not those of patients.",
            "Only open-access articles; who publishes so differs by country, device and disease.",
        ],
        "rai:dataLimitations": [
            "Made by machines: some boxes, types and assignments are wrong.",
            "Pictures carry letters, arrows and the journal's compression; they are not raw images of devices.",
            "Cropped or strongly changed copies of a picture may be in several splits.",
            "Models trained on PubMed Central may have seen the test split.",
        ],
        "rai:dataUseCases": [
            "Training and evaluation of vision-language models on scientific figures; retrieval; captioning; detection "
            "of panels. Not for clinical use, and not for identifying people."
        ],
        "rai:personalSensitiveInformation": [
            "Pictures of patients as published in the articles; consent and anonymity are those of the publications. "
            "Some may show faces."
        ],
        "rai:dataReleaseMaintenancePlan": "Retracted and removed articles are left out of the next release and listed "
        "in retractions.parquet.",
    }
