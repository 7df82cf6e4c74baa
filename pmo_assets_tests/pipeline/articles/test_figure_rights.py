"""A figure's own licence, holder and source in the XML: `<permissions>`, `<attrib>`, its caption."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.articles.jats import parse_jats

ARTICLE = """<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>
<permissions><license xlink:href="https://creativecommons.org/licenses/by/4.0/"/></permissions></article-meta></front>
<body><fig id="f1"><label>Figure 1</label><caption><p>{caption}</p></caption>
<graphic xlink:href="one.jpg"/>{extra}</fig></body></article>"""


def statement(extra: str = "", caption: str = "Fundus of the left eye.") -> str | None:
    (figure,) = parse_jats(ARTICLE.format(extra=extra, caption=caption).encode()).figures
    return figure.rights_statement


def test_a_figure_without_a_word_of_it_is_the_article_s() -> None:
    assert statement() is None


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ("<permissions><copyright-statement>© 2012 Elsevier</copyright-statement></permissions>", "© 2012 Elsevier"),
        ("<permissions><copyright-holder>Elsevier</copyright-holder></permissions>", "Elsevier"),
        (
            '<permissions><license xlink:href="https://creativecommons.org/licenses/by-nc/4.0/"/></permissions>',
            "creativecommons.org/licenses/by-nc/4.0/",
        ),
        ("<permissions><license><license-p>All rights reserved.</license-p></license></permissions>", "All rights"),
        ("<attrib>R. Roe, Eye Bank</attrib>", "R. Roe, Eye Bank"),
    ],
)
def test_what_stands_at_the_figure_is_read(extra: str, said: str) -> None:
    assert said in (statement(extra) or "")


def test_the_authors_own_copyright_says_nothing_new() -> None:
    own = "<permissions><copyright-statement>© 2020 The Author(s)</copyright-statement></permissions>"
    assert statement(own) is None


def test_a_credit_line_in_the_caption_is_read() -> None:
    assert statement(caption="(A) Fundus. (B) OCT, courtesy of Dr. Doe.") == "(B) OCT, courtesy of Dr. Doe."
