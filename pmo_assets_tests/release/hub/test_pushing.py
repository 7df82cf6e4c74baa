"""Pushing a release to a fake of the hub: what is sent, in how many commits, and what happens when the line breaks."""

from __future__ import annotations

import shutil
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from pmo_assets.records.stores import StorageError
from pmo_assets.release.hub.checking import CheckedFolder, card_faults, checked_folder
from pmo_assets.release.hub.pushing import Plan, Pushed, compared, patience, push
from pmo_assets.release.hub.remote import HubBusy, HubError, HubRepository
from pmo_assets_tests.release.fake_hub import FakeHub, Fault, fake_hub
from pmo_assets_tests.release.hub_folder import write_sums

NAME = "eyes/pubmed-ophtha"

constants = pytest.importorskip("huggingface_hub.constants")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """A hub without repositories, and the right token for it."""
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no token"))
    monkeypatch.setenv("HF_TOKEN", "hf_right")
    with fake_hub() as served:
        monkeypatch.setattr(constants, "ENDPOINT", served.address)
        yield served


@pytest.fixture
def own_folder(hub_folder: Path, tmp_path: Path) -> Path:
    """A folder that a test may change."""
    return Path(shutil.copytree(hub_folder, tmp_path / "release"))


@pytest.fixture
def release(hub_folder: Path) -> CheckedFolder:
    return checked_folder(hub_folder)


def repository(hub: FakeHub, revision: str = "main") -> HubRepository:
    return HubRepository(NAME, revision, endpoint=hub.address)


def pushed(release: CheckedFolder, hub: FakeHub, revision: str = "main", waits: list[float] | None = None) -> Pushed:
    """Push without waiting, noting how long it would have been waited."""
    noted = [] if waits is None else waits
    return push(release, repository(hub, revision), private=False, retrying=patience(sleep=noted.append, attempts=3))


def contents(release: CheckedFolder) -> dict[str, bytes]:
    return {name: file.path.read_bytes() for name, file in release.files.items()}


def held(hub: FakeHub, revision: str = "main") -> dict[str, bytes]:
    files = dict(hub.repositories[NAME].files(revision))
    files.pop(".gitattributes")
    return files


def once(method: str, part: str, fault: int | str, times: int = 1) -> Fault:
    """Return a fault of the first requests of a kind."""
    left = [times]

    def answer(asked: str, path: str) -> int | str | None:
        if asked == method and part in path and left[0]:
            left[0] -= 1
            return fault
        return None

    return answer


