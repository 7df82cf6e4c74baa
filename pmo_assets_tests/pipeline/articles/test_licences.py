"""Licence codes: what PMC, publishers and Creative Commons write, and what each code allows."""

from __future__ import annotations

from itertools import combinations_with_replacement

import pytest

from pmo_assets.pipeline.articles.licences import (
    LICENSE_CODES,
    TEXT_MINING,
    Freedom,
    allows_redistribution,
    commercial_use,
    freedoms,
    license_code,
    license_statements,
    license_url,
    most_restrictive,
)


def test_codes_come_back_unchanged() -> None:
    codes = (*LICENSE_CODES, "TDM")

    assert tuple(map(license_code, codes)) == codes
    assert license_code(" tdm ") == "TDM"


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


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CC BY. Ncube et al.", "CC BY"),
        ("© 2020 N. C. Sander, Société Anonyme. CC BY 4.0", "CC BY"),
        ("CC BY 4.0, published by Ophthalmic Press Ltd on behalf of the Society of Examples", "CC BY"),
        ("(CC BY) Sandra Noether", None),
        ("CC BY 4.0 and SAGE", "CC BY"),
        ("CC BY 4.0 and Elsevier licence", None),
        ("Elsevier licence CC BY 4.0", None),
    ],
)
def test_a_name_is_understood_where_a_statement_announces_one(text: str, code: str | None) -> None:
    assert license_code(text) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        None,
        " ",
        "NO-CC CODE",
        "none",
        "open-access",
        "CC BYOD",
        "CC",
        "Creative Commons",
        "Open Access under the terms of the Creative Commons licence",
        "https://creativecommons.org/",
        "https://creativecommons.org/publicdomain/mark/1.0/",
        "https://creativecommons.org/licenses/by-nc-xy/4.0/",
        "https://creativecommons.org/licenses/sampling+/1.0/",
        "https://example.org/licenses/by/4.0/",
        "All rights reserved.",
        "© 2020 Elsevier B.V. All rights reserved.",
        "Elsevier user license",
        "https://www.elsevier.com/open-access/userlicense/1.0/",
        "http://www.elsevier.com/tdm/userlicense/1.0/",
        "http://doi.wiley.com/10.1002/tdm_license_1.1",
        "https://www.springernature.com/gp/open-research/policies/accepted-manuscript-terms",
        "Users may view, print, copy, and download text and data-mine the content in such documents, for the purposes "
        "of academic research, subject always to the full Conditions of use",
        "This article is made available via the PMC Open Access Subset for unrestricted research re-use and secondary "
        "analysis in any form or by any means with acknowledgement of the original source.",
        "This is an open access article published under an ACS AuthorChoice License",
        "This is a U.S. Government work in the public domain.",
        "NIHMS public access",
        "Reuse is permitted with attribution, non-commercial use only.",
        "for non-commercial purposes, no derivatives, share alike",
    ],
)
def test_no_code_where_none_is_stated(text: str | None) -> None:
    assert license_code(text) is None


def test_a_condition_of_use_counts_also_where_the_licences_name_lacks_it() -> None:
    assert license_code("Creative Commons Attribution License, which permits non-commercial use") == "CC BY-NC"
    assert license_code("Creative Commons Attribution License, for commercial and non-commercial use") == "CC BY"


def test_a_waiver_for_the_data_is_not_the_articles_licence() -> None:
    text = (
        "the Creative Commons Attribution License (http://creativecommons.org/licenses/by/4.0). The Creative Commons "
        "Public Domain Dedication waiver (http://creativecommons.org/publicdomain/zero/1.0/) applies to the data"
    )

    assert license_code(text) == "CC BY"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CC BY 4.0 | CC BY-NC-ND 4.0", "CC BY-NC-ND"),
        ("CC BY 4.0 for the text, CC BY-NC-ND 4.0 for the figures", None),
        ("http://creativecommons.org/licenses/by/4.0/ Creative Commons Attribution-NonCommercial License", "CC BY-NC"),
        ("CC BY-ND here and CC BY-NC there", "CC BY-NC-ND"),
        ("CC BY-SA here and CC BY-NC there", "CC BY-NC-SA"),
        ("CC BY-SA here and CC BY-ND there", "CC BY-ND"),
        ("CC0 for the data, CC BY-NC for the article", "CC BY-NC"),
        ("This file is available for text mining under CC BY", "CC BY"),
        ("CC0. This file is available for text mining.", "CC0"),
        ("© 2020 The Author. All rights reserved. Creative Commons Attribution License", None),
    ],
)
def test_of_several_licences_the_conditions_of_all_hold(text: str, code: str) -> None:
    assert license_code(text) == code


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
        ("CC BY", "http://creativecommons.org/licenses/by/2.1/jp/", "https://creativecommons.org/licenses/by/2.1/jp/"),
        ("CC BY", "https://creativecommons.org/licenses/by/4.0/deed.de", BY_4),
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


CODES = (*LICENSE_CODES, TEXT_MINING)


def test_every_code_allows_something_else_and_an_unknown_one_nothing() -> None:
    assert len({freedoms(code) for code in (*CODES, None)}) == len(CODES) + 1
    assert freedoms("CC0") == frozenset(Freedom)
    assert freedoms(None) == freedoms("Elsevier user licence") == frozenset()


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (["CC BY"], "CC BY"),
        (["CC0", "CC BY"], "CC BY"),
        (["CC BY", "CC BY-NC"], "CC BY-NC"),
        (["CC BY-SA", "CC BY-NC"], "CC BY-NC-SA"),
        (["CC BY-ND", "CC BY-NC"], "CC BY-NC-ND"),
        (["CC BY-SA", "CC BY-ND"], "CC BY-ND"),
        (["CC BY-NC-SA", "CC BY-ND"], "CC BY-NC-ND"),
        (["CC BY", "TDM"], "TDM"),
        (["CC BY", None], None),
        ([None, "CC0"], None),
        (["CC BY", "all rights reserved"], None),
        ([], None),
    ],
)
def test_of_several_codes_all_conditions_hold_and_an_unknown_one_wins(
    codes: list[str | None], expected: str | None
) -> None:
    assert most_restrictive(codes) == expected


@pytest.mark.parametrize("codes", list(combinations_with_replacement((*CODES, None), 2)))
def test_what_two_codes_allow_together_is_exactly_what_both_allow(codes: tuple[str | None, str | None]) -> None:
    first, second = codes

    assert freedoms(most_restrictive(codes)) == freedoms(first) & freedoms(second)
    assert most_restrictive(codes) == most_restrictive(reversed(codes))


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
