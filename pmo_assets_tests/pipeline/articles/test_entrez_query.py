"""The query of PMC says what the local filter says, apart from the differences that `entrez_query` documents.

PMC is not asked: `pmo_assets_tests.loopback.entrez_evaluator` evaluates the query as Entrez does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.articles.relevance import Specialty, Terms, assess_relevance, entrez_query, load_specialty
from pmo_assets.records.article import Article, PackageFigure
from pmo_assets.records.rejections import ArticleError
from pmo_assets_tests.loopback.entrez_evaluator import EntrezIndex, parse_query, record_of

OPHTHALMOLOGY: Final = load_specialty("ophthalmology")


def _specialty(name: str, captions: str, key_terms: str, text: str) -> Specialty:
    parts = [Terms(terms=tuple(terms.split(", "))) for terms in (captions, key_terms, text)]
    return Specialty(
        name=name, title=name, description="", filter=True, image_types=["OCT"],
        captions=parts[0], key_terms=parts[1], text=parts[2],
    )  # fmt: skip


# Most articles at hand have nothing to do with eyes: terms that they do have, so that each criterion is met by some and
# missed by others.
ONCOLOGY: Final = _specialty(
    "oncology", "cell, expression, survival, protein", "cancer, tumor, therapy", "patient, mortality"
)
IMAGING: Final = _specialty(
    "imaging", "MRI, CT, magnetic resonance, flow diagram", "randomized trial, imaging, stroke", "hospital, study"
)
METABOLISM: Final = _specialty(
    "metabolism", "mean, effect, image", "diabetes, oxidative stress, DNA, inflammation", "group, analysis"
)

ONCE: Final = "(ii) Entrez: the body has a key term, but the article's keywords have none and the term does not recur"

DIFFERENCES: Final[Mapping[str, Mapping[str, str]]] = {
    "ophthalmology": {},
    "oncology": {
        "acm2_2022_semisup_fundus": ONCE,
        "bmc_trials_16_1_22": ONCE,
        "bmc_trials_16_1_27": ONCE,
        "bmc_trials_16_1_59": ONCE,
        "bmc_trials_16_1_63": ONCE,
    },
    "imaging": {
        "PMC4739455": ONCE,
        "bmc_trials_16_1_52": ONCE,
        "bmc_trials_16_1_59": ONCE,
        "PMC9000000007": ONCE,
        "PMC9000000012": ONCE,
        "PMC9000000015": ONCE,
    },
    "metabolism": {
        "acm2_2022_semisup_fundus": ONCE,
        "plos_pone.0056489": ONCE,
    },
}
"""Articles on which the query and the filter differ in a criterion, by specialty, and why."""


def _read(folders: Iterable[Path]) -> dict[str, Article]:
    """The articles by name; those whose XML is refused have no text to search."""
    articles = {}
    for folder in sorted(folders):
        try:
            articles[folder.name] = parse_jats((folder / "article.xml").read_bytes())
        except (ArticleError, FileNotFoundError, NotADirectoryError):
            continue
    return articles


def _index(articles: Mapping[str, Article]) -> EntrezIndex:
    return EntrezIndex([record_of(article, number) for number, article in enumerate(articles.values())])


def _found(index: EntrezIndex, query: str) -> set[int]:
    return set(index.search(parse_query(query)))


def _differences(articles: Mapping[str, Article], specialty: Specialty) -> dict[str, str]:
    """What is different: article to "(criterion) Entrez" or "(criterion) the filter", whichever is the wider."""
    index = _index(articles)
    clauses = dict(zip(("i", "ii", "iii"), entrez_query(specialty).split(" AND "), strict=True))
    found = {criterion: _found(index, clause) for criterion, clause in clauses.items()}
    different = {}
    for number, (name, article) in enumerate(articles.items()):
        met = assess_relevance(article, specialty).criteria
        wider = [
            f"({criterion}) {'Entrez' if number in numbers else 'the filter'}"
            for criterion, numbers in found.items()
            if (number in numbers) != (criterion in met)
        ]
        if wider:
            different[name] = ", ".join(wider)
    return different


def _expected(articles: Mapping[str, Article], specialty: Specialty) -> dict[str, str]:
    return {name: why.split(":")[0] for name, why in DIFFERENCES[specialty.name].items() if name in articles}


@pytest.mark.parametrize("specialty", [OPHTHALMOLOGY, ONCOLOGY, IMAGING, METABOLISM], ids=lambda each: each.name)
def test_query_and_filter_agree_on_sample_articles(sample_folder: Path, specialty: Specialty) -> None:
    articles = _read((sample_folder / "articles").iterdir())

    assert len(articles) == 13
    assert _differences(articles, specialty) == _expected(articles, specialty)


@pytest.mark.corpus
@pytest.mark.parametrize(
    "specialty",
    [OPHTHALMOLOGY, *(pytest.param(each, marks=pytest.mark.slow) for each in (ONCOLOGY, IMAGING, METABOLISM))],
    ids=lambda each: each.name,
)
def test_query_and_filter_agree_on_real_articles(shared_folder: Path, specialty: Specialty) -> None:
    articles = _read((shared_folder / "corpus").iterdir())

    assert _differences(articles, specialty) == _expected(articles, specialty)


@pytest.mark.corpus
def test_the_whole_query_finds_the_relevant_articles(sample_folder: Path, shared_folder: Path) -> None:
    articles = _read([*(sample_folder / "articles").iterdir(), *(shared_folder / "corpus").iterdir()])

    found = _found(_index(articles), entrez_query(OPHTHALMOLOGY))

    relevant = {name for name, article in articles.items() if assess_relevance(article, OPHTHALMOLOGY).relevant}
    assert {name for number, name in enumerate(articles) if number in found} == relevant
    assert len(relevant) >= 10


def test_one_criterion_is_enough_where_the_specialty_says_so(sample_folder: Path) -> None:
    articles = _read((sample_folder / "articles").iterdir())
    specialty = OPHTHALMOLOGY.model_copy(update={"require_all": False})

    found = _found(_index(articles), entrez_query(specialty))

    wanted = {n for n, article in enumerate(articles.values()) if assess_relevance(article, specialty).relevant}
    assert found == wanted
    assert len(articles) > len(wanted) > 10


def _article(caption: str = "", text: str = "", **facts: object) -> Article:
    plain = parse_jats(b"<article/>")
    figures = (PackageFigure("g1", "Figure 1", caption),)
    return replace(plain, figures=figures, text=text, **{"keywords": ("lens",), **facts})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("article", "difference"),
    [
        pytest.param(_article("Seen in Oct 2015."), "(i) Entrez, (ii) Entrez", id="case"),
        pytest.param(_article(mesh_terms=("Macula Lutea",)), "(iii) Entrez", id="MeSH explosion"),
        pytest.param(_article(text="One CFP."), "(ii) Entrez", id="a single use"),
        pytest.param(_article("CFP of the eye."), "(ii) Entrez", id="a single use, in a caption"),
        pytest.param(_article("Optical coherence, tomography."), "(i) Entrez, (ii) Entrez", id="punctuation"),
        pytest.param(_article(keywords=("retina",)), "(ii) the filter", id="keyword that the body does not use"),
        pytest.param(_article(title="OCT in practice"), "(ii) the filter", id="title that the body does not use"),
    ],
)
def test_documented_differences(article: Article, difference: str) -> None:
    assert _differences({"it": article}, OPHTHALMOLOGY) == {"it": difference}


@pytest.mark.parametrize(
    "article",
    [
        _article("OCTs of both eyes.", "OCTs, OCTs and OCTs of the retinas."),
        _article("Optical-coherence tomographies.", keywords=("lens",), text="optical coherence tomography " * 3),
        _article("Funduses", "Colour fundus photographies. " * 3),
        _article("OCTA and octopus", "October"),
        _article(mesh_terms=("*Tomography, Optical Coherence/methods", "Fundus Oculi")),
        _article(mesh_terms=("Ophthalmoscopy, Indirect", "Retinal Vessels of Fish")),
        _article("A fundus", keywords=(), text="The retina."),
    ],
    ids=["plural", "hyphen", "other plurals", "part of a word", "headings", "other headings", "no keywords"],
)
def test_no_difference(article: Article) -> None:
    assert _differences({"it": article}, OPHTHALMOLOGY) == {}


def test_a_figure_label_has_no_field() -> None:
    article = _article(text="retina " * 3)

    assert assess_relevance(article, OPHTHALMOLOGY, figure_labels=["OCT"]).relevant
    assert _found(_index({"it": article}), entrez_query(OPHTHALMOLOGY)) == set()
