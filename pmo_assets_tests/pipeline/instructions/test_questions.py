"""Short questions, conversations and reasoning without a model: what is asked, and what is not."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.instructions.case import CuedCase
from pmo_assets.pipeline.instructions.claims import is_true
from pmo_assets.pipeline.instructions.dialogues import conversation, reasoning
from pmo_assets.pipeline.instructions.facts import has_term, is_eye, is_modality
from pmo_assets.pipeline.instructions.phrasings import (
    COMMONNESS,
    LEAST_PHRASINGS,
    MODALITY_WORDS,
    contradicts,
    phrasings,
)
from pmo_assets.pipeline.instructions.scores import cue_score
from pmo_assets.pipeline.instructions.templates import short_questions, with_article
from pmo_assets.records.instructions import Instruction
from pmo_assets_tests.pipeline.instructions.panels import cued, mention

LEFT, RIGHT, BELOW, MIDDLE = (
    (0.1, 0.4, 0.2, 0.5),
    (0.8, 0.4, 0.9, 0.5),
    (0.45, 0.8, 0.55, 0.9),
    (0.45, 0.45, 0.55, 0.55),
)


def asked(panel: CuedCase, kind: str, topic: str) -> list[tuple[str, str]]:
    """Return what is asked for and the answer, of the panel's questions of a kind about a topic."""
    return [(item.asked, item.answer) for item in short_questions(panel) if (item.kind, item.topic) == (kind, topic)]


def test_what_a_scene_affirms_is_there_and_what_it_negates_is_not() -> None:
    panel = cued("OCT shows subretinal fluid but no intraretinal fluid.")
    assert asked(panel, "yes_no", "finding") == [("intraretinal fluid", "No."), ("subretinal fluid", "Yes.")]


@pytest.mark.parametrize(
    "subcaption",
    [
        "OCT of the macula.",  # silence
        "OCT shows possible subretinal fluid.",  # doubt
        "OCT shows partial resolution of subretinal fluid.",  # less
        "OCT shows subretinal fluid. After treatment there is no subretinal fluid.",  # said both ways
        "OCT of a patient with subretinal fluid and diabetes.",  # history
    ],
)
def test_silence_doubt_and_contradiction_are_no_evidence(subcaption: str) -> None:
    assert has_term(cued(subcaption), "subretinal fluid") is None
    assert asked(cued(subcaption), "yes_no", "finding") == []


def test_a_statement_of_normality_denies_what_it_excludes() -> None:
    panel = cued("Fundus photograph with clear media and an attached retina.", modality="fundus photograph")
    said = has_term(panel, "retinal detachment")
    assert said is not None
    assert not said.truth
    assert asked(panel, "yes_no", "finding") == [("retinal detachment", "No.")]
    assert has_term(cued("OCT with loss of the normal foveal contour."), "macular hole") is None
    assert has_term(cued("OCT with normal foveal contour and a macular hole."), "macular hole") is None
    assert has_term(cued("Comparison of normal foveal contour and diabetic retinopathy."), "macular hole") is None
    mentions = mention("The normal foveal contour is shown in Figure 1.")
    assert has_term(cued("OCT of the macula.", mentions=[mentions]), "macular hole") is not None
    compared = cued("Comparison of the macula and diabetic retinopathy.", mentions=[mentions])
    assert has_term(compared, "macular hole") is None


def test_what_an_examination_did_not_find_is_not_denied_of_the_picture() -> None:
    assert has_term(cued("OCT shows no drusen in the ophthalmological examination."), "drusen") is None
    assert has_term(cued("OCT shows no drusen."), "drusen") is not None


def test_what_vessels_lead_to_is_not_what_they_show() -> None:
    assert has_term(cued("Angiogram of the blood supply of the tumor."), "tumor") is None
    assert has_term(cued("Angiogram of the tumor."), "tumor") is not None


def test_what_denies_one_kind_of_a_thing_says_nothing_of_the_others() -> None:
    panel = cued("Slit-lamp photograph of the right eye shows no corneal lesions.", modality="slit lamp")
    (asked_about,) = [item for item in short_questions(panel) if item.topic == "finding"]
    assert "corneal lesions" in asked_about.question
    assert asked_about.answer == "No."
    assert is_true(panel, "Does this image show corneal lesions?") is False
    assert is_true(panel, "Does this image show lesions?") is None


def test_a_term_that_only_names_a_picture_is_not_seen() -> None:
    assert (
        has_term(cued("Slit-lamp corneal staining image of the right eye.", modality="slit lamp"), "corneal staining")
        is None
    )


def test_terms_of_sight_age_or_system_are_not_asked_about() -> None:
    assert asked(cued("OCT in diabetes mellitus with blurred vision and headache."), "yes_no", "finding") == []
    assert asked(cued("OCT in diabetes mellitus with blurred vision and headache."), "yes_no", "disease") == []


