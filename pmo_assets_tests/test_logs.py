"""Lines of the log: the fields that they carry, into threads and as JSON."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pmo_assets import logs

_LOG = logging.getLogger("pmo_assets.somewhere")


@pytest.fixture(autouse=True)
def _package_logger() -> Iterator[None]:
    """Leave the package's logger as it was."""
    logger = logging.getLogger(logs.PACKAGE)
    handlers, level = list(logger.handlers), logger.level
    yield
    logger.handlers[:] = handlers
    logger.setLevel(level)


def json_lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_line_of_json_carries_the_fields_around_it_and_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_level("INFO")
    logs.log_to_stderr("json", "INFO")
    with logs.log_fields(batch="0001-aa", stage="figures"), logs.log_fields(article=7, figure=None):
        _LOG.info("took %.1f s", 2.5, extra={logs.FIELDS: {"seconds": 2.5}})
    _LOG.info("later")
    first, second = json_lines(capsys.readouterr().err)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", str(first.pop("time")))
    assert first == {
        "level": "INFO",
        "logger": "pmo_assets.somewhere",
        "message": "took 2.5 s",
        "batch": "0001-aa",
        "stage": "figures",
        "article": 7,
        "seconds": 2.5,
    }
    assert not {"batch", "stage", "article"} & set(second)


def test_an_event_is_one_line_whatever_it_holds(capsys: pytest.CaptureFixture[str]) -> None:
    logs.log_to_stderr("json", "WARNING")
    try:
        raise OSError("disk\nfull")
    except OSError:
        _LOG.exception("cannot write\nthe table", extra={logs.FIELDS: {"place": object()}})
    (line,) = json_lines(capsys.readouterr().err)
    assert line["message"] == "cannot write the table: OSError: disk full"


def test_a_line_for_people_says_where_and_what_is_amiss(capsys: pytest.CaptureFixture[str]) -> None:
    logs.log_to_stderr("text", "WARNING")
    with logs.log_fields(batch="0001-aa", stage="figures", article=7):
        _LOG.warning("slow")
        _LOG.info("not shown")
    said = capsys.readouterr().err
    assert re.fullmatch(r"\d\d:\d\d:\d\d 0001-aa figures 7: warning: slow\n", said)


def test_setting_it_up_twice_says_nothing_twice(capsys: pytest.CaptureFixture[str]) -> None:
    logs.log_to_stderr("text", "WARNING")
    logs.log_to_stderr("json", "WARNING")
    _LOG.warning("once")
    assert len(json_lines(capsys.readouterr().err)) == 1


def test_threads_log_with_the_fields_of_who_started_them(capsys: pytest.CaptureFixture[str]) -> None:
    logs.log_to_stderr("json", "WARNING")
    with logs.log_fields(batch="0001-aa"):
        pool = ThreadPoolExecutor(2, **logs.thread_fields())
    with pool:
        pool.submit(_LOG.warning, "from a thread").result()
    assert json_lines(capsys.readouterr().err)[0]["batch"] == "0001-aa"


def test_an_article_hands_over_a_bounded_number_of_lines(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_level("INFO")
    collected = logs.Collected()
    with logs.log_fields(article=7), collected.collecting():
        for number in range(logs.LINES_PER_ARTICLE + 5):
            _LOG.info("line %s", number)
    logs.log_to_stderr("json", "INFO")
    for line in collected.lines:
        line.log()
    said = json_lines(capsys.readouterr().err)
    assert len(said) == logs.LINES_PER_ARTICLE + 1
    assert said[-1]["message"] == "5 more lines of this article are left out"
    assert {line["article"] for line in said} == {7}


HOSTILE = "a\x1b]0;owned\x07b\x1b[2Jc\rd\x9b31me\u202efdp.exe\u2066g\ud800"
"""A name that renames the window, clears the screen, hides itself and turns what follows around."""

SHOWN = "a\\u001b]0;owned\\u0007b\\u001b[2Jc{}d\\u009b31me\\u202efdp.exe\\u2066g\\ud800"


def test_control_characters_of_names_and_messages_are_shown_and_not_obeyed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # pytest keeps records for its report, which a worker of xdist cannot send with half a surrogate pair in it
    monkeypatch.setattr(logging.getLogger(logs.PACKAGE), "propagate", False)
    logs.log_to_stderr("text", "WARNING")
    with logs.log_fields(batch=HOSTILE, article=7):
        _LOG.warning("cannot read %s", HOSTILE)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert f"{SHOWN.format(chr(92) + 'u000d')} 7: warning: cannot read {SHOWN.format(' ')}" in line


def test_nor_are_those_of_json_which_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    logs.log_to_stderr("json", "WARNING")
    _LOG.warning("cannot read", extra={logs.FIELDS: {"name": HOSTILE}})
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert json.loads(line)["name"] == HOSTILE
