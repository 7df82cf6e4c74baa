"""The machinery's faults are told apart from the input's, whichever library speaks of them."""

from __future__ import annotations

import errno

import cv2
import numpy as np
import polars as pl
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, RuntimeException

from pmo_assets.records.faults import (
    MANY_ARTICLES,
    SameFault,
    is_out_of_memory,
    leaves_process_unfit,
    raise_fault,
    same_fault,
)
from pmo_assets.records.rejections import ArticleError, Rejection
from pmo_assets.records.stores import StorageError, SystemicError

ARENA = (
    "[ONNXRuntimeError] : 1 : FAIL : bfc_arena.cc:360 Failed to allocate memory for requested buffer of size 28311552"
)


def numpy_error() -> Exception:
    with pytest.raises(MemoryError) as caught:
        np.empty((2**40, 2**10), dtype=np.uint8)
    return caught.value


def opencv_error(side: int) -> Exception:
    with pytest.raises(cv2.error) as caught:
        cv2.resize(np.zeros((2, 2), np.uint8), (side, side))
    return caught.value


def wrapped(cause: BaseException) -> ArticleError:
    try:
        raise ArticleError("the page cannot be read") from cause
    except ArticleError as error:
        return error


OUT_OF_MEMORY = [
    MemoryError(),
    numpy_error(),
    Fail(ARENA),
    RuntimeException("CUDA error: out of memory"),
    RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 31129600 bytes."),
    RuntimeError("std::bad_alloc"),
    RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    RuntimeError("can't start new thread"),
    RuntimeError("code=1: malloc (1048576 bytes) failed"),
    opencv_error(2**31 - 1),
    ImportError("libfoo.so: failed to map segment from shared object"),
    OSError(errno.ENOMEM, "Cannot allocate memory"),
    type("OutOfMemoryError", (RuntimeError,), {})("CUDA"),
    wrapped(MemoryError()),
]


@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=repr)
def test_lack_of_memory_is_recognised_and_ends_the_process(error: Exception) -> None:
    assert is_out_of_memory(error)
    assert leaves_process_unfit(error)
    with pytest.raises(type(error)):
        raise_fault(error)


OF_THE_INPUT = [
    Fail("no kernel"),
    InvalidArgument("Unexpected input"),
    ValueError("memory layout"),
    opencv_error(-1),
    ArticleError("no PDF"),
    ArticleError("Opening and ending tag mismatch: bad_alloc line 1 and x"),
    KeyError("out of memory"),
    FileNotFoundError(errno.ENOENT, "No such file"),
    wrapped(KeyError("x")),
]


@pytest.mark.parametrize("error", OF_THE_INPUT, ids=repr)
def test_what_the_input_did_may_be_rejected(error: Exception) -> None:
    assert not is_out_of_memory(error)
    assert not leaves_process_unfit(error)
    raise_fault(error)


@pytest.mark.parametrize(
    "error", [pl.exceptions.PanicException("index"), SystemError("error return"), ImportError("x")]
)
def test_what_poisons_a_process_is_not_about_the_input(error: BaseException) -> None:
    assert not is_out_of_memory(error)
    assert leaves_process_unfit(error)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EMFILE, errno.EROFS, errno.EIO])
def test_a_broken_machine_is_systemic(code: int) -> None:
    with pytest.raises(SystemicError, match="run again"):
        raise_fault(wrapped(OSError(code, "broken")))


def test_systemic_errors_stay_what_they_are() -> None:
    with pytest.raises(StorageError):
        raise_fault(StorageError("disk full"))


def rejected(article_id: int, error: str = "KeyError", message: str = "'x'", tail: str = "File …") -> Rejection:
    return Rejection("panels", article_id, None, error, message, tail)


def test_many_articles_with_the_same_error_are_one_systemic_error() -> None:
    fault = same_fault([rejected(number) for number in range(50)], 100)
    assert isinstance(fault, SameFault)
    assert "50 of 100 articles" in str(fault)
    assert "KeyError: 'x'" in str(fault)
    assert "File …" in str(fault)


def test_numbers_in_the_message_do_not_make_it_another_error() -> None:
    rejections = [rejected(number, message=f"index {number} of 0x7f{number:04x}") for number in range(60)]
    assert same_fault(rejections, 100) is not None


@pytest.mark.parametrize(
    ("rejections", "articles"),
    [
        ([rejected(number) for number in range(49)], 100),
        ([rejected(number) for number in range(MANY_ARTICLES - 1)], MANY_ARTICLES - 1),
        ([rejected(7)] * 100, 100),
        ([rejected(number, "EncryptedPdf", "a password is needed", tail="") for number in range(100)], 100),
        ([rejected(number, message="'" + "x" * number + "'") for number in range(100)], 100),
    ],
    ids=["too few", "small batch", "one article's figures", "decisions", "different errors"],
)
def test_other_rejections_are_the_articles_own(rejections: list[Rejection], articles: int) -> None:
    assert same_fault(rejections, articles) is None


def test_articles_that_end_their_workers_are_suspicious_whatever_the_words() -> None:
    rejections = [rejected(number, "WorkerDied", f"exit code {'x' * number}", tail="") for number in range(6)]
    assert same_fault(rejections, 10) is not None
    assert same_fault(rejections, 10, share=0.8) is None