def test_the_eye_is_asked_about_where_the_subcaption_names_one() -> None:
    panel = cued("OCT of the left eye shows drusen.")
    assert asked(panel, "what", "eye") == [("OS", "Left eye.")]
    ((side, answer),) = asked(panel, "yes_no", "eye")
    assert answer == ("Yes." if side == "left" else "No.")
    assert asked(cued("OCT of both eyes shows drusen."), "what", "eye") == []
    assert asked(cued("Angiogram of the left artery with drusen.", modality="radiograph"), "what", "eye") == []


def test_the_modality_is_asked_about_once_rightly_and_once_wrongly() -> None:
    answers = dict(asked(cued("OCT shows drusen."), "yes_no", "imaging"))
    assert answers.pop("OCT") == "Yes."
    ((other, answer),) = answers.items()
    assert answer == "No."
    assert contradicts(other, "OCT")


def test_modalities_that_are_taken_for_one_another_are_no_evidence_against_each_other() -> None:
    panel = cued("OCT shows drusen.").case
    assert is_modality(panel, "fundus photograph") is False
    assert is_modality(panel, "OCT angiography") is None
    assert is_eye(panel, "left") is None
    assert set(COMMONNESS) <= set(MODALITY_WORDS)


def test_a_place_of_the_words_answers_where() -> None:
    panel = cued("Fundus photograph shows a large hemorrhage in the inferior macula.", modality="fundus photograph")
    assert asked(panel, "where", "place") == [("hemorrhage", "In the inferior macula.")]
    assert asked(panel, "what", "place") == [("hemorrhage", "Large hemorrhage.")]


@pytest.mark.parametrize(
    "subcaption",
    [
        "Fundus photograph shows hemorrhage in the right eye.",  # an eye is no place in its picture
        "Fundus photograph shows macular edema in the macula.",  # the question holds the answer
        "Fundus photograph shows hemorrhage in the macula and hemorrhage in the periphery.",  # which one?
        "Fundus photograph shows hemorrhage in this patient.",
    ],
)
def test_where_is_not_asked_without_a_clear_place(subcaption: str) -> None:
    assert asked(cued(subcaption, modality="fundus photograph"), "where", "place") == []


def test_a_list_gives_no_answer_to_what_lies_at_its_place() -> None:
    panel = cued(
        "Fundus photograph shows exudates and a hemorrhage in the inferior macula.", modality="fundus photograph"
    )
    assert asked(panel, "what", "place") == []


def test_marks_that_are_seen_ask_what_they_show_and_contradict_each_other() -> None:
    panel = cued("OCT shows subretinal fluid (white arrow) and drusen (yellow arrow).", boxes=[LEFT, RIGHT])
    assert asked(panel, "what", "mark") == [("white arrow", "Subretinal fluid."), ("yellow arrow", "Drusen.")]
    answers = asked(panel, "yes_no", "mark")
    assert sorted(answers) == [
        ("drusen", "No."), ("drusen", "Yes."), ("subretinal fluid", "No."), ("subretinal fluid", "Yes."),
    ]  # fmt: skip


def test_one_name_of_two_marks_is_not_asked_about() -> None:
    panel = cued("OCT shows subretinal fluid (white arrow) and drusen (white arrow).", boxes=[LEFT, RIGHT])
    assert asked(panel, "what", "mark") == []


def test_a_region_answers_where_by_the_pictures_geometry() -> None:
    panel = cued("OCT shows subretinal fluid (white arrow) and drusen (yellow arrow).", boxes=[LEFT, RIGHT])
    assert asked(panel, "where", "place") == [("subretinal fluid", "Left."), ("drusen", "Right.")]
    for item in short_questions(panel):
        if item.topic == "place" and item.kind == "yes_no":
            side = "left" if "subretinal fluid" in item.question else "right"
            assert item.answer == ("Yes." if item.asked == f"{side} half" else "No.")
            assert item.boxes == ((LEFT if side == "left" else RIGHT),)


def test_directions_are_given_from_a_fovea_that_is_known() -> None:
    words = "Fundus photograph of the right eye shows a hemorrhage (white arrow) and the fovea (yellow arrow)."
    panel = cued(words, modality="fundus photograph", boxes=[BELOW, MIDDLE])
    assert asked(panel, "where", "place") == [("hemorrhage", "Inferior to the fovea.")]
    panel = cued(words.replace("the fovea", "the vessel"), modality="fundus photograph", boxes=[BELOW, MIDDLE])
    assert asked(panel, "where", "place") == [("hemorrhage", "Lower centre.")]


def test_plots_and_diagrams_are_not_asked_about() -> None:
    assert short_questions(cued("Plot of drusen in the macula.", modality=None)) == []


def test_the_only_finding_is_asked_for_in_the_authors_words() -> None:
    assert asked(cued("OCT shows large soft drusen."), "what", "finding") == [("soft drusen", "Large soft drusen.")]
    assert asked(cued("OCT shows drusen and subretinal fluid."), "what", "finding") == []


