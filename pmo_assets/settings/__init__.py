"""Every option, its default and its environment variable.

Settings come from environment variables with the prefix `PMO_` or from a `.env` file in the working directory.
`affects` names the assets whose result an option changes: their code version carries the option's value, so that a
changed option shows as stale in the UI. `noted_by` names assets that an option changes in some batches only: they say
with what they were made and find out themselves what is stale. Other options change only how the work is done.
"""

from __future__ import annotations

import os
import re
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from pmo_assets.logs import LogFormat, LogLevel
from pmo_assets.pipeline.assembly.confidence import CONFIDENCE_THRESHOLD as ASSEMBLY_THRESHOLD
from pmo_assets.pipeline.captions.confidence import CONFIDENCE_THRESHOLD
from pmo_assets.pipeline.detection.networks.named_weights import named_weights
from pmo_assets.pipeline.detection.protocols import DetectorSource
from pmo_assets.pipeline.regions.text_similarity import RegionTexts
from pmo_assets.records.defaults import (
    CONCURRENCY,
    CREATOR,
    MAX_DPI,
    MAX_PAGES,
    MAX_PDF_MB,
    MAX_PIXELS,
    REPOSITORY,
    SCORE_THRESHOLD,
    TRUSTED_SOURCES,
    VIDEO_HOURS,
    VISION_CONCURRENCY,
    VISION_PIXELS,
)
from pmo_assets.settings.addresses import plain_address
from pmo_assets.settings.declaring import option as _option

_DETECTIONS = ("panel_detections", "image_detections")
_SUBCAPTIONS = ("subcaptions",)
_SUMMARIES = ("panel_summaries",)
_ASSEMBLY = ("panel_assembly",)
_VISION = ("panel_assembly", "regions")
_INSTRUCTIONS = ("cues", "instructions", "verdicts")

MINIMUM_WORKER_MEMORY_MB = 512
"""MiB that an article with ordinary figures may add to its worker (`benchmarks/worker_memory.py`), and some room."""

_DAY = 86_400.0
"""Longest time limit in seconds: no step and no answer takes a day."""


