"""The numbers of a release, and the way into it: every unit has one fate, and what is lost is named."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmo_assets.pipeline.dataset.identity import ArticlePackage, Duplicate
from pmo_assets.pipeline.dataset.rows import NO_SUBCAPTION, UNSURE_SUBCAPTION
from pmo_assets.records.rejections import Rejection
from pmo_assets.release import fates as f
from pmo_assets.release.selection import Selection, select_articles
from pmo_assets.release.statistics import Spread, _spread, release_statistics
from pmo_assets.release.waterfall import NOT_ACCOUNTED_FOR, OTHER_REASONS, Fate, FateCounts, Loss, Waterfall, waterfall
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.release.batches import ENTRY, ArticleMade, FigureMade, PanelMade, write_batch

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
