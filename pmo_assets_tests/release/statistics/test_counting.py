"""The numbers of a release, and the way into it: every unit has one outcome, and what is lost is named."""

from __future__ import annotations

import json
import re
import statistics as reference
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.dataset.rows import NO_SUBCAPTION, UNSURE_SUBCAPTION
from pmo_assets.records.rejections import Rejection
from pmo_assets.release.reports import release_summary
from pmo_assets.release.selection import select_articles
from pmo_assets.release.standing import Withdrawal
from pmo_assets.release.statistics import outcomes as f
from pmo_assets.release.statistics import paper_numbers as paper
from pmo_assets.release.statistics.counting import (
    NO_SPLIT,
    LicenceUse,
    ReleaseStatistics,
    SplitSize,
    release_statistics,
    spread_of,
)
from pmo_assets.release.statistics.views import (
    compared,
    compared_rows,
    drops,
    not_accounted_for,
    statistics_json,
    statistics_markdown,
    waterfall_rows,
    year_counts,
)
from pmo_assets.release.statistics.waterfall import (
    IN_THE_RELEASE,
    MOST_REASONS,
    NOT_ACCOUNTED_FOR,
    OTHER_REASONS,
    Loss,
    Outcome,
    OutcomeCounts,
    Waterfall,
    waterfall,
)
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets.viewing.report import render_report
from pmo_assets_tests.examples import examples
from pmo_assets_tests.release.batches import ENTRY, ArticleMade, FigureMade, PanelMade, write_batch

LOCAL = 10**12
"""Articles with such numbers are from elsewhere than PMC, where two numbers are two articles."""

OPEN = {"subcaption": None, "method": None, "assembly": None, "reason": "5 panels, 4 subcaptions: “a” 0.4"}


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(DataRoot(str(tmp_path)))


def lost(way: Waterfall) -> dict[str, int]:
    return {loss.step: loss.count for loss in way.losses if loss.count}


def reasons(way: Waterfall, step: str) -> dict[str, int]:
    return dict(next(loss.reasons for loss in way.losses if loss.step == step))


def good(count: int = 1) -> FigureMade:
    return FigureMade([PanelMade((number,)) for number in range(count)])


