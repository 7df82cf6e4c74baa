"""Tables of the group `quality`: annotations, and how far each step is from them."""

from __future__ import annotations

import dataframely as dy

from pmo_assets.records.instructions import INSTRUCTION_KINDS
from pmo_assets.records.regions import MARK_COLOURS, MARK_KINDS
from pmo_assets.records.reviews import INSTRUCTION_VERDICTS
from pmo_assets.tables.columns import ArticleKey

_LOCATIONS = dy.List(dy.Struct({"page": dy.Int64(), "bbox": dy.List(dy.Float64())}))


_ANNOTATED_IMAGE = dy.Struct(
    {"box": dy.List(dy.Float64()), "type": dy.String(nullable=True), "marked": dy.Bool(nullable=True)}
)


_ANNOTATED_PANEL = dy.Struct(
    {
        "identifier": dy.String(nullable=True),
        "identifier_box": dy.List(dy.Float64(), nullable=True),
        "box": dy.List(dy.Float64()),
        "subcaption": dy.String(nullable=True),
        "images": dy.List(_ANNOTATED_IMAGE),
        "segments": dy.List(dy.List(dy.Int64()), nullable=True),
        "verdict": dy.String(nullable=True),
        "judged": dy.String(nullable=True),
    }
)


_FINGERPRINT = dy.Struct(
    {"sha256": dy.String(), "look": dy.String(), "width": dy.Int64(), "height": dy.Int64()}, nullable=True
)


_REVIEW = dy.Struct(
    {
        "purpose": dy.String(),
        "decided": dy.List(dy.String()),
        "interface": dy.String(nullable=True),
        "annotator": dy.String(nullable=True),
        "at": dy.String(nullable=True),
        "fingerprint": _FINGERPRINT,
    },
    nullable=True,
)


_ANNOTATED_FIGURE = dy.Struct(
    {
        "label": dy.String(nullable=True),
        "image_cluster_id": dy.String(nullable=True),
        "figure_locations": _LOCATIONS,
        "caption_locations": _LOCATIONS,
        "caption": dy.String(nullable=True),
        "panels": dy.List(_ANNOTATED_PANEL),
        "review": _REVIEW,
    }
)


_MARK = dy.Struct(
    {
        "kind": dy.Enum(MARK_KINDS),
        "colour": dy.Enum(MARK_COLOURS, nullable=True),
        "box": dy.List(dy.Float64()),
        "tip": dy.List(dy.Float64(), nullable=True),
        "label": dy.String(nullable=True),
    }
)


_REGION = dy.Struct({"box": dy.List(dy.Float64()), "text": dy.String(nullable=True), "marks": dy.List(dy.Int64())})


_FIGURE_REGIONS = dy.Struct(
    {
        "label": dy.String(nullable=True),
        "image_cluster_id": dy.String(nullable=True),
        "figure_locations": _LOCATIONS,
        "panels": dy.List(
            dy.Struct(
                {
                    "identifier": dy.String(nullable=True),
                    "box": dy.List(dy.Float64()),
                    "marks": dy.List(_MARK),
                    "regions": dy.List(_REGION),
                }
            )
        ),
        "review": _REVIEW,
    }
)


_INSTRUCTION_ANSWER = dy.Struct(
    {
        "label": dy.String(nullable=True),
        "image_cluster_id": dy.String(nullable=True),
        "figure_locations": _LOCATIONS,
        "instruction_id": dy.String(),
        "kind": dy.Enum(INSTRUCTION_KINDS),
        "confidence": dy.Float64(),
        "maker": dy.String(),
        "verdict": dy.Enum(INSTRUCTION_VERDICTS),
        "reason": dy.String(nullable=True),
        "review": _REVIEW,
    }
)


class Annotations(ArticleKey):
    """What people annotated, read from files at `PMO_ANNOTATIONS`: ground truth and decisions of undecided cases."""

    name = dy.String(description="Name of the article's package")
    figures = dy.List(
        _ANNOTATED_FIGURE,
        description="Its figures; locations in PDF points, pages from 0; boxes of panels and images normalised to the "
        "figure; `review` says what people decided, all of it when it is null",
    )
    complete = dy.Bool(description="All its figures are annotated in full, so that something can be measured on it")
    answers = dy.List(_ANNOTATED_FIGURE, description="Single answers of people, of which the figures are put together")
    regions = dy.List(_FIGURE_REGIONS, description="Marks and regions of its figures' panels, normalised to the figure")
    region_answers = dy.List(
        _FIGURE_REGIONS, description="Single answers of people, of which `regions` are put together"
    )
    instruction_answers = dy.List(
        _INSTRUCTION_ANSWER, description="What people say of instructions about its panels, each answer"
    )


