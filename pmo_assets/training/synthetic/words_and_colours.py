"""Words and colours of drawings: words that are frequent in the literature, palettes of journals."""

from __future__ import annotations

from pmo_assets.samples.drawing import Colour, Rng, one_of

WORDS = (
    "Time", "Control", "Treated", "Group", "Mean", "Score", "Expression", "Relative", "Retinal", "thickness", "Visual",
    "acuity", "Age", "years", "Weeks", "Days", "Frequency", "Amplitude", "Patients", "Baseline", "Follow-up",
    "Sensitivity", "Specificity", "Accuracy", "Epoch", "Loss", "Precision", "Recall", "Model", "Input", "Output",
    "Left", "eye", "Right", "eye", "Area", "Intensity", "Ratio", "Volume", "Depth", "Dose", "Cells", "Level", "IOP",
    "mmHg", "OD", "OS", "Normal", "Diabetic", "AMD", "Glaucoma", "Image", "Mask", "Ground", "truth", "Prediction",
    "U-Net", "Feature", "Encoder", "Decoder", "Training", "Test", "Before", "After", "Day", "1", "Week", "4", "Month",
    "6", "Study", "Placebo", "Survival", "Actin", "GAPDH", "p75", "WT", "KO", "Mock", "siRNA", "Vehicle",
)  # fmt: skip
"""Words for axes, headings and boxes; frequent ones of the literature."""

PALETTES: tuple[tuple[Colour, ...], ...] = (
    ((31, 119, 180), (255, 127, 14), (44, 160, 44), (214, 39, 40), (148, 103, 189), (140, 86, 75)),
    ((0, 0, 0), (90, 90, 90), (150, 150, 150), (200, 200, 200)),
    ((79, 129, 189), (192, 80, 77), (155, 187, 89), (128, 100, 162), (75, 172, 198)),
    ((0, 0, 255), (255, 0, 0), (0, 128, 0), (0, 0, 0), (255, 0, 255)),
    ((225, 87, 89), (78, 121, 167), (242, 142, 43), (118, 183, 178), (89, 161, 79)),
)


def some_words(rng: Rng, least: int, most: int) -> str:
    """Return a few random words."""
    return " ".join(str(rng.choice(WORDS)) for _ in range(int(rng.integers(least, most + 1))))


def colour_of(rng: Rng, palette: tuple[Colour, ...]) -> Colour:
    """Return a random colour of a palette."""
    return one_of(rng, palette)


def any_palette(rng: Rng) -> tuple[Colour, ...]:
    """Return any of the palettes."""
    return one_of(rng, PALETTES)
