"""One number, one article: what files and metadata state counts before a name, and a clash is said."""

from __future__ import annotations

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.packages import PackageFile, PackageListing, derived_article_id
from pmo_assets.storage.article_numbers import RegisteredPackage, content_of, numbered

PLAIN = derived_article_id("sample")


def package(
    content: str = "a", *, doi: str | None = None, name: str = "sample", number: int | None = None
) -> PackageListing:
    file = PackageFile("pdf", f"{name}/article.pdf", 3, content * 64)
    number = derived_article_id(name) if number is None else number
    return PackageListing(number, name, 1, None, False, None, None, (file,), digest=f"{content} {doi}", doi=doi)


def registered(listing: PackageListing, source: str) -> RegisteredPackage:
    return RegisteredPackage(
        listing.article_id, listing.version, listing.digest, listing.name, source, listing.doi,
        content_of(listing.files),
    )  # fmt: skip


def number_in(source: str, listing: PackageListing, *known: RegisteredPackage) -> int:
    (found,) = numbered([listing], source, known)
    return found.article_id


def test_a_name_that_nothing_else_bears_gives_the_same_number_everywhere() -> None:
    assert number_in("file:///a", package()) == number_in("file:///b", package()) == PLAIN


def test_another_article_of_the_name_gets_a_number_of_its_own_and_says_so() -> None:
    (found,) = numbered([package("b")], "file:///b", [registered(package("a"), "file:///a")])
    assert found.article_id not in (PLAIN, 0)
    (problem,) = found.problems
    assert problem.error_class == "SameName"
    assert problem.message.startswith("sample has the name of another article (sample in file:///a")
    assert str(found.article_id) in problem.message


def test_two_dois_say_that_it_is_another_article_whatever_its_files() -> None:
    known = registered(package("a", doi="10.1/x"), "file:///a")
    assert number_in("file:///b", package("a", doi="10.1/y"), known) != PLAIN
    assert number_in("file:///b", package("b", doi="10.1/X"), known) == PLAIN


def test_the_same_pdf_shows_that_a_folder_was_moved() -> None:
    assert number_in("file:///moved", package("a", doi="10.1/x"), registered(package("a"), "file:///a")) == PLAIN


def test_a_package_that_changed_in_its_place_keeps_its_number() -> None:
    assert number_in("file:///a", package("b"), registered(package("a"), "file:///a")) == PLAIN


def test_a_folder_that_holds_another_article_now_gets_another_number() -> None:
    known = registered(package("a", doi="10.1/x"), "file:///a")
    assert number_in("file:///a", package("b", doi="10.1/y"), known) != PLAIN


def test_what_is_registered_keeps_its_number_though_it_was_shared() -> None:
    """Data roots of earlier versions hold both under one number; which of them counts there was decided then."""
    known = [registered(package("a"), "file:///a"), registered(package("b"), "file:///b")]
    assert number_in("file:///b", package("b"), *known) == PLAIN


def test_a_number_of_pmc_stays() -> None:
    known = registered(package("a", name="PMC7", number=7), "file:///a")
    assert number_in("file:///b", package("b", name="PMC7", number=7), known) == 7


@given(
    st.lists(
        st.tuples(st.sampled_from(["file:///a", "file:///b", "file:///c"]), st.sampled_from("ab"),
                  st.sampled_from("xyz"), st.sampled_from([None, "10.1/x", "10.1/y"])),
        max_size=12,
    )
)  # fmt: skip
def test_no_two_dois_ever_share_a_number_and_nothing_is_dropped(
    looks: list[tuple[str, str, str, str | None]],
) -> None:
    known: list[RegisteredPackage] = []
    for source, name, content, doi in looks:
        (found,) = numbered([package(content, doi=doi, name=name)], source, known)
        (again,) = numbered([package(content, doi=doi, name=name)], source, [*known, registered(found, source)])
        assert again.article_id == found.article_id, "what was registered is known again"
        stated = {item.doi for item in known if item.article_id == found.article_id and item.doi}
        assert stated <= {doi} or doi is None
        if found.article_id != derived_article_id(name):
            assert dataclasses.replace(found, problems=()) != found
        known.append(registered(found, source))
