"""Stages of the group `instructions`: cues of panels, their scores, questions with answers, verdicts on them."""

from __future__ import annotations

from typing import Final

from pmo_assets.pipeline.instructions.model_cues import separate_by_model
from pmo_assets.pipeline.instructions.model_questions import write_by_model
from pmo_assets.pipeline.instructions.model_verdicts import judge_by_model
from pmo_assets.pipeline.instructions.steps import (
    ask_about_article,
    judge_article_instructions,
    load_questions,
    score_article_cues,
    separate_article_cues,
)
from pmo_assets.pipeline.instructions.video_steps import ask_about_video, separate_video_cues
from pmo_assets.pipeline.instructions.writer import CUES, QUESTIONS, VERDICTS
from pmo_assets.records.stages import Stage
from pmo_assets.records.units import VIDEO

GROUP: Final = "instructions"

_WORDS: Final = ("figures", "reviewed_panels", "panel_summaries", "panel_entities")
_EVIDENCE: Final = (*_WORDS, "panel_modality", "marks", "region_phrases", "regions", "cues")

OF_PANELS: Final = (
    Stage(
        "cues",
        GROUP,
        separate_article_cues,
        reads=_WORDS,
        prepare=load_questions,
        afterwards=separate_by_model,
        asks_for="panels' words to the language model",
        prompts=(CUES,),
        goes_on=True,
    ),
    Stage(
        "cue_scores",
        GROUP,
        score_article_cues,
        reads=[*_WORDS, "region_phrases", "cues"],
        prepare=load_questions,
        goes_on=True,
    ),
    Stage(
        "instructions",
        GROUP,
        ask_about_article,
        reads=[*_EVIDENCE, "cue_scores"],
        prepare=load_questions,
        afterwards=write_by_model,
        asks_for="panels to the language model",
        prompts=(QUESTIONS,),
        goes_on=True,
    ),
    Stage(
        "verdicts",
        GROUP,
        judge_article_instructions,
        reads=[*_EVIDENCE, "instructions", "annotations"],
        prepare=load_questions,
        afterwards=judge_by_model,
        asks_for="instructions to the language model",
        prompts=(VERDICTS,),
        goes_on=True,
    ),
)
"""Stages of articles."""

OF_LECTURES: Final = (
    Stage(
        "video_cues",
        GROUP,
        separate_video_cues,
        reads=["video_pairs", "video_words"],
        prepare=load_questions,
        unit=VIDEO,
    ),
    Stage(
        "video_instructions",
        GROUP,
        ask_about_video,
        reads=["video_pairs", "video_words", "video_cues"],
        prepare=load_questions,
        unit=VIDEO,
    ),
)
"""Stages of lecture videos."""

STAGES: Final = (*OF_PANELS, *OF_LECTURES)
