"""The relevance filter: terms, the three criteria, specialties, and the Entrez query."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmo_assets.pipeline.articles.relevance import (
    RECURRING,
    SpecialtyError,
    assess_relevance,
    assess_relevance_of_text,
    entrez_query,
    load_specialty,
    specialty_names,
)
from pmo_assets.records.article import Article, PackageFigure

OPHTHALMOLOGY = load_specialty("ophthalmology")


def article(
    *captions: str,
    tables: tuple[str, ...] = (),
    title: str = "",
    keywords: tuple[str, ...] = (),
    mesh: tuple[str, ...] = (),
    text: str = "",
) -> Article:
    return Article(
        pmcid=1,
        pmid=None,
        doi=None,
        title=title,
        journal="",
        year=None,
        authors=(),
        citation="",
        license_code=None,
        license_text="",
        is_retracted=False,
        keywords=keywords,
        mesh_terms=mesh,
        figures=tuple(PackageFigure(f"g{n}", f"Figure {n}", caption) for n, caption in enumerate(captions, start=1)),
        table_captions=tables,
        text=text,
    )


def test_all_three_criteria_are_named_with_their_terms() -> None:
    found = assess_relevance(
        article("Slit lamp.", "SD-OCT of the macula.", keywords=("Retina",), text="Diseases of the retina."),
        OPHTHALMOLOGY,
    )

    assert found.relevant
    assert found.criteria == ("i", "ii", "iii")
    assert found.reason == (
        'Relevant: (i) the caption of Figure 2 has "OCT"; (ii) key term "Retina"; (iii) the text has "retina".'
    )


def test_a_missed_criterion_is_named() -> None:
    found = assess_relevance(
        article("OCT of a coronary artery.", keywords=("OCT", "stents"), text="Stents."), OPHTHALMOLOGY
    )

    assert not found.relevant
    assert found.criteria == ("i", "ii")
    assert found.reason.startswith("Not relevant: (iii) the text has none of the terms; met: (i)")


@pytest.mark.parametrize(
    ("caption", "met"),
    [
        ("Colour fundus photographs", True),
        ("Fundus", True),
        ("Optical-coherence tomography", True),
        ("optical coherence\ntomographies", True),
        ("OCTs of both eyes", True),
        ("CFP of the left eye", True),
        ("Oct 2015", False),
        ("OCTA en face", False),
        ("the octopus and the cfp", False),
        ("fundusscopy", False),
        ("profundus", False),
    ],
)
def test_terms_are_whole_words_and_acronyms_keep_their_case(caption: str, met: bool) -> None:
    assert ("i" in assess_relevance(article(caption), OPHTHALMOLOGY).criteria) is met


def test_table_captions_count() -> None:
    assert assess_relevance(article(tables=("OCT values",)), OPHTHALMOLOGY).criteria == ("i",)


@pytest.mark.parametrize(
    ("facts", "met"),
    [
        ({"keywords": ("colour fundus photography",)}, True),
        ({"title": "Degeneration of the Retina"}, True),
        ({"mesh": ("Tomography, Optical Coherence/methods",)}, True),
        ({"mesh": ("*Ophthalmoscopy",)}, True),
        ({"mesh": ("Ophthalmoscopy, Indirect",)}, False),
        ({"keywords": ("fundus",)}, False),
        ({"keywords": ("lens",), "text": "OCT once."}, False),
        ({"keywords": ("lens",), "text": "OCT. " * RECURRING}, True),
        ({"text": "OCT once."}, True),
    ],
)
def test_key_terms(facts: dict[str, object], met: bool) -> None:
    assert ("ii" in assess_relevance(article(**facts), OPHTHALMOLOGY).criteria) is met  # type: ignore[arg-type]


def test_without_keywords_the_reason_says_where_the_term_was_found() -> None:
    assert "(the article lists no keywords)" in assess_relevance(article(text="One OCT."), OPHTHALMOLOGY).reason


@pytest.mark.parametrize(
    ("found", "met"),
    [
        (article(text="the Department of Ophthalmology"), True),
        (article(text="retinal vessels"), False),
        (article("The retina of a mouse"), True),
        (article(mesh=("Fundus Oculi",)), True),
    ],
)
def test_text_criterion(found: Article, met: bool) -> None:
    assert ("iii" in assess_relevance(found, OPHTHALMOLOGY).criteria) is met


def test_a_label_of_biomedica_needs_the_key_terms_only() -> None:
    with_key_terms = article(keywords=("retina",))

    found = assess_relevance(with_key_terms, OPHTHALMOLOGY, figure_labels=["plot", "optical coherence tomography"])

    assert found.relevant
    assert found.criteria == ("ii", "biomedica")
    assert not assess_relevance(article(), OPHTHALMOLOGY, figure_labels=["OCT"]).relevant
    assert not assess_relevance(with_key_terms, OPHTHALMOLOGY, figure_labels=["plot"]).relevant


def test_text_of_a_pdf_says_that_key_terms_are_unknown() -> None:
    found = assess_relevance_of_text(["OCT of the macula."], "Layers of the retina.", OPHTHALMOLOGY)

    assert found.relevant
    assert "key terms are unknown without XML" in found.reason
    assert not assess_relevance_of_text([], "", OPHTHALMOLOGY).relevant


def test_everything_takes_every_article_and_type() -> None:
    everything = load_specialty("everything")

    assert everything.image_types == ["CFP", "OCT", "Retinal Imaging", "Other"]
    assert assess_relevance(article(), everything).relevant
    assert assess_relevance_of_text([], "", everything).relevant
    assert entrez_query(everything) == ""


def test_ophthalmology_wants_three_types() -> None:
    assert OPHTHALMOLOGY.image_types == ["CFP", "OCT", "Retinal Imaging"]


def test_unknown_name_lists_the_names_there_are() -> None:
    assert specialty_names() == ("everything", "ophthalmology")
    with pytest.raises(SpecialtyError, match="everything, ophthalmology"):
        load_specialty("cardiology")


def test_a_specialty_is_another_file(tmp_path: Path) -> None:
    file = tmp_path / "skin.toml"
    file.write_text(
        'name = "skin"\ntitle = "Skin"\ndescription = ""\nfilter = true\nrequire_all = false\nimage_types = ["Other"]\n'
        '[captions]\nterms = ["dermoscopy"]\n[key_terms]\nterms = ["skin"]\n[text]\nmesh = ["Skin"]\n'
    )
    skin = load_specialty(str(file))

    assert assess_relevance(article("Dermoscopy of a naevus"), skin).criteria == ("i",)
    assert assess_relevance(article("Dermoscopy of a naevus"), skin).relevant
    assert entrez_query(skin) == (
        '("dermoscopy"[Figure/Table Caption] OR "dermoscopies"[Figure/Table Caption])'
        ' OR ("skin"[Body - Key Terms] OR "skins"[Body - Key Terms]) OR ("Skin"[MeSH Terms])'
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name = ", "is no TOML file"),
        ('name = "x"', "title: Field required"),
        (
            'name = "x"\ntitle = "x"\ndescription = ""\nfilter = true\nimage_types = ["OCT"]',
            "needs terms in \\[captions\\]",
        ),
        ('name = "x"\ntitle = "x"\ndescription = ""\nfilter = false\nimage_types = ["MRI"]', "image_types"),
    ],
)
def test_a_wrong_file_is_explained(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(content)

    with pytest.raises(SpecialtyError, match=message):
        load_specialty(str(file))


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(SpecialtyError, match="cannot be read"):
        load_specialty(str(tmp_path / "absent.toml"))


def test_entrez_query_uses_the_fields_of_pmc() -> None:
    query = entrez_query(OPHTHALMOLOGY)

    assert query.count(" AND ") == 2
    for term in (
        '"fundus"[Figure/Table Caption]',
        '"retina"[Body - Key Terms]',
        '"Tomography, Optical Coherence"[MeSH Terms]',
        '"ophthalmology"[Body - All Words]',
        '"OCTs"[Figure/Table Caption]',
        '"funduses"[Figure/Table Caption]',
        '"retinas"[Body - All Words]',
        '"colour fundus photographies"[Body - Key Terms]',
    ):
        assert term in query
    assert query.count("(") == query.count(")") == 3
