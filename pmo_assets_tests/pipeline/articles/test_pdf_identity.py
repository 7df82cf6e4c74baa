"""Whether PDF, XML and metadata are of one article: true pairs stay, crossed pairs are rejected, the rest is open."""

from __future__ import annotations

import itertools
import random
import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pymupdf
import pytest

from pmo_assets.pipeline.articles.front_page import FrontMatter, read_front_matter
from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.articles.pdf_identity import (
    SAME_TEXT,
    MetadataOfAnotherArticle,
    PdfIdentity,
    PdfOfAnotherArticle,
    check_metadata,
    identity_with_metadata,
    identity_with_xml,
    same_title,
)
from pmo_assets.records.article import Article
from pmo_assets.samples.packages import sample_articles
from pmo_assets_tests.faults.wrong_pdf import behind_the_right_first_page, without_text
from pmo_assets_tests.pipeline.articles.jats_articles import parsed

TITLE = "Thickness of the Cornea after Sutureless Surgery of the Lens"
DOI = "10.1000/cornea.1"
OTHER_TITLE = "Venous Ulcers of the Lower Leg in Patients with Diabetes"
OTHER_DOI = "10.1000/legs.9"

_SMALL = "the of and in was were with a to for by that this at on from are is as after between during".split()  # noqa: SIM905
_SYLLABLES = "cor ne al ret in ul ven os lim bal op tic mac ar ter vit re sti pha ko gra lu min est ra".split()  # noqa: SIM905


