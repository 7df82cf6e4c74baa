"""`pmo instruct questions` and `evaluate`: how many of a release's questions a model answers right."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from pmo_assets.cli.console import (
    CommandError,
    console,
    counted,
    data_root_of,
    progress_bars,
    settings_from_environment,
    write_text,
)
from pmo_assets.cli.release.shared import release_folder

if TYPE_CHECKING:
    from pmo_assets.loading.release import Release
    from pmo_assets.quality.answers.judging import Judge
    from pmo_assets.quality.answers.questions import QuestionSet
    from pmo_assets.quality.answers.scores import AnswerEvaluation
    from pmo_assets.records.chat import ChatModel
    from pmo_assets.settings import Settings

_Folder = Annotated[
    Path | None, typer.Argument(help="A release's hub folder, or a download of it; the data root's if not given.")
]


def questions(
    folder: _Folder = None,
    to: Annotated[Path | None, typer.Option(help="Folder to make; test-set beside FOLDER if not given.")] = None,
) -> None:
    """Write the questions of a release's test split for a model that runs elsewhere, with pictures; labels apart.

    Whole or not at all; the same release gives the same bytes and the same checksum.
    """
    from pmo_assets.quality.answers.evaluate import pictures_of
    from pmo_assets.quality.answers.question_files import LABELS_APART, write_questions
    from pmo_assets.release.deidentification import load_masker

    settings = settings_from_environment()
    place = (folder or release_folder(data_root_of(settings))).resolve()
    target = to or place.with_name("test-set")
    release, asked = _opened(place)
    shown = pictures_of(release, "test", load_masker() if settings.mask_people != "no" else None)
    with progress_bars() as (_, tell):
        write_questions(asked, target, shown, lambda done, total: tell("questions", done, total))
    console.print(
        f"{target}: {counted(len(asked.questions), 'question')}, test set {asked.sha256}\n{LABELS_APART}",
        highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip


def evaluate(
    folder: _Folder = None,
    predictions: Annotated[
        Path | None, typer.Option(help='Answers of a model: a JSON object {"id": "…", "answer": "…"} a line.')
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask the vision model that the settings name (PMO_VLM_…).")
    ] = False,
    judge: Annotated[
        bool, typer.Option("--judge", help="The language model of the settings (PMO_LLM_…) scores in quarters.")
    ] = False,
    bertscore: Annotated[
        str | None,
        typer.Option(help="Also BERTScore: `minilm` (extra `encoders`), or a folder with an encoder.", metavar="WHICH"),
    ] = None,
    name: Annotated[str, typer.Option(help="Of the model in the result; its own, or the file's, if not given.")] = "",
    test_set: Annotated[
        str, typer.Option(help="SHA-256 of the test set that is meant: another one is refused.", metavar="SHA256")
    ] = "",
    answers: Annotated[
        Path | None, typer.Option(help="Write the model's answers here, as --predictions takes them.", metavar="OUT")
    ] = None,
    bootstrap: Annotated[int, typer.Option(min=0, help="Draws of articles of the intervals; 0: none.")] = 1_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws.")] = 0,
    as_json: Annotated[Path | None, typer.Option("--json", help="Write the result here.", metavar="OUT")] = None,
    page: Annotated[Path | None, typer.Option("--page", help="Write a page here.", metavar="OUT.html")] = None,
) -> None:
    """Score a model's answers to the short questions of a release's test split, beside baselines without a model.

    Exact match and F1 of words always; refusals count as wrong, and so do questions without an answer. Baselines learn
    from the train split: the commonest answer of a kind (constant), the words of the question alone (blind), the most
    similar question and picture (retrieval). Answers of an endpoint are kept: a command that was ended goes on.
    """
    from pmo_assets.models.chat import chat_model, vision_model
    from pmo_assets.quality.answers.asking import Examinee, asked_answers
    from pmo_assets.quality.answers.baselines import BASELINES
    from pmo_assets.quality.answers.bertscore import token_encoder
    from pmo_assets.quality.answers.evaluate import evaluate_answers, pictures_of
    from pmo_assets.quality.answers.questions import read_predictions
    from pmo_assets.release.deidentification import load_masker

    if ask and predictions is not None:
        raise CommandError("give --predictions or --ask, not both")
    settings = settings_from_environment()
    root = data_root_of(settings)
    place = (folder or release_folder(root)).resolve()
    release, asked = _opened(place)
    if test_set and test_set != asked.sha256:
        raise CommandError(f"the test set of {place} is {asked.sha256}, not {test_set}: it is of another release")
    with contextlib.ExitStack() as stack:
        chat = stack.enter_context(chat_model(settings, root)) if judge or ask else None
        vision = stack.enter_context(vision_model(settings, root, chat)) if ask else None
        encoder = stack.enter_context(token_encoder(bertscore)) if bertscore is not None else None
        _, tell = stack.enter_context(progress_bars())
        model: tuple[str, Mapping[str, str]] | None = None
        if predictions is not None:
            model = name or predictions.stem, read_predictions(predictions, asked.questions)
        elif ask:
            examinee = Examinee(
                _named(vision, "--ask asks the vision model: name it, PMO_VLM_MODEL"),
                thinking=settings.vlm_thinking,
                max_pixels=settings.vlm_max_pixels,
                concurrency=settings.vlm_concurrency,
            )
            shown = pictures_of(release, "test", load_masker() if settings.mask_people != "no" else None)
            said = asked_answers(
                asked.questions, examinee, shown, lambda done, total: tell("answers", done, total)
            )  # fmt: skip
            model = name or examinee.model.name, said
        if model is not None and model[0] in BASELINES:
            raise CommandError(f"{model[0]} is the name of a baseline: give another one, --name")
        if answers is not None and model is not None:
            lines = (json.dumps({"id": one, "answer": text}, ensure_ascii=False) for one, text in model[1].items())
            write_text(answers, "".join(f"{line}\n" for line in lines))
        result = evaluate_answers(
            release,
            asked,
            model,
            judge=_judge(settings, chat) if judge else None,
            encoder=encoder,
            replicates=bootstrap,
            seed=seed,
            tell=tell,
        )
    if as_json is not None:
        write_text(as_json, result.to_json())
    if page is not None:
        from pmo_assets.quality.answers.page import answers_page

        write_text(page, answers_page(result))
    _show(result)


def _opened(place: Path) -> tuple[Release, QuestionSet]:
    from pmo_assets.loading.opening import load
    from pmo_assets.quality.answers.questions import question_set

    release = load(place)
    asked = question_set(release)
    if not asked.questions:
        raise CommandError(f"{place} has no short questions in its test split: take a release of more articles")
    return release, asked


def _named(model: ChatModel | None, otherwise: str) -> ChatModel:
    if model is None:
        raise CommandError(otherwise)
    return model


def _judge(settings: Settings, chat: ChatModel | None) -> Judge:
    from pmo_assets.quality.answers.judging import Judge

    return Judge(
        _named(chat, "--judge asks the language model: name it, PMO_LLM_MODEL"),
        thinking=settings.llm_thinking,
        reasks=settings.llm_reasks,
        concurrency=settings.llm_concurrency,
    )


def _show(result: AnswerEvaluation) -> None:
    """Print a result as tables."""
    from pmo_assets.quality.answers.page import evaluation_tables

    facts = f"release {result.release}, test set {result.test_set}: {counted(result.questions, 'question')}, "
    console.print(f"{facts}{result.learned:,} to learn from", style="bold", highlight=False, soft_wrap=True)
    for part in evaluation_tables(result):
        table = Table(title=part.title, title_justify="left", box=None, pad_edge=False)
        for heading in part.columns:
            table.add_column(heading, justify="left" if not table.columns else "right")
        for row in part.rows:
            table.add_row(*(escape(str(cell)) for cell in row))
        console.print(table)
