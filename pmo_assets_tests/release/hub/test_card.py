"""The dataset card: a head that the hub validates, the release's own numbers, and examples that run."""

from __future__ import annotations

import dataclasses
import re
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from pmo_assets.release.facts import AuditFacts, Audits, ExampleFacts, LicenceCount, QualityFacts, ReleaseFacts
from pmo_assets.release.hub.card import dataset_card
from pmo_assets.release.hub.licence_list import LICENSE_FILE, license_file
from pmo_assets.release.hub.markdown import markdown_table, size_text
from pmo_assets.release.instruction_numbers import InstructionCounts
from pmo_assets.tables.release import CONFIGS, release_tables
from pmo_assets_tests.release.context_columns import TEXTS


def head(card: str) -> dict[str, Any]:
    loaded = yaml.safe_load(card.split("\n---\n")[0])
    assert isinstance(loaded, dict)
    return loaded


def words(card: str) -> str:
    return " ".join(card.split())


# the head


@pytest.mark.slow
def test_the_hubs_own_package_reads_the_head_and_changes_nothing(facts: ReleaseFacts) -> None:
    hub = pytest.importorskip("huggingface_hub")
    card = hub.DatasetCard(dataset_card(facts))
    assert isinstance(card.data, hub.DatasetCardData)
    assert yaml.safe_load(card.data.to_yaml()) == head(dataset_card(facts))


def test_the_values_are_those_that_the_hub_takes(facts: ReleaseFacts) -> None:
    """The lists are from the hub's documentation of dataset cards; `docs/release.md` says where."""
    metadata = head(dataset_card(facts))
    assert metadata["license"] == "other", "a licence of one's own is `other`, with an identifier and a file"
    assert re.fullmatch(r"[a-z0-9.-]+", metadata["license_name"])
    assert metadata["license_link"] == LICENSE_FILE in ("LICENSE", "LICENSE.md")
    known = {
        "annotations_creators": {
            "found", "crowdsourced", "expert-generated", "machine-generated", "no-annotation", "other",
        },
        "language_creators": {"found", "crowdsourced", "expert-generated", "machine-generated", "other"},
        "multilinguality": {"monolingual", "multilingual", "translation", "other"},
        "source_datasets": {"original", "extended"},
        "task_categories": {
            "image-to-text", "text-to-image", "image-classification", "zero-shot-image-classification",
            "object-detection", "image-segmentation", "visual-question-answering", "image-feature-extraction",
        },
        "task_ids": {"image-captioning"},
    }  # fmt: skip
    for name, values in known.items():
        assert set(metadata[name]) <= values, name
    assert metadata["language"] == ["en"]
    assert all(re.fullmatch(r"[a-z0-9-]+", tag) for tag in metadata["tags"])


@pytest.mark.parametrize(("rows", "size"), [(5, "n<1K"), (10_000, "10K<n<100K"), (99 * 10**6, "10M<n<100M")])
def test_the_size_category_follows_the_rows(rows: int, size: str, facts: ReleaseFacts) -> None:
    assert head(dataset_card(dataclasses.replace(facts, panels=rows)))["size_categories"] == [size]


def test_the_configs_name_the_files_that_are_there(hub_folder: Path, facts: ReleaseFacts) -> None:
    configs = head(dataset_card(facts))["configs"]
    assert [config["config_name"] for config in configs] == list(CONFIGS)
    assert [config.get("default", False) for config in configs] == [True, *[False] * (len(CONFIGS) - 1)]
    named = {path for config in configs for item in config["data_files"] for path in hub_folder.glob(item["path"])}
    assert named == set((hub_folder / "data").rglob("*.parquet"))


def test_a_split_without_rows_is_not_named(facts: ReleaseFacts) -> None:
    panels = facts.configs[0]
    only_train = dataclasses.replace(panels, files={"train": panels.files["train"]})
    empty = dataclasses.replace(facts.configs[1], files={})
    metadata = head(dataset_card(dataclasses.replace(facts, configs=[only_train, empty])))
    assert [item["split"] for item in metadata["configs"][0]["data_files"]] == ["train"]
    assert [config["config_name"] for config in metadata["configs"]] == ["panels"]
    assert [split["name"] for split in metadata["dataset_info"][0]["splits"]] == ["train"]


def test_the_sizes_are_those_of_the_files(hub_folder: Path, facts: ReleaseFacts) -> None:
    import pyarrow.parquet as pq

    for info in head(dataset_card(facts))["dataset_info"]:
        files = sorted((hub_folder / "data" / info["config_name"]).glob("*.parquet"))
        assert info["download_size"] == sum(path.stat().st_size for path in files)
        rows = {
            name: sum(pq.read_metadata(path).num_rows for path in files if path.name.startswith(name))
            for name in ("train", "validation", "test")
        }
        assert {split["name"]: split["num_examples"] for split in info["splits"]} == rows
        assert info["dataset_size"] == sum(split["num_bytes"] for split in info["splits"]) > 0