class Settings(BaseSettings):
    """Options of the code location and of the `pmo` command; see the module docstring."""

    model_config = SettingsConfigDict(
        env_prefix="PMO_",
        env_file=".env",
        env_ignore_empty=True,  # what a container is given as "" is not set
        extra="ignore",  # pmo_assets.configuration refuses names that are none, and says which was meant
        frozen=True,
        hide_input_in_errors=True,  # it may be a key
    )

    data_root: str = _option("data", "Folder or `s3://bucket/prefix` below which every table and object is stored.")
    s3_endpoint: str | None = _option(None, "Endpoint of an S3-compatible server other than AWS, with scheme.")
    dagster_home: Path | None = _option(
        None,
        "Folder of the Dagster instance, unless `DAGSTER_HOME` is set; else `.dagster` below the data root, or "
        "for `s3://` a folder named after it in your state folder (`pmo home` prints it).",
    )

    pages_url: str = _option(
        "http://127.0.0.1:3001",
        "Where people reach gallery, report and quality pages, for the links in the UI: the address of `pmo pages`, or "
        "of a static host or bucket website that shows the data root's `release/` and `quality/`.",
    )

    allowed_hosts: str = _option(
        "",
        "Names under which browsers reach the UI and the pages beside addresses, `localhost` and this machine's name, "
        "separated by commas (behind a proxy: `ui.example.org`). Requests for other names are refused.",
    )

    notify_url: SecretStr | None = _option(
        None,
        "Webhook that is told of each refresh, batch and release that fails in the UI or by a sensor: of Slack, of "
        "Teams, or any other, which gets JSON (title, text, job, run); never shown or stored.",
    )
    notify_email: str | None = _option(
        None, "Address that is told of the same by mail, as which it is sent, too; see PMO_SMTP_URL."
    )
    smtp_url: SecretStr | None = _option(
        None,
        "Server for these mails: `smtp://HOST:PORT`, or with `USER:PASSWORD@` before the host, `smtps://` where TLS "
        "comes first; this machine's if not given. Never shown or stored.",
    )

    executor: Literal["in_process", "multiprocess", "ray", "celery", "k8s"] = _option(
        "in_process",
        "What runs the steps of a run that UI, sensor or schedule start: one process for all, a process for each, or a "
        "Ray job, Celery task or Kubernetes pod for each (docs/deployment.md); `pmo run` works in its own process.",
    )
    ray_address: str | None = _option(
        None, "With PMO_EXECUTOR=ray: Ray's job server, e.g. `http://head:8265`.", validate_default=True
    )
    celery_broker: SecretStr | None = _option(
        None,
        "With PMO_EXECUTOR=celery: the broker of tasks, e.g. `redis://host:6379/0`; never shown or stored.",
        validate_default=True,
    )
    celery_backend: SecretStr | None = _option(
        None, "Where Celery keeps results of tasks; PMO_CELERY_BROKER if not given, which suits Redis but not RabbitMQ."
    )
    celery_redelivery: float = _option(
        14_400.0,
        "Seconds after which Redis gives the task of a dead Celery worker to another one; longer than any step takes.",
        gt=0,
    )

    specialty: str = _option(
        "ophthalmology",
        "Which articles and panels are wanted: `ophthalmology`, `everything` (no filter), or the path of a TOML file.",
        ("articles", "panel_assembly", "reviewed_panels", "dataset_rows", "pubmed_ophtha"),
    )
    only_wanted_figures: bool = _option(
        True,
        "Figures without an image of a type that the specialty wants, or of an undecided one, do not go on after "
        "`panel_assembly` (paper: only figures with an image that is not Other); `false`: all figures do.",
        ("panel_assembly", "reviewed_panels"),
    )
    biomedica: str | None = _option(
        None,
        "Labels of figures from BIOMEDICA: a Parquet file, webdataset tar, folder of these, or a Hugging Face dataset "
        "(`BIOMEDICA/biomedica_webdataset_24M`).",
        ("biomedica_figures",),
    )
    batch_size: int = _option(200, "Articles per batch (partition) when articles are registered.", ge=1)

    entrez_email: str | None = _option(
        None, "Your e-mail address, for `pmo refresh` and `pmo pmc find`: NCBI asks everyone who searches PMC for one."
    )
    entrez_api_key: SecretStr | None = _option(
        None, "NCBI API key, if you have one: 10 searches a second instead of 3; never shown or stored."
    )
    entrez_url: str = _option(
        "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/", "Root of the E-utilities, or of a mirror, up to `eutils/`."
    )
    pmc_endpoint: str | None = _option(None, "S3 endpoint of a mirror of PMC's bucket, with scheme; AWS if not given.")
    pmc_bucket: str = _option("pmc-oa-opendata", "S3 bucket of the PMC Cloud Service.")
    pmc_concurrency: int = _option(8, "Requests to PMC's bucket at once.", ge=1, le=64)
    refresh_from: date | None = _option(
        None, "Only articles that PMC released on this day (2026-01-31) or later; all if not given."
    )
    refresh_max_articles: int = _option(
        1000, "A refresh takes in at most so many new articles, the newest first; the next one goes on.", ge=1
    )

    refresh_hours: float = _option(
        24.0, "The sensor `new_articles` searches PMC so many hours after the last time.", gt=0
    )

    log_format: LogFormat = _option(
        "text", "How lines of the log look on standard error: `text` for people, `json` for programs that collect logs."
    )
    log_level: LogLevel = _option("INFO", "The least important lines of the log that are written anywhere.")

    workers: int = _option(
        max(1, os.cpu_count() or 1),
        "Worker processes inside an asset; 0 works in the main process, without limits.",
        ge=0,
    )
    article_timeout: float = _option(
        180.0, "Seconds that one article may take in one step before it is rejected.", gt=0, le=_DAY
    )
    worker_memory_mb: int = _option(
        4096,
        "MiB of memory that one article may add to its worker process; 0 for no limit, else at least 512.",
        ge=0,
    )

    video_hours: float = _option(
        VIDEO_HOURS, "Hours of a lecture video that are read, in no more time.", ("video_episodes",), gt=0, le=24
    )
    whisper: Path | None = _option(
        None, "Folder of a Whisper model for CTranslate2; the English *tiny* if not given.", ("video_words",)
    )

    max_pdf_mb: float = _option(MAX_PDF_MB, "PDFs above this size in MiB are rejected.", ("article_packages",), gt=0)
    max_pages: int = _option(MAX_PAGES, "PDFs with more pages are rejected.", ("pdf_figures",), ge=1)
    max_dpi: int = _option(
        MAX_DPI, "Figures are rendered at their bitmap's native resolution up to this.", ("pdf_figures",), ge=36
    )
    max_pixels: int = _option(MAX_PIXELS, "Upper bound of a rendered figure's pixels.", ("pdf_figures",), ge=10_000)

    detectors: DetectorSource = _option(
        "both", "What finds panels and images: PDF and pixel structure, the networks, or both.", _DETECTIONS
    )
    detector_device: Literal["cpu", "cuda"] = _option(
        "cpu", "Where the networks run; `cuda` needs onnxruntime-gpu in place of onnxruntime."
    )
    detector_workers: int = _option(
        4,
        "With PMO_DETECTOR_DEVICE=cuda: worker processes (of PMO_WORKERS) that share the GPU, each with the networks.",
        ge=0,
    )
    detector_weights: Annotated[Path | None, AfterValidator(named_weights)] = _option(
        None, "ONNX file of the figure network in place of the package's, or open-pmc-18m.", _DETECTIONS
    )
    mark_weights: Path | None = _option(
        None, "ONNX file of the mark classifier in place of the package's.", ("image_detections",)
    )
    image_type_weights: Path | None = _option(
        None, "ONNX file of the image type network in place of the package's.", ("image_detections",)
    )
    panel_checkpoint: Path | None = _option(
        None,
        "Detectron2 RetinaNet (.pth, .pkl; classes Panel, Label) that finds panels in place of the figure network.",
        _DETECTIONS,
    )
    image_checkpoint: Path | None = _option(
        None,
        "Detectron2 RetinaNet (CFP, OCT, Retinal Imaging, Other) that finds images in place of the figure network.",
        ("image_detections",),
    )
    detector_runtime: Literal["torch", "detectron2"] = _option(
        "torch", "What runs the RetinaNet checkpoints: PyTorch, or Detectron2 where it is installed.", _DETECTIONS
    )
    text_reader: Literal["none", "rapidocr", "easyocr"] = _option(
        "rapidocr",
        "What reads printed identifiers besides their likeness to letters: `none`, `rapidocr`, or `easyocr` "
        "(extra `models`).",
        ("panel_detections", "panel_captions"),
    )
    score_threshold: float = _option(
        SCORE_THRESHOLD, "Detections below this score are dropped (paper: 0.25).", _DETECTIONS, ge=0, le=1
    )
    min_assembly_confidence: float = _option(
        ASSEMBLY_THRESHOLD,
        "Panels of whose subcaption rules are less sure are undecided: a vision model, if there is one, or people "
        "decide (`pmo annotate export --undecided`), else they stay out of the dataset. What a model or people decided "
        "counts.",
        (*_ASSEMBLY, "dataset_rows"),
        ge=0,
        le=1,
    )

    llm_base_url: str | None = _option(
        None, "OpenAI-compatible endpoint of the language model, up to `/v1`; `http://127.0.0.1:8000/v1` if not given."
    )
    llm_offline: bool = _option(False, "Run the language model in this process by vLLM instead of asking an endpoint.")
    llm_model: str | None = _option(
        None,
        "Language model for captions the grammar is not sure about, and for summaries of panels: its name at the "
        "endpoint. Without it, no model.",
        (*_SUBCAPTIONS, *_SUMMARIES, *_INSTRUCTIONS),
        validate_default=True,
    )
    llm_api_key: SecretStr | None = _option(None, "Key of the endpoint, if it asks for one; never shown or stored.")
    llm_engine_options: dict[str, Any] = _option(
        {}, 'With PMO_LLM_OFFLINE: options of `vllm.LLM` as JSON, e.g. `{"max_model_len": 8192}`.'
    )
    llm_thinking: Literal["off", "on", "default"] = _option(
        "off",
        "Whether a hybrid model (Qwen3) reasons first: `on`, `off`, or `default` for endpoints without the option.",
        (*_SUBCAPTIONS, *_SUMMARIES, *_INSTRUCTIONS),
    )
    llm_reasks: int = _option(
        5,
        "How often an answer of either model that does not fit is sent back with the reason (paper: 5).",
        (*_SUBCAPTIONS, *_SUMMARIES, *_VISION, *_INSTRUCTIONS),
        ge=0,
        le=20,
    )
    llm_concurrency: int = _option(
        CONCURRENCY, "Captions or summaries that are put to the language model at once.", ge=1
    )
    llm_summaries: bool = _option(
        True,
        "The language model, if there is one, also summarises what the running text says of each panel: a request per "
        "panel. `false`: sentences of the article alone.",
        _SUMMARIES,
    )
    llm_instructions: bool = _option(
        False,
        "The language model also tells what is visible from what is not, writes instructions beside the templates', "
        "and keeps or discards what every check keeps: two requests a panel, and one an instruction.",
        _INSTRUCTIONS,
    )
    llm_timeout: float = _option(
        300.0, "Seconds that one answer of the endpoint may take in all, to its last byte.", gt=0, le=_DAY
    )
    llm_retries: int = _option(
        5, "How often a request to either model is repeated after a time-out, HTTP 429 or 5xx, with back-off.", ge=0
    )
    caption_threshold: float = _option(
        CONFIDENCE_THRESHOLD,
        "Captions that the grammar splits with less confidence are put to the language model, or flagged without one.",
        _SUBCAPTIONS,
        ge=0,
        le=1,
    )

    vlm_base_url: str | None = _option(
        None, "OpenAI-compatible endpoint of the vision model, up to `/v1`; PMO_LLM_BASE_URL if not given."
    )
    vlm_offline: bool = _option(False, "Run the vision model in this process by vLLM instead of asking an endpoint.")
    vlm_model: str | None = _option(
        None,
        "Vision model that looks at figures with undecided panels: its name at the endpoint. Without it, no model.",
        _VISION,
        validate_default=True,
    )
    vlm_api_key: SecretStr | None = _option(
        None,
        "Key of the vision model's endpoint; without PMO_VLM_BASE_URL that of the language model; never shown or kept.",
    )
    vlm_engine_options: dict[str, Any] = _option(
        {}, "With PMO_VLM_OFFLINE: options of `vllm.LLM` as JSON, as PMO_LLM_ENGINE_OPTIONS."
    )
    vlm_thinking: Literal["off", "on", "default"] = _option(
        "off", "Whether the vision model reasons first, as PMO_LLM_THINKING; `on` for a Thinking model.", _VISION
    )
    vlm_boxes: Literal["json", "drawn"] = _option(
        "json",
        "How a figure's boxes are shown to the vision model: `json`, coordinates 0 to 1000 beside the plain picture "
        "(the paper's), or `drawn`, numbered on the picture.",
        _ASSEMBLY,
    )
    vlm_max_pixels: int = _option(
        VISION_PIXELS, "Figures and panels are scaled down to so many pixels for the vision model.", _VISION, ge=10_000
    )
    vlm_concurrency: int = _option(VISION_CONCURRENCY, "Figures or panels put to the vision model at once.", ge=1)
    vlm_regions: bool = _option(
        False, "The vision model also names, with boxes, what the words of each marked panel speak of.", ("regions",)
    )
    region_texts: RegionTexts = _option(
        "terms",
        "What tells that regions' texts agree: `terms`, or `minilm` (sentences; extra `regions`).",
        ("regions",),
    )
    vlm_timeout: float = _option(
        600.0, "Seconds that one answer of the vision model may take in all (paper: 600).", gt=0, le=_DAY
    )

    mask_people: Literal["no", "exports", "release"] = _option(
        "exports",
        "Faces and printed names, dates and numbers of patients are black in pictures of `exports` (instructions, test "
        "sets), of the whole `release` (its gallery, too) and exports, or of nothing (`no`).",
        ("pubmed_ophtha",),
    )

    rejected_fail: float = _option(
        0.5,
        "The batch fails if more than this share of articles or figures is rejected, of three articles at least; 1 "
        "lets everything pass.",
        gt=0,
        le=1,
    )
    annotations: str | None = _option(
        None,
        "What people annotated: folder of annotation files (JSON) or a pattern such as `truth/*.json`. The quality "
        "assets measure on them; `reviewed_panels`, `marks`, `regions` and `verdicts` apply them.",
        ("annotations",),
        ("reviewed_panels", "marks", "regions", "verdicts"),
    )
    apply_annotations: bool = _option(
        True,
        "What people annotated takes the place of the machine's in `reviewed_panels`, `marks` and `regions`, and "
        "what they say of instructions stands in `verdicts`; `false`: it is measured on, no more.",
        noted_by=(
            "reviewed_panels",
            "marks",
            "regions",
            "verdicts",
        ),  # only batches with annotated articles change (`defs.annotated`)
    )

    release_noncommercial: bool = _option(
        True,
        "A release holds rows under licences that forbid commercial use (NC); `false`: they are left out.",
        ("panel_duplicates", "pubmed_ophtha", "dataset_report"),
    )
    release_figure_pictures: bool = _option(
        True,
        "The table `figures` of a release holds the whole figures as pictures, more bytes than the panels'; `false`: "
        "only what is known of them.",
        ("pubmed_ophtha",),
    )
    trusted_sources: str = _option(
        " ".join(TRUSTED_SOURCES),
        "Sources whose retractions count for other sources' packages of the same article, with spaces between: "
        "`file:///FOLDER`, `pmc://BUCKET`, or what these begin with up to a slash. Of others' packages title and "
        "authors, or the PDF, must agree.",
        ("retractions", "panel_duplicates", "pubmed_ophtha", "dataset_report"),
    )
    release_creator: str = _option(
        CREATOR, "Who makes the release, as card, CITATION.cff and Croissant name it.", ("pubmed_ophtha",)
    )
    release_repository: str = _option(
        REPOSITORY,
        "Where the release will be on the Hugging Face hub, OWNER/NAME: the card's examples load it from there.",
        ("pubmed_ophtha",),
    )
    validation_share: float = _option(
        0.1, "Share of the articles in the validation split.", ("panel_duplicates", "pubmed_ophtha"), ge=0, le=1
    )
    test_share: float = _option(
        0.1,
        "Share of the articles in the test split; not used with PMO_TEST_FROM_YEAR.",
        ("panel_duplicates", "pubmed_ophtha"),
        ge=0,
        le=1,
    )
    test_from_year: int | None = _option(
        None,
        "The test split is the articles published in this year or later, instead of a share of all.",
        ("panel_duplicates", "pubmed_ophtha"),
        ge=1800,
        le=2200,
    )

    @field_validator(
        "dagster_home",
        "detector_weights",
        "mark_weights",
        "image_type_weights",
        "panel_checkpoint",
        "image_checkpoint",
        mode="before",
    )
    @classmethod
    def _empty_is_none(cls, value: object) -> object:
        return None if value == "" else value

    @field_validator("ray_address", "celery_broker")
    @classmethod
    def _engine_has_an_address(cls, value: Any, info: ValidationInfo) -> Any:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value or ""
        name = str(info.field_name)
        if not text.strip():
            if info.data.get("executor") == name.partition("_")[0]:
                raise ValueError(f"PMO_EXECUTOR={info.data['executor']} needs it")
            return None
        return value if isinstance(value, SecretStr) else plain_address(value)

    @field_validator("worker_memory_mb")
    @classmethod
    def _room_for_an_article(cls, value: int) -> int:
        if 0 < value < MINIMUM_WORKER_MEMORY_MB:
            raise ValueError(
                f"with less than {MINIMUM_WORKER_MEMORY_MB} MiB, articles with ordinary figures are rejected; "
                "0 is no limit"
            )
        return value

    @field_validator("test_share")
    @classmethod
    def _shares_are_of_a_whole(cls, value: float, info: ValidationInfo) -> float:
        if info.data.get("validation_share", 0) + value > 1:
            raise ValueError("together with PMO_VALIDATION_SHARE it is more than 1, all articles")
        return value

    @field_validator("test_from_year")
    @classmethod
    def _older_articles_have_a_split(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and info.data.get("test_share") == 1:
            raise ValueError("with PMO_TEST_SHARE=1 there is no split for the articles of the years before")
        return value

    @field_validator("llm_model", "vlm_model")
    @classmethod
    def _model_is_named(cls, value: str | None, info: ValidationInfo) -> str | None:
        kind = str(info.field_name).partition("_")[0]
        value = (value or "").strip() or None
        if value is None and (info.data.get(f"{kind}_base_url") or info.data.get(f"{kind}_offline")):
            names = f"PMO_{kind.upper()}_BASE_URL or PMO_{kind.upper()}_OFFLINE"
            raise ValueError(f"name the model: {names} is set, but that alone asks nobody")
        return value

    @field_validator("vlm_regions", "llm_instructions")
    @classmethod
    def _somebody_is_asked(cls, value: bool, info: ValidationInfo) -> bool:
        model = f"{str(info.field_name).partition('_')[0]}_model"
        if value and model in info.data and info.data[model] is None:
            raise ValueError(f"name the model that is asked: PMO_{model.upper()}")
        return value

    @field_validator("biomedica")
    @classmethod
    def _copy_is_named(cls, value: str | None) -> str | None:
        value = (value or "").strip() or None
        if value is not None and "@" in value.partition("://")[2].partition("/")[0]:
            raise ValueError("leave out what ends in @, options are shown; a token goes into HF_TOKEN")
        return value

    @field_validator("llm_base_url", "vlm_base_url")
    @classmethod
    def _key_is_apart(cls, value: str | None, info: ValidationInfo) -> str | None:
        try:
            return value if value is None else plain_address(value)
        except ValueError as error:
            key = f"PMO_{str(info.field_name).upper().replace('BASE_URL', 'API_KEY')}"
            raise ValueError(f"{error}; a key goes into {key}") from None

    @field_validator("llm_api_key", "vlm_api_key")
    @classmethod
    def _key_fits_a_header(cls, value: SecretStr | None) -> SecretStr | None:
        key = value.get_secret_value().strip() if value else ""  # a key from a file ends in a line break
        if not (key.isascii() and key.isprintable()):
            raise ValueError("the key holds characters that no HTTP header can carry")
        return SecretStr(key) if key else None

    @field_validator("llm_engine_options", "vlm_engine_options")
    @classmethod
    def _token_is_apart(cls, value: dict[str, Any]) -> dict[str, Any]:
        if "hf_token" in value:
            raise ValueError("leave out hf_token, options are shown; the token goes into HF_TOKEN")
        return value

    @field_validator("s3_endpoint")
    @classmethod
    def _s3_keys_are_apart(cls, value: str | None) -> str | None:
        try:
            return value if value is None else plain_address(value)
        except ValueError as error:
            raise ValueError(f"{error}; keys go into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY") from None

    @field_validator("entrez_email")
    @classmethod
    def _address_of_a_person(cls, value: str | None) -> str | None:
        value = (value or "").strip() or None
        if value is not None and re.fullmatch(r"[^@\s<>]+@[^@\s<>]+", value) is None:
            raise ValueError("this is no e-mail address")
        return value

    @field_validator("entrez_api_key")
    @classmethod
    def _key_of_ncbi(cls, value: SecretStr | None) -> SecretStr | None:
        key = value.get_secret_value().strip() if value else ""
        return SecretStr(key) if key else None

    @field_validator("allowed_hosts")
    @classmethod
    def _names_of_hosts(cls, value: str) -> str:
        for name in value.replace(",", " ").split():
            if re.fullmatch(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9])?", name) is None:
                raise ValueError(f"{name!r} is no name of a host: give names without http://, port or *")
        return value

    @field_validator("entrez_url", "pmc_endpoint", "pages_url")
    @classmethod
    def _address_with_scheme(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if urlsplit(value).scheme not in ("http", "https"):
            raise ValueError("give the address with http:// or https://")
        return plain_address(value)

    @field_validator("pages_url")
    @classmethod
    def _without_last_slash(cls, value: str) -> str:
        return value.rstrip("/")

    @field_validator("pmc_bucket")
    @classmethod
    def _bucket_name(cls, value: str) -> str:
        if re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", value) is None:
            raise ValueError("give the name of the bucket alone, without s3://")
        return value

    @field_validator("trusted_sources")
    @classmethod
    def _addresses_of_sources(cls, value: str) -> str:
        if wrong := [item for item in value.split() if re.fullmatch(r"(?:file|pmc)://\S*", item) is None]:
            raise ValueError(
                f"{wrong[0]} is no source: give file:///FOLDER or pmc://BUCKET, with spaces between several"
            )
        return value

    @field_validator("data_root")
    @classmethod
    def _known_storage(cls, value: str) -> str:
        scheme, separator, rest = value.partition("://")
        if not value.strip() or (separator and (scheme != "s3" or not rest.strip("/"))):
            raise ValueError("give a folder or s3://bucket/prefix")
        if separator and "@" in rest.partition("/")[0]:
            raise ValueError(
                "give s3://bucket/prefix without what ends in @; keys go into AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY"
            )
        return value
