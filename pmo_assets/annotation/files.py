"""Answers written down: the annotation files that PMO_ANNOTATIONS names, one per article."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout
from pydantic import ValidationError

from pmo_assets.annotation.annotations import AnnotatedArticle, annotation_of, problem_text
from pmo_assets.annotation.answers import KnownFigures, TakenAnswers, TaskProblem
from pmo_assets.annotation.settle import settled_article
from pmo_assets.records.stores import SystemicError
from pmo_assets.system.aside import write_text

LOCK_FILE: Final = ".answers.lock"
"""In a folder of annotations: who has it reads files, puts answers to what they hold, and writes them."""

PATIENCE: Final = 120.0
"""Seconds for which one command waits for another one that writes answers: thousands are put together in less."""


class FileInTheWay(SystemicError):
    """An annotation file is there and cannot be used; it is not overwritten."""


def annotation_file(folder: Path, name: str) -> Path:
    """Return the path of an article's annotation.

    Raises:
        FileInTheWay: for a name that would lead out of the folder.
    """
    if name in ("", ".", "..") or "/" in name or "\\" in name or "\0" in name:
        raise FileInTheWay(f"an article cannot be called {name[:60]!r}")
    return folder / f"{name}.json"


def read_article_file(path: Path) -> AnnotatedArticle | None:
    """Return the article of a file; None if there is none.

    Raises:
        FileInTheWay: if it cannot be used.
    """
    if not path.exists():
        return None
    try:
        return AnnotatedArticle.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise FileInTheWay(f"{path} cannot be used: {problem_text(error)}; mend it or move it away") from error
    except OSError as error:
        raise FileInTheWay(f"{path} cannot be read: {error}") from error


def write_article_file(path: Path, article: AnnotatedArticle) -> bool:
    """Write an article's annotation, whole or not at all; return whether anything changed."""
    text = json.dumps(annotation_of(article), ensure_ascii=False, indent=1) + "\n"
    if path.exists() and path.read_text("utf-8") == text:
        return False
    write_text(path, text)
    return True


@contextlib.contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Let nobody else write answers into a folder: who read a file before would overwrite what came in between.

    Raises:
        SystemicError: if another command writes for long, or the folder cannot be written.
    """
    lock = FileLock(folder / LOCK_FILE)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=PATIENCE)
    except Timeout as error:
        raise SystemicError(
            f"another command has been writing answers into {folder} for {PATIENCE:.0f} s: wait until it has ended, "
            "then import again"
        ) from error
    except OSError as error:
        raise SystemicError(f"answers cannot be written into {folder}: {error}") from error
    try:
        yield
    finally:
        lock.release()


def write_answers(folder: Path, taken: TakenAnswers, known: KnownFigures) -> Mapping[str, AnnotatedArticle]:
    """Put answers into the annotation files of a folder, and return the articles that changed, by name.

    A file that cannot be used becomes a problem; the other articles are written. Of several that do so at the same time
    one waits for the other.

    Raises:
        SystemicError: if the folder cannot be written.
    """
    with _one_at_a_time(folder):
        return _put_answers(folder, taken, known)


def _put_answers(folder: Path, taken: TakenAnswers, known: KnownFigures) -> Mapping[str, AnnotatedArticle]:
    changed = {}
    for name in sorted({*taken.figures, *taken.pages, *taken.regions, *taken.instructions}):
        try:
            path = annotation_file(folder, name)
            article = settled_article(
                read_article_file(path),
                name,
                taken.figures.get(name, ()),
                taken.pages.get(name, ()),
                taken.page_counts.get(name),
                known.articles[name],
                taken.regions.get(name, ()),
                taken.instructions.get(name, ()),
            )
        except FileInTheWay as error:
            taken.problems.append(TaskProblem(name, str(error)))
            continue
        if write_article_file(path, article):
            changed[name] = article
    return changed