# the text


def test_the_text_has_the_releases_numbers(facts: ReleaseFacts) -> None:
    text = words(dataset_card(dataclasses.replace(facts, panels=123_456, withheld=7, duplicate_articles=5)))
    assert "123,456 panels of 4 figures from 4 open-access articles" in text
    assert "release **1.2.0**, made with pmo-assets 0.9.1" in text
    assert "7 panels lie under a licence" in text
    texts = ("subcaption_text", "in_text_mention", *TEXTS, "figure_image", "caption")
    assert f"{', '.join(f'`{name}`' for name in texts)} are null" in text
    assert "5 packages with an article that another package holds" in text
    assert "The release before is 1.1.0." in text
    assert "| figures | 3 |" in text
    assert "2605.02720" in text


def first_screen(card: str) -> str:
    """Return what stands above the first table of numbers."""
    return words(card.split("\n---\n", 1)[1].split("| config |")[0])


def test_it_begins_with_what_can_be_used_and_says_why_the_rest_cannot(facts: ReleaseFacts) -> None:
    licences = [LicenceCount("CC BY", None, 1_900), LicenceCount("CC BY-ND", None, 70), LicenceCount(None, None, 30)]
    told = first_screen(dataset_card(dataclasses.replace(facts, panels=2_000, withheld=100, licences=licences)))
    assert "**1,900 panels come with picture and text** (95% of 2,000). Of 100 more" in told
    assert "the licence does not let them be passed on: CC BY-ND 70, no licence stated 30." in told
    whole = first_screen(dataset_card(dataclasses.replace(facts, panels=2_000, withheld=0)))
    assert "**2,000 panels come with picture and text**." in whole
    assert "passed on" not in whole, "a release for oneself withholds nothing"


def test_it_says_how_good_this_release_is(facts: ReleaseFacts) -> None:
    estimated = QualityFacts(expected=0.9534, sure=6, decided=0)
    told = first_screen(dataset_card(dataclasses.replace(facts, quality=estimated)))
    assert "95.3% of the subcaptions are expected to belong to their panel; 75% of the panels have 0.9 or more" in told
    assert "No panel of it was audited by people." in told
    assert "People decided" not in told
    audit = AuditFacts(200, {"right": 0.905, "wrong": 0.06, "not evaluable": 0.035})
    seen = dataclasses.replace(facts, quality=dataclasses.replace(estimated, decided=12, audits=Audits(audit)))
    told = first_screen(dataset_card(seen))
    assert "People decided something of 12 panels" in told
    assert "People audited 200 panels: 90.5% right, 6.0% wrong, 3.5% not evaluable" in told
    assert "It has no panels. How good it is cannot be said." in first_screen(
        dataset_card(dataclasses.replace(facts, panels=0))
    )


def test_it_says_what_people_found_who_judged_instructions(facts: ReleaseFacts) -> None:
    asked = dataclasses.replace(facts, instructions=InstructionCounts({"yes_no": 6}, panels=4))
    assert "claims against its evidence. No person looked. A row" in words(dataset_card(asked))
    audits = Audits(instructions=AuditFacts(200, {"right": 0.975, "wrong": 0.02, "unclear": 0.005}))
    told = words(dataset_card(dataclasses.replace(asked, quality=QualityFacts(audits=audits))))
    assert "People judged a sample of 200: 97.5% right, 2.0% wrong, 0.5% unclear, each kind" in told
    assert "No person looked. A row" not in told


def test_examples_are_credited_and_their_words_are_no_markup(facts: ReleaseFacts) -> None:
    hostile = "*Drusen* ![x](http://example.org/x.png) | <b>\n[y](javascript:z)"
    example = ExampleFacts("p_1_f_0", hostile, "'Eyes', A.", "https://doi.org/1", "CC BY", "https://by")
    told = first_screen(dataset_card(dataclasses.replace(facts, examples=[example, example])))
    assert "![Panels of this release, numbered as below](examples.webp) 1. " in told
    assert r"1. \*Drusen\* \!\[x\]\(http://example.org/x.png\) \| \<b\> \[y\]\(javascript:z\) *'Eyes', A* (" in told
    assert "([article](https://doi.org/1)), [CC BY](https://by), `p_1_f_0`. 2. " in told
    assert "made smaller" in told
    assert "examples" not in first_screen(dataset_card(facts)), "nothing was fit to be shown"


