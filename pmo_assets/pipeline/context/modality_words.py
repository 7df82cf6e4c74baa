"""Words by which captions and running text name what a picture was made with.

A term that names a modality outright counts `OUTRIGHT`, one that goes with it `HINT`. Terms are looked for from left to
right, at each place the first of the list that fits: "OCT angiography" is not OCT as well. Acronyms are matched as
printed, words in any case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pmo_assets.records.modalities import Modality

OUTRIGHT: Final = 3.0
HINT: Final = 1.0

MAX_TEXT: Final = 20_000
"""Characters of a panel's words that are looked at."""

WORDS: Final[tuple[tuple[str, Modality, float], ...]] = (
    # Retina and eye.
    (r"(?i:optical coherence tomograph\w* angio\w*|\bOCT[- ]angio\w*)|\b(?:SS-"
     r"|SD-)?OCT-?A\b", "OCT angiography", OUTRIGHT),
    (r"(?i:\ben[ -]?face (?:OCT|optical|image|scan|projection|structural)\w*)", "en-face OCT", OUTRIGHT),
    (r"(?i:thickness map|deviation map)", "thickness map", OUTRIGHT),
    (r"(?i:adaptive optics)|\bAO-?SLO\b", "adaptive optics", OUTRIGHT),
    (r"(?i:ultrasound biomicroscop\w*|ultrasonic biomicroscop\w*)|\bUBM\b", "ultrasound", OUTRIGHT),
    (
        r"(?i:optical coherence tomogra\w*|\bB-?scans?\b(?! ultraso)|tomogram of the (?:macula|retina))"
        r"|\b(?:SD|SS|TD|EDI|AS|HD|iOCT|FD)?-?OCTs?\b",
        "OCT",
        OUTRIGHT,
    ),
    (r"(?i:indocyanine green angio\w*|indocyanine)|\bICGA?\b", "indocyanine green angiography", OUTRIGHT),
    (r"(?i:fluorescein angio\w*|fluorangio\w*)|\b(?:UWF|IV)?F?FA\b(?! score)", "fluorescein angiography", OUTRIGHT),
    (r"(?i:auto-?fluorescence)|\b\w{0,3}FAF\b", "autofluorescence", OUTRIGHT),
    (r"(?i:red-?free)", "red-free", OUTRIGHT),
    (r"(?i:infra-?red (?:reflectance|image\w*|fundus|photo\w*)|near-?infrared)|\bNIRR?\b", "infrared", OUTRIGHT),
    (r"(?i:ultra-?wide-?field|\boptos)|\bUWF\b", "ultra-widefield", OUTRIGHT),
    (r"(?i:(?:fundus|retinal|photographic|colou?r) montage)", "montage", OUTRIGHT),
    (
        r"(?i:fundus (?:photo\w*|pictures?|images?|camera)|colou?r fundus|retinal photo\w*|fundoscop\w*"
        r"|ophthalmoscop\w*|funduscop\w*)|\bCFPs?\b",
        "fundus photograph",
        OUTRIGHT,
    ),
    (r"(?i:\bfundus\b|\bretinal (?:image|lesion)s?)", "fundus photograph", HINT),
    (r"(?i:slit[- ]?lamp)", "slit lamp", OUTRIGHT),
    (r"(?i:anterior segment (?:photo\w*|images?))", "slit lamp", HINT),
    (r"(?i:corneal topograph\w*|topograph(?:ic|y) maps?|Pentacam|Scheimpflug|keratograph)", "topography", OUTRIGHT),
    (r"(?i:external (?:photo\w*|view|eye)|eyelids?\b|proptosis|ptosis)", "external eye", HINT),
    # Radiology.
    (r"(?i:ultraso\w+|sonogra\w*|echocardiogra\w*|\bdoppler\b|echogra\w*)"
     r"|\b[AB]-scan ultraso\w*", "ultrasound", OUTRIGHT),
    (r"(?i:hypo-?echoic|hyper-?echoic|an-?echoic)", "ultrasound", HINT),
    (
        r"(?i:computed tomogra\w*|computeri[sz]ed tomogra\w*|magnetic resonance(?! spectr)|positron emission"
        r"|tomography scan"
        r"|T[12][- ]?weighted|gadolinium|scintigra\w*|\btractography)"
        r"|\b(?:HR|CE|MS|MD|CB|PET[-/])?CT\b|\bf?(?:MRI|MRA|CMR|MRCP|FLAIR|SPECT)\b|\bPET\b",
        "CT or MR",
        OUTRIGHT,
    ),
    (r"(?i:\b(?:axial|coronal|sagittal)\b)", "CT or MR", HINT),
    (
        r"(?i:radiogra\w*|x-?rays?\b|roentgen\w*|mammogra\w*|orthopantomogra\w*|urethrogra\w*|urogra\w*|pyelogra\w*"
        r"|fluoroscop\w*|hysterosalpingogra\w*|coronarogra\w*|cholangiogra\w*|venogra\w*|arteriogra\w*"
        r"|(?:coronary|cerebral|subtraction|pulmonary|carotid|renal|catheter) angiogra\w*)|\bDSA\b",
        "radiograph",
        OUTRIGHT,
    ),
    (r"(?i:\bangiogra\w*|\bcatheter|contrast (?:media|medium|injection)|osteopeni\w*"
     r"|\bfractures?\b)", "radiograph", HINT),
    # Microscopy.
    (
        r"(?i:histolog\w*|histopatholog\w*|ha?ematoxylin|photomicrogra\w*|biops(?:y|ies)|cytolog\w*"
        r"|immunohistochem\w*|\bsmears?\b|van Gieson|Masson\w*|Giemsa|Congo red|paraffin)|\bH\s?[&/]\s?E\b|\bIHC\b",
        "histology",
        OUTRIGHT,
    ),
    (r"(?i:\bstain(?:ed|ing|s)?\b|magnification|tissue sections?)|[×x]\s?\d{2,3}\b"
     r"|\b\d{2,3}\s?[×x](?!\s?\d)", "histology", HINT),
    (
        r"(?i:microgra\w*|(?:confocal|electron|fluorescence|light|phase.contrast|specular|two-photon) microscop\w*"
        r"|immunofluoresc\w*|immunostain\w*|immunocytochem\w*|subcellular locali[sz]ation|specular)|\b[ST]EM image",
        "microscopy",
        OUTRIGHT,
    ),
    (r"(?i:microscop\w*)|\bDAPI\b|\bGFP\b", "microscopy", HINT),
    # Other photographs.
    (r"(?i:endoscop\w*|laparoscop\w*|colonoscop\w*|bronchoscop\w*|cystoscop\w*|arthroscop\w*|intraoral|gastroscop\w*)",
     "endoscopy", OUTRIGHT),
    (r"(?i:dermoscop\w*|cutaneous lesions?|skin lesions?|\brash\b|erythema)", "skin", OUTRIGHT),
    (
        r"(?i:clinical (?:photo\w*|pictures?|appearance)|photographs? of (?:the |a )?(?:patient|child|face|boy"
        r"|girl|man|woman)"
        r"|(?:intra-?operative|peri-?operative|gross|macroscopic|extraoral|facial) (?:photo\w*|pictures?|views?|images?"
        r"|appearance|aspect|findings?|specimen)|gross (?:specimen|pathology))",
        "photograph",
        OUTRIGHT,
    ),
    (r"(?i:\bphoto(?:graph)?s?\b|surgical specimen|excised|resected)", "photograph", HINT),
    # No pictures of patients or tissue.
    (r"(?i:segmentation (?:maps?|masks?|outputs?)|ground[- ]truth|manual (?:annotation|segmentation)s?"
     r"|binary mask)", "mask", OUTRIGHT),
    (
        r"(?i:kaplan[- ]meier|(?:bar|line|pie|box|scatter|violin|forest|funnel|waterfall|radar"
        r"|density)[- ]?(?:chart|graph|plot|diagram)s?"
        r"|barplots?|boxplots?|histograms?|scatter ?plots?|heat ?maps?|confusion matri\w*|\bplot(?:s|ted)?\b"
        r"|error bars?"
        r"|survival curves?|(?:precision|recall|ROC|calibration|dose.response|learning) curves?|t-SNE"
        r"|stochastic neighbor"
        r"|electrocardiogra\w*|audiogra\w*|electroretinogra\w*|electroencephalogra\w*|flow cytometr\w*|chromatogra\w*"
        r"|standard (?:error|deviation)|mean ?± ?\w+|data are (?:expressed|presented|shown|given))"
        r"|\bROC\b|\bECG\b|\bEEG\b|\bERG\b|\bSEM\)|\bFACS\b|[Pp]\s?[<>=]\s?0?\.\d",
        "plot",
        OUTRIGHT,
    ),
    (
        r"(?i:relationships? between|correlation|\bregression\b|distribution of|(?:levels?|concentrations?"
        r"|activity|expression|weight) of"
        r"|changes? (?:of|in)|effects? of|probability|percentages?|accuracy|performance|predictions?|as a function of"
        r"|dashed lines?|solid lines?|visual fields?|perimetr\w*|number of|comparison of|over time|quantif\w*)",
        "plot",
        HINT,
    ),
    (r"(?i:western blot\w*|immunoblot\w*|electropho?r\w*|\bq?(?:RT-)?PCR\b|\bgels?\b|sequenc(?:e|ing)|cDNA"
     r"|electropherogra\w*|pedigree)",
     "plot", OUTRIGHT),
    (
        r"(?i:flow[- ]?charts?|flow[- ]?diagrams?|schemati\w*|diagrams?\b|(?:network )?architecture|pipeline"
        r"|work ?flow|framework"
        r"|illustration of|overview of|block diagram|study (?:design|protocol)|CONSORT|cartoon|drawing"
        r"|pathways?\b|study flow"
        r"|conceptual|map of|flow of participants|evaluation design)",
        "diagram",
        OUTRIGHT,
    ),
    (r"(?i:\bmodel\b|\bmechanism|\bprocess\b|\bstages? of the)", "diagram", HINT),
    (r"(?i:screenshot|questionnaire|user interface|\btable of)", "text", OUTRIGHT),
)  # fmt: skip
"""(regular expression, modality, how much it counts)."""

_ANY: Final = re.compile("|".join(f"(?P<t{n}>{pattern})" for n, (pattern, _, _) in enumerate(WORDS)))


def named_modalities(text: str) -> Mapping[Modality, float]:
    """Return the modalities that a text names and how much: each by its strongest term, the earlier one first.

    Args:
        text: a subcaption, or sentences; its first `MAX_TEXT` characters count.
    """
    found: dict[Modality, float] = {}
    for match in _ANY.finditer(text, 0, MAX_TEXT):
        assert match.lastgroup is not None
        _, modality, weight = WORDS[int(match.lastgroup[1:])]
        found[modality] = max(found.get(modality, 0.0), weight)
    return found
