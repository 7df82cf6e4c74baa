"""What says that a figure is somebody else's, in the words of authors and publishers, and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.credit_lines import LONGEST, credit_line, joined_statements

FOREIGN = [
    "Reproduced with permission from Smith et al., Ophthalmology 2012.",
    "Reprinted from Retina, Vol 3, Jones A, with permission from Elsevier.",
    "Adapted from Lee et al. [12].",
    "Modified from Curcio (1990).",
    "(A) Fundus photograph. (B) OCT. Courtesy of Dr. J. Doe.",
    "Image courtesy: National Eye Institute.",
    "Photo credit: R. Roe",
    "© 2012 Elsevier",
    "Copyright 2010 American Academy of Ophthalmology. All rights reserved.",
    "From [12], with permission.",
    "Used with kind permission of Springer Science and Business Media.",
    "Images were kindly provided by Dr. X.",
    "This figure is not covered by the CC BY licence of this article.",
    "Panel B was taken from Smith et al. 2015.",
    "Redrawn after Hogan et al.",
    "Mit freundlicher Genehmigung des Thieme Verlags.",
    "Modifiziert nach Müller et al.",
    "Reproduit avec l'autorisation de l'éditeur.",
    "Adapté de Dupont et al.",
    "Reproducido con permiso de Elsevier.",
    "Adaptado de García et al.",
    "Imagen cortesía del Dr. Pérez.",
    "Reproduzido com permissão da editora.",
    "Per gentile concessione del Prof. Rossi.",
    "经Elsevier许可转载。",
    "图片来源：国家眼科研究所",
    "許可を得て転載",
    "Republished from BMJ under licence CC BY-NC.",
    "Permission obtained from the publisher.",
    "Figure licensed under CC BY-SA 4.0.",
]

OWN = [
    "Fundus photograph of the left eye before treatment.",
    "Data from the UK Biobank; mean ± SD.",
    "The results were reproduced in three independent experiments.",
    "Photographs were taken from the left eye of each mouse.",
    "Published with written consent of the patient.",
    "Images are shown with permission of the patient.",
    "Created with BioRender.com.",
    "(A) Control. (B) Treated. (C) 2012 cohort.",
    "© The Author(s) 2020",
    "© 2020 The Authors.",
    "The modified ETDRS grid is shown.",
    "Scale bar adapted to image size.",
    "OCT images obtained from the DRIVE dataset.",
    "Flow chart of articles included.",
    "Samples were taken from patients with diabetes.",
    "经患者同意发布",
    "All values were derived from Table 2.",
    "No permission was required.",
]


@pytest.mark.parametrize("line", FOREIGN)
def test_a_credit_line_is_found(line: str) -> None:
    assert credit_line(line) is not None


@pytest.mark.parametrize("line", OWN)
def test_what_is_the_authors_own_is_none(line: str) -> None:
    assert credit_line(line) is None


@pytest.mark.parametrize("line", [line for line in FOREIGN if line.isascii() and "(c)" not in line])
@given(before=st.sampled_from(OWN), after=st.sampled_from(OWN))
def test_no_other_words_free_a_figure(line: str, before: str, after: str) -> None:
    """Whatever stands beside it, also that something else is the authors' own."""
    assert credit_line(f"{before} {line} {after}") is not None


def test_the_sentence_is_the_reason() -> None:
    caption = "Fundus of the left eye. Adapted from Smith et al. 2012, with permission. Scale bar 200 µm."
    assert credit_line(caption) == "Adapted from Smith et al. 2012, with permission."


def test_a_reason_is_no_book() -> None:
    assert len(credit_line("Adapted from " + "x" * 10_000) or "") == LONGEST


def test_statements_are_joined_once_each() -> None:
    assert joined_statements([None, ""]) is None
    assert joined_statements(["© Elsevier", None, "© Elsevier", "Courtesy of B"]) == "© Elsevier | Courtesy of B"
