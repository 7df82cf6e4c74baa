"""A model's summary says nothing that its sources do not say: lies of every kind fail, honest paraphrases pass."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.context.summaries import MAX_WORDS
from pmo_assets.pipeline.context.summary_checks import MAX_SOURCE, SummarySources, fitting_summary
from pmo_assets.pipeline.prompting.asking import MisfittingAnswer
from pmo_assets.records.context import Abbreviation

SOURCES = SummarySources(
    label="Figure 2",
    identifier="B",
    others=("A", "C"),
    subcaption="OCT of the right eye at baseline, showing subretinal fluid over a CNV. Scale bar: 200 µm.",
    sentences=(
        "A 67-year-old woman was referred with metamorphopsia in the right eye.",
        "OCT of the right eye showed subretinal fluid and a suspected CNV, but no intraretinal cysts (Figure 2B).",
        "Central macular thickness was 473 µm in the right eye and 261 µm in the left eye before treatment.",
        "Three months after the last injection of bevacizumab, thickness decreased to 290 µm (p < 0.05).",
        "All scans were taken with the Spectralis device; 25 B-scans covered 20 × 15 degrees.",
        "Intraocular pressure was not elevated.",
        "In the left eye, drusen were seen.",
        "Hyperreflective foci surrounded a hyporeflective cavity.",
    ),
    abbreviations=(
        Abbreviation("OCT", "optical coherence tomography"),
        Abbreviation("CNV", "choroidal neovascularization"),
    ),
)

HONEST = {
    "verbatim": "OCT of the right eye showed subretinal fluid and a suspected CNV, but no intraretinal cysts.",
    "a long form": "Optical coherence tomography of the right eye at baseline reveals subretinal fluid over a "
    "suspected choroidal neovascularization.",
    "the eye by its Latin name": "OCT (OD) demonstrating subretinal fluid without intraretinal cysts.",
    "another order": "Before treatment, central macular thickness measured 473 µm in the right eye and 261 µm in the "
    "left eye.",
    "a unit in words": "Central macular thickness was 473 microns in the right eye before treatment.",
    "a number in digits": "Thickness decreased to 290 µm 3 months after the last injection of bevacizumab.",
    "a number in words": "Thickness decreased to 290 µm three months following the last injection of bevacizumab "
    "(p < 0.05).",
    "another negation": "Subretinal fluid and a suspected CNV were observed; intraretinal cysts were absent.",
    "another doubt": "OCT of the right eye shows subretinal fluid and a possible CNV.",
    "a method": "The scans were taken with the Spectralis device and covered 20 × 15 degrees.",
    "a person": "In a 67-year-old woman with metamorphopsia in the right eye, OCT shows subretinal fluid.",
    "its own name": "Figure 2B: OCT of the right eye with subretinal fluid.",
    "British spelling": "Hyperreflective foci surrounding a hyporeflective cavity are visualised.",
    "a plain denial": "Intraocular pressure was not elevated.",
    "several statements": "OCT of the right eye of a 67-year-old woman shows subretinal fluid and a suspected "
    "choroidal neovascularization. No intraretinal cysts are seen. Central macular thickness was 473 µm.",
}

LIES = {
    "a number": "Central macular thickness was 437 µm in the right eye before treatment.",
    "a number of another thing": "Central macular thickness was 290 µm in the right eye before treatment.",
    "a unit": "Central macular thickness was 473 mm in the right eye before treatment.",
    "what is counted": "Thickness decreased to 290 µm after three injections of bevacizumab.",
    "a sign of comparison": "Thickness decreased to 290 µm (p > 0.05).",
    "the side": "OCT of the left eye showed subretinal fluid and a suspected CNV.",
    "the side in Latin": "OCT (OS) shows subretinal fluid.",
    "both sides": "Subretinal fluid in OU was seen.",
    "sides exchanged": "Central macular thickness was 261 µm in the right eye and 473 µm in the left eye before "
    "treatment.",
    "a negation dropped": "OCT of the right eye showed subretinal fluid and intraretinal cysts.",
    "a negation added": "OCT of the right eye showed no subretinal fluid.",
    "a negation behind": "Subretinal fluid was not seen in the right eye.",
    "a negation through the long form": "Optical coherence tomography showed no choroidal neovascularization.",
    "a normal value made high": "Intraocular pressure was elevated.",
    "a doubt dropped": "OCT of the right eye showed a CNV, confirmed by the scans.",
    "a direction": "Thickness increased to 290 µm after the last injection of bevacizumab.",
    "a time": "Central macular thickness was 473 µm in the right eye after treatment.",
    "reflectivity exchanged": "Hyporeflective foci surrounded a hyperreflective cavity.",
    "a drug": "Thickness decreased to 290 µm after the last injection of ranibizumab.",
    "a device": "All scans were taken with the Cirrus device.",
    "a disease": "OCT of the right eye shows subretinal fluid in central serous chorioretinopathy.",
    "an anatomy": "OCT of the right eye shows suprachoroidal fluid.",
    "the sex": "In a 67-year-old man with metamorphopsia, OCT shows subretinal fluid.",
    "the age": "In a 76-year-old woman with metamorphopsia, OCT shows subretinal fluid.",
    "knowledge from outside": "Subretinal fluid, a hallmark of exudative disease, is seen in the right eye.",
    "a cause": "Subretinal fluid caused by a suspected CNV was seen in the right eye.",
    "another panel": "Subretinal fluid of the right eye, as in panel A.",
    "another panel in brackets": "OCT of the right eye shows subretinal fluid (C).",
    "another panel of the figure": "Figure 2C shows subretinal fluid of the right eye.",
    "another panel by its place": "Subretinal fluid of the right eye, shown in the left panel.",
    "another figure": "OCT of the right eye shows subretinal fluid (Figure 3).",
    "an expansion": "OCT (ocular contrast topography) of the right eye shows subretinal fluid.",
    "how many": "Most scans showed subretinal fluid of the right eye.",
    "statements mixed": "Metamorphopsia decreased before bevacizumab with drusen.",
    "itself": "The figure shows the target subfigure.",
    "nothing": "This image shows the findings of the patient.",
    "no answer": "No information about subretinal fluid is provided in the context.",
    "too much": "Subretinal fluid of the right eye. " * (MAX_WORDS // 6 + 1),
    "a further sentence": "OCT of the right eye showed subretinal fluid. The patient recovered fully.",
}


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_an_honest_paraphrase_passes(text: str) -> None:
    assert fitting_summary(f"  {text} ", SOURCES) == text


@pytest.mark.parametrize("text", LIES.values(), ids=LIES)
def test_a_lie_does_not_pass(text: str) -> None:
    with pytest.raises(MisfittingAnswer):
        fitting_summary(text, SOURCES)


def test_the_reason_tells_what_is_wrong() -> None:
    with pytest.raises(MisfittingAnswer, match="ranibizumab"):
        fitting_summary(LIES["a drug"], SOURCES)
    with pytest.raises(MisfittingAnswer, match="437"):
        fitting_summary(LIES["a number"], SOURCES)
    with pytest.raises(MisfittingAnswer, match=r'"left" of .* "right"'):
        fitting_summary(LIES["the side"], SOURCES)
    with pytest.raises(MisfittingAnswer, match="denied in the summary, but not denied"):
        fitting_summary(LIES["a negation added"], SOURCES)
    with pytest.raises(MisfittingAnswer, match="figure 3, which is another one"):
        fitting_summary(LIES["another figure"], SOURCES)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("a " * 500_000, "OCT of the eye."),
        ("12 " * 200, "12 " * 300_000),
        ("no fluid " * 120, "no fluid and no cysts, " * 40_000),
        ("(" * 3_900, "(" * 1_000_000),
        ("right left " * 120, "right left. " * 80_000),
    ],
    ids=["answer", "numbers", "negations", "brackets", "sides"],
)
def test_hostile_answers_and_sources_are_bounded(answer: str, told: str) -> None:
    sources = SummarySources("Figure 2", "B", ("A",), "OCT of the right eye.", (told,) * 3, SOURCES.abbreviations)
    with pytest.raises(MisfittingAnswer):
        fitting_summary(answer, sources)
    assert sources.qualified.keys() > sources.values.keys()
    assert sum(map(len, sources.texts)) <= MAX_SOURCE * 2
    assert all(value.isdigit() for value in sources.numbers)