@pytest.fixture(autouse=True)
def quick_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own waiting before it asks again, some ten seconds, is not tested."""
    clock = types.SimpleNamespace(**vars(time) | {"sleep": lambda seconds: None})
    monkeypatch.setattr("huggingface_hub.utils._http.time", clock)


# what is sent


def test_a_new_repository_gets_the_release_in_one_commit_with_a_tag(release: CheckedFolder, hub: FakeHub) -> None:
    done = pushed(release, hub)
    assert held(hub) == contents(release)
    made = hub.repositories[NAME]
    assert [commit.message for commit in made.branches["main"]] == ["initial commit", "Release 1.2.0"]
    assert made.tags == {"v1.2.0": done.commit}
    assert not made.private
    assert (done.sent, done.deleted, done.tag) == (len(release.files), 0, "v1.2.0")


def test_private_and_another_branch(release: CheckedFolder, hub: FakeHub) -> None:
    push(release, repository(hub, "next"), private=True, retrying=patience(sleep=lambda _: None))
    assert hub.repositories[NAME].private
    assert held(hub, "next") == contents(release)
    assert held(hub) == {}


def test_only_what_differs_is_sent_and_what_is_gone_is_deleted(
    own_folder: Path, release: CheckedFolder, hub: FakeHub
) -> None:
    old = contents(release) | {"data/panels/train-00002.parquet": b"PAR1", "README.md": b"old", "gallery/a.html": b"x"}
    old.pop("splits.parquet")
    hub.add(NAME, old)
    plan = compared(release.files, repository(hub).read().files)
    assert [file.name for file in plan.added] == ["splits.parquet"]
    assert [file.name for file in plan.changed] == ["README.md"]
    assert [file.name for file in plan.deleted] == ["data/panels/train-00002.parquet", "gallery/a.html"]
    assert len(plan.same) == len(release.files) - 2
    assert plan.size == sum(release.files[name].size for name in ("README.md", "splits.parquet"))
    pushed(release, hub)
    assert held(hub) == contents(release)
    assert len(hub.repositories[NAME].branches["main"]) == 2
    assert hub.counted("PUT /lfs/") == 1


def test_a_second_push_does_nothing(release: CheckedFolder, hub: FakeHub) -> None:
    first = pushed(release, hub)
    hub.requests.clear()
    assert pushed(release, hub) == Pushed(first.commit, 0, 0, "v1.2.0")
    assert hub.counted("^(POST|PUT)") == 0


def test_a_version_does_not_get_other_data(own_folder: Path, release: CheckedFolder, hub: FakeHub) -> None:
    pushed(release, hub)
    before = held(hub)
    (own_folder / "splits.parquet").write_bytes(b"PAR1 other PAR1")
    write_sums(own_folder)
    with pytest.raises(HubError, match=r"version 1\.2\.0 is on the hub already .*splits\.parquet"):
        pushed(checked_folder(own_folder), hub)
    assert held(hub) == before


def test_a_version_that_is_described_anew_is_pushed_and_its_tag_stays(
    own_folder: Path, release: CheckedFolder, hub: FakeHub
) -> None:
    """The card names the day of the last search and the software: with the same data a release has the same version."""
    first = pushed(release, hub)
    (own_folder / "CHANGES.md").write_text("# other\n")
    write_sums(own_folder)
    described = checked_folder(own_folder)
    done = pushed(described, hub)
    assert held(hub) == contents(described)
    assert (done.sent, done.deleted) == (2, 0), "that and the sums"
    assert hub.repositories[NAME].tags == {"v1.2.0": first.commit}
    assert pushed(described, hub) == Pushed(done.commit, 0, 0, "v1.2.0")


def test_an_older_version_does_not_come_back(own_folder: Path, release: CheckedFolder, hub: FakeHub) -> None:
    pushed(release, hub)
    (own_folder / "splits.parquet").write_bytes(b"PAR1 other PAR1")
    citation = own_folder / "CITATION.cff"
    citation.write_text(citation.read_text().replace("version: 1.2.0", "version: 1.3.0"))
    write_sums(own_folder)
    newer = checked_folder(own_folder)
    assert pushed(newer, hub).tag == "v1.3.0"
    with pytest.raises(HubError, match="main holds another release"):
        pushed(release, hub)
    assert held(hub) == contents(newer)


# faults


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "part", "fault"),
    [
        ("GET", "/refs", 503),
        ("GET", "/refs", "reset"),
        ("GET", "/tree/", 429),
        ("POST", "/preupload/", 500),
        ("POST", "/objects/batch", "reset"),
        ("PUT", "/lfs/", 503),
        ("PUT", "/lfs/", "reset"),
        ("PUT", "/lfs/", "lost"),
        ("POST", "/commit/", 503),
        ("POST", "/commit/", "reset"),
        ("POST", "/commit/", "lost"),
        ("POST", "/tag/", 502),
        ("POST", "/tag/", "lost"),
        ("POST", "/repos/create", "lost"),
    ],
)
def test_what_breaks_once_is_overcome_and_done_once(
    method: str, part: str, fault: int | str, release: CheckedFolder, hub: FakeHub
) -> None:
    hub.fault = once(method, part, fault)
    done = pushed(release, hub)
    made = hub.repositories[NAME]
    assert held(hub) == contents(release)
    assert [commit.message for commit in made.branches["main"]] == ["initial commit", "Release 1.2.0"]
    assert made.tags == {"v1.2.0": done.commit}


def test_a_push_that_broke_off_goes_on_where_it_was(release: CheckedFolder, hub: FakeHub) -> None:
    large = sum(name.endswith(".parquet") for name in release.files)
    seen: list[str] = []

    def fault(method: str, path: str) -> int | None:
        if method == "PUT":
            seen.append(path)
        return 503 if method == "PUT" and len(set(seen)) > 4 else None

    hub.fault = fault
    with pytest.raises(HubBusy, match="run the same command again, what the hub has already is not sent again"):
        pushed(release, hub)
    assert len(hub.objects) == 4
    assert held(hub) == {}, "nothing is seen of a push that broke off"
    hub.fault = lambda method, path: None
    hub.requests.clear()
    pushed(release, hub)
    assert hub.counted("^PUT /lfs/") == large - 4
    assert held(hub) == contents(release)


def test_the_hubs_wish_for_a_pause_is_kept(release: CheckedFolder, hub: FakeHub) -> None:
    hub.add(NAME, {})
    hub.fault = once("POST", "/commit/", 429)
    waits: list[float] = []
    pushed(release, hub, waits=waits)
    assert len(waits) == 1
    assert waits[0] >= 7


def test_a_hub_that_stays_busy_is_left_alone(release: CheckedFolder, hub: FakeHub) -> None:
    hub.fault = once("POST", "/commit/", 503, times=1000)
    waits: list[float] = []
    with pytest.raises(HubBusy):
        pushed(release, hub, waits=waits)
    assert hub.counted("/commit/") == 3
    assert len(waits) == 2
    assert held(hub) == {}


@pytest.mark.parametrize("token", [None, "hf_wrong"])
def test_without_the_right_token_it_is_said_what_to_do(
    token: str | None, release: CheckedFolder, hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    if token is not None:
        monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(HubError, match=r"/settings/tokens and set HF_TOKEN") as said:
        pushed(release, hub)
    assert ("without a token" in str(said.value)) == (token is None)
    hub.add(NAME, {})
    with pytest.raises(HubError, match=r"/settings/tokens and set HF_TOKEN"):
        pushed(release, hub)
    assert hub.counted("/commit/") == 0
    assert held(hub) == {}


def test_who_else_writes_meanwhile_is_not_overwritten(release: CheckedFolder, hub: FakeHub) -> None:
    made = hub.add(NAME, {})

    def fault(method: str, path: str) -> None:
        if "/commit/" in path and len(made.branches["main"]) == 1:
            made.commit("main", "of somebody else", {**made.files(), "notes.md": b"mine"})

    hub.fault = fault
    with pytest.raises(HubError, match="somebody else has changed main"):
        pushed(release, hub)
    assert held(hub) == {"notes.md": b"mine"}


def test_a_card_that_the_hub_refuses_stops_before_anything_is_sent(own_folder: Path, hub: FakeHub) -> None:
    release = checked_folder(own_folder)
    (own_folder / "README.md").write_text("# no head\n")
    with pytest.raises(HubError, match="no YAML head"):
        pushed(release, hub)
    assert held(hub) == {}


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(HubError, match=r"pip install 'pmo-assets\[hub\]'"):
        HubRepository(NAME)


# the folder


def test_the_folder_is_whole_or_not_sent(own_folder: Path) -> None:
    assert checked_folder(own_folder).version == "1.2.0"
    (own_folder / "notes.txt").write_text("a")
    (own_folder / "CHANGES.md").write_text("b")
    with pytest.raises(StorageError, match=r"CHANGES\.md is changed, notes\.txt is not listed"):
        checked_folder(own_folder)
    write_sums(own_folder)
    (own_folder / "LICENSE.md").unlink()
    write_sums(own_folder)
    with pytest.raises(StorageError, match=r"it has no LICENSE\.md"):
        checked_folder(own_folder)


def test_a_card_that_names_other_files_is_not_sent(own_folder: Path) -> None:
    (own_folder / "data" / "articles" / "test-00000.parquet").unlink()
    shutil.copy(own_folder / "splits.parquet", own_folder / "data" / "panels" / "dev-00000.parquet")
    write_sums(own_folder)
    with pytest.raises(
        StorageError, match=r"config articles names data/articles/test-.* no config names data/panels/dev"
    ):
        checked_folder(own_folder)


@pytest.mark.parametrize(
    ("card", "said"),
    [
        ("# no head", "does not begin with a YAML head"),
        ("---\na: [\n---\n", "no YAML"),
        ("---\n- a\n---\n", "no mapping"),
        ("---\npretty_name: a\n---\n", "no license"),
        ("---\nlicense: other\n---\n", "no license_name"),
        ("---\nlicense: other\nlicense_name: a\nlicense_link: LICENSE\n---\n", "LICENSE, which is not there"),
        ("---\nlicense: mit\n---\n", "not exactly one config"),
        ("---\nlicense: mit\nconfigs: [{config_name: a, default: true}]\n---\n", "do not name the same"),
    ],
)
def test_what_is_wrong_with_a_card_is_said(card: str, said: str) -> None:
    assert any(said in fault for fault in card_faults(card, ["README.md"]))


def test_a_plan_without_files_is_empty() -> None:
    assert Plan((), (), (), ()).is_empty