@pytest.mark.parametrize(
    "words", ["a 7 mm", "a 2 × 1 cm", "the previously described", "a"]
)  # fmt: skip
def test_neither_a_unit_nor_what_was_done_before_opens_an_answer(words: str) -> None:
    panel = cued(f"Fundus photograph shows {words} pigmented choroidal lesion.", modality="fundus photograph")
    said = {item.answer for item in short_questions(panel) if item.kind == "what" and item.topic == "finding"}
    assert said <= {"Pigmented choroidal lesion."}
    asked_for = [item.question for item in short_questions(panel) if (item.kind, item.topic) == ("yes_no", "finding")]
    assert not any(word in text for text in asked_for for word in ("mm ", "cm ", "described"))


def test_what_an_examination_found_is_not_seen_in_a_picture() -> None:
    panel = cued("Clinical examination revealed hypopyon. OCT shows subretinal fluid.")
    assert asked(panel, "yes_no", "finding") == [("subretinal fluid", "Yes.")]


@pytest.mark.parametrize("words", ["Fluid-attenuated inversion recovery image of the optic nerve.",
                                   "OCT shows the cerebrospinal fluid space of the optic nerve."])  # fmt: skip
def test_a_compound_that_holds_a_term_is_not_the_term(words: str) -> None:
    assert asked(cued(words), "yes_no", "finding") == []


def test_a_conversation_begins_with_what_is_visible_and_ends_with_the_context() -> None:
    told = mention("The patient underwent vitrectomy two weeks later.", kind="names panel")
    panel = cued("OCT of the right eye shows subretinal fluid in the macula.", mentions=[told])
    (talk,) = conversation(panel, short_questions(panel))
    said = [turn.content for turn in talk.turns]
    assert said[1] == "OCT of the right eye shows subretinal fluid in the macula."
    assert said[-1] == told.text
    assert [turn.role for turn in talk.turns] == ["user", "assistant"] * 4
    assert {item.kind for item in talk.evidence} >= {"scene", "context"}


def test_a_conversation_does_not_begin_with_half_a_sentence() -> None:
    words = "In conclusion, the lesion with subretinal fluid in the left eye was consistent with melanoma."
    cut, whole = cued(f"OCT scan. {words}"), cued("OCT scan. A lesion with subretinal fluid in the left eye.")
    assert any("lesion" in item.text for item in cut.cues.scenes)
    assert not any("conclusion" in item.turns[1].content for item in conversation(cut, short_questions(cut)))
    assert conversation(whole, short_questions(whole))


def test_too_little_evidence_makes_no_conversation() -> None:
    panel = cued("OCT.")
    assert conversation(panel, short_questions(panel)) == []


LEADS = (
    "OCT of the right eye shows subretinal fluid, drusen and pigment epithelial detachment in the macula and fovea "
    "with subretinal hyperreflective material above the choroid and retinal pigment epithelium, consistent with "
    "neovascular age-related macular degeneration."
)


def reasons(subcaption: str) -> list[Instruction]:
    panel = cued(subcaption)
    return reasoning(panel, cue_score(panel))


def test_reasoning_follows_the_authors_from_what_is_visible_to_a_disease() -> None:
    (thought,) = reasons(LEADS)
    assert thought.asked == "neovascular age-related macular degeneration"
    observed, related, concluded = thought.answer.split(". ")
    assert observed.startswith("OCT of the right eye shows subretinal fluid")
    assert "consistent with neovascular age-related macular degeneration" in related
    assert concluded == "The image therefore points to neovascular age-related macular degeneration."


def test_no_conclusion_is_drawn_that_the_authors_do_not_draw() -> None:
    assert reasons(LEADS.replace(", consistent with", " and")) == []
    assert reasons("OCT shows fluid, consistent with central serous chorioretinopathy.") == []  # scores do not allow it


def test_scores_tell_detailed_words_from_idle_ones() -> None:
    rich, poor = cue_score(cued(LEADS)), cue_score(cued("Image."))
    assert (rich.for_reasoning, rich.is_kept) == (True, True)
    assert (poor.is_kept, poor.quality, poor.relevance) == (False, 1, 1)
    assert not cue_score(cued("OCT shows possible fluid.")).for_reasoning


def test_every_kind_of_question_has_twelve_phrasings_or_more_without_its_answer() -> None:
    for kind, topics in phrasings().items():
        for topic, said in topics.items():
            assert len(set(said)) >= LEAST_PHRASINGS, (kind, topic)
            assert all(phrasing.endswith(("?", ".")) for phrasing in said)


@pytest.mark.parametrize(
    ("term", "said"),
    [("subretinal fluid", "subretinal fluid"), ("retinal tear", "a retinal tear"),
     ("epiretinal membrane", "an epiretinal membrane"),
     ("uveal melanoma", "a uveal melanoma"), ("drusen", "drusen")],
)  # fmt: skip
def test_terms_stand_with_the_article_that_they_need(term: str, said: str) -> None:
    assert with_article(term) == said
