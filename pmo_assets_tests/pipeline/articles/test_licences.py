"""Licence codes: what PMC, publishers and Creative Commons write, and what each code allows."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.articles.licences import (
    LICENSE_CODES,
    allows_redistribution,
    commercial_use,
    license_code,
    license_statements,
    license_url,
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("https://creativecommons.org/licenses/by/4.0/", "CC BY"),
        ("http://creativecommons.org/licenses/by-nc-sa/3.0/igo/", "CC BY-NC-SA"),
        ("https://www.creativecommons.org/licenses/by-nc/2.5", "CC BY-NC"),
        ("creativecommons.org/licenses/by-nd-nc/1.0", "CC BY-NC-ND"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "CC0"),
        ("CC BY-NC-ND", "CC BY-NC-ND"),
        ("cc-by-sa-4.0", "CC BY-SA"),
        ("CC0", "CC0"),
        ("TDM", "TDM"),
        ("distributed under the Creative Commons Attribution License, which permits unrestricted use", "CC BY"),
        ("the Creative Commons Attribution Non-Commercial License", "CC BY-NC"),
        ("the Creative Commons Attribution-NonCommercial-NoDerivs 3.0 License", "CC BY-NC-ND"),
        ("Creative Commons Attribution – NonCommercial – ShareAlike", "CC BY-NC-SA"),
        ("Creative Commons Attribution-ShareAlike 4.0 International", "CC BY-SA"),
        ("Creative Commons Attribution NoDerivatives Works", "CC BY-ND"),
        ("Creative Commons License Attribution 4.0", "CC BY"),
        ("Creative Commons Non Commercial CC-BY-NC: http://www.creativecommons.org/licenses/by-nc/3.0/", "CC BY-NC"),
    ],
)
def test_code_of_urls_codes_and_wordings(text: str, code: str) -> None:
    assert license_code(text) == code


@pytest.mark.parametrize(
    "text",
    [
        "CC BY\N{NON-BREAKING HYPHEN}NC\N{NON-BREAKING HYPHEN}ND",
        "CC BY\N{EN DASH}NC\N{EN DASH}ND 4.0",
        "CC BY\N{MINUS SIGN}NC\N{MINUS SIGN}ND",
        "CC BY-N\N{ZERO WIDTH SPACE}C-N\N{SOFT HYPHEN}D",
        "CC BY-NCND",
        "CC BY-NC/ND",
        "CC BY (NC-ND)",
        "CC BY, NC, ND",
        "CC-BY-NonCommercial-NoDerivatives",
        "Creative Commons Attribution\N{HYPHEN}NonCommercial\N{HYPHEN}NoDerivs",
        "https://creativecommons.org/licenses/by\N{NON-BREAKING HYPHEN}nc\N{NON-BREAKING HYPHEN}nd/4.0/",
    ],
)
def test_no_condition_is_lost_to_the_way_it_is_written(text: str) -> None:
    assert license_code(text) == "CC BY-NC-ND"


@pytest.mark.parametrize("text", ["(CC BY) Sandra Noether", "CC BY. Ncube et al.", "CC BY 4.0 and SAGE"])
def test_words_behind_a_code_are_no_conditions(text: str) -> None:
    assert license_code(text) == "CC BY"


@pytest.mark.parametrize(
    "text",
    ["", None, "NO-CC CODE", "Elsevier user license", "https://creativecommons.org/publicdomain/mark/1.0/", "CC BYOD"],
)
def test_no_code_where_none_is_stated(text: str | None) -> None:
    assert license_code(text) is None


def test_conditions_of_use_are_not_elements_of_the_licence() -> None:
    text = "Creative Commons Attribution License, which permits unrestricted non-commercial use"

    assert license_code(text) == "CC BY"


def test_a_waiver_for_the_data_is_not_the_articles_licence() -> None:
    text = (
        "the Creative Commons Attribution License (http://creativecommons.org/licenses/by/4.0). The Creative Commons "
        "Public Domain Dedication waiver (http://creativecommons.org/publicdomain/zero/1.0/) applies to the data"
    )

    assert license_code(text) == "CC BY"


def test_of_several_licences_the_most_restrictive_counts() -> None:
    assert license_code("CC BY 4.0 for the text, CC BY-NC-ND 4.0 for the figures") == "CC BY-NC-ND"


BY_4 = "https://creativecommons.org/licenses/by/4.0/"


@pytest.mark.parametrize(
    ("code", "statement", "deed"),
    [
        ("CC BY", "http://creativecommons.org/licenses/by/4.0", BY_4),
        ("CC BY", "https://creativecommons.org/licenses/by/4.0/legalcode", BY_4),
        ("CC BY", "Attribution License (http://creativecommons.org/licenses/by/4.0), which permits", BY_4),
        ("CC BY", "https://creativecommons.org/licenses/by/3.0/us/", "https://creativecommons.org/licenses/by/3.0/us/"),
        ("CC BY", "Creative Commons Attribution License (CC BY 4.0)", BY_4),
        ("CC BY", "under the terms of the Creative Commons Attribution 4.0 licence. Any further distribution", BY_4),
        ("CC BY", "CC-BY 4.0 International license", BY_4),
        ("CC BY-NC-ND", "http://creativecommons.org/licenses/by-nd-nc/1.0/",
         "https://creativecommons.org/licenses/by-nd-nc/1.0/"),
        ("CC BY-NC", "Attribution-NonCommercial 4.0", None),
        ("CC BY-NC", "Creative Commons Attribution-NonCommercial 4.0 International",
         "https://creativecommons.org/licenses/by-nc/4.0/"),
        ("CC BY", "Creative Commons Attribution License, which permits unrestricted use (see section 3.0)", None),
        ("CC BY", "CC BY", None),
        ("CC BY", "https://creativecommons.org/licenses/by-nc/4.0/", None),
        ("CC BY", "CC BY 3.0 in the text and CC BY 4.0 in the footer", None),
        ("CC0", "CC0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        ("TDM", BY_4, None),
        (None, BY_4, None),
    ],
)  # fmt: skip
def test_the_deed_is_that_of_the_stated_version_and_none_is_made_up(
    code: str | None, statement: str, deed: str | None
) -> None:
    assert license_url(code, statement) == deed
    assert deed is None or license_code(deed) == code


def test_a_link_counts_before_a_text_and_the_first_statement_before_the_next() -> None:
    assert license_url("CC BY", "CC BY 3.0", BY_4) == BY_4
    assert license_url("CC BY", None, "CC BY 3.0", "CC BY 4.0") == "https://creativecommons.org/licenses/by/3.0/"


def test_without_a_stated_version_no_code_but_that_with_one_version_has_a_deed() -> None:
    assert [code for code in LICENSE_CODES if license_url(code, code)] == ["CC0"]


@pytest.mark.parametrize(
    ("code", "commercial", "redistribution"),
    [
        ("CC0", True, True),
        ("CC BY", True, True),
        ("CC BY-SA", True, True),
        ("CC BY-ND", True, False),
        ("CC BY-NC", False, True),
        ("CC BY-NC-SA", False, True),
        ("CC BY-NC-ND", False, False),
        ("TDM", False, False),
        (None, False, False),
        ("something else", False, False),
    ],
)
def test_what_a_code_allows(code: str | None, commercial: bool, redistribution: bool) -> None:
    assert (commercial_use(code), allows_redistribution(code)) == (commercial, redistribution)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "This is an open access article distributed under the Creative Commons Attribution License, which permits",
            "CC BY",
        ),
        ("© 2024 The Authors. Licensed under a Creative Commons Attribution-NonCommercial 4.0 licence.", "CC BY-NC"),
        ("made available under a CC-BY-NC-ND 4.0 International license .", "CC BY-NC-ND"),
        (".\nCC-BY 4.0 International license\navailable under a\n(which was not certified by peer review)", "CC BY"),
        ("Figure 2 is reproduced from [3] under CC BY 4.0.", None),
        ("We release the code on a repository.", None),
        ("", None),
    ],
)
def test_the_text_of_a_pdf_states_the_licence_of_the_article_and_not_of_what_it_quotes(
    text: str, expected: str | None
) -> None:
    assert license_code(license_statements(text)) == expected
