"""The extractive summary of a panel: the article's sentences, verbatim, in its order, and nothing of other panels."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.mentions import sentence_spans
from pmo_assets.pipeline.context.article_text import article_text
from pmo_assets.pipeline.context.summaries import (
    MAX_FURTHER,
    MAX_WORDS,
    PanelWords,
    own_mentions,
    panel_summary,
    panel_words,
    word_count,
)
from pmo_assets.records.context import (
    MENTION_KINDS,
    Abbreviation,
    MentionKind,
    PanelMention,
    PanelSummary,
    RunningParagraph,
    SectionClass,
)
from pmo_assets_tests.calls import calls_of

CAPTION = (
    "Macular hole in the right eye. (A) Fundus photograph. (B) OCT with vitreous traction. Both before vitrectomy."
)
FUNDUS = "Macular hole in the right eye. Fundus photograph. Both before vitrectomy."
OCT = "Macular hole in the right eye. OCT with vitreous traction. Both before vitrectomy."
PANELS = panel_words([("A", FUNDUS), ("B", OCT)])

HISTORY = "A 67-year-old woman was referred with blurred vision."
EXAMINATION = "Fundus photography showed a round defect at the fovea (Figure 1A)."
TRACTION = "On OCT, vitreous traction pulled at the edge of the hole (Figure 1B)."
CARRIES_ON = "This had been stable for two years."
WHOLE = "The macular hole of the right eye was documented before vitrectomy (Figure 1)."
BOTH = "Defect and traction are shown side by side (Figure 1A, B)."
OTHER_FIGURE = "After vitrectomy the traction on OCT was gone (Figure 2)."
METHOD = "Vitreous traction was measured on OCT by two graders."
POINTS = "The results are shown in Figure 1."


def paragraph(*sentences: str, section: SectionClass = "case", title: str | None = None) -> RunningParagraph:
    return RunningParagraph(section, title, " ".join(sentences))


def mention(
    paragraphs: Sequence[RunningParagraph], sentence: str, identifier: str | None, kind: MentionKind = "names panel"
) -> PanelMention:
    number = next(n for n, item in enumerate(paragraphs) if sentence in item.text)
    start = paragraphs[number].text.index(sentence)
    section, title = paragraphs[number].section, paragraphs[number].section_title
    return PanelMention(identifier, number, section, title, start, start + len(sentence), sentence, kind, "text")


def summary(
    panel: PanelWords,
    paragraphs: Sequence[RunningParagraph],
    told: Sequence[tuple[str, str | None]],
    caption: str = CAPTION,
) -> PanelSummary:
    """The summary of a panel, where `told` are sentences and the panels that they name."""
    mentions = [mention(paragraphs, item, name, "names panel" if name else "names figure") for item, name in told]
    return panel_summary(panel, mentions, article_text(paragraphs, [caption]), caption)


def sentences(found: PanelSummary) -> list[str]:
    return [item.sentence for item in found.sentences]


def test_sentences_of_the_panel_in_the_articles_order() -> None:
    text = [paragraph(WHOLE), paragraph(EXAMINATION, TRACTION)]
    told = [(EXAMINATION, "A"), (TRACTION, "B"), (WHOLE, None)]
    found = summary(PANELS[1], text, told)
    assert sentences(found) == [WHOLE, TRACTION]
    assert found.summary == f"{WHOLE} {TRACTION}" == found.summary
    assert found.generated_summary is None


def test_nothing_of_another_panel_or_figure() -> None:
    text = [paragraph(EXAMINATION, TRACTION, OTHER_FIGURE)]
    assert sentences(summary(PANELS[1], text, [(EXAMINATION, "A"), (TRACTION, "B")])) == [TRACTION]
    assert sentences(summary(PANELS[0], text, [(EXAMINATION, "A"), (TRACTION, "B")])) == [EXAMINATION]


def test_a_sentence_that_names_the_panel_among_others_stays() -> None:
    text = [paragraph(HISTORY, section="introduction"), paragraph(BOTH)]
    for panel in PANELS:
        assert sentences(summary(panel, text, [(BOTH, "A"), (BOTH, "B")])) == [BOTH]


def test_of_a_sentence_about_several_panels_the_clause_that_is_about_one() -> None:
    sentence = (
        "The fundus had a round defect at the fovea (Figure 1A), "
        "whereas the scan of the fovea showed vitreous traction (Figure 1B)."
    )
    text = [paragraph(sentence)]
    told = [(sentence, "A"), (sentence, "B")]
    panels = panel_words([("A", FUNDUS), ("B", OCT)], "Figure 1")
    found = [summary(panel, text, told) for panel in panels]
    assert [item.summary for item in found] == [
        "The fundus had a round defect at the fovea (Figure 1A)",
        "the scan of the fovea showed vitreous traction (Figure 1B).",
    ]
    assert [text[0].text[one.start : one.end] for item in found for one in item.sentences] == [
        item.summary for item in found
    ]
    assert sentences(summary(PANELS[0], text, told)) == [sentence], "which figure is meant is not known"


def test_what_is_said_of_several_figures_says_little_of_a_panel_that_is_named_elsewhere() -> None:
    listed = "Defects of the fundus were seen in many photographs (Figures 1 and 2)."
    text = [paragraph(EXAMINATION), paragraph(listed)]
    assert sentences(summary(PANELS[0], text, [(EXAMINATION, "A"), (listed, None)])) == [EXAMINATION]
    assert sentences(summary(PANELS[0], text, [(listed, None)])) == [listed]


def test_a_sentence_about_the_figure_in_another_panels_words_where_the_text_tells_them_apart() -> None:
    about_a = "The fundus photograph was sharp (Figure 1)."
    text = [paragraph(about_a, TRACTION)]
    assert sentences(summary(PANELS[1], text, [(about_a, None), (TRACTION, "B")])) == [TRACTION]
    assert sentences(summary(PANELS[1], text, [(about_a, None)])) == [about_a], "the text never tells them apart"


def test_a_sentence_in_another_panels_words_is_told_where_there_is_no_other() -> None:
    whole = "Vitreous traction was seen in all patients on OCT (Figure 1)."
    paragraphs = [paragraph(whole, TRACTION)]
    assert sentences(summary(PANELS[0], paragraphs, [(whole, None), (TRACTION, "B")])) == [whole]
    paragraphs = [paragraph(whole, EXAMINATION, TRACTION)]
    told = [(whole, None), (EXAMINATION, "A"), (TRACTION, "B")]
    assert whole not in sentences(summary(PANELS[0], paragraphs, told))


def test_a_sentence_of_another_eye_or_patient_is_not_told() -> None:
    fellow = "The left eye had no macular hole on fundus photography (Figure 1)."
    paragraphs = [paragraph(WHOLE, fellow)]
    assert sentences(summary(PANELS[0], paragraphs, [(WHOLE, None), (fellow, None)])) == [WHOLE]
    second = panel_words([("A", "Macular hole of patient 2."), ("B", "Macular hole of patient 3.")])
    two, three = (f"Patient {n} had a hole of the macula in one eye (Figure 1)." for n in (2, 3))
    paragraphs = [paragraph(two, three)]
    assert sentences(summary(second[0], paragraphs, [(two, None), (three, None)])) == [two]


def test_a_sentence_that_goes_back_to_the_one_before_brings_it_along() -> None:
    goes_back = "It was largest in the fundus photograph of the first visit (Figure 1A)."
    text = [paragraph("A round defect was seen at the fovea.", goes_back)]
    assert sentences(summary(PANELS[0], text, [(goes_back, "A")])) == [
        "A round defect was seen at the fovea.",
        goes_back,
    ]


def test_what_carries_on_follows_if_it_speaks_of_the_same() -> None:
    unrelated = "Her blood pressure was treated by the family doctor."
    text = [paragraph(TRACTION, CARRIES_ON, unrelated)]
    mentions = [
        mention(text, TRACTION, "B"),
        mention(text, CARRIES_ON, "B", "follows"),
        mention(text, unrelated, "B", "follows"),
    ]
    assert sentences(panel_summary(PANELS[1], mentions, article_text(text, [CAPTION]), CAPTION)) == [
        TRACTION,
        CARRIES_ON,
    ]


def test_methods_that_share_rare_words_are_added() -> None:
    filler = [
        paragraph(f"Sentence number {n} is about something else entirely.", section="introduction") for n in range(20)
    ]
    text = [paragraph(METHOD, section="methods"), *filler, paragraph(TRACTION)]
    assert sentences(summary(PANELS[1], text, [(TRACTION, "B")])) == [METHOD, TRACTION]


@pytest.mark.parametrize(
    "further",
    [
        "It was measured on OCT as vitreous traction.",
        "Vitreous traction on OCT was reported by other authors.",
        "Vitreous traction on OCT is common in macular holes [12].",
        "Vitreous traction on OCT is listed in Table 2.",
        "Vitreous traction on OCT",
    ],
    ids=["goes back", "of others", "cites", "a table", "a title"],
)
def test_further_sentences_stand_alone_and_are_of_this_work(further: str) -> None:
    filler = [
        paragraph(f"Sentence number {n} is about something else entirely.", section="introduction") for n in range(20)
    ]
    text = [paragraph(further, section="methods"), *filler, paragraph(TRACTION)]
    assert sentences(summary(PANELS[1], text, [(TRACTION, "B")])) == [TRACTION]


def test_another_patients_case_is_not_told() -> None:
    filler = [
        paragraph(f"Sentence number {n} is about something else entirely.", section="introduction") for n in range(20)
    ]
    other = "Vitreous traction was seen on OCT of the left eye."
    text = [paragraph(other, title="Case 1"), *filler, paragraph(TRACTION, title="Case 2")]
    assert sentences(summary(PANELS[1], text, [(TRACTION, "B")])) == [TRACTION]


def test_what_another_figure_says_better_is_left_to_it() -> None:
    filler = [
        paragraph(f"Sentence number {n} is about something else entirely.", section="introduction") for n in range(20)
    ]
    text = [paragraph("Vitreous traction on OCT and retinal thickness were graded.", section="methods"), *filler,
            paragraph(TRACTION)]  # fmt: skip
    captions = [CAPTION, "Vitreous traction on OCT, and retinal thickness, graded by readers."]
    told = [mention(text, TRACTION, "B")]
    assert sentences(panel_summary(PANELS[1], told, article_text(text, captions), CAPTION)) == [TRACTION]
    assert len(panel_summary(PANELS[1], told, article_text(text, captions[:1]), CAPTION).sentences) == 2


def test_a_sentence_that_only_points_at_the_figure_says_nothing() -> None:
    found = summary(PANELS[0], [paragraph(HISTORY, section="introduction"), paragraph(POINTS)], [(POINTS, None)])
    assert (found.summary, found.sentences) == ("", ())


def test_a_panel_of_which_nothing_is_said() -> None:
    assert panel_summary(PANELS[0], [], article_text([], [CAPTION]), CAPTION) == PanelSummary("", ())


def test_the_only_panel_of_a_figure_has_all_its_mentions() -> None:
    (panel,) = panel_words([(None, OCT)])
    text = [paragraph(EXAMINATION, TRACTION)]
    mentions = [mention(text, EXAMINATION, "A"), mention(text, TRACTION, "B")]
    assert own_mentions(panel, mentions) == tuple(mentions)
    assert own_mentions(PANELS[0], mentions) == tuple(mentions[:1])


def test_abbreviations_of_subcaption_and_summary_are_the_articles() -> None:
    methods = paragraph("We used optical coherence tomography (OCT) and visual acuity (VA).", section="methods")
    text = [methods, paragraph(TRACTION)]
    found = summary(PANELS[1], text, [(TRACTION, "B")])
    assert found.abbreviations == (Abbreviation("OCT", "optical coherence tomography"),)
    by_caption = summary(PANELS[1], text, [(TRACTION, "B")], f"{CAPTION} OCT, ocular coherence tomogram.")
    assert by_caption.abbreviations == (Abbreviation("OCT", "ocular coherence tomogram"),)


def test_no_more_words_than_allowed_and_the_surest_first() -> None:
    long = [f"Traction {n} " + "word " * 58 + "(Figure 1B)." for n in range(9)]
    text = [paragraph(WHOLE, *long)]
    found = summary(PANELS[1], text, [(WHOLE, None), *((item, "B") for item in long)])
    assert word_count(found.summary) <= MAX_WORDS
    assert len(found.sentences) == 4


WORDS = st.sampled_from(
    [
        "OCT", "vitreous", "traction", "fundus", "photograph", "defect", "hole", "the", "of", "(Figure", "1A)",
        "(Figure", "2)", "This", "was", "[3]", "12", "µm", "عين", "fovea",
    ]
)  # fmt: skip
SENTENCE = st.lists(WORDS, min_size=1, max_size=80).map(lambda words: "The " + " ".join(words) + ".")
TEXT = st.lists(st.lists(SENTENCE, max_size=5).map(lambda items: paragraph(*items)), min_size=1, max_size=4)


@given(TEXT, st.data())
def test_every_sentence_is_verbatim_at_its_place_in_order_and_within_the_limit(
    text: list[RunningParagraph], data: st.DataObject
) -> None:
    spans = [(n, start, end) for n, item in enumerate(text) for start, end in sentence_spans(item.text)]
    names = data.draw(st.lists(st.sampled_from(["A", "B", None]), min_size=len(spans), max_size=len(spans)))
    kinds = data.draw(st.lists(st.sampled_from(MENTION_KINDS), min_size=len(spans), max_size=len(spans)))
    mentions = [
        PanelMention(name, n, "case", None, start, end, text[n].text[start:end], kind, "text")
        for (n, start, end), name, kind in zip(spans, names, kinds, strict=True)
    ]
    found = panel_summary(PANELS[0], mentions, article_text(text, [CAPTION]), CAPTION)
    places = [(item.paragraph, item.start) for item in found.sentences]
    assert places == sorted(set(places))
    for item in found.sentences:
        assert text[item.paragraph].text[item.start : item.end] == item.sentence
    assert found.summary == " ".join(sentences(found))
    assert word_count(found.summary) <= MAX_WORDS
    named = {(item.paragraph, item.start) for item in own_mentions(PANELS[0], mentions)}
    others = {(item.paragraph, item.start) for item in mentions if item.identifier == "B"} - named
    assert not others & set(places), "a sentence that names another panel only"
    assert len(set(places) - named) <= MAX_FURTHER + len(named)


@pytest.mark.parametrize("unit", ["a ", "A b. ", "(", "OCT traction. ", "Figure 1A. "])
def test_eight_times_the_hostile_text_takes_about_eight_times_the_work(unit: str) -> None:
    def work(repeats: int) -> int:
        article = article_text([paragraph((unit * repeats).strip())], [CAPTION])
        return calls_of(lambda: [panel_summary(panel, [], article, CAPTION) for panel in PANELS])

    repeats = 4000 // len(unit)
    assert work(8 * repeats) <= 8 * 1.3 * work(repeats)


def test_a_case_whose_passages_speak_of_the_mass_only_is_told_with_its_disease() -> None:
    seen = "Contrast medium enhanced the whole mass for several seconds (Figure 1)."
    disease = "We report a rare case of left atrial myxoma."
    text = [
        paragraph("Atrial myxomas are rare.", disease, section="abstract"),
        paragraph(seen),
        *[paragraph(f"The myxoma of the atrium was seen {n} times.", section="discussion") for n in range(3)],
    ]
    told = [mention(text, seen, None, "names figure")]
    panel = PanelWords(None, "Coronary angiography of the mass.")

    def summarised(title: str) -> list[str]:
        return sentences(panel_summary(panel, told, article_text(text, [panel.subcaption], title), panel.subcaption))

    assert summarised("Left atrial myxoma: a case report") == [disease, seen]
    assert summarised("Coronary angiography of a mass") == [seen], "the subcaption says it"
    assert summarised("") == [seen]
