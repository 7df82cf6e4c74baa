"""Two lectures, typeset once."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmo_assets_tests.samples.lectures import Lecture, LectureTruth, Slide, can_speak, typeset_lecture

SLIDES = (
    Slide("title", (), ("Welcome to this lecture on diseases of the retina.",), "fade"),
    Slide("pair", ("cfp", "oct"), ("This fundus photograph shows drusen in the macula of the right eye.",), "cut"),
    Slide("patient", ("oct",), ("The scan shows subretinal fluid under the fovea.",), "black"),
    Slide("text", (), ("Treatment is given every month and the patients come back for visits.",), "cut"),
    Slide("full", ("cfp",), ("The optic disc is pale and the vessels are narrow.",), "cut"),
)


@pytest.fixture(scope="session")
def silent_lecture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LectureTruth]:
    """A lecture without sound, six seconds a slide."""
    pytest.importorskip("av", reason="PyAV is in the extra `video` (make test-models)")
    path = tmp_path_factory.mktemp("silent") / "silent.mp4"
    return path, typeset_lecture(Lecture(5, SLIDES, voice=None, least=6.0), path)


@pytest.fixture(scope="session")
def spoken_lecture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LectureTruth]:
    """A lecture with speech, as a WebM of variable frame rate."""
    pytest.importorskip("av", reason="PyAV is in the extra `video` (make test-models)")
    pytest.importorskip("faster_whisper", reason="faster-whisper is in the extra `video` (make test-models)")
    if not can_speak():
        pytest.skip("needs eSpeak NG (apt-get install espeak-ng)")
    path = tmp_path_factory.mktemp("spoken") / "spoken.webm"
    return path, typeset_lecture(Lecture(6, SLIDES, voice="en-us", variable=True, presenter=False), path)
