"""Running text, names and references for sample articles: plausible sentences put together from small banks.

Only the bank "retina" holds words that make an article ophthalmic; the others must never contain them, because the
relevance filter's negative cases are made of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pmo_assets.samples.spec import Topic

_SLOTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "retina": {
        "disease": ("age-related macular degeneration", "diabetic macular oedema", "central serous chorioretinopathy",
                    "retinal vein occlusion", "retinitis pigmentosa", "polypoidal vasculopathy"),
        "layer": ("ellipsoid zone", "inner nuclear layer", "retinal pigment epithelium", "outer plexiform layer",
                  "ganglion cell layer"),
        "sign": ("subretinal fluid", "intraretinal cysts", "hard exudates", "a pigment epithelial detachment",
                 "drusen", "flame-shaped haemorrhages"),
        "drug": ("ranibizumab", "aflibercept", "bevacizumab", "eplerenone", "dexamethasone implant"),
    },
    "cardiology": {
        "disease": ("myocardial infarction", "dilated cardiomyopathy", "atrial fibrillation", "aortic stenosis",
                    "viral myocarditis"),
        "layer": ("left ventricle", "interventricular septum", "right atrium", "mitral annulus", "apical segment"),
        "sign": ("interstitial fibrosis", "wall motion abnormalities", "pericardial effusion", "ST-segment elevation",
                 "inflammatory infiltrates"),
        "drug": ("metoprolol", "ramipril", "spironolactone", "amiodarone", "sacubitril"),
    },
    "intracoronary": {
        "disease": ("acute coronary syndrome", "in-stent restenosis", "stable angina", "late stent thrombosis"),
        "layer": ("fibrous cap", "proximal reference segment", "stent edge", "distal vessel", "neointima"),
        "sign": ("malapposed struts", "a lipid-rich plaque", "plaque rupture", "calcified nodules", "thrombus"),
        "drug": ("ticagrelor", "clopidogrel", "atorvastatin", "prasugrel", "heparin"),
    },
}  # fmt: skip

_COMMON: Mapping[str, tuple[str, ...]] = {
    "Introduction": (
        "The natural history of {disease} is highly variable, and its early stages often remain unnoticed.",
        "Several mechanisms have been proposed, but none of them explains all clinical findings{ref}.",
        "Current guidelines recommend imaging at baseline and at every follow-up visit{ref}.",
        "The prevalence of {disease} increases steeply with age and has doubled over the past two decades{ref}.",
        "In earlier reports, {sign} predicted a poor outcome, although the number of patients was small{ref}.",
        "Whether {drug} changes the course of the disease is still a matter of debate.",
        "The purpose of this study was to describe changes of the {layer} in patients with {disease}.",
        "Quantitative measurements are less dependent on the observer than a clinical grading{ref}.",
        "Patients usually report a gradual onset of symptoms over weeks to months.",
        "Treatment with {drug} was introduced as an alternative for those who do not respond.",
        "A better understanding of the structural basis is needed to select patients for treatment.",
        "Multimodal imaging has changed our concept of {disease} considerably{ref}.",
    ),
    "Materials and Methods": (
        "The study followed the tenets of the Declaration of Helsinki and was approved by the local ethics committee.",
        "Written informed consent was obtained from all participants.",
        "We reviewed the records of all patients with {disease} who were seen between January 2019 and June 2023.",
        "Inclusion criteria were an age above 18 years and at least one follow-up visit after six months.",
        "Patients with previous treatment with {drug} or with media of poor quality were excluded.",
        "Two masked readers graded the presence of {sign} independently; differences were resolved by discussion.",
        "The thickness of the {layer} was measured manually at five predefined positions.",
        "Continuous variables are given as mean ± standard deviation and were compared with a paired *t*-test.",
        "Statistical analysis was carried out with R version 4.2; *P* values below 0.05 were considered significant.",
        "Agreement between readers was expressed as an intraclass correlation coefficient{ref}.",
        "All examinations were repeated at three, six, and twelve months by the same operator.",
        "Sample size was chosen to detect a difference of 12% with a power of 0.8.",
    ),
    "Results": (
        "A total of {n} patients with {disease} were included; {m} of them were women.",
        "The mean age was {n}.4 ± 8.2 years (range, 41 to 86 years).",
        "At baseline, {sign} was present in {m} patients and absent in the others.",
        "The {layer} was significantly thinner in the affected group than in controls (*P* = 0.0{m}).",
        "No serious adverse event related to {drug} was observed during the follow-up.",
        "Six months later, {sign} had resolved completely in all but three patients.",
        "There was no correlation between the thickness of the {layer} and the duration of symptoms.",
        "Interobserver agreement was excellent, with a coefficient of 0.9{m}.",
        "In a multivariate model, only age and {sign} remained independent predictors.",
        "The change from baseline was more pronounced in patients who received {drug}.",
        "Findings in the {layer} preceded clinical symptoms by several weeks in two patients.",
        "Repeated measurements differed by less than 3% on average.",
    ),
    "Discussion": (
        "Our findings suggest that the {layer} is involved early in the course of {disease}.",
        "This is in line with histological studies, which described {sign} in a comparable proportion{ref}.",
        "A possible explanation is that {drug} acts on a pathway that is already exhausted in late disease.",
        "The retrospective design and the limited number of patients are the main weaknesses of our study.",
        "In contrast to previous reports, we did not find any influence of sex or smoking{ref}.",
        "Further prospective studies are needed to confirm these observations.",
        "The recovery of the {layer} lagged behind the resolution of {sign}, as others have noted{ref}.",
        "From a practical point of view, a single examination is sufficient in most patients.",
        "It remains open whether {sign} is a cause or a consequence of the disease.",
        "Taken together, imaging of the {layer} helps to tell {disease} from its mimics.",
        "Long-term data on {drug} are still scarce, and costs have to be considered as well.",
        "We recommend a low threshold for repeating the examination when symptoms change.",
    ),
}

_SPECIFIC: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "retina": {
        "Introduction": (
            "Optical coherence tomography (OCT) shows the layers of the retina in vivo at a resolution of microns.",
            "Color fundus photography remains the standard for documentation in ophthalmology{ref}.",
            "Fluorescein angiography reveals leakage from retinal and choroidal vessels but is invasive.",
        ),
        "Materials and Methods": (
            "Pupils were dilated with 0.5% tropicamide, and fundus photographs of the posterior pole were taken.",
            "Spectral-domain OCT volumes of 6 × 6 mm were centred on the fovea.",
            "Best-corrected visual acuity was measured with ETDRS charts at a distance of four metres.",
        ),
        "Results": (
            "Visual acuity improved from 20/60 to 20/25 within three months.",
            "The peripheral retina was attached and without breaks in all eyes.",
            "Intraocular pressure stayed between 12 and 19 mmHg in both eyes.",
        ),
        "Discussion": (
            "The retina tolerates short episodes of detachment well, but photoreceptors are lost when it persists.",
            "Fundus autofluorescence adds information on the metabolic state of the pigment epithelium.",
            "Automated segmentation of OCT volumes may reduce the workload of reading centres{ref}.",
        ),
    },
    "cardiology": {
        "Introduction": (
            "Heart failure remains the final common pathway of most myocardial diseases.",
            "Echocardiography is the first-line examination of ventricular function{ref}.",
        ),
        "Materials and Methods": (
            "Hearts were fixed in 4% formalin, embedded in paraffin, and stained with haematoxylin and eosin.",
            "Transthoracic echocardiography was performed with a 3.5 MHz transducer in the left lateral position.",
        ),
        "Results": (
            "Ejection fraction rose from 34% to 47% in the treated group.",
            "Collagen occupied 18% of the section area after four weeks.",
        ),
        "Discussion": (
            "Remodelling of the left ventricle starts within days after the infarct.",
            "Animal models reproduce only some features of human heart failure{ref}.",
        ),
    },
    "intracoronary": {
        "Introduction": (
            "Intravascular imaging with optical coherence tomography (OCT) resolves single stent struts.",
            "Angiography underestimates the plaque burden of the coronary arteries{ref}.",
        ),
        "Materials and Methods": (
            "OCT pullbacks were recorded at 20 mm/s during flushing with contrast medium.",
            "Cross-sections were analysed at intervals of 1 mm over the whole stented segment.",
        ),
        "Results": (
            "At nine months, 94% of the struts were covered by tissue.",
            "Minimal lumen area did not differ between the two stents.",
        ),
        "Discussion": (
            "Uncovered struts are a substrate of late thrombosis.",
            "The clinical value of routine intravascular imaging has yet to be proved{ref}.",
        ),
    },
}

MENTIONS: Mapping[str, tuple[str, ...]] = {
    "retina": (
        "Representative findings are shown in {fig}.",
        "The examination of the affected eye showed {sign} at the posterior pole ({fig}).",
        "As {fig} illustrates, the {layer} was interrupted near the fovea.",
        "These changes were confirmed by a second examination ({fig}).",
    ),
    "cardiology": (
        "Representative findings are shown in {fig}.",
        "The analysis of the {layer} revealed {sign} ({fig}).",
        "As {fig} illustrates, the effect was most pronounced in the {layer}.",
        "These changes were confirmed in a second series ({fig}).",
    ),
    "intracoronary": (
        "Representative findings are shown in {fig}.",
        "Imaging of the {layer} revealed {sign} ({fig}).",
        "As {fig} illustrates, most struts were covered.",
        "These changes were confirmed in a second series ({fig}).",
    ),
}
SECTION_TITLES: tuple[str, ...] = ("Introduction", "Materials and Methods", "Results", "Discussion")

_SURNAMES = ("Lindqvist", "Okafor", "Marchetti", "Tanaka", "Novák", "Herrera", "Brandt", "Sørensen", "Iyer", "Duval",
             "Kowalczyk", "Achterberg", "Aydin", "Moreau", "Petrov", "Ferreira")  # fmt: skip
_GIVEN = ("Anna", "Chidi", "Paolo", "Haruka", "Jana", "Luis", "Katrin", "Mads", "Priya", "Claire", "Marek", "Eva",
          "Deniz", "Hugo", "Irina", "Rui")  # fmt: skip
_CITIES = ("Lund", "Ibadan", "Padua", "Sendai", "Brno", "Granada", "Kiel", "Aarhus", "Pune", "Nantes")
_DEPARTMENTS = {"retina": "Department of Ophthalmology", "cardiology": "Department of Cardiology",
                "intracoronary": "Heart Centre"}  # fmt: skip
_REFERENCE_TITLES = (
    "Long-term outcome of {disease}: a population-based study",
    "{sign} as a predictor of progression",
    "Safety and efficacy of {drug} in {disease}",
    "Structure of the {layer} in health and disease",
    "Reproducibility of measurements of the {layer}",
    "{disease}: current concepts and open questions",
    "A randomised trial of {drug} versus placebo",
    "Quantitative analysis of {sign}",
)


def article_disease(title: str, topic: Topic, rng: np.random.Generator) -> str:
    """Return the disease that the article is about: the one its title names, or any."""
    named = [disease for disease in _SLOTS[topic]["disease"] if disease in title.lower()]
    return named[0] if named else str(rng.choice(_SLOTS[topic]["disease"]))


def filled(template: str, topic: Topic, rng: np.random.Generator, disease: str | None = None) -> str:
    """Fill a template's slots, the disease with the given one; `{fig}` and `{ref}` stay for the caller."""
    chosen = {name: str(rng.choice(options)) for name, options in _SLOTS[topic].items()}
    if disease is not None:
        chosen["disease"] = disease
    text = template.format(**chosen, n=int(rng.integers(38, 72)), m=int(rng.integers(11, 37)), fig="{fig}", ref="{ref}")
    return text[:1].upper() + text[1:]


def sentences(section: str, topic: Topic, rng: np.random.Generator, disease: str) -> Iterator[str]:
    """Yield sentences of a section, all of its bank once in random order, then again with other fillings."""
    bank = [*_SPECIFIC[topic][section], *_COMMON[section]]
    while True:
        for i in rng.permutation(len(bank)):
            yield filled(bank[int(i)], topic, rng, disease)


def people(rng: np.random.Generator, count: int) -> tuple[tuple[str, str], ...]:
    """Return (given name, surname) of different invented authors."""
    surnames, given = rng.permutation(len(_SURNAMES))[:count], rng.permutation(len(_GIVEN))[:count]
    return tuple((_GIVEN[int(g)], _SURNAMES[int(s)]) for g, s in zip(given, surnames, strict=True))


def affiliation(topic: Topic, rng: np.random.Generator) -> str:
    """Return an invented affiliation."""
    return f"{_DEPARTMENTS[topic]}, University Hospital {rng.choice(_CITIES)}"


def reference_title(topic: Topic, rng: np.random.Generator) -> str:
    """Return an invented article title."""
    title = filled(str(rng.choice(_REFERENCE_TITLES)), topic, rng)
    return title[:1].upper() + title[1:]