def test_every_loss_stands_where_it_happened(tables: Tables) -> None:
    articles = {
        1: ArticleMade({"f1": good(2), "f2": FigureMade([PanelMade(types=["Other"])], wanted=False)}),
        2: ArticleMade({"f1": FigureMade([PanelMade((0, 1)), PanelMade((2,), facts=OPEN), PanelMade(())])}),
        3: ArticleMade(facts={"relevant": False}),
        4: ArticleMade(facts={"is_retracted": True}),
        5: ArticleMade(facts={"has_pdf": False}),
        6: ArticleMade({"f1": FigureMade(found=False), "f2": FigureMade(found=False)}),
        7: ArticleMade({"f1": FigureMade(found=False)}),
        8: ArticleMade(fetched=False),
        9: ArticleMade(read=False),
        10: ArticleMade({"f1": FigureMade([PanelMade(facts=OPEN)], listed=False)}),
        11: ArticleMade({"f1": FigureMade([PanelMade(types=[])], wanted=False)}),
        12: ArticleMade({"f1": FigureMade(detected=3)}),
        13: ArticleMade({"f1": FigureMade()}),
        14: ArticleMade({"f1": good()}, facts={"license_code": "CC BY-NC"}),
        15: ArticleMade({"f1": FigureMade([PanelMade(cut=False)])}),
        16: ArticleMade(facts={"relevant": False, "has_xml": False}),
        17: ArticleMade({"f1": FigureMade([PanelMade(facts={"confidence": 0.5})], detected=2, annotated=True)}),
    }
    write_batch(
        tables,
        "0001-a",
        articles,
        rejected=[
            ("articles", 5, None, "NoPdf"),
            ("pdf_figures", 6, "f1", "FigureNotLocated"),
            ("pdf_figures", 6, "f2", "FigureNotLocated"),
            ("pdf_figures", 7, None, "EncryptedPdf"),
            ("article_packages", 8, None, "FileMissing"),
            ("articles", 9, None, "WorkerDied"),
            ("panel_captions", 12, "f1", "OutOfMemory"),
            ("articles", 16, None, "MalformedXml"),
            ("articles", 16, None, "UnreadablePdf"),
        ],
    )
    found = release_statistics(tables, select_articles(tables), ENTRY, noncommercial=False)
    of_articles, of_figures, of_panels = found.waterfalls

    assert (of_articles.came_in, of_articles.rest) == (16, 2), "8 has no package and no manifest says so"
    assert lost(of_articles) == {
        f.NOT_READ: 1, f.NOT_RELEVANT: 1, f.RETRACTED: 1, f.NO_PDF: 3, f.NO_FIGURE: 1, f.REJECTED: 1, f.EMPTY: 1,
        f.UNWANTED: 1, f.NO_PANEL_ENTERS: 2, f.NONCOMMERCIAL: 1, NOT_ACCOUNTED_FOR: 1,
    }  # fmt: skip
    assert reasons(of_articles, f.NO_PDF) == {"EncryptedPdf": 1, "MalformedXml, UnreadablePdf": 1, "NoPdf": 1}

    assert dict(of_figures.parts) == {f.LISTED: 12, f.FOUND: 1}
    assert (of_figures.came_in, of_figures.rest) == (13, 2)
    assert lost(of_figures) == {
        f.NOT_LOCATED: 2, f.PDF_NOT_READ: 1, f.REJECTED: 1, f.EMPTY: 1, f.UNWANTED: 2, f.NO_PANEL_ENTERS: 2,
        f.NONCOMMERCIAL: 1, NOT_ACCOUNTED_FOR: 1,
    }  # fmt: skip
    assert reasons(of_figures, f.UNWANTED) == {"no image of a wanted type": 1, "no image was found": 1}
    assert reasons(of_figures, f.NO_PANEL_ENTERS) == {NO_SUBCAPTION: 1, UNSURE_SUBCAPTION: 1}

    assert dict(of_panels.parts) == {f.DETECTED: 15, f.OF_IMAGES: 1}
    assert of_panels.rest == found.released.panels == 4
    assert lost(of_panels) == {
        f.JOINED: 1, f.REDRAWN: 1, f.REJECTED: 3, f.UNWANTED: 2, NO_SUBCAPTION: 2, UNSURE_SUBCAPTION: 1,
        f.NONCOMMERCIAL: 1, NOT_ACCOUNTED_FOR: 1,
    }  # fmt: skip
    assert reasons(of_panels, NO_SUBCAPTION) == {"n panels, n subcaptions": 2}
    assert reasons(of_panels, f.REJECTED) == {"panel_captions: OutOfMemory": 3}


def counted(tables: Tables, **options: object) -> ReleaseStatistics:
    return release_statistics(tables, select_articles(tables), ENTRY, **options)  # type: ignore[arg-type]


def test_packages_that_are_not_published_are_told_apart(tables: Tables) -> None:
    same = {"doi": "10.1000/same"}
    write_batch(
        tables, "0001-a", {1: ArticleMade({"f1": good()}), LOCAL + 2: ArticleMade(facts=same), 4: ArticleMade()}
    )
    newer = ArticleMade({"f1": good()}, package={"version": 2})
    write_batch(tables, "0002-b", {1: newer, LOCAL + 3: ArticleMade({"f1": good()}, facts=same)})
    tables.write("article_packages", "0003-c", tables.read("article_packages", "0001-a"))
    tables.write_registration_rejections("file:///x", [Rejection("registration", 9, None, "UnreadableMetadata", "no")])
    way = counted(tables).waterfalls[0]
    assert dict(way.parts) == {f.PACKAGES: 5, f.REFUSED: 1}, "a batch without a manifest and rows is not known"
    assert lost(way) == {f.NOT_REGISTERED: 1, f.SUPERSEDED: 1, f.DUPLICATE: 1, f.NO_FIGURE: 1}
    assert reasons(way, f.DUPLICATE) == {"by DOI": 1}
    assert way.rest == 2


