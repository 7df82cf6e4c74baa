"""Lecture videos: slides with drawn pictures, a drawn presenter, speech by eSpeak NG, cuts and fades, with exact truth.

A lecture is drawn from a seed. What belongs here is what lectures vary in: kinds of slides, where the presenter is, how
one slide becomes the next, voice, frame rate, codec. Nothing here shows or names a person.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import wave
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.geometry import Box
from pmo_assets.records.image_types import ImageType
from pmo_assets.samples.drawing import Colour, Floats, Pixels, Rng, one_of, paper, print_text, text_mask
from pmo_assets.samples.pictures import drawn_picture
from pmo_assets.samples.spec import IMAGE_TYPES_OF_KINDS, PictureKind

SlideKind = Literal["title", "text", "picture", "pair", "full", "patient", "other"]
Change = Literal["cut", "fade", "black"]
Voice = Literal["en-us", "en-gb-scotland", "en-gb-x-rp", "en-us+f3"]

SPEAKER: Final = "espeak-ng"
"""Program that speaks; `can_speak` says whether it is there."""

RATE: Final = 16_000
"""Samples a second of the sound."""

FADE: Final = 0.8
"""Seconds that a fade takes; the slide changes in its middle."""

SWAY: Final = 0.06
"""How far a presenter moves to each side, as a share of the portrait's side."""

RETINAL: Final[tuple[PictureKind, ...]] = ("cfp", "oct", "angiography", "autofluorescence")

_FIRST: Final = ("Jane", "Peter", "Maria", "Thomas", "Aisha", "Henrik")
_LAST: Final = ("Miller", "Okafor", "Lindqvist", "Tanaka", "Moreau", "Banerjee")

