"""Pictures of lectures with the evidence that their transcript gives: cases as panels have them.

Each sentence of the transcript is a mention. One that points at the picture ("here you see …", "this scan shows …"),
that was heard as a whole while it was shown, "names the panel"; all others can deny or contradict and carry nothing: a
lecturer also speaks of other patients, of the rule, of what one would see, and of what comes next.

Add here: evidence of pictures of lectures. Keep out: which sentences point (`pointing`), which words are heard
(`pipeline.videos.sentences`), and questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pmo_assets.pipeline.context.entities import panel_entities, panel_terms
from pmo_assets.pipeline.context.modality import modality_evidence, panel_modality
from pmo_assets.pipeline.context.modality_words import named_modalities
from pmo_assets.pipeline.instructions.case import SURE_CLASS, PanelCase, named_modality
from pmo_assets.pipeline.instructions.phrasings import MODALITY_WORDS
from pmo_assets.pipeline.instructions.pointing import points_at_picture
from pmo_assets.pipeline.videos.sentences import SpokenSentence
from pmo_assets.records.context import PanelMention
from pmo_assets.records.geometry import as_box
from pmo_assets.records.panels import PanelImage


def spoken_case(pair_id: str, images: Sequence[Mapping[str, Any]], sentences: Sequence[SpokenSentence]) -> PanelCase:
    """Return a picture of a lecture as a case; mentions are its sentences.

    Args:
        pair_id: of picture and transcript.
        images: `images` of a row of `video_pairs`.
        sentences: of its transcript.
    """
    mentions = tuple(_mention(item) for item in sentences)
    own = [item for item, mention in zip(sentences, mentions, strict=True) if mention.kind == "names panel"]
    entities = panel_entities(None, [item.text for item in sentences], {})
    shown = tuple(_image(image) for image in images)
    told = " ".join(item.text for item in own)
    modality = panel_modality(modality_evidence(shown, "", [_mention(item) for item in own]))
    seen = modality.medical and modality.probability >= SURE_CLASS
    named = {name for item in sentences for name in named_modalities(item.text)}
    alike = len({image.modality for image in shown}) == 1
    # Who names several techniques compares: which of them is shown, nobody can tell.
    said = named_modality(asdict(modality), told) if seen and alike and len(named) == 1 else None
    return PanelCase(
        panel_id=pair_id,
        subcaption="",
        mentions=mentions,
        is_alone=False,
        entities=entities,
        is_pictured=seen and modality.modality in MODALITY_WORDS,
        modality=said,
        modality_probability=modality.probability,
        eye=panel_terms(entities, [mention.kind for mention in mentions]).eye,
        confidence=min((item.probability for item in own), default=0.0),
        images=shown,
        is_spoken=True,
    )


def _mention(sentence: SpokenSentence) -> PanelMention:
    is_own = sentence.is_within and sentence.is_heard and points_at_picture(sentence.text)
    return PanelMention(
        identifier="",
        paragraph=0,
        section="other",
        section_title=None,
        start=sentence.first,
        end=sentence.last,
        sentence=sentence.text,
        kind="names panel" if is_own else "follows",
        source="text",
    )


def _image(image: Mapping[str, Any]) -> PanelImage:
    return PanelImage(
        id="",
        box=as_box(image["box"]),
        score=image["score"],
        image_type=image["image_type"],
        type_score=1.0,
        marked=None,
        mark_score=0.0,
        modality=image["modality"],
        modality_score=image["modality_score"],
    )