def test_what_pmc_retracted_since_is_retracted_once_and_superseded_elsewhere(tables: Tables) -> None:
    write_batch(tables, "0001-a", {7: ArticleMade({"f1": good()})})
    write_batch(tables, "0002-b", {7: ArticleMade({"f1": good()}, package={"version": 2})})
    selection = select_articles(tables)
    known: set[int] = set()
    retracted = type(selection)({"0001-a": [], "0002-b": []}, retracted={7: Withdrawal("n7", "PMC says so", True)})
    outcomes = [f.package_outcomes(tables, batch, [], retracted, {}, known).outcomes for batch in ("0001-a", "0002-b")]
    assert outcomes == [{Outcome(f.RETRACTED): 1}, {Outcome(f.SUPERSEDED): 1}]


def test_words_types_licences_years_and_splits(tables: Tables) -> None:
    words = ["one", "one two", "  one two\nthree ", "one two three four five"]
    panels = [PanelMade((n,), facts={"subcaption": text}) for n, text in enumerate(words)]
    write_batch(
        tables,
        "0001-a",
        {
            1: ArticleMade({"f1": FigureMade(panels)}, {"year": 2019, "journal": "A", "mesh_terms": ["Retina", "Eye"]}),
            2: ArticleMade({"f1": good(2)}, {"year": 2022, "journal": "B", "license_code": "CC BY-NC"}),
            3: ArticleMade({"f1": good()}, {"year": None, "journal": None, "license_code": None}),
            4: ArticleMade(facts={"relevant": False, "mesh_terms": ["Heart"]}),
        },
    )
    write_batch(
        tables,
        "0002-b",
        {
            5: ArticleMade(
                {"f1": FigureMade([PanelMade(types=["OCT", "CFP"])])}, {"journal": "A", "mesh_terms": ["Retina"]}
            )
        },
    )
    out = counted(tables, splits={1: "train", 2: "test", 5: "train"}).released
    of_words = [1, 2, 3, 5, 4, 4, 4, 4]
    assert out.words.mean == pytest.approx(reference.fmean(of_words))
    assert out.words.median == reference.median(of_words) == 4
    assert (out.panels, out.figures, out.articles) == (8, 4, 4)
    assert (out.mesh_terms, out.articles_with_mesh) == (2, 2), "those of articles in the release"
    assert out.several_types == 1
    assert (out.contains["contains_oct"], out.contains["contains_cfp"], out.contains["contains_other"]) == (8, 1, 0)
    assert out.licences == (
        LicenceUse("CC BY", True, 5, 2), LicenceUse("CC BY-NC", False, 2, 1), LicenceUse(None, False, 1, 1),
    )  # fmt: skip
    assert out.years == {2019: 1, 2022: 1, 2024: 1, None: 1}
    assert out.journals == {"A": 2, "B": 1}
    assert out.articles_without_journal == 1
    assert out.splits == (SplitSize("train", 5, 2, 2), SplitSize("test", 2, 1, 1), SplitSize(NO_SPLIT, 1, 1, 1))
    assert (out.width.median, out.height.median, out.pixels.mean) == (30, 20, 600)
    without = counted(tables, noncommercial=False).released
    assert (without.panels, without.articles, without.left_out) == (6, 3, 2)


def test_years_without_articles_are_shown_as_none(tables: Tables) -> None:
    made = {n: ArticleMade({"f1": good()}, {"year": year}) for n, year in enumerate([2019, 2022, None], 1)}
    write_batch(tables, "0001-a", made)
    assert year_counts(counted(tables)) == {"2019": 1, "2020": 0, "2021": 0, "2022": 1, "not known": 1}


@given(st.lists(st.integers(0, 40), max_size=30))
def test_mean_and_median_of_a_histogram_are_exact(values: list[int]) -> None:
    spread = spread_of(Counter(values))
    assert spread.median == (reference.median(values) if values else 0)
    assert spread.mean == pytest.approx(reference.fmean(values) if values else 0)


# invariants