class QualityMetrics(dy.Schema):
    """Measured numbers of a quality asset."""

    metric = dy.String(description="What is measured")
    group = dy.String(description="Class or part that it is about; empty for all")
    threshold = dy.Float64(nullable=True, description="IoU, similarity or BLEU from which an item counts")
    value = dy.Float64(nullable=True, description="The number; null where nothing is annotated that could be measured")
    n = dy.Int64(min=0, description="Items behind it")


class QualityKey(dy.Schema):
    """Columns that tables of scored figures start with."""

    article_id = dy.Int64(primary_key=True, min=1, description="Number of the article")
    record = dy.String(primary_key=True, description="a0, a1 … annotated figures in order; s0, s1 … spurious ones")
    name = dy.String(description="Name of the article's package")
    label = dy.String(description="Label as annotated, or as found when spurious")
    image_cluster_id = dy.String(nullable=True, description="Figure in table `figures`; null when none was found")
    badness = dy.Float64(min=0, description="How bad it is, to sort by; 0 when nothing is wrong")
    problems = dy.List(dy.String(), description="What is wrong, in words; empty when nothing is")


class FigureQuality(QualityKey):
    """How well figures and captions are found, compared with annotated articles: numbers, plots and the worst cases."""

    state = dy.Enum(["right", "flawed", "missed", "spurious"], description="Missed: IoU below 0.5")
    iou = dy.Float64(min=0, max=1, description="Of annotated and found figure on their page")
    caption_similarity = dy.Float64(min=0, max=1, description="1 - edit distance / length of the longer caption")
    label_right = dy.Bool(description="The numbers of both labels agree")


class SubcaptionQuality(QualityKey):
    """How well captions of several panels are split, compared with annotated subcaptions."""

    identifiers = dy.List(dy.String(), description="Annotated identifiers, as compared")
    predicted = dy.List(dy.String(), description="Identifiers of the split, as compared")
    unprocessed = dy.Bool(description="The two sets of identifiers differ")
    mean_bleu = dy.Float64(nullable=True, min=0, max=1, description="Of the panels; null when unprocessed or no text")
    confidence = dy.Float64(min=0, max=1, description="Of the split")
    method = dy.String(description="Who split the caption")


class DetectionQuality(QualityKey):
    """How well panels, identifiers, images, their types and marks are found, compared with annotated figures."""

    panels = dy.Int64(min=0, description="Annotated panels")
    panels_missed = dy.Int64(min=0, description="No found panel overlaps it by 0.5")
    panels_spurious = dy.Int64(min=0, description="Found panels left over")
    panels_misplaced = dy.Int64(min=0, description="Found with an IoU between 0.5 and 0.75")
    identifiers = dy.Int64(min=0, description="Annotated identifiers")
    identifiers_missed = dy.Int64(min=0, description="As for panels")
    identifiers_spurious = dy.Int64(min=0, description="As for panels")
    identifiers_misplaced = dy.Int64(min=0, description="As for panels")
    images = dy.Int64(min=0, description="Annotated images")
    images_missed = dy.Int64(min=0, description="As for panels, whatever the type")
    images_spurious = dy.Int64(min=0, description="As for panels, whatever the type")
    images_misplaced = dy.Int64(min=0, description="As for panels, whatever the type")
    wrong_types = dy.Int64(min=0, description="Images found with another type")
    wrong_marks = dy.Int64(min=0, description="Images found with another mark status")


class AssemblyQuality(QualityKey):
    """Whether each annotated panel got its identifier and its subcaption."""

    panels = dy.Int64(min=0, description="Annotated panels")
    assigned = dy.Int64(min=0, description="Found (IoU at least 0.5) and called as annotated")
    right = dy.Int64(min=0, description="Subcaption as annotated (sentence BLEU at least 0.9)")
    wrong = dy.Int64(min=0, description="Another subcaption")
    none = dy.Int64(min=0, description="No subcaption was given")
    missed = dy.Int64(min=0, description="No panel was found there")
    spurious = dy.Int64(min=0, description="Found panels where none is annotated")
    bleu = dy.Float64(nullable=True, min=0, max=1, description="Mean sentence BLEU of the panels with a subcaption")


class AnnotationQuality(QualityKey):
    """Answers of two people to the same question, and how far they agree."""

    interface = dy.String(description="Where they answered: pages, boxes, captions, audit or regions")
    people = dy.List(dy.String(), description="Who answered, as the annotation files call them")
    iou = dy.Float64(nullable=True, min=0, max=1, description="Mean of the boxes that both drew; null without any")


SCHEMAS: dict[str, type[dy.Schema]] = {
    "annotations": Annotations,
    "figure_quality": FigureQuality,
    "subcaption_quality": SubcaptionQuality,
    "detection_quality": DetectionQuality,
    "assembly_quality": AssemblyQuality,
    "annotation_quality": AnnotationQuality,
}
"""The schema of each asset of the group that is a table."""
