"""Sentences that a lecturer says beside a picture, with the truth of each: what it states is to be seen, if anything.

Two banks of the same make: one to write rules on, one that is only reported (`DEVELOPMENT`, `HELD_OUT`). Each has
sentences about the picture, and sentences that speak of something else: other patients, the rule, the history, what
one would see, what comes next. What belongs here: sentences. Keep out: slides and sound (`lectures`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from pmo_assets.samples.drawing import one_of
from pmo_assets.samples.spec import PictureKind
from pmo_assets_tests.samples.lectures import Change, Lecture, Slide, Voice


@dataclass(frozen=True)
class SaidSentence:
    """A sentence with its truth.

    Attributes:
        text: as spoken.
        present: terms of the lexicon that it says are to be seen in the picture.
        absent: terms that it says are not.
        places: where it says that things are: name, and places that are right.
        eye: that it says is shown.
    """

    text: str
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    eye: Literal["OD", "OS"] | None = None


@dataclass(frozen=True)
class SentenceBank:
    """Sentences by the picture that they may be said of, and those that are about no picture at hand."""

    of_pictures: Mapping[PictureKind, Sequence[SaidSentence]]
    of_others: Sequence[str]


_S = SaidSentence

DEVELOPMENT: Final = SentenceBank(
    {
        "cfp": (
            _S("This fundus photograph shows drusen in the macula of the right eye.", ("drusen",),
               places={"drusen": ("in the macula",)}, eye="OD"),
            _S("There are hard exudates near the fovea and a small haemorrhage.", ("hard exudate", "hemorrhage"),
               places={"hard exudates": ("near the fovea",)}),
            _S("Note the geographic atrophy around the fovea.", ("geographic atrophy",),
               places={"geographic atrophy": ("around the fovea",)}),
            _S("Here you can see cotton wool spots along the arcades.", ("cotton-wool spot",),
               places={"cotton wool spots": ("along the arcades",)}),
            _S("In this fundus photograph of the left eye there is no haemorrhage.", (), ("hemorrhage",), eye="OS"),
        ),
        "oct": (
            _S("The scan shows subretinal fluid under the fovea.", ("subretinal fluid",),
               places={"subretinal fluid": ("under the fovea",)}),
            _S("You see intraretinal cysts and an epiretinal membrane.", ("intraretinal cyst", "epiretinal membrane")),
            _S("This optical coherence tomography shows a macular hole.", ("macular hole",)),
            _S("On this scan there is no intraretinal fluid.", (), ("intraretinal fluid",)),
            _S("We see a pigment epithelial detachment beneath the fovea.", ("pigment epithelial detachment",),
               places={"pigment epithelial detachment": ("beneath the fovea",)}),
        ),
        "angiography": (
            _S("The fluorescein angiogram shows leakage in the late phase.", ("leakage",)),
            _S("Capillary nonperfusion is seen in the periphery.", ("nonperfusion",),
               places={"capillary nonperfusion": ("in the periphery",)}),
            _S("There is choroidal neovascularization next to the disc.", ("choroidal neovascularization",)),
            _S("This fluorescein angiography of the right eye shows microaneurysms.", ("microaneurysm",), eye="OD"),
        ),
        "autofluorescence": (
            _S("Autofluorescence shows a dark area of atrophy in the macula.", ("atrophy",),
               places={"atrophy": ("in the macula",)}),
            _S("Here the fundus autofluorescence image shows geographic atrophy.", ("geographic atrophy",)),
            _S("Look at the hyperautofluorescent ring around the fovea.", ("hyperautofluorescent ring",),
               places={"hyperautofluorescent ring": ("around the fovea",)}),
        ),
    },
    (
        "In the previous case there was a retinal detachment.",
        "Patients with diabetes often develop microaneurysms.",
        "She was treated with laser photocoagulation two years ago.",
        "On the next slide you will see a macular hole.",
        "If you saw cotton wool spots you would think of hypertension.",
        "Do you see any drusen here?",
        "The macular oedema had resolved three months later.",
        "In glaucoma the optic disc shows cupping.",
    ),
)  # fmt: skip
"""To write rules on."""

HELD_OUT: Final = SentenceBank(
    {
        "cfp": (
            _S("On the fundus photograph of this left eye we see a subretinal haemorrhage.", ("subretinal hemorrhage",),
               eye="OS"),
            _S("Here is a choroidal nevus below the inferior arcade.", ("choroidal nevus",),
               places={"choroidal nevus": ("below the inferior arcade",)}),
            _S("You can appreciate a large macular scar.", ("disciform scar",)),
            _S("This photograph shows no drusen.", (), ("drusen",)),
            _S("There is an epiretinal membrane over the macula.", ("epiretinal membrane",),
               places={"epiretinal membrane": ("over the macula",)}),
        ),
        "oct": (
            _S("There is subretinal fluid and a large drusen in this scan.", ("subretinal fluid", "drusen")),
            _S("In this OCT of the right eye we do not see any epiretinal membrane.", (), ("epiretinal membrane",),
               eye="OD"),
            _S("Here we have vitreomacular traction.", ("vitreomacular traction",)),
            _S("The image shows cystoid macular edema.", ("cystoid macular edema",)),
            _S("Notice the intraretinal fluid above the retinal pigment epithelium.", ("intraretinal fluid",),
               places={"intraretinal fluid": ("above the retinal pigment epithelium",)}),
        ),
        "angiography": (
            _S("Fluorescein angiography reveals neovascularization along the superior arcade.", ("neovascularization",),
               places={"neovascularization": ("along the superior arcade",)}),
            _S("You see leakage at the optic disc.", ("leakage",), places={"leakage": ("at the optic disc",)}),
            _S("There are many microaneurysms in the macula.", ("microaneurysm",),
               places={"microaneurysms": ("in the macula",)}),
            _S("No leakage is visible in this angiogram.", (), ("leakage",)),
        ),
        "autofluorescence": (
            _S("This fundus autofluorescence image of the right eye shows geographic atrophy in the macula.",
               ("geographic atrophy",), places={"geographic atrophy": ("in the macula",)}, eye="OD"),
            _S("We can see optic disc drusen here.", ("optic disc drusen",)),
            _S("The picture shows atrophy around the optic disc.", ("atrophy",),
               places={"atrophy": ("around the optic disc",)}),
        ),
    },
    (
        "Another patient had a vitreous haemorrhage.",
        "A macular hole usually begins with traction on the fovea.",
        "He had undergone cataract surgery in both eyes.",
        "Later I will show you a choroidal melanoma.",
        "You would expect hard exudates in such a patient.",
        "Is there any subretinal fluid?",
        "Imagine that this patient had papilledema.",
        "Last week we saw retinal neovascularization in a young man.",
        "Compared with the first visit there is less leakage.",
        "There are three types of choroidal neovascularization.",
    ),
)  # fmt: skip
"""Reported only: no rule was written on these."""


def described_lecture(seed: int, bank: SentenceBank, *, slides: int = 8, voice: Voice | None = "en-us") -> Lecture:
    """Return a lecture drawn by chance, of which each slide has a picture and one to two sentences about it, in every
    second one with a sentence about something else before or after them."""
    rng = np.random.default_rng(seed)
    made = [Slide("title", (), ("Welcome to this lecture on diseases of the retina.",), "fade")]
    kinds = tuple(bank.of_pictures)
    for _ in range(slides - 1):
        kind = one_of(rng, kinds)
        pool = bank.of_pictures[kind]
        said = [pool[int(k)].text for k in rng.permutation(len(pool))[: int(rng.integers(1, 3))]]
        if rng.random() < 0.5:
            said.insert(int(rng.integers(0, len(said) + 1)), one_of(rng, tuple(bank.of_others)))
        changes: tuple[Change, ...] = ("cut", "cut", "fade", "black")
        made.append(Slide(one_of(rng, ("picture", "full", "patient")), (kind,), tuple(said), one_of(rng, changes)))
    return Lecture(seed, tuple(made), voice=voice, presenter=bool(rng.random() < 0.75))
