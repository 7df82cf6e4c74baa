"""Settings as the options that the pipeline's steps take; the pipeline itself knows no settings."""

from __future__ import annotations

from pathlib import Path

from pmo_assets.pipeline.articles.fetching import FetchLimits
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.assembly.reading.text_readers import ReadingOptions
from pmo_assets.pipeline.assembly.vision.look import FigureReader
from pmo_assets.pipeline.captions.cascade import Cascade
from pmo_assets.pipeline.captions.model_split import CaptionReader
from pmo_assets.pipeline.context.model_summaries import SummaryWriter
from pmo_assets.pipeline.detection.protocols import WITHOUT_NETWORKS
from pmo_assets.pipeline.detection.steps import DetectionOptions
from pmo_assets.pipeline.figures.extraction import FigureOptions
from pmo_assets.pipeline.figures.page import PageLimits
from pmo_assets.pipeline.instructions.writer import InstructionWriter
from pmo_assets.pipeline.regions.model_regions import RegionReader
from pmo_assets.pipeline.videos.speech import WhisperTranscriber, check_model
from pmo_assets.pipeline.videos.video import VideoOptions
from pmo_assets.records.chat import ChatModel
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.stores import SystemicError
from pmo_assets.settings import Settings


def figure_options(settings: Settings) -> FigureOptions:
    """Return limits and resolution of figure extraction."""
    limits = PageLimits(pages=settings.max_pages)
    return FigureOptions(max_dpi=settings.max_dpi, max_pixels=settings.max_pixels, limits=limits)


def reading_options(settings: Settings) -> ReadingOptions:
    """Return the choice of the reader of printed identifiers."""
    return ReadingOptions(settings.text_reader)


def video_options(settings: Settings) -> VideoOptions:
    """Return how lecture videos are read.

    Raises:
        SystemicError: when PMO_WHISPER holds no model.
    """
    folder = None if settings.whisper is None else settings.whisper.expanduser().absolute()
    if folder is not None:
        check_model(folder)
    return VideoOptions(most_hours=settings.video_hours, transcriber=WhisperTranscriber(folder))


def detection_options(settings: Settings) -> DetectionOptions:
    """Return which detectors are used and their thresholds.

    Raises:
        SystemicError: when a file of weights that is needed is missing.
    """

    def weights(option: str) -> Path | None:
        path: Path | None = getattr(settings, option)
        if path is None or settings.detectors in WITHOUT_NETWORKS:
            return None
        path = path.expanduser().absolute()
        if not path.is_file():
            raise SystemicError(f"PMO_{option.upper()}: there is no file {path}")
        return path

    return DetectionOptions(
        score_threshold=settings.score_threshold,
        source=settings.detectors,
        provider=settings.detector_device,
        detector_file=weights("detector_weights"),
        marks_file=weights("mark_weights"),
        types_file=weights("image_type_weights"),
        panel_checkpoint=weights("panel_checkpoint"),
        image_checkpoint=weights("image_checkpoint"),
        runtime=settings.detector_runtime,
    )


def caption_cascade(settings: Settings, model: ChatModel | None) -> Cascade:
    """Return how captions are split: by the grammar alone if there is no model."""
    reader = None
    if model is not None:
        reader = CaptionReader(model, thinking=settings.llm_thinking, reasks=settings.llm_reasks)
    return Cascade(settings.caption_threshold, reader, settings.llm_concurrency)


def summary_writer(settings: Settings, model: ChatModel | None) -> SummaryWriter | None:
    """Return the model that summarises panels, with its prompt; None for none."""
    if model is None or not settings.llm_summaries:
        return None
    return SummaryWriter(
        model, thinking=settings.llm_thinking, reasks=settings.llm_reasks, concurrency=settings.llm_concurrency
    )


def instruction_writer(settings: Settings, model: ChatModel | None) -> InstructionWriter | None:
    """Return the model that writes and judges instructions, with its prompts; None for none."""
    if model is None or not settings.llm_instructions:
        return None
    return InstructionWriter(
        model, thinking=settings.llm_thinking, reasks=settings.llm_reasks, concurrency=settings.llm_concurrency
    )


def figure_reader(settings: Settings, model: ChatModel | None) -> FigureReader | None:
    """Return how figures with undecided panels are looked at; None if there is no model."""
    if model is None:
        return None
    return FigureReader(
        model,
        thinking=settings.vlm_thinking,
        reasks=settings.llm_reasks,
        threshold=settings.min_assembly_confidence,
        boxes=settings.vlm_boxes,
        max_pixels=settings.vlm_max_pixels,
        concurrency=settings.vlm_concurrency,
    )


def region_reader(settings: Settings, model: ChatModel | None) -> RegionReader | None:
    """Return the vision model that names what marked panels show; None for none."""
    if model is None or not settings.vlm_regions:
        return None
    return RegionReader(
        model,
        thinking=settings.vlm_thinking,
        reasks=settings.llm_reasks,
        max_pixels=settings.vlm_max_pixels,
        concurrency=settings.vlm_concurrency,
    )


def fetch_limits(settings: Settings) -> FetchLimits:
    """Return the limits beyond which files are not fetched."""
    return FetchLimits(max_pdf_bytes=int(settings.max_pdf_mb * 2**20))


def wanted_types(settings: Settings) -> tuple[ImageType, ...]:
    """Return the image types of which a figure must hold one to go on; all of them where every figure does.

    Raises:
        SpecialtyError: when the specialty cannot be read.
    """
    return tuple(load_specialty(settings.specialty).image_types) if settings.only_wanted_figures else IMAGE_TYPES
