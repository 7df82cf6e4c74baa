"""Every word that takes a freedom away, put into statements of all kinds; and statements of any length."""

from __future__ import annotations

import random
import time

import pytest

from pmo_assets.pipeline.articles.licences import freedoms, license_code, license_statements, license_url
from pmo_assets_tests.pipeline.articles.licence_attacks import BOUNDS, CASES, SHAPES, inserted
from pmo_assets_tests.pipeline.articles.licence_table import known_statements

pytestmark = pytest.mark.faults

BASES = (
    "CC BY", "CC BY 4.0", "https://creativecommons.org/licenses/by/4.0/", "CC0", "© 2020 Elsevier Inc. CC BY 4.0",
    "This is an open access article under the CC BY license",
    "Dieser Artikel ist lizenziert unter der Creative Commons Namensnennung 4.0 International Lizenz",
    "Este artículo se distribuye bajo una licencia Creative Commons Atribución 4.0 Internacional",
    "Este é um artigo de acesso aberto distribuído nos termos da licença Creative Commons Attribution",
    "Cet article est publié sous licence Creative Commons Attribution 4.0 International",
    "本作品采用知识共享署名 4.0 国际许可协议 进行许可",
)  # fmt: skip


@pytest.mark.parametrize("base", BASES)
def test_every_word_in_every_place_shape_and_case(base: str) -> None:
    chosen = random.Random(0)
    wrong = []
    for word, freest in BOUNDS:
        for case in CASES:
            for place in range(len(base.split()) + 1):
                for shape in chosen.sample(SHAPES, 2):
                    text = inserted(base, shape.format(case(word)), place)
                    if not freedoms(license_code(text)) <= freedoms(freest) & freedoms(license_code(base)):
                        wrong.append(text)

    assert wrong == []


def test_every_word_in_every_known_statement() -> None:
    chosen = random.Random(0)
    wrong = []
    for statement in known_statements():
        if statement.code is None:
            continue
        for word, _ in chosen.sample(BOUNDS, 60):
            text = inserted(statement.text, chosen.choice(SHAPES).format(word), chosen.randrange(1000))
            if not freedoms(license_code(text)) <= freedoms(statement.code):
                wrong.append(text)

    assert wrong == []


LONG = (
    "CC BY-NC ",
    "a",
    ".",
    "by ",
    "CC ..........",
    "creativecommons.org/licenses/by-",
    "creativecommons.org/licenses/by/",
    "the use of ",
    "the images or other third party material in this article ",
    "a@",
    "1.",
    "Aa",
    "'",
    "a'",
    "a- ",
    "creativecommons . org / ",
    "http://",
    "本文采用",
    "© Aa ",
    "Aa et al ",
    "a.",
    "Attribution-",
    "a(s)",
    "\u0301",
    "(",
    "copyright creative commons\n",
    "© CC BY\n",
    "This is an open access article. ",
    "available under a CC. ",
    "deed ",
)


@pytest.mark.parametrize("piece", LONG)
def test_a_statement_of_any_length_is_read_in_linear_time(piece: str) -> None:
    license_code("CC BY")  # words are looked up for the first time
    text = (piece * 100_000)[:100_000]

    started = time.process_time()
    license_code(text)
    license_url("CC BY", text)
    license_statements(text)

    assert time.process_time() - started < 30