PANELS = st.builds(
    PanelMade,
    members=st.sampled_from([(), (0,), (1,), (0, 1), (2, 3)]),
    types=st.sampled_from([[], ["OCT"], ["Other"], [None], ["CFP", "Other"]]),
    facts=st.sampled_from([{}, OPEN, {"confidence": 0.1}]),
    cut=st.booleans(),
    row=st.sampled_from([None, None, False]),
)
FIGURES = st.builds(
    FigureMade,
    panels=st.lists(PANELS, max_size=4, unique_by=lambda panel: panel.members[:1]),
    listed=st.booleans(),
    found=st.booleans(),
    detected=st.one_of(st.none(), st.integers(0, 5)),
    wanted=st.booleans(),
    annotated=st.booleans(),
)
ARTICLES = st.builds(
    ArticleMade,
    figures=st.dictionaries(st.sampled_from(["f1", "f2", "f3"]), FIGURES, max_size=3),
    facts=st.fixed_dictionaries(
        {
            "relevant": st.sampled_from([True, True, False]),
            "is_retracted": st.sampled_from([False, False, True]),
            "has_pdf": st.sampled_from([True, True, False]),
            "has_xml": st.booleans(),
            "license_code": st.sampled_from(["CC BY", "CC BY-NC", None]),
            "doi": st.sampled_from(["10.1/a", "10.1/b", None]),
        }
    ),
    fetched=st.sampled_from([True, True, False]),
    read=st.sampled_from([True, True, False]),
)
STAGES = ("article_packages", "articles", "pdf_figures", "figures", "panel_captions", "panels", "dataset_rows")
REJECTED = st.lists(
    st.tuples(
        st.sampled_from(STAGES), st.integers(1, 4), st.sampled_from([None, "f1", "f2"]), st.sampled_from(["A", "B"])
    ),
    max_size=4,
)


