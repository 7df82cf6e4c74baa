"""The interfaces in which people annotate, as Label Studio's configuration: here is the home of their parts' names.

As in the paper (2.5.1, Supplement B): figure and caption boxes on the page (S1), boxes on the figure, parts of the
caption and panels (S3); a fourth in which an audit judges one panel's subcaption; a fifth for marks and what they show;
a sixth in which an audit judges one instruction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.regions import MARK_COLOURS, MARK_KINDS, MarkKind
from pmo_assets.records.reviews import INSTRUCTION_VERDICTS, VERDICTS, DecidedField
from pmo_assets.records.stores import SystemicError

Interface = Literal["pages", "boxes", "captions", "audit", "regions", "instructions"]

INTERFACES: Final[tuple[Interface, ...]] = ("pages", "boxes", "captions", "audit", "regions", "instructions")

AUDITS: Final[frozenset[Interface]] = frozenset({"audit", "instructions"})
"""Those in which people judge, and decide nothing."""

DECIDES: Final[Mapping[str, tuple[DecidedField, ...]]] = {
    "pages": ("figure", "caption"),
    "boxes": ("panels", "identifiers", "images"),
    "captions": ("subcaptions",),
    "audit": (),
    "regions": ("marks", "regions"),
    "instructions": (),
}
"""Fields that an answer decides, by interface; in `captions` also the panels, where a person moves one."""

TITLES: Final[Mapping[str, str]] = {
    "pages": "figures and captions on pages",
    "boxes": "panels, identifiers and images",
    "captions": "caption parts and panels",
    "audit": "audit of subcaptions",
    "regions": "marks and regions",
    "instructions": "instructions",
}

MODEL_VERSION: Final = "pmo-assets"
"""Whose predictions Label Studio shows."""

FIGURE, CAPTION, PANEL, IDENTIFIER, SUBCAPTION = "Figure", "Caption", "Panel", "Identifier", "Subcaption"
PLAIN, ANNOTATED = "Plain", "Annotated"
BOXES, PARTS, PICTURE, CAPTION_TEXT = "boxes", "parts", "figure", "caption"
READ, MARK, PANEL_NAME, TRANSCRIPTION, LABEL, VERDICT = (
    "identifier",
    "mark",
    "box_name",
    "transcription",
    "label",
    "verdict",
)
DESCRIBES: Final = "describes"

REGION, TIP, TIPS = "Region", "Tip", "tips"
COLOUR, PRINT, WORDS, TYPED, PHRASES = "colour", "print", "words", "typed", "phrases"
SHOWS: Final = "shows"
TURNS, EVIDENCE, REASON = "turns", "evidence", "reason"

MARK_LABELS: Final[Mapping[str, MarkKind]] = {
    kind.capitalize() if kind != "other" else "Other mark": kind for kind in MARK_KINDS
}
"""Kind of mark by the label that people give."""

LABEL_OF: Final[Mapping[MarkKind, str]] = {kind: label for label, kind in MARK_LABELS.items()}

_COLOURS: Final[Mapping[str, str]] = {
    FIGURE: "#1f77b4", CAPTION: "#ff7f0e", PANEL: "#1f77b4", IDENTIFIER: "#d62728", SUBCAPTION: "#2ca02c",
    "CFP": "#e377c2", "OCT": "#17becf", "Retinal Imaging": "#9467bd", "Other": "#7f7f7f",
    REGION: "#2ca02c", TIP: "#d62728",
    "Arrow": "#ff7f0e", "Arrowhead": "#bcbd22", "Circle": "#1f77b4", "Box": "#9467bd", "Asterisk": "#e377c2",
    "Line": "#17becf", "Other mark": "#7f7f7f",
}  # fmt: skip


class UnknownInterface(SystemicError):
    """There is no such interface."""


def _labels(names: tuple[str, ...], first_key: int = 1) -> str:
    return "".join(
        f'<Label value="{name}" background="{_COLOURS[name]}" hotkey="{number}"/>'
        for number, name in enumerate(names, start=first_key)
    )


def _picture() -> str:
    return f'<Image name="{PICTURE}" value="$image" zoom="true" zoomControl="true" rotateControl="false"/>'


def _rectangles(names: tuple[str, ...], first_key: int = 1) -> str:
    return (
        f'<RectangleLabels name="{BOXES}" toName="{PICTURE}" strokeWidth="3" opacity="0.1">'
        f"{_labels(names, first_key)}</RectangleLabels>"
    )


def _region_text(name: str, labels: str, placeholder: str, rows: int = 1, *, listed: bool = True) -> str:
    """Return where people write at a region: in the list of regions, which shows it for all, or for the chosen one."""
    shown = ' displayMode="region-list"' if listed else ""
    return (
        f'<TextArea name="{name}" toName="{PICTURE}" perRegion="true" whenTagName="{BOXES}" whenLabelValue="{labels}" '
        f'editable="true" maxSubmissions="1" rows="{rows}" placeholder="{placeholder}"{shown}/>'
    )


def _pages() -> str:
    return (
        '<Header value="$title"/>'
        + _rectangles((FIGURE, CAPTION))
        + _region_text(LABEL, f"{FIGURE},{CAPTION}", "as printed, e.g. Figure 3 (the same for its caption)")
        + _picture()
    )


def _boxes() -> str:
    types = ",".join(IMAGE_TYPES)
    return (
        '<Header value="$title"/>'
        + _rectangles((PANEL, IDENTIFIER, *IMAGE_TYPES))
        + _region_text(READ, IDENTIFIER, "what is printed, without brackets and dots", listed=False)
        + f'<Choices name="{MARK}" toName="{PICTURE}" perRegion="true" whenTagName="{BOXES}" whenLabelValue="{types}" '
        'choice="single-radio" showInline="true">'
        f'<Choice value="{PLAIN}"/><Choice value="{ANNOTATED}"/></Choices>'
        + _picture()
        + f'<Text name="{CAPTION_TEXT}" value="$caption"/>'
    )


def _captions() -> str:
    return (
        '<Header value="$title"/>'
        f'<Relations><Relation value="{DESCRIBES}"/></Relations>'
        f'<Labels name="{PARTS}" toName="{CAPTION_TEXT}">{_labels((SUBCAPTION, IDENTIFIER))}</Labels>'
        f'<Text name="{CAPTION_TEXT}" value="$caption" granularity="word"/>'
        + _rectangles((PANEL,), 3)
        + _region_text(PANEL_NAME, PANEL, "what the caption calls the panel")
        + _region_text(TRANSCRIPTION, PANEL, "the panel's subcaption; empty: the parts that point at it", rows=4)
        + _picture()
    )


def _verdict(names: Sequence[str]) -> str:
    choices = "".join(f'<Choice value="{name}" hotkey="{number}"/>' for number, name in enumerate(names, start=1))
    return (
        f'<Choices name="{VERDICT}" toName="{PICTURE}" choice="single-radio" required="true" showInline="true">'
        f"{choices}</Choices>"
    )


def _audit() -> str:
    return (
        '<Header value="$title"/>'
        '<Header size="5" value="Is this the subcaption of the framed panel?"/>'
        '<Text name="subcaption" value="$subcaption"/>'
        + _verdict(VERDICTS)
        + _rectangles((PANEL,), 4)
        + _picture()
        + f'<Header size="6" value="The whole caption"/><Text name="{CAPTION_TEXT}" value="$caption"/>'
    )


def _region_choices(name: str, labels: str, choices: str, value: str = "") -> str:
    return (
        f'<Choices name="{name}" toName="{PICTURE}"{value} perRegion="true" whenTagName="{BOXES}" '
        f'whenLabelValue="{labels}" choice="single" layout="select">{choices}</Choices>'
    )


def _regions() -> str:
    marks = ",".join(MARK_LABELS)
    colours = "".join(f'<Choice value="{colour}"/>' for colour in MARK_COLOURS)
    return (
        '<Header value="$title"/>'
        f'<Relations><Relation value="{SHOWS}"/></Relations>'
        + _rectangles((REGION, *MARK_LABELS))
        + f'<KeyPointLabels name="{TIPS}" toName="{PICTURE}" strokeWidth="3">{_labels((TIP,), 9)}</KeyPointLabels>'
        + _region_choices(COLOUR, marks, colours)
        + _region_text(PRINT, marks, "letter or number beside the mark", listed=False)
        + _region_choices(WORDS, REGION, "", f' value="${PHRASES}"')
        + _region_text(TYPED, REGION, "other words of the caption or the mentions, as they stand there", listed=False)
        + _picture()
        + f'<Text name="{CAPTION_TEXT}" value="$caption"/>'
        + '<Header size="6" value="What the article says of it"/><Text name="mentions" value="$mentions"/>'
    )


def _instructions() -> str:
    others = ",".join(name for name in INSTRUCTION_VERDICTS if name != "right")
    return (
        '<Header value="$title"/>'
        '<Header size="5" value="Is every answer true of the framed panel, and do its picture or the words below tell '
        'it?"/>'
        f'<Text name="{TURNS}" value="${TURNS}"/>'
        + _verdict(INSTRUCTION_VERDICTS)
        + f'<View visibleWhen="choice-selected" whenTagName="{VERDICT}" whenChoiceValue="{others}">'
        f'<TextArea name="{REASON}" toName="{PICTURE}" maxSubmissions="1" rows="2" placeholder="what is wrong, or '
        'why it cannot be told"/></View>'
        + _rectangles((PANEL, REGION), 4)
        + _picture()
        + f'<Header size="6" value="It rests on"/><Text name="{EVIDENCE}" value="${EVIDENCE}"/>'
        + f'<Header size="6" value="The whole caption"/><Text name="{CAPTION_TEXT}" value="$caption"/>'
    )


def configuration(interface: str) -> str:
    """Return an interface's configuration, the XML that a Label Studio project takes.

    Raises:
        UnknownInterface: if there is none of this name.
    """
    known = {
        "pages": _pages, "boxes": _boxes, "captions": _captions, "audit": _audit, "regions": _regions,
        "instructions": _instructions,
    }  # fmt: skip
    made = known.get(interface)
    if made is None:
        raise UnknownInterface(f"no interface {interface!r}; there are {', '.join(INTERFACES)}")
    return f"<View>{made()}</View>"


def labels_of(interface: str) -> frozenset[str]:
    """Return the labels that rectangles may have in an interface."""
    return {
        "pages": frozenset({FIGURE, CAPTION}),
        "boxes": frozenset({PANEL, IDENTIFIER, *IMAGE_TYPES}),
        "regions": frozenset({REGION, *MARK_LABELS}),
        "instructions": frozenset({PANEL, REGION}),
    }.get(interface, frozenset({PANEL}))
