"""Which packages are the same article, and which of them is published."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.dataset.identity import (
    ArticlePackage,
    KnownIdentifiers,
    confirm,
    contradict,
    duplicates,
    judged,
    same_articles,
    shared_identifier,
)


def package(number: int, **facts: object) -> ArticlePackage:
    known = {"article_id": number, "name": f"n{number}", "rows": 3, "doi_is_stated": True}
    return ArticlePackage(**{**known, **facts})  # type: ignore[arg-type]


def numbers(packages: list[ArticlePackage]) -> list[list[int]]:
    return [[item.article_id for item in group] for group in same_articles(packages)]


LOCAL = 10**12

# the same or not


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ({"pmcid": 5}, {"pmcid": 5, "doi": "10.1/b"}, "PMC number"),
        ({"doi": "10.1/A"}, {"doi": "10.1/a"}, "DOI"),
        ({"pdf_digest": "x"}, {"pdf_digest": "x"}, "PDF"),
        ({"pmcid": 5, "doi": "10.1/a"}, {"doi": "10.1/a"}, "DOI"),
        ({"pmcid": 5, "doi": "10.1/a"}, {"pmcid": 6, "doi": "10.1/a"}, None),
        ({"doi": "10.1/a", "pdf_digest": "x"}, {"doi": "10.1/b", "pdf_digest": "x"}, None),
        ({"doi": "10.1/a"}, {"pdf_digest": "x"}, None),
        ({}, {}, None),
    ],
)
def test_the_strongest_identifier_that_both_have_decides(
    one: dict[str, object], other: dict[str, object], kind: str | None
) -> None:
    pair = [package(LOCAL + 1, **one), package(LOCAL + 2, **other)]
    assert shared_identifier(*pair) == shared_identifier(*reversed(pair)) == kind
    assert len(same_articles(pair)) == (1 if kind else 2)


TITLE = "Serous macular detachment secondary to an optic pit"
READ = {"doi": "10.1/a", "doi_is_stated": False}


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ({"title": TITLE}, {**READ, "title": TITLE.upper()}, "DOI"),
        ({"title": TITLE}, {**READ, "title": f"RETRACTED: {TITLE}"}, "DOI"),
        ({**READ, "title": TITLE}, {**READ, "title": f"{TITLE}s"}, "DOI"),
        ({"pdf_digest": "x"}, {**READ, "pdf_digest": "x"}, "DOI"),
        ({"title": TITLE}, {**READ, "title": "Another paper about macular holes in the eye"}, None),
        ({"title": TITLE}, {**READ, "title": f"Comment on: {TITLE}"}, None),
        ({"title": TITLE}, {**READ, "title": f"Correction to: {TITLE}"}, None),
        ({"title": TITLE}, {**READ, "title": f"{TITLE}—Author's reply"}, None),
        ({**READ, "title": f"Comment on: {TITLE}"}, {**READ, "title": f"Comment on: {TITLE}"}, None),
        ({"title": TITLE}, READ, None),
        (READ, READ, None),
        ({"pdf_digest": "x"}, {**READ, "pdf_digest": "y"}, None),
    ],
)
def test_a_doi_that_was_read_from_a_pdf_shows_nothing_by_itself(
    one: dict[str, object], other: dict[str, object], kind: str | None
) -> None:
    pair = [package(LOCAL + 1, **{"doi": "10.1/a", **one}), package(LOCAL + 2, **other)]
    assert shared_identifier(*pair) == shared_identifier(*reversed(pair)) == kind
    assert len(same_articles(pair)) == (1 if kind else 2)


def test_a_doi_that_was_read_joins_whichever_of_the_stated_ones_has_its_title() -> None:
    nameless, titled = package(LOCAL + 1, doi="10.1/a"), package(LOCAL + 3, doi="10.1/a", title=TITLE)
    assert numbers([package(LOCAL + 2, **READ, title=TITLE), titled, nameless]) == [[LOCAL + 1, LOCAL + 2, LOCAL + 3]]


def test_a_package_that_shows_two_groups_to_be_one_article_joins_them() -> None:
    scan, print_ = (package(LOCAL + n, **READ, title=title) for n, title in ((1, TITLE), (2, "")))
    copy = package(LOCAL + 3, **READ, title=TITLE)
    assert numbers([scan, print_, copy]) == [[LOCAL + 1, LOCAL + 3], [LOCAL + 2]]
    copy = replace(copy, pdf_digest="x")
    assert numbers([scan, replace(print_, pdf_digest="x"), copy]) == [[LOCAL + 1, LOCAL + 2, LOCAL + 3]]


def test_abstracts_of_one_conference_share_a_pdf_and_stay_articles_of_their_own() -> None:
    abstracts = [package(LOCAL + n, doi=f"10.1/{n}", pdf_digest="volume") for n in range(4)]
    assert duplicates(abstracts) == []


def test_articles_are_the_same_through_a_third_package() -> None:
    a = package(LOCAL + 1, doi="10.1/a", pdf_digest="publisher")
    b = package(LOCAL + 2, doi="10.1/a", pdf_digest="repository")
    c = package(LOCAL + 3, pdf_digest="repository")
    found = duplicates([c, a, b])
    assert [(item.package.name, item.published.name, item.identifier, item.shared_with.name) for item in found] == [
        (b.name, a.name, "DOI", a.name),
        (c.name, a.name, "PDF", b.name),
    ]


def test_a_nameless_copy_of_two_articles_pdf_joins_them_not_but_is_not_published_again() -> None:
    first, second = (package(LOCAL + n, doi=f"10.1/{n}", pdf_digest="volume") for n in (1, 2))
    copy = package(LOCAL + 3, pdf_digest="volume")
    assert numbers([copy, second, first]) == [[LOCAL + 1, LOCAL + 3], [LOCAL + 2]]


# what is claimed and not believed

VICTIM = {"doi": "10.1/a", "title": TITLE, "authors": ("Ada Author", "Bo Writer"), "has_xml": True}
STRANGER = {"title": "Another paper about macular holes in the eye", "authors": ("Mal Lory",)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (STRANGER, {}),
        ({**STRANGER, "authors": ()}, {}),
        ({**STRANGER, "title": None}, {}),
        ({**STRANGER, "title": TITLE, "title_is_own": False}, {}),
        ({"title": f"Comment on: {TITLE}", "authors": ("Mal Lory",)}, {}),
    ],
)
def test_who_claims_a_doi_and_is_another_article_is_a_conflict(
    one: dict[str, object], other: dict[str, object]
) -> None:
    claimant = package(LOCAL + 1, doi="10.1/a", version=9, batch=9, **one)
    victim = package(LOCAL + 2, **{**VICTIM, **other})
    assert duplicates([claimant, victim]) == []
    (conflict,) = judged([victim, claimant])[1]
    assert (conflict.package, conflict.other, conflict.value) == (claimant, victim, "10.1/a")


@pytest.mark.parametrize(
    "facts",
    [
        {"title": f"{TITLE}: a case report", "authors": ()},
        {"title": "Seröse Makulaabhebung bei Grubenpapille", "authors": ("A. Author", "B. Writer")},
        {"title": TITLE.upper(), "authors": ("Misread Caption",)},
        {**STRANGER, "pdf_digest": "x"},
        {},
    ],
)
def test_a_subtitle_a_translation_and_misread_authors_are_no_contradiction(facts: dict[str, object]) -> None:
    pair = [package(LOCAL + 1, doi="10.1/a", **facts), package(LOCAL + 2, **VICTIM, pdf_digest="x")]
    assert len(duplicates(pair)) == 1


@pytest.mark.parametrize(
    ("facts", "is_heard"),
    [
        ({}, False),
        ({"title": TITLE}, False),
        ({"title": TITLE, "authors": ("Mal Lory",)}, False),
        ({"title": TITLE, "authors": ("A Author",)}, True),
        ({"title": TITLE, "authors": ("A Author",), "title_is_own": False}, False),
        ({"title": f"RETRACTED: {TITLE}", "authors": ("Ada Author",)}, True),
        ({"pdf_digest": "x"}, True),
        ({"is_trusted": True}, True),
    ],
)
def test_a_retraction_speaks_for_others_if_trusted_or_shown(facts: dict[str, object], is_heard: bool) -> None:
    claimant = package(LOCAL + 1, **{"doi": "10.1/a", "rows": 0, "is_retracted": True, **facts})
    victim = package(LOCAL + 2, **VICTIM, pdf_digest="x")
    found, conflicts = judged([claimant, victim])
    assert [item.package for item in found] == ([victim] if is_heard else [])
    said = [(item.package, item.other, item.claim) for item in conflicts]
    assert said == ([] if is_heard else [(claimant, victim, "retraction")])


def test_a_trusted_source_retracts_no_other_article() -> None:
    claimant = package(LOCAL + 1, doi="10.1/a", **STRANGER, is_trusted=True, is_retracted=True, rows=0)
    assert duplicates([claimant, package(LOCAL + 2, **VICTIM)]) == []


def test_a_retraction_goes_on_to_who_is_shown_to_be_the_same_as_whom_it_reached() -> None:
    claimant = package(LOCAL + 1, doi="10.1/a", pdf_digest="x", is_retracted=True, rows=0)
    reached, next_one = package(LOCAL + 2, **VICTIM, pdf_digest="x"), package(LOCAL + 3, **VICTIM)
    other = package(LOCAL + 4, doi="10.1/a")
    found, conflicts = judged([claimant, reached, next_one, other])
    assert [item.package for item in found] == [reached, next_one]
    assert [(item.package, item.other) for item in conflicts] == [(claimant, other)]


def test_a_nameless_copy_of_a_volume_leads_from_no_retracted_abstract_to_another() -> None:
    gone = package(LOCAL + 1, doi="10.1/a", pdf_digest="volume", is_retracted=True, is_trusted=True, rows=0)
    copy, other = package(LOCAL + 2, pdf_digest="volume"), package(LOCAL + 3, doi="10.1/b", pdf_digest="volume")
    assert [item.package for item in duplicates([gone, copy, other])] == [copy]
    nameless = package(LOCAL + 4, pdf_digest="volume", is_retracted=True, rows=0)
    found, conflicts = judged([nameless, other, replace(gone, is_retracted=False)])
    assert found == []
    assert [(item.package, item.claim) for item in conflicts] == [(nameless, "retraction")]


def test_a_package_without_title_joins_the_one_that_is_sure_of_two_that_contradict() -> None:
    claimant = package(LOCAL + 1, doi="10.1/a", **STRANGER)
    nameless, victim = package(LOCAL + 2, doi="10.1/a"), package(LOCAL + 3, **VICTIM)
    assert numbers([claimant, nameless, victim]) == [[LOCAL + 1], [LOCAL + 3, LOCAL + 2]]


# which one


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"rows": 1}, {"rows": 0, "has_xml": True}),
        ({"article_id": 77, "pmcid": 77}, {"pmcid": 77, "version": 9}),
        ({"has_xml": True, "pmcid": 77}, {"article_id": 77, "pmcid": 77}),
        ({"is_trusted": True}, {"has_xml": True}),
        ({"has_xml": True}, {"version": 9}),
        ({"version": 1}, {"is_manuscript": True, "version": 2}),
        ({"version": 2}, {"version": 1, "batch": 9}),
        ({"batch": 2}, {"batch": 1}),
        ({"is_retracted": True, "is_trusted": True, "rows": 0}, {"has_xml": True}),
        ({"is_retracted": True, "pdf_digest": "x", "rows": 0}, {"has_xml": True, "pdf_digest": "x"}),
    ],
)
def test_one_is_published_by_rule(better: dict[str, object], worse: dict[str, object]) -> None:
    pair = [
        package(**{"number": LOCAL + 2, "doi": "10.1/a"} | better)  # type: ignore[arg-type]
        if "article_id" not in better
        else replace(package(LOCAL + 2, doi="10.1/a"), **better),  # type: ignore[arg-type]
        replace(package(LOCAL + 1, doi="10.1/a"), **worse),  # type: ignore[arg-type]
    ]
    (found,) = duplicates(pair)
    assert found.published == pair[0]


def test_equals_are_decided_by_number() -> None:
    assert numbers([package(LOCAL + 2, doi="10.1/a"), package(LOCAL + 1, doi="10.1/a")]) == [[LOCAL + 1, LOCAL + 2]]


# whatever comes

packages = st.lists(
    st.builds(
        ArticlePackage,
        article_id=st.integers(1, 10**13),
        name=st.just("n"),
        pmcid=st.none() | st.integers(1, 2),
        doi=st.none() | st.sampled_from(["10.1/a", "10.1/b", "10.1/B"]),
        doi_is_stated=st.booleans(),
        title=st.none() | st.sampled_from([TITLE, "Another paper about macular holes"]),
        pdf_digest=st.none() | st.sampled_from(["x", "y", "z"]),
        rows=st.integers(0, 1),
        has_xml=st.booleans(),
        is_retracted=st.booleans(),
        is_trusted=st.booleans(),
        title_is_own=st.booleans(),
        authors=st.sampled_from([(), ("Ada Author", "Bo Writer"), ("A. Author",), ("Mal Lory",)]),
    ),
    max_size=8,
    unique_by=lambda item: item.article_id,
)


@given(packages, st.randoms(use_true_random=False))
def test_the_order_in_which_packages_come_does_not_matter(found: list[ArticlePackage], random: object) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert same_articles(found) == same_articles(shuffled)


@given(packages)
def test_every_package_is_published_or_listed_with_what_it_shares(found: list[ArticlePackage]) -> None:
    groups, listed = same_articles(found), duplicates(found)
    assert sorted(item.article_id for group in groups for item in group) == sorted(item.article_id for item in found)
    assert len(groups) + len(listed) == len(found)
    published = {group[0].article_id for group in groups}
    for item in listed:
        assert item.published.article_id in published
        assert item.package.article_id not in published
        assert shared_identifier(item.package, item.shared_with) == item.identifier
        assert item.value == item.package.identifier(item.identifier)


@given(packages)
def test_no_two_published_articles_share_their_strongest_identifier(found: list[ArticlePackage]) -> None:
    groups = [group for group in same_articles(found) if not group[0].is_retracted]
    for kind in ("PMC number",):
        values = [{item.identifier(kind) for item in group} - {None} for group in groups]  # type: ignore[arg-type]
        assert all(len(value) <= 1 for value in values), "two PMC numbers are two articles"
        for (one, mine), (other, others) in combinations(zip(groups, values, strict=True), 2):
            if mine & others:
                assert any(contradict(a, b) for a in one for b in other), "one number is one article"


@given(packages)
def test_a_retraction_takes_out_whoever_is_grouped_with_it(found: list[ArticlePackage]) -> None:
    for first, *others in same_articles(found):
        assert first.is_retracted or not any(item.is_retracted for item in others)


@given(packages)
def test_no_retraction_reaches_farther_than_trust_or_what_is_in_the_packages(found: list[ArticlePackage]) -> None:
    for group in same_articles(found):
        speakers = [item for item in group if item.is_retracted]
        if not speakers or any(item.is_trusted for item in speakers):
            continue
        reached, left = speakers, [item for item in group if not item.is_retracted]
        while following := [item for item in left if any(confirm(item, other) for other in reached)]:
            reached, left = following, [item for item in left if item not in following]
        assert left == [], "who is out with a retracted package is shown to be the same article"


@given(packages)
def test_packages_that_contradict_each_other_are_never_one_article(found: list[ArticlePackage]) -> None:
    for group in same_articles(found):
        if not group[0].is_retracted:
            assert not any(contradict(one, other) for one, other in combinations(group, 2))


@given(packages)
def test_a_retraction_that_is_not_believed_is_a_conflict(found: list[ArticlePackage]) -> None:
    listed, conflicts = judged(found)
    out = {item.package.article_id for item in listed} | {item.article_id for item in found if item.is_retracted}
    listed_ids = {number for item in conflicts for number in (item.package.article_id, item.other.article_id)}
    for claimant in (item for item in found if item.is_retracted):
        claimed = [item for item in found if item.article_id not in out and shared_identifier(claimant, item)]
        assert not claimed or claimant.article_id in listed_ids


# which can be the same at all


def possibly_same(items: list[ArticlePackage]) -> list[ArticlePackage]:
    known = KnownIdentifiers()
    for item in items:
        known.add(item)
    shared = known.shared()
    return [item for item in items if item.article_id in shared]


def test_only_packages_with_a_common_identifier_can_be_the_same() -> None:
    lone = package(5, pmcid=5, doi="10.1/b")
    pair = [package(6, pmcid=6, doi="10.1/A"), package(LOCAL + 1, doi="10.1/a", pdf_digest="x")]
    assert possibly_same([lone, *pair]) == pair
    assert possibly_same([package(7), package(8)]) == [], "what nobody has is nothing in common"
    assert possibly_same([]) == []


@given(packages)
def test_packages_that_share_nothing_are_no_part_of_any_decision(items: list[ArticlePackage]) -> None:
    assert duplicates(possibly_same(items)) == duplicates(items)
