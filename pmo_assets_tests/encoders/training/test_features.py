"""Features that are kept: found again as they were put, whoever wrote them, and never believed when cut off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pmo_assets.encoders.training import features
from pmo_assets.encoders.training.features import KEY_BYTES, FeatureCache


def key(number: int) -> bytes:
    return number.to_bytes(KEY_BYTES, "little")


def feature(number: int) -> np.ndarray:
    return np.random.default_rng(number).standard_normal((2, 3)).astype(np.float32)


@pytest.mark.parametrize("kept", [True, False])
def test_what_was_put_is_found_as_it_is_kept(tmp_path: Path, kept: bool) -> None:
    cache = FeatureCache(tmp_path if kept else None, "d")
    told = {number: cache.put(key(number), feature(number)) for number in range(5)}
    cache.flush()
    cache.put(key(5), feature(5))
    assert len(cache) == 6
    for number, half in told.items():
        np.testing.assert_array_equal(cache.get(key(number)), half)
        np.testing.assert_allclose(half, feature(number), atol=2e-3)
    assert cache.get(key(9)) is None


def test_another_process_finds_what_was_written_and_no_other_bodys(tmp_path: Path) -> None:
    first, second = FeatureCache(tmp_path, "d"), FeatureCache(tmp_path, "d")
    for cache, number in ((first, 1), (second, 2), (second, 1)):
        cache.put(key(number), feature(number))
    first.flush()
    second.flush()
    third = FeatureCache(tmp_path, "d")
    assert len(third) == 2
    np.testing.assert_array_equal(third.get(key(2)), second.get(key(2)))
    assert len(FeatureCache(tmp_path, "other")) == 0


def test_files_are_written_by_size_and_few_are_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "FILE_BYTES", feature(0).astype(np.float16).nbytes * 2)
    monkeypatch.setattr(features, "_MOST_OPEN", 3)
    cache = FeatureCache(tmp_path, "d")
    for number in range(20):
        cache.put(key(number), feature(number))
    assert len(list(tmp_path.glob("d/*.npy"))) == 10
    again = FeatureCache(tmp_path, "d")
    for number in reversed(range(20)):
        np.testing.assert_array_equal(again.get(key(number)), feature(number).astype(np.float16))
    assert len(again._open) == 3


def test_a_file_that_is_cut_off_is_made_again(tmp_path: Path) -> None:
    cache = FeatureCache(tmp_path, "d")
    cache.put(key(1), feature(1))
    cache.flush()
    (file,) = tmp_path.glob("d/*.npy")
    whole = file.read_bytes()
    for content in (whole[:-4], whole[:20], b"", b"no array"):
        file.write_bytes(content)
        assert FeatureCache(tmp_path, "d").get(key(1)) is None
    np.save(file, np.zeros(3))
    assert len(FeatureCache(tmp_path, "d")) == 0
