"""What comes from articles is hostile until it has passed through here."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.viewing.markup import content_hash, number_text, page_templates, plain_text, slug, web_url


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        " JaVaScRiPt:alert(1)",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "//example.org/x",
        "/articles/1",
        "http://",
        "http://[::1",
        "file:///etc/passwd",
        "",
        None,
    ],
)
def test_only_absolute_web_links_pass(url):
    assert web_url(url) is None


def test_a_web_link_passes_unchanged():
    url = "https://pmc.ncbi.nlm.nih.gov/articles/PMC4736323/?a=1&b=2#x"
    assert web_url(url) == url


@given(st.text())
def test_plain_text_keeps_its_length_and_can_be_encoded(text):
    plain = plain_text(text)
    assert len(plain) == len(text)
    assert plain.encode("utf-8").decode("utf-8") == plain
    assert plain_text(plain) == plain


def test_control_characters_and_direction_overrides_are_replaced_but_text_is_not():
    assert plain_text("a\x00b\u202ec\ud800") == "a\ufffdb\ufffdc\ufffd"
    assert plain_text("μm ≥ 3\n网膜 العين") == "μm ≥ 3\n网膜 العين"


@given(st.text())
def test_a_slug_is_a_safe_part_of_an_id(text):
    assert set(slug(text)) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-")
    assert slug(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234567, "1,234,567"), (0, "0"), (0.12345, "0.123"), (12345.6, "12,346"), (2.0, "2"), (-3, "-3")],
)
def test_numbers_are_written_for_people(value, text):
    assert number_text(value) == text


def test_templates_escape_and_refuse_unknown_names():
    environment = page_templates()
    assert environment.from_string("{{ x }}").render(x="<b>\x00") == "&lt;b&gt;\ufffd"
    with pytest.raises(Exception, match="undefined"):
        environment.from_string("{{ missing }}").render()


def test_the_content_hash_is_that_of_the_csp_standard():
    # Example of the CSP Level 3 specification, section 6.7.2.
    assert content_hash("alert('Hello, world.');") == "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