def prose(seed: int, words: int = 900) -> str:
    """Return sentences of small words that all texts share and long ones of this text alone."""
    rng = random.Random(seed)
    own = ["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(150)]
    text = [rng.choice(_SMALL if number % 2 else own) for number in range(words)]
    return ". ".join(" ".join(text[at : at + 14]).capitalize() for at in range(0, words, 14)) + "."


def article(title: str = TITLE, doi: str | None = DOI, text: str = "", authors: Sequence[str] = ()) -> Article:
    """Return an XML's facts."""
    names = "".join(
        f'<contrib contrib-type="author"><name><surname>{name.split()[-1]}</surname>'
        f"<given-names>{name.split()[0]}</given-names></name></contrib>"
        for name in authors
    )
    meta = (
        f'<article-id pub-id-type="doi">{doi}</article-id>' if doi else ""
    ) + f"<title-group><article-title>{title}</article-title></title-group><contrib-group>{names}</contrib-group>"
    return parsed(f"<p>{text}</p>" if text else "", meta=meta)


def printed(
    title: str = TITLE,
    doi: str | None = DOI,
    text: str = "",
    *,
    authors: str = "Ada Author and Bo Writer",
    columns: int = 1,
    above: str = "",
    numbered: bool = False,
    font: str = "helv",
) -> bytes:
    """Return a PDF with title, byline and DOI on its first page, and the text set in columns with broken words."""
    document = pymupdf.open()
    page = document.new_page()
    if doi:
        page.insert_text((60, 40), f"doi:{doi}", fontsize=8)
    page.insert_text((60, 80), above, fontsize=12)
    for number, part in enumerate(textwrap.wrap(title, 46)):
        page.insert_text((60, 110 + 22 * number), part, fontsize=18, fontname=font)
    page.insert_text((60, 180), authors, fontsize=11)
    width = 50 if font == "china-s" else 90 // columns - 4 * (columns - 1)
    lines = [text[at : at + width] for at in range(0, len(text), width)]
    left, top = 0, 220
    for number, line in enumerate(lines):
        if top > 780:
            left, top = left + 1, 60 if page.number else 220
            if left == columns:
                page, left, top = document.new_page(), 0, 60
        broken = (
            line + "-" if line[-1:].isalpha() and number + 1 < len(lines) and lines[number + 1][:1].isalpha() else line
        )
        shown = f"{number + 1:3d} {broken}" if numbered else broken
        page.insert_text((60 + left * 480 / columns, top), shown, fontsize=9, fontname=font)
        top += 11
    return bytes(document.tobytes())


def identity(of: Article, pdf: bytes) -> PdfIdentity:
    return identity_with_xml(of, pdf, lambda: read_front_matter(pdf))


CORNEA, LEGS = prose(1), prose(2)


@cache
def readable_samples() -> list[tuple[str, Article, bytes]]:
    found = []
    for sample in sample_articles():
        if (
            sample.pdf is None
            or sample.xml is None
            or not (sample.expected.pdf_readable and sample.expected.xml_readable)
        ):
            continue
        found.append((sample.name, parse_jats(sample.xml), sample.pdf))
    return found


# true pairs


@pytest.mark.slow
def test_the_sample_articles_with_their_own_pdf_are_verified_by_their_text() -> None:
    assert len(readable_samples()) >= 9
    for name, xml, pdf in readable_samples():
        found = identity(xml, pdf)
        assert found.verdict == "verified", name
        assert {"text", "DOI"} <= set(found.evidence), name


@pytest.mark.slow  # all pairs
def test_every_crossed_pair_of_sample_articles_is_rejected_although_they_share_their_sentences() -> None:
    for (name, xml, _), (other, _, pdf) in itertools.permutations(readable_samples(), 2):
        try:
            found = identity(xml, pdf)
        except PdfOfAnotherArticle:
            continue
        pytest.fail(f"the PDF of {other} passes as {name}: {found}")


@pytest.mark.parametrize("form", [{}, {"columns": 2}, {"numbered": True}, {"doi": None}, {"title": "Untitled"}])
def test_layout_hyphens_and_line_numbers_do_not_matter(form: dict[str, object]) -> None:
    assert identity(article(text=CORNEA), printed(**{"text": CORNEA, **form})).verdict == "verified"  # type: ignore[arg-type]


def test_a_cover_sheet_before_the_first_page_does_not_matter() -> None:
    cover = pymupdf.open()
    cover.new_page().insert_text((60, 100), "This is a repository copy. Downloaded from a library.", fontsize=11)
    cover.insert_pdf(pymupdf.open(stream=printed(text=CORNEA)))
    assert identity(article(text=CORNEA), cover.tobytes()).verdict == "verified"


def test_a_preprint_with_another_title_and_doi_but_the_same_text_is_the_same_work() -> None:
    preprint = printed("Corneal thickness: a first look", "10.1101/2020.01.01", CORNEA)
    found = identity(article(text=CORNEA), preprint)
    assert (found.verdict, found.evidence[:1]) == ("verified", ("text",))


def test_a_text_in_chinese_is_compared_character_by_character() -> None:
    rng = random.Random(3)
    signs = [chr(0x4E00 + rng.randrange(2000)) for _ in range(300)]
    mine, other = ("".join(rng.choices(signs, k=2500)) for _ in range(2))
    assert identity(article(text=mine), printed(text=mine, font="china-s")).verdict == "verified"
    with pytest.raises(PdfOfAnotherArticle):
        identity(article(text=mine), printed(OTHER_TITLE, OTHER_DOI, other, font="china-s"))


# wrong pairs


def test_the_pdf_of_another_article_is_rejected_with_both_titles_and_what_to_do() -> None:
    with pytest.raises(PdfOfAnotherArticle) as raised:
        identity(article(text=CORNEA), printed(OTHER_TITLE, OTHER_DOI, LEGS))
    assert all(part in str(raised.value) for part in (TITLE, DOI, OTHER_TITLE, OTHER_DOI, "put the right PDF"))


@pytest.mark.parametrize("notice", ["Correction to: ", "Author response to: ", "Comment on: ", "Erratum: "])
def test_a_notice_about_an_article_is_not_the_article_and_the_other_way_round(notice: str) -> None:
    short = f"In the article titled {TITLE} there was an error in the second figure. " + prose(7, 60)
    with pytest.raises(PdfOfAnotherArticle):
        identity(article(text=CORNEA), printed(notice + TITLE, "10.1000/cornea.2", short))
    with pytest.raises(PdfOfAnotherArticle):
        identity(article(notice + TITLE, "10.1000/cornea.2", short), printed(text=CORNEA))
    assert identity(article(notice + TITLE, "10.1000/cornea.2", short),
                    printed(notice + TITLE, "10.1000/cornea.2", short)).verdict == "verified"  # fmt: skip


def test_two_notices_from_one_template_are_told_apart_by_title_and_doi() -> None:
    template = "This article has been retracted as it was found to contain a substantial amount of material. " * 4
    with pytest.raises(PdfOfAnotherArticle):
        identity(
            article(f"Retracted: {TITLE}", DOI, template), printed(f"Retracted: {OTHER_TITLE}", OTHER_DOI, template)
        )


def test_the_second_part_of_a_study_by_the_same_authors_is_another_article() -> None:
    methods = CORNEA[:2500]
    first = article(f"{TITLE}, Part I", DOI, methods + prose(4), authors=["Ada Author", "Bo Writer"])
    with pytest.raises(PdfOfAnotherArticle):
        identity(first, printed(f"{TITLE}, Part II", "10.1000/cornea.2", methods + prose(5)))
    assert identity(first, printed(f"{TITLE}, Part II", None, methods + prose(5))).verdict == "unverified"


def test_titles_are_one_articles_unless_they_count_or_correct() -> None:
    assert same_title(TITLE, TITLE.upper())
    assert not same_title(f"{TITLE}, Part I", f"{TITLE}, Part II")
    assert not same_title(TITLE, f"Correction to: {TITLE}")
    assert same_title(f"Correction to: {TITLE}", f"Correction to: {TITLE}")
    assert not same_title(f"Correction to: {TITLE}", f"Correction to: {OTHER_TITLE}")


# nothing either way


def test_a_scan_without_text_is_unverified_not_believed() -> None:
    assert identity(article(text=CORNEA), without_text(printed(text=CORNEA))) == PdfIdentity("unverified", (), 0.0)


def test_the_right_first_page_before_another_articles_body_is_unverified() -> None:
    joined = behind_the_right_first_page(printed(text=CORNEA), printed(OTHER_TITLE, OTHER_DOI, LEGS))
    assert identity(article(text=CORNEA), joined).verdict == "unverified"


def test_the_right_first_page_of_a_short_article_that_holds_most_of_its_text_shows_nothing_of_what_follows() -> None:
    """Its text is the XML's to more than `SAME_TEXT`; that of the last part is not."""
    short = CORNEA[:5300]
    joined = behind_the_right_first_page(printed(text=short), printed(OTHER_TITLE, OTHER_DOI, LEGS))
    found = identity(article(text=short), joined)
    assert found.verdict == "unverified"
    assert found.text_overlap is not None
    assert found.text_overlap >= SAME_TEXT


def test_letters_that_no_font_maps_to_characters_are_unverified() -> None:
    garbled = str.maketrans("abcdefghijklmnopqrstuvwxyz", "qzxjkvwpymbfghucldtrsnaoei")
    pdf = printed("", None, LEGS.translate(garbled), authors="")
    assert identity(article(text=CORNEA), pdf).verdict == "unverified"


def test_an_xml_of_nothing_but_front_matter_is_compared_by_title_and_doi() -> None:
    front = article(authors=["Ada Author", "Bo Writer"])
    found = identity(front, printed(text=CORNEA))
    assert (found.verdict, found.text_overlap) == ("verified", None)
    assert {"DOI", "title", "authors"} <= set(found.evidence)
    with pytest.raises(PdfOfAnotherArticle):
        identity(front, printed(OTHER_TITLE, OTHER_DOI, LEGS, authors="Cy Carver and Di Drawer"))


def test_an_xml_that_names_no_article_contradicts_no_pdf_and_shows_nothing() -> None:
    assert identity(article("", None), printed(text=CORNEA)) == PdfIdentity("unverified")


def test_a_translation_is_known_by_doi_and_authors() -> None:
    foreign = re.sub(r"\b(?:" + "|".join(_SMALL) + r")\b", lambda word: f"{word[0][::-1]}xu", LEGS)
    authors = ["Ada Author", "Bo Writer"]
    translated = printed("Espessura da superficie do olho apos cirurgia", DOI, foreign)
    assert identity(article(text=CORNEA, authors=authors), translated).verdict == "verified"
    without = printed("Espessura da superficie do olho apos cirurgia", None, foreign)
    assert identity(article(text=CORNEA, authors=authors), without).verdict == "unverified"


# metadata


def test_metadata_of_another_article_beside_an_xml_are_rejected_with_both() -> None:
    with pytest.raises(MetadataOfAnotherArticle, match=f"{OTHER_TITLE}.*{TITLE}.*metadata.json"):
        check_metadata(OTHER_TITLE, OTHER_DOI, article(), FrontMatter)
    with pytest.raises(MetadataOfAnotherArticle):
        check_metadata(OTHER_TITLE, None, article(), FrontMatter)
    with pytest.raises(MetadataOfAnotherArticle):
        check_metadata(None, OTHER_DOI, article(), FrontMatter)


@pytest.mark.parametrize(
    ("title", "doi"),
    [
        (None, None),
        ("T", None),
        (TITLE, None),
        (TITLE.upper() + ".", OTHER_DOI),
        (OTHER_TITLE, DOI.upper()),
        (None, f"{DOI}.v2"),
        (f"{TITLE}: A Case Series", None),
        ("After sutureless surgery of the lens: thickness of the cornea", None),
    ],
)
def test_metadata_of_which_title_or_doi_agree_or_that_name_nothing_are_taken(
    title: str | None, doi: str | None
) -> None:
    check_metadata(title, doi, article(), FrontMatter)


def test_a_title_that_the_pdf_gives_in_another_language_agrees() -> None:
    check_metadata(OTHER_TITLE, None, article(), lambda: replace(FrontMatter(), title=OTHER_TITLE))


def test_metadata_beside_a_pdf_alone_must_not_contradict_its_front_page() -> None:
    def compared(title: str | None, doi: str | None, pdf: bytes) -> PdfIdentity | None:
        return identity_with_metadata(title, doi, pdf, read_front_matter(pdf))

    mine = printed(text=CORNEA)
    assert compared(None, None, mine) is None
    for title, doi in ((TITLE, None), (None, DOI), (OTHER_TITLE, DOI), (TITLE, OTHER_DOI)):
        found = compared(title, doi, mine)
        assert found is not None
        assert found.verdict == "verified"
    for title, doi in ((OTHER_TITLE, OTHER_DOI), (OTHER_TITLE, None), (None, OTHER_DOI)):
        with pytest.raises(PdfOfAnotherArticle, match="metadata"):
            compared(title, doi, mine)
    assert compared(TITLE, DOI, without_text(mine)) == PdfIdentity("unverified")