@pytest.mark.slow  # batches of every kind are written; examples above hold the same rule
@examples(30)
@given(
    st.lists(st.tuples(st.dictionaries(st.integers(1, 4), ARTICLES, max_size=4), REJECTED), max_size=3), st.booleans()
)
def test_whatever_batches_hold_the_books_balance(
    batches: list[tuple[dict[int, ArticleMade], list[tuple[str, int, str | None, str]]]], noncommercial: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(DataRoot(folder))
        for number, (articles, rejected) in enumerate(batches, 1):
            write_batch(tables, f"{number:04d}-x", articles, rejected)
        found = counted(tables, noncommercial=noncommercial)
        packages = sum(tables.read("article_packages", batch).height for batch in tables.batches("dataset_rows"))
    out = found.released
    assert [way.rest for way in found.waterfalls] == [out.articles, out.figures, out.panels], "as many as are released"
    assert found.waterfalls[0].came_in == packages
    for way in found.waterfalls:
        left = way.came_in
        for loss, before, after in way.steps():
            assert before == left
            assert after == left - loss.count
            assert 0 <= after <= before
            left = after
        assert left == way.rest
        assert way.losses[-1].step == NOT_ACCOUNTED_FOR


def test_a_package_whose_files_are_not_of_one_article_has_a_step_of_its_own(tables: Tables) -> None:
    write_batch(
        tables,
        "0001-a",
        {1: ArticleMade(read=False), 2: ArticleMade(read=False), 3: ArticleMade(read=False)},
        rejected=[
            ("articles", 1, None, "PdfOfAnotherArticle"),
            ("articles", 2, None, "MetadataOfAnotherArticle"),
            ("articles", 3, None, "WorkerDied"),
        ],
    )
    articles = release_statistics(tables, select_articles(tables), ENTRY, noncommercial=False).waterfalls[0]
    assert lost(articles) == {f.NOT_ONE_ARTICLE: 2, f.NOT_READ: 1}
    assert reasons(articles, f.NOT_ONE_ARTICLE) == {"MetadataOfAnotherArticle": 1, "PdfOfAnotherArticle": 1}


def test_figures_of_a_pdf_that_nothing_ties_to_the_xml_are_counted_where_they_were_rejected(tables: Tables) -> None:
    write_batch(
        tables,
        "0001-a",
        {1: ArticleMade({"f1": FigureMade(found=False)})},
        rejected=[
            ("figure_matches", 1, "f1", "FigureNotMatched"),
            ("figures", 1, "pdf-p0-1", "FigureUnconfirmed"),
        ],
    )
    found = release_statistics(tables, select_articles(tables), ENTRY, noncommercial=False)
    of_articles, of_figures, _ = found.waterfalls
    assert reasons(of_figures, f.REJECTED) == {
        "figure_matches: FigureNotMatched": 1, "figures: FigureUnconfirmed": 1
    }  # fmt: skip
    assert dict(of_figures.parts) == {f.LISTED: 1, f.FOUND: 1}
    assert lost(of_articles) == {f.REJECTED: 1}
    assert not any(not_accounted_for(found).values())


def test_a_figure_that_no_step_accounts_for_is_told(tables: Tables) -> None:
    write_batch(tables, "0001-a", {1: ArticleMade({"f1": good(), "f2": FigureMade(found=False)})})
    unknown = not_accounted_for(release_statistics(tables, select_articles(tables), ENTRY, noncommercial=False))
    assert unknown == {"articles": 0, "figures": 1, "panels": 0}


@given(
    st.dictionaries(
        st.builds(Outcome, st.sampled_from(["", "x", "y", "unheard of"]), st.text(max_size=2)), st.integers(1, 9)
    )
)
def test_a_step_that_nobody_named_is_not_accounted_for(outcomes: dict[Outcome, int]) -> None:
    total = sum(outcomes.values())
    counts = OutcomeCounts()
    counts.outcomes.update(outcomes)
    counts.parts.update({"came": total})
    way = waterfall("things", counts, ("x", "y"))
    assert way.rest == outcomes.get(IN_THE_RELEASE, 0)
    assert way.came_in - way.rest == sum(loss.count for loss in way.losses)
    assert {loss.step for loss in way.losses} <= {"x", "y", NOT_ACCOUNTED_FOR}
    assert all(len(loss.reasons) <= MOST_REASONS + 1 for loss in way.losses)


def test_rare_reasons_are_counted_together() -> None:
    counts = OutcomeCounts()
    counts.outcomes.update({Outcome("x", f"reason {n}"): n for n in range(1, MOST_REASONS + 3)})
    counts.outcomes[Outcome("x")] = 5
    counts.parts["came"] = counts.outcomes.total()
    (loss, _) = waterfall("things", counts, ("x",)).losses
    assert loss.reasons[0] == (f"reason {MOST_REASONS + 2}", MOST_REASONS + 2)
    assert loss.reasons[-1] == (OTHER_REASONS, 1 + 2 + 5)


@pytest.mark.parametrize(
    ("came_in", "parts", "losses", "rest"),
    [
        (5, (("a", 5),), (Loss("x", 1),), 3),
        (5, (("a", 4),), (Loss("x", 1),), 4),
        (5, (("a", 5),), (Loss("x", 2, (("why", 1),)),), 3),
    ],
)
def test_books_that_do_not_balance_are_refused(
    came_in: int, parts: tuple[tuple[str, int], ...], losses: tuple[Loss, ...], rest: int
) -> None:
    with pytest.raises(ValueError, match="things"):
        Waterfall("things", came_in, parts, losses, rest)


# views


def mixed(tables: Tables) -> ReleaseStatistics:
    write_batch(
        tables,
        "0001-a",
        {
            1: ArticleMade({"f1": good(3), "f2": FigureMade([PanelMade(facts=OPEN)])}, {"journal": "A | <b>"}),
            2: ArticleMade(facts={"relevant": False}),
        },
    )
    return counted(tables)


def test_the_papers_numbers_add_up() -> None:
    assert paper.ARTICLES_WITH_FIGURES.value + paper.ARTICLES_WITHOUT_FIGURES.value == paper.ARTICLES_AFTER_FILTER.value
    made = (
        paper.ASSEMBLED_AUTOMATICALLY, paper.ASSEMBLED_BY_MODEL, paper.ASSEMBLED_BY_PEOPLE, paper.GROUND_TRUTH,
    )  # fmt: skip
    assert sum(item.value for item in made) == paper.PANELS.value
    printed = [round(100 * (item.share or 0), 1) for item in paper.CONTAINS.values()]
    assert printed == [23.7, 42.5, 48.0, 10.5, 27.0], "the shares that the paper prints"


def test_every_number_stands_beside_the_papers(tables: Tables) -> None:
    lines = {line.name: line for line in compared(mixed(tables))}
    assert (lines["articles after the filter"].ours, lines["articles after the filter"].paper) == (1, 24_781)
    assert (lines["panels with OCT"].ours, lines["panels with OCT"].share) == (3, 1.0)
    unwanted = lines["figures without an image of a wanted type"]
    assert unwanted.paper == 37_915
    assert "figures" in unwanted.note
    assert unwanted.paper_share == pytest.approx(37_915 / 74_121)
    whole = lines["figures in the dataset"]
    assert (whole.ours, whole.share, whole.of) == (1, 0.5, "figures extracted")


def test_the_card_the_json_and_the_ui_say_the_same(tables: Tables) -> None:
    found = mixed(tables)
    text = statistics_markdown(found)
    data = statistics_json(found)
    assert json.loads(json.dumps(data)) == data
    assert data == statistics_json(counted(tables)), "the same for the same tables"
    (panels,) = [way for way in data["waterfalls"] if way["unit"] == "panels"]
    assert (panels["came_in"], panels["in_the_release"]) == (4, 3)
    assert "| no subcaption | 1 | 3 | n panels, n subcaptions (1) |" in text
    assert "| panels in the release |  | 3 |  |" in text
    assert "| A \\| &lt;b> | 1 |" in text, "what a journal is called cannot break out of its cell"
    rows = waterfall_rows(found)
    assert [row["still there"] for row in rows if row["unit"] == "panels"] == [4, 3, 3, 3]
    names = {row["number"]: row["this release"] for row in compared_rows(found)}
    assert names["panels in the dataset"] == 3
    assert [drop.label for drop in drops(found.waterfalls[2])] == [NO_SUBCAPTION]


def test_an_empty_root_has_statistics_too(tables: Tables) -> None:
    found = counted(tables)
    assert found.released.panels == 0
    assert statistics_markdown(found)
    assert all(line.share is None for line in compared(found))


def say(tables: Tables, batch: str, *panels: dict[str, Any]) -> None:
    """Write what the running text says of panels 0, 1 … of figure f1 of article 1."""
    summaries, entities, modalities = [], [], []
    for number, panel in enumerate(panels):
        key = {"article_id": 1, "image_cluster_id": "f1", "ordinal": number, "panel_id": f"p_1_f1_{number}"}
        mentions = [
            {
                "text": text,
                "identifier": None,
                "paragraph": 0,
                "start": 0,
                "end": len(text),
                "section": "results",
                "section_title": None,
                "kind": "names figure",
                "source": "xref",
            }
            for text in panel.get("mentions", ())
        ]
        summaries.append(
            {
                **key,
                "mentions": mentions,
                "mention_places": [],
                "summary": panel.get("summary"),
                "summary_places": [],
                "abbreviations": [],
                "generated_summary": panel.get("generated"),
                "model": None,
                "prompt_version": None,
                "refused": None,
            }
        )
        entities.append(
            {
                **key,
                "diseases": panel.get("diseases", []),
                "findings": [],
                "eye": panel.get("eye"),
                "entities": [
                    {
                        "group": group,
                        "term": "x",
                        "broader": [],
                        "text": "x",
                        "start": 0,
                        "end": 1,
                        "negated": negated,
                        "found_in": "subcaption",
                        "mention": None,
                        "uncertain": False,
                    }
                    for group, negated in panel.get("entities", ())
                ],
            }
        )
        modalities.append(
            {
                **key,
                "modality_class": panel.get("class", "V"),
                "modality": panel.get("modality"),
                "probability": 0.9,
                "pixel_modality": None,
                "pixel_probability": None,
                "word_modality": None,
                "word_probability": None,
                "agrees": None,
                "medical": True,
            }
        )
    for name, rows in (("summaries", summaries), ("entities", entities), ("modality", modalities)):
        tables.write(f"panel_{name}", batch, rows)


TOLD: tuple[dict[str, Any], ...] = (
    {"mentions": ["Four words of it.", "Two words"], "summary": "Two words", "diseases": ["macular disease", "AMD"],
     "entities": [("disease", False), ("finding", True), ("finding", False)], "eye": "OD", "modality": "OCT"},
    {"mentions": ["Two words"], "generated": "Made up.", "diseases": ["macular disease"], "modality": "plot",
     "class": "N"},
    {"mentions": []},
)  # fmt: skip


def test_what_the_text_says_of_panels_of_the_release_is_counted(tables: Tables) -> None:
    write_batch(tables, "0001-a", {1: ArticleMade({"f1": good(3)})})
    before = counted(tables).released
    assert (before.context.told, before.context.entities, before.context.words) == (0, {}, before.words)
    say(tables, "0001-a", *TOLD, {"mentions": ["Of a panel that is not in the release."], "diseases": ["glaucoma"]})
    found = counted(tables).released
    told = found.context
    assert found.words == before.words
    assert (told.told, told.summarised, told.generated) == (2, 1, 1)
    assert (told.mentions.mean, told.mentions.median) == (1, 1)
    assert told.panels_by_mentions == {
        "0": 1, "1": 1, "2": 1, "3": 0, "4": 0, "5 to 9": 0, "10 to 19": 0, "20 and more": 0,
    }  # fmt: skip
    assert told.words.mean == pytest.approx(found.words.mean + (6 + 2) / 3)
    assert (told.entities, told.negated, told.uncertain) == ({"finding": 2, "disease": 1}, 1, 0)
    assert told.diseases == {"macular disease": 2, "AMD": 1}
    assert told.eyes == {"OD": 1}
    assert told.modalities == {"OCT": 1, "plot": 1}
    assert told.modality_classes == {"V": 2, "N": 1}


def test_what_the_text_says_stands_in_card_json_and_report(tables: Tables) -> None:
    write_batch(tables, "0001-a", {1: ArticleMade({"f1": good(3)})})
    say(tables, "0001-a", *TOLD)
    found = counted(tables)
    assert json.loads(json.dumps(data := statistics_json(found))) == data
    assert data["released"]["context"]["diseases"] == {"macular disease": 2, "AMD": 1}
    text = statistics_markdown(found)
    assert "| panels of which a sentence speaks | 2 | 66.7 % |" in text
    assert "| macular disease | 2 |" in text
    page = summary_of(tables, found, [])
    for words in ("Entities by group", "Most frequent diseases", "1 negated", "visible light and retinal imaging"):
        assert words in page
    assert "Most frequent findings" not in page, "there are none"


def summary_of(tables: Tables, found: ReleaseStatistics, stages: list[str]) -> str:
    specialty = load_specialty("everything")
    return render_report(release_summary(tables, select_articles(tables), found, stages=stages, specialty=specialty))


def test_the_report_shows_the_waterfalls_and_quotes_no_forbidden_caption(tables: Tables) -> None:
    write_batch(
        tables, "0001-a", {1: ArticleMade({"f1": good()}, {"license_code": "CC BY-ND"}), 2: ArticleMade({"f1": good()})}
    )
    secret = "Nobody may pass on this sentence"
    rejected = [
        Rejection("subcaptions", number, "f1", "Odd", text) for number, text in ((1, secret), (2, "free words"))
    ]
    tables.write_rejections("subcaptions", "0001-a", rejected)
    page = summary_of(tables, counted(tables), ["subcaptions"])
    assert secret not in page
    assert "free words" in page
    assert page.count('class="bars way"') == 3
    assert re.search(r"panels in the release</span><span class=\"value\"><b>2</b>", page)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("“B” is printed in the panel, but its place says “C 2”",
         "“…” is printed in the panel, but its place says “…”"),
        ("12 panels, 3 subcaptions: this panel is rather none that is named",
         "n panels, n subcaptions: this panel is rather none that is named"),
        ("the vision model says that no subcaption belongs to it (2 of 2)",
         "the vision model says that no subcaption belongs to it"),
        ("“an open quote that no sign ends", "“…”"),
        ("", ""),
    ],
)  # fmt: skip
def test_reasons_of_one_kind_are_counted_together_without_what_they_quote(reason: str, kind: str) -> None:
    assert f.reason_kind(reason) == kind