_SAID: Final[dict[str, tuple[str, ...]]] = {
    "title": (
        "Welcome to this lecture on diseases of the retina.",
        "Today we look at the macula and at the optic disc.",
        "In this talk we follow patients with macular degeneration.",
    ),
    "text": (
        "Before we begin, here are the main points of this part.",
        "Treatment is given every month and the patients come back for visits.",
        "Please keep these three rules in mind when you see a new patient.",
        "The questions at the end will come back to this slide.",
    ),
    "cfp": (
        "This fundus photograph shows drusen in the macula of the right eye.",
        "The optic disc is pale and the vessels are narrow.",
        "There are hard exudates near the fovea and a small haemorrhage.",
        "Note the geographic atrophy around the fovea.",
    ),
    "oct": (
        "The scan shows subretinal fluid under the fovea.",
        "Here the ellipsoid zone is interrupted and the choroid is thick.",
        "You see intraretinal cysts and an epiretinal membrane.",
        "The retinal pigment epithelium is detached by serous fluid.",
    ),
    "angiography": (
        "The fluorescein angiogram shows leakage in the late phase.",
        "Capillary nonperfusion is seen in the periphery.",
        "There is choroidal neovascularization next to the disc.",
    ),
    "autofluorescence": (
        "Autofluorescence shows a dark area of atrophy in the macula.",
        "The border of the lesion is hyperautofluorescent.",
    ),
    "histology": (
        "Under the microscope the tissue shows many pale cells.",
        "This section was stained in the usual way.",
    ),
}
_TITLES: Final = ("Retina in practice", "Macular disease", "The optic nerve", "Imaging update", "Case discussion")
_BULLETS: Final = (
    "Visual acuity at each visit", "Injections every four weeks", "Follow up for two years", "Stop when dry",
    "Compare both eyes", "Ask about medication", "Repeat the examination", "Refer early",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Slide:
    """A slide: its kind, its pictures, the sentences said on it, and how it gives way to the next one."""

    kind: SlideKind
    pictures: tuple[PictureKind, ...] = ()
    said: tuple[str, ...] = ()
    change: Change = "cut"


@dataclass(frozen=True, slots=True)
class Lecture:
    """A lecture to typeset.

    Attributes:
        seed: of pictures and colours.
        slides: in order.
        size: (width, height) of the frames in pixels.
        fps: frames a second; a variable frame rate leaves out frames that repeat the one before.
        variable: the frame rate is variable.
        voice: of eSpeak NG; None for a lecture without sound.
        least: seconds that a slide stays at least.
        presenter: the presenter's picture stands in a corner.
    """

    seed: int
    slides: tuple[Slide, ...]
    size: tuple[int, int] = (640, 360)
    fps: int = 10
    variable: bool = False
    voice: Voice | None = "en-us"
    least: float = 3.0
    presenter: bool = True


@dataclass(frozen=True, slots=True)
class DrawnImage:
    """A picture on a slide: its box, normalised to the frame, and its type."""

    box: Box
    image_type: ImageType


@dataclass(frozen=True, slots=True)
class DrawnEpisode:
    """Truth of one slide: seconds, what is said, pictures, and what must not leave: faces (where they are on average),
    names; width of the presenter's portrait as a share of the frame's, and the frame's width over its height."""

    start: float
    end: float
    text: str
    kind: SlideKind
    images: tuple[DrawnImage, ...]
    faces: tuple[Box, ...]
    names: tuple[Box, ...]
    portrait: float = 0.0
    aspect: float = 1.0

    def faces_at(self, seconds: float) -> list[Box]:
        """Return where the faces are at a time: the presenter sways."""
        across, along = (share * self.portrait for share in _sway(seconds))
        return [
            (b[0] - across, b[1] - along * self.aspect, b[2] - across, b[3] - along * self.aspect) for b in self.faces
        ]

    @property
    def is_retinal(self) -> bool:
        """Whether a picture of the retina is shown."""
        return any(image.image_type != "Other" for image in self.images)


@dataclass(frozen=True, slots=True)
class LectureTruth:
    """Truth of a lecture: its episodes and its length in seconds."""

    episodes: tuple[DrawnEpisode, ...]
    seconds: float


@dataclass
class _Frame:
    """A slide that has been drawn: pixels without the presenter, and the boxes in pixels."""

    pixels: Pixels
    images: list[tuple[tuple[int, int, int, int], ImageType]] = field(default_factory=list)
    names: list[tuple[int, int, int, int]] = field(default_factory=list)
    face: tuple[Pixels, int, int] | None = None


def can_speak() -> bool:
    """Say whether eSpeak NG is installed."""
    return shutil.which(SPEAKER) is not None


def drawn_lecture(
    seed: int, *, slides: int = 6, voice: Voice | None = "en-us", variable: bool = False, fps: int = 10
) -> Lecture:
    """Return a lecture drawn by chance: a title, then slides of all kinds, half of them with pictures of the retina."""
    rng = np.random.default_rng(seed)
    kinds: list[SlideKind] = ["title"]
    kinds += [
        one_of(rng, ("picture", "picture", "pair", "full", "patient", "text", "text", "other"))
        for _ in range(slides - 1)
    ]
    made = []
    for kind in kinds:
        count = {"picture": 1, "full": 1, "patient": 1, "pair": 2}.get(kind, 0)
        pictures = tuple(one_of(rng, RETINAL) for _ in range(count)) if kind != "other" else ("histology",)
        pool = _SAID[pictures[0]] if pictures else _SAID["title" if kind == "title" else "text"]
        order = rng.permutation(len(pool))[: int(rng.integers(1, 3))]
        changes: tuple[Change, ...] = ("cut", "cut", "fade", "black")
        change = one_of(rng, changes)
        made.append(Slide(kind, pictures, tuple(pool[int(k)] for k in order), change))
    presenter = bool(rng.random() < 0.75)
    return Lecture(seed, tuple(made), voice=voice, variable=variable, fps=fps, presenter=presenter)


def drawn_face(rng: Rng, side: int) -> Pixels:
    """Draw a person from the chest up, (side, side, 3): hair, shaded face, eyes, brows, nose, mouth."""
    size = side * 4
    canvas = np.empty((size, size, 3), np.float32)
    canvas[:] = rng.uniform(60, 200, 3)
    skin = np.clip(np.array([224, 172, 140]) * rng.uniform(0.45, 1.08), 0, 255)
    hair = np.array([60, 40, 30]) * rng.uniform(0.3, 2.2)

    def spot(
        x: float,
        y: float,
        width: float,
        height: float,
        colour: Any,
        soft: float = 0.005,
        angle: float = 0,
        share: float = 1,
    ) -> None:
        mask = np.zeros((size, size), np.float32)
        axes = (max(1, int(width * size)), max(1, int(height * size)))
        cv2.ellipse(mask, (int(x * size), int(y * size)), axes, angle, 0, 360, 1.0, -1, cv2.LINE_AA)
        part = share * np.asarray(cv2.GaussianBlur(mask, (0, 0), soft * size), np.float32)[..., None]
        canvas[:] = canvas * (1 - part) + np.asarray(colour, np.float32) * part

    spot(0.5, 0.43, 0.25, 0.31, hair, 0.008)
    spot(0.5, 1.05, 0.42, 0.25, rng.uniform(20, 160, 3))
    spot(0.5, 0.78, 0.09, 0.14, skin * 0.85, 0.01)
    spot(0.5, 0.5, 0.2, 0.27, skin, 0.006)
    spot(0.5, 0.27, 0.2, 0.09, hair, 0.015)
    for way in (-1, 1):
        spot(0.5 + way * 0.19, 0.52, 0.03, 0.05, skin * 0.9, 0.006)
        spot(0.5 + way * 0.08, 0.6, 0.06, 0.05, skin * 1.06, 0.03, share=0.5)
        eye = 0.5 + way * 0.085
        spot(eye, 0.465, 0.05, 0.03, skin * 0.72, 0.015)
        spot(eye, 0.47, 0.032, 0.014, (240, 238, 235), 0.003)
        spot(eye, 0.47, 0.013, 0.014, (45, 30, 25), 0.002)
        spot(eye, 0.425, 0.045, 0.008, hair * 0.7, 0.004, angle=way * 6)
        spot(0.5 + way * 0.015, 0.59, 0.01, 0.006, skin * 0.5, 0.004)
    spot(0.5, 0.55, 0.022, 0.07, skin * 0.93, 0.012)
    spot(0.5, 0.66, 0.06, 0.014, np.array([165, 80, 80]) * min(1.1, skin[0] / 200))
    spot(0.5, 0.658, 0.055, 0.003, (80, 30, 30), 0.003)
    small = cv2.resize(canvas, (side, side), interpolation=cv2.INTER_AREA) + rng.normal(0, 3, (side, side, 3))
    return np.asarray(np.clip(small, 0, 255), np.uint8)


FACE_IN_PORTRAIT: Final = (0.30, 0.23, 0.70, 0.77)
"""The face, without hair, in a portrait by `drawn_face`."""


def _fitted(canvas: Pixels, x: int, y: int, text: str, name: str, size: int, colour: Colour, right: int) -> Any:
    """Print a text, smaller where it would pass `right`; return its box in pixels."""
    while size > 8 and x + text_mask(text, name, size).shape[1] > right:
        size -= 1
    return print_text(canvas, x, y, text, name, size, colour)


def _slide(slide: Slide, lecture: Lecture, rng: Rng, person: str, portrait: Pixels) -> _Frame:
    wide, tall = lecture.size
    dark = bool(rng.random() < 0.3)
    ground = (24, 28, 48) if dark else one_of(rng, ((255, 255, 255), (246, 246, 240), (232, 240, 248)))
    ink: Colour = (235, 235, 235) if dark else (25, 30, 60)
    frame = _Frame(paper(wide, tall, ground))
    canvas, unit = frame.pixels, tall / 360
    left, right = round(24 * unit), wide - round(24 * unit)
    if slide.kind == "full":
        side = round(tall * 0.98)
        canvas[:] = 0
        width = side if slide.pictures[0] != "oct" else round(side * 1.5)
        _place(frame, slide.pictures[0], rng, (wide - width) // 2, (tall - side) // 2, width, side)
    else:
        title = one_of(rng, _TITLES)
        _fitted(canvas, left, round(22 * unit), title, "hebo", round(30 * unit), ink, right)
    if slide.kind == "title":
        post = one_of(rng, ("Dr {}", "{}, MD", "Prof. {}, MD, PhD", "Presented by {}"))
        mail = f"{person.lower().replace(' ', '.')}@eye-clinic.org"
        for row, text in enumerate((post.format(person), mail)):
            at = round((150 + 44 * row) * unit)
            frame.names.append(_fitted(canvas, left, at, text, "helv", round(22 * unit), ink, right))
    elif slide.kind == "text":
        chosen = rng.permutation(len(_BULLETS))[:4]
        for row, k in enumerate(chosen):
            text = f"- {_BULLETS[int(k)]}"
            _fitted(
                canvas, left, round((95 + 48 * row) * unit), text, "helv", round(22 * unit), ink, round(wide * 0.72)
            )
    elif slide.kind in ("picture", "patient", "other"):
        side = round(220 * unit)
        width = round(side * (1.4 if slide.pictures[0] in ("oct", "histology") else 1.0))
        top = round(84 * unit)
        _place(frame, slide.pictures[0], rng, left, top, width, side)
        at = left + width + round(20 * unit)
        if slide.kind == "patient":
            born = f"{rng.integers(1, 28):02d}/{rng.integers(1, 13):02d}/19{rng.integers(30, 99)}"
            lines = (f"Patient: {person}", f"DOB {born}", f"MRN {rng.integers(10**6, 10**7)}")
            for row, text in enumerate(lines):
                frame.names.append(
                    _fitted(canvas, at, round((88 + 30 * row) * unit), text, "helv", round(17 * unit), ink, right)
                )
        else:
            for row, k in enumerate(rng.permutation(len(_BULLETS))[:3]):
                _fitted(
                    canvas, at, round((88 + 34 * row) * unit), _BULLETS[int(k)], "helv", round(17 * unit), ink, right
                )
    elif slide.kind == "pair":
        side, gap = round(200 * unit), round(18 * unit)
        for k, kind in enumerate(slide.pictures):
            _place(frame, kind, rng, left + k * (side + gap), round(92 * unit), side, side)
    if slide.kind in ("picture", "pair") and rng.random() < 0.5:
        text, at = one_of(rng, ("Dr {}", "{}, MD", "Prof. {}")).format(person), round(336 * unit)
        frame.names.append(_fitted(canvas, left, at, text, "helv", round(15 * unit), ink, round(wide * 0.6)))
    if lecture.presenter and slide.kind != "full":
        side = portrait.shape[0]
        frame.face = (portrait, wide - side - round(8 * unit), tall - side - round(8 * unit))
    return frame


def _place(frame: _Frame, kind: PictureKind, rng: Rng, left: int, top: int, width: int, height: int) -> None:
    # Drawn at the size of an acquisition and made smaller, as lecturers do.
    drawn = drawn_picture(kind, rng, 2 * width, 2 * height)
    frame.pixels[top : top + height, left : left + width] = cv2.resize(
        drawn, (width, height), interpolation=cv2.INTER_AREA
    )
    frame.images.append(((left, top, left + width, top + height), IMAGE_TYPES_OF_KINDS[kind]))


def _sway(seconds: float) -> tuple[float, float]:
    """Return how far the presenter's picture is moved to the left and up, as shares of its side."""
    return (
        SWAY * float(np.sin(2 * np.pi * 0.23 * seconds)),
        SWAY / 2 * float(np.sin(2 * np.pi * 0.4 * seconds)),
    )


def _shown(frame: _Frame, seconds: float) -> Pixels:
    """Return the frame at a time: the presenter sways and nods."""
    if frame.face is None:
        return frame.pixels
    pixels, (portrait, x, y) = frame.pixels.copy(), frame.face
    side = portrait.shape[0]
    sway, nod = (round(share * side) for share in _sway(seconds))
    rows, columns = (np.clip(np.arange(side) + shift, 0, side - 1) for shift in (nod, sway))
    pixels[y : y + side, x : x + side] = portrait[rows[:, None], columns]
    return pixels


@lru_cache(maxsize=512)
def spoken(text: str, voice: Voice) -> NDArray[np.int16]:
    """Return a text as eSpeak NG speaks it: 16-bit samples at `RATE`."""
    heard = subprocess.run(
        [SPEAKER, "-v", voice, "-s", "150", "--stdout", text], check=True, capture_output=True
    ).stdout
    with wave.open(io.BytesIO(heard)) as sound:
        own, samples = sound.getframerate(), np.frombuffer(sound.readframes(2**31 - 1), np.int16)
    places = np.arange(int(len(samples) * RATE / own)) * own / RATE
    return np.interp(places, np.arange(len(samples)), samples.astype(np.float32)).astype(np.int16)


def _sound_of(lecture: Lecture) -> tuple[list[NDArray[np.int16]], list[float]]:
    """Return the sound of each slide, and its seconds: speech with half a second of silence around each sentence."""
    pause = np.zeros(RATE // 2, np.int16)
    sounds, lengths = [], []
    for slide in lecture.slides:
        parts = [pause]
        for sentence in slide.said if lecture.voice else ():
            parts += [spoken(sentence, lecture.voice or "en-us"), pause]
        seconds = max(lecture.least, sum(map(len, parts)) / RATE)
        seconds = np.ceil(seconds * lecture.fps) / lecture.fps
        sound = np.concatenate(parts)
        sounds.append(np.concatenate([sound, np.zeros(max(0, round(seconds * RATE) - len(sound)), np.int16)]))
        lengths.append(float(seconds))
    return sounds, lengths


def _mixed(first: Pixels, second: Pixels, share: float) -> Pixels:
    mix: Floats = first.astype(np.float32) * (1 - share) + second.astype(np.float32) * share
    return mix.astype(np.uint8)


def _frames(lecture: Lecture, slides: Sequence[_Frame], starts: Sequence[float]) -> Iterator[tuple[float, Pixels]]:
    """Yield (seconds, pixels) of every frame."""
    total = round(starts[-1] * lecture.fps)
    black = np.zeros_like(slides[0].pixels)
    for number in range(total):
        now = number / lecture.fps
        k = next(i for i in range(len(slides)) if now < starts[i + 1] - 1e-9)
        pixels = _shown(slides[k], now)
        for before, after in ((k - 1, k), (k, k + 1)):
            if before < 0 or after >= len(slides):
                continue
            away = now - starts[after]
            change = lecture.slides[before].change
            if change == "cut" or abs(away) > FADE / 2:
                continue
            share = away / FADE + 0.5
            if change == "fade":
                pixels = _mixed(_shown(slides[before], now), _shown(slides[after], now), share)
            else:
                pixels = _mixed(black, pixels, abs(2 * share - 1))
        yield now, pixels


def typeset_lecture(lecture: Lecture, path: Path) -> LectureTruth:
    """Write a lecture as a video (MP4: H.264 and AAC; WebM: VP8 and Opus) and return its truth.

    Needs PyAV, and eSpeak NG unless the lecture is silent.
    """
    import av

    rng = np.random.default_rng(lecture.seed)
    wide, tall = lecture.size
    person = f"{one_of(rng, _FIRST)} {one_of(rng, _LAST)}"
    portrait = drawn_face(rng, round(tall * float(rng.uniform(0.2, 0.34))))
    slides = [_slide(slide, lecture, rng, person, portrait) for slide in lecture.slides]
    sounds, lengths = _sound_of(lecture)
    starts = [0.0, *np.cumsum(lengths).tolist()]
    video, audio = ("libvpx", "libopus") if path.suffix == ".webm" else ("libx264", "aac")
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(video, rate=lecture.fps)
        stream.width, stream.height, stream.pix_fmt = wide, tall, "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        stream.options = {"crf": "23", "preset": "veryfast"} if video == "libx264" else {"deadline": "realtime"}
        heard: Any = container.add_stream(audio, rate=48_000 if audio == "libopus" else RATE) if lecture.voice else None
        shown: Pixels | None = None
        for now, pixels in _frames(lecture, slides, starts):
            last = now >= starts[-1] - 1.5 / lecture.fps
            if lecture.variable and not last and shown is not None and np.array_equal(shown, pixels):
                continue
            shown = pixels
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24")
            frame.pts, frame.time_base = round(now * 1000), Fraction(1, 1000)
            for packet in stream.encode(frame):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
        if heard is not None:
            _mux_sound(container, heard, np.concatenate(sounds))
    return LectureTruth(tuple(_truth(lecture, slides, starts)), starts[-1])


def _mux_sound(container: Any, stream: Any, samples: NDArray[np.int16]) -> None:
    import av

    resampler = av.AudioResampler(
        format=stream.codec_context.format, layout="mono", rate=stream.codec_context.sample_rate
    )
    for first in range(0, len(samples), RATE):
        part = samples[first : first + RATE]
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(part[None]), format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, first, Fraction(1, RATE)
        for piece in resampler.resample(frame):
            for packet in stream.encode(piece):
                container.mux(packet)
    for packet in stream.encode():
        container.mux(packet)


def _truth(lecture: Lecture, slides: Sequence[_Frame], starts: Sequence[float]) -> Iterator[DrawnEpisode]:
    wide, tall = lecture.size

    def fraction(box: Sequence[float]) -> Box:
        return (box[0] / wide, box[1] / tall, box[2] / wide, box[3] / tall)

    for k, (slide, frame) in enumerate(zip(lecture.slides, slides, strict=True)):
        faces: list[Box] = []
        if frame.face is not None:
            portrait, x, y = frame.face
            side = portrait.shape[0]
            left, top, right, bottom = FACE_IN_PORTRAIT
            faces.append(fraction((x + left * side, y + top * side, x + right * side, y + bottom * side)))
        yield DrawnEpisode(
            starts[k],
            starts[k + 1],
            " ".join(slide.said),
            slide.kind,
            tuple(DrawnImage(fraction(box), image_type) for box, image_type in frame.images),
            tuple(faces),
            tuple(fraction(box) for box in frame.names),
            0.0 if frame.face is None else frame.face[0].shape[0] / wide,
            wide / tall,
        )


def repeated(path: Path, out: Path, times: int) -> None:
    """Write a video that shows another one so many times; packets are copied, nothing is encoded anew."""
    import av

    with av.open(str(out), "w") as target:
        streams: dict[int, Any] = {}
        shift = 0.0
        for _ in range(times):
            with av.open(str(path)) as source:
                if not streams:
                    streams = {s.index: target.add_stream_from_template(s) for s in source.streams}
                length = float(source.duration or 0) / 1_000_000
                for packet in source.demux():
                    if packet.dts is None:
                        continue
                    moved = round(shift / float(packet.time_base))
                    packet.stream, packet.pts, packet.dts = (
                        streams[packet.stream.index], packet.pts + moved, packet.dts + moved,
                    )  # fmt: skip
                    target.mux(packet)
            shift += length