def test_every_column_of_every_config_is_explained(facts: ReleaseFacts) -> None:
    card = dataset_card(facts)
    for config in CONFIGS:
        section = card.split(f"\n### {config}\n")[1].split("\n## ")[0].split("\n### ")[0]
        rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| `")]
        assert [row[0] for row in rows] == [f"| `{name}`" for name in release_tables()[config].columns()]
        assert all(row[2].removesuffix(" |").strip() for row in rows)


def test_what_the_article_says_of_panels_is_explained(facts: ReleaseFacts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which words are the article's own and which a model's; how good it is, once that was measured."""
    section = dataset_card(facts).partition("## What the article says of each panel")[2].partition("\n## ")[0]
    assert {*TEXTS, "diseases", "findings", "eye", "modality_class", "modality"} <= set(re.findall(r"`(\w+)`", section))
    assert "the article's own, verbatim" in section
    assert "**not**\n  verbatim" in section
    assert "F1" in section
    monkeypatch.setattr("pmo_assets.release.hub.card_sections.CONTEXT_QUALITY", [("`eye`", "F1 0.5", "two captions")])
    assert "| `eye` | F1 0.5 | two captions |" in dataset_card(facts)


def test_near_duplicates_are_said_as_counted(facts: ReleaseFacts) -> None:
    splits = dataclasses.replace(facts.splits, groups=11, grouped_panels=25, groups_across_articles=3, moved=2)
    text = words(dataset_card(dataclasses.replace(facts, splits=splits)))
    assert "11 groups hold 25 panels, 3 groups span several articles, 2 articles have another split" in text
    assert "0 groups lie in several splits" in text
    assert "a hash of its number" in text
    newest = dataclasses.replace(facts.splits, test_from_year=2025)
    assert "articles of 2025 and later are the test split" in words(
        dataset_card(dataclasses.replace(facts, splits=newest))
    )


def test_what_may_be_unknown_is_left_out(facts: ReleaseFacts) -> None:
    bare = dataclasses.replace(facts, years=None, previous=None)
    text = words(dataset_card(bare))
    assert "PubMed Central was last searched on" not in text
    assert "None" not in text.replace("is not None", "")
    assert "This is the first release." in text
    searched = dataclasses.replace(bare, searched_on=date(2026, 1, 31), noncommercial_left_out=12)
    assert "PubMed Central was last searched on 2026-01-31." in words(dataset_card(searched))
    assert "were searched for at PubMed Central" in words(dataset_card(searched))
    assert "were searched for" not in text, "articles of one's own were not"
    assert "12 panels whose licence forbids commercial use are left out" in words(dataset_card(searched))


def test_the_licence_file_lists_the_licences_with_their_deeds(facts: ReleaseFacts) -> None:
    licences = [
        LicenceCount("CC BY", "https://creativecommons.org/licenses/by/4.0/", 1200),
        LicenceCount("CC BY-ND", None, 30),
        LicenceCount(None, None, 4),
    ]
    text = license_file(dataclasses.replace(facts, licences=licences))
    assert "| CC BY | https://creativecommons.org/licenses/by/4.0/ | 1,200 |" in text
    assert "| CC BY-ND | no version stated | 30 |" in text
    assert "| none stated | no version stated | 4 |" in text
    assert "`panel_image`" in text


def test_tables_stay_tables_whatever_is_in_them() -> None:
    assert markdown_table(("a", "b"), [("x | y\nz", 1234), ("<img>", True)]).splitlines()[2:] == [
        "| x \\| y z | 1,234 |", "| &lt;img> | True |",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1400, "1.4 KB"), (5 * 10**8, "500.0 MB"), (10**16, "10000.0 TB")]
)
def test_sizes_are_said_as_people_read_them(size: int, text: str) -> None:
    assert size_text(size) == text


# the examples


EXAMPLES = (
    ("datasets", "panel"),
    ("datasets", "panel"),  # streaming
    ("polars", "free"),
    ("pandas", "pictures"),
    ("duckdb", "duckdb"),
    ("torch", "texts"),
)
"""The package that an example of the card needs, and a name that it makes."""


def examples(card: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", card, re.DOTALL)


def test_every_example_is_run(facts: ReleaseFacts) -> None:
    found = examples(dataset_card(facts))
    assert len(found) == len(EXAMPLES)
    assert all(package in code for code, (package, _) in zip(found, EXAMPLES, strict=True))


@pytest.mark.slow
@pytest.mark.usefixtures("offline_datasets")
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_the_examples_run_beside_a_copy_of_the_folder(
    number: int, hub_folder: Path, facts: ReleaseFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, shown = EXAMPLES[number]
    pytest.importorskip(package)
    shutil.copytree(hub_folder, tmp_path / facts.repository)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(examples(dataset_card(facts))[number], f"<{package}>", "exec"), names)
    assert names[shown] is not None
    assert not hasattr(names[shown], "__len__") or len(names[shown])
