"""Panels chosen by words of the field: diseases with all narrower ones, findings, eyes and modalities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from pmo_assets.loading import Panel, Release, load
from pmo_assets.loading.named_filters import eye_of, modalities_named
from pmo_assets.records.modalities import MODALITIES
from pmo_assets_tests.loading.conftest import Written
from pmo_assets_tests.loading.small_release import write_release, write_sums


def chosen(written: Written, **columns: Any) -> list[str]:
    """Panels whose rows have these values, or one of these terms in a list."""

    def fits(held: Any, value: Any) -> bool:
        return value in held if isinstance(held, list) else bool(value == held)

    rows = written.rows["panels"]
    return [row["panel_id"] for row in rows if all(fits(row[name], value) for name, value in columns.items())]


def ids(rows: Any) -> list[str]:
    return [panel.panel_id for panel in rows]


@pytest.mark.parametrize(
    "word", ["AMD", "age-related macular degeneration", "Age-Related Macular Degeneration", "ARMD"]
)
def test_a_disease_is_found_by_any_name_with_all_narrower_ones(release: Release, written: Written, word: str) -> None:
    found = release.panels.filter(disease=word)
    assert ids(found) == chosen(written, diseases="neovascular age-related macular degeneration")
    assert 0 < len(found) < len(release.panels)


def test_a_narrower_disease_does_not_find_the_wider_one(release: Release) -> None:
    assert len(release.panels.filter(disease="geographic atrophy")) == 0


def test_what_the_text_denies_is_not_found(release: Release) -> None:
    assert any(item.term == "macular hole" for item in release.panels[0].entities)
    assert len(release.panels.filter(disease="macular hole")) == 0


def test_words_go_together_with_columns_conditions_and_each_other(release: Release, written: Written) -> None:
    both = release.panels.filter(pl.col("year") > 2000, disease="AMD", eye="right", modality="OCT", license="CC0")
    same = chosen(written, diseases="age-related macular degeneration", eye="OD", modality="OCT", license="CC0")
    assert ids(both) == same
    assert same
    drusen = release.panels.filter(finding="drusen", disease=["AMD", "DME"])
    assert {panel.findings for panel in drusen} == {("drusen",)}
    assert {panel.diseases[0] for panel in drusen} == {"age-related macular degeneration", "diabetic macular edema"}


def test_nothing_named_is_none(release: Release, written: Written) -> None:
    assert ids(release.panels.filter(eye=None)) == chosen(written, eye=None)
    assert ids(release.panels.filter(disease=None)) == [
        row["panel_id"] for row in written.rows["panels"] if not row["diseases"]
    ]
    assert len(release.panels.filter(disease=["AMD", None])) > len(release.panels.filter(disease="AMD"))


@pytest.mark.parametrize(
    ("word", "eye"),
    [
        *((word, "OD") for word in ("OD", "od", "right", "Right eye", "R", "RE", "oculus dexter")),
        *((word, "OS") for word in ("OS", "left", "left eye", "L", "LE")),
        *((word, "OU") for word in ("OU", "both", "both eyes")),
    ],
)
def test_eyes_are_known_in_any_usual_spelling(word: str, eye: str) -> None:
    assert eye_of(word) == eye


@pytest.mark.parametrize("word", ["fellow eye", "third", "", "eye"])
def test_a_word_for_no_certain_eye_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=r"OD \(right\), OS \(left\) or OU \(both\)"):
        eye_of(word)


@pytest.mark.parametrize("modality", MODALITIES)
def test_a_modality_is_itself_in_any_case(modality: str) -> None:
    assert modalities_named(modality.upper()) == (modality,)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("oct", ("OCT",)),
        ("optical coherence tomography", ("OCT",)),
        ("OCTA", ("OCT angiography",)),
        ("FFA", ("fluorescein angiography",)),
        ("CFP", ("fundus photograph",)),
        ("fundus photography", ("fundus photograph",)),
        ("angiography", ("fluorescein angiography", "indocyanine green angiography", "OCT angiography")),
    ],
)
def test_a_modality_has_synonyms_wider_terms_and_the_papers_types(word: str, expected: tuple[str, ...]) -> None:
    assert modalities_named(word) == expected


def test_a_modality_may_be_a_class_or_a_type(release: Release) -> None:
    assert {panel.modality_class for panel in release.panels.filter(modality="m")} == {"M"}
    retinal = {panel.modality for panel in release.panels.filter(modality="retinal imaging")}
    assert retinal == {"fluorescein angiography"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"disease": "age related maculer degeneration"}, "similar are 'age-related macular degeneration'"),
        ({"disease": "drusen"}, "'drusen' is no disease but a finding"),
        ({"finding": "AMD"}, "'AMD' is no finding but a disease"),
        ({"modality": "SD-OCT"}, "no modality 'SD-OCT': the nearest are 'OCT'"),
        ({"modality": "autofluorescens"}, "the nearest are 'autofluorescence'"),
        ({"eye": "fellow"}, "no eye 'fellow'"),
        ({"disease": 3}, "disease= takes words"),
        ({"diagnosis": "AMD"}, "no column diagnosis"),
    ],
)
def test_an_unknown_word_is_refused_with_what_is_near(release: Release, values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        release.panels.filter(**values)


def test_figures_and_older_releases_say_that_they_have_no_such_column(release: Release, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="disease= looks for words in the column diseases"):
        release.figures.filter(disease="AMD")
    write_release(tmp_path, articles=1)
    hub = tmp_path / "release" / "hub"
    for shard in (hub / "data" / "panels").iterdir():
        pq.write_table(pq.read_table(shard).drop_columns(["diseases", "eye", "entities"]), shard)
    write_sums(hub)
    older = load(tmp_path)
    for name, column in (("disease", "diseases"), ("eye", "eye")):
        with pytest.raises(ValueError, match=rf"{name}= looks for words in the column {column}.*make this one again"):
            older.panels.filter(**{name: "AMD"})
    with pytest.raises(AttributeError, match="Panel has no column entities"):
        _ = older.panels[0].entities


def test_what_the_text_says_of_a_panel_are_records(release: Release) -> None:
    panel = next(panel for panel in release.panels if panel.subcaption and panel.diseases)
    (mention,) = panel.mentions
    assert mention.text == mention.sentence == panel.summary
    assert (mention.section, mention.kind, mention.source) == ("results", "names panel", "xref")
    assert (panel.mention_places[0].paragraph, panel.mention_places[0].end) == (0, len(mention.text))
    assert panel.summary_places[0].start == 0
    assert panel.abbreviations[0].short == "AMD"
    assert panel.entities[0].term in panel.diseases
    assert panel.entities[0].broader[0] in panel.diseases
    assert panel.entities[-1].negated


def test_texts_of_the_article_are_none_where_the_licence_withholds_them(release: Release) -> None:
    (panel, *_) = release.panels.filter(license="CC BY-ND")
    for name in ("mentions", "summary", "abbreviations", "generated_summary", "entities"):
        assert getattr(panel, name) is None
    assert panel.mention_places[0].kind == "names panel"
    assert "<details>" not in panel._repr_html_()


def test_a_notebook_shows_summary_and_sentences_folded(release: Release) -> None:
    panel: Panel = next(panel for panel in release.panels if panel.subcaption)
    shown = panel._repr_html_()
    assert shown.count("<details>") == 2
    assert "<summary>sentences of the text: 1</summary>" in shown
    assert "shows no macular hole." in shown
    assert "<details>" not in panel.figure._repr_html_()
