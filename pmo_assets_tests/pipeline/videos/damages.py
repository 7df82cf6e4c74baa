"""Kinds of damage to a video's file: what a download, a disk, or somebody who means harm leaves of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

Damage = Callable[[bytes], bytes]


def noisy(data: bytes, count: int) -> bytes:
    """Return a file with so many bytes behind its first boxes replaced by chance ones."""
    rng, changed = np.random.default_rng(count), bytearray(data)
    for place in rng.integers(64, len(data), count):
        changed[place] = int(rng.integers(256))
    return bytes(changed)


def _behind(data: bytes, names: tuple[bytes, ...], skip: int, value: bytes) -> bytes:
    """Return a file in which a value stands so many bytes behind each occurrence of the names."""
    changed = bytearray(data)
    for name in names:
        at = data.find(name)
        while at >= 0:
            first = at + len(name) + skip
            changed[first : first + len(value)] = value[: max(0, len(data) - first)]
            at = data.find(name, at + 1)
    return bytes(changed)


def _third(data: bytes) -> int:
    return len(data) // 3


def swapped(data: bytes) -> bytes:
    """Return a file with its second and last third exchanged."""
    third = _third(data)
    return data[:third] + data[2 * third :] + data[third : 2 * third]


DAMAGES: Final[dict[str, Damage]] = {
    "empty": lambda data: b"",
    "zeros": lambda data: bytes(2**20),
    "an archive": lambda data: b"PK\x03\x04" + data[4:],
    "a header alone": lambda data: data[:32],
    "a playlist": lambda data: b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
    "a list of files": lambda data: b"ffconcat version 1.0\nfile /etc/passwd\n",
    "text": lambda data: b"<html>" * 1000,
    "the first half": lambda data: data[: len(data) // 2],
    "without its end": lambda data: data[:-2000],
    "a hole": lambda data: data[: _third(data)] + bytes(len(data) // 4) + data[_third(data) + len(data) // 4 :],
    "noise inside": lambda data: noisy(data, 400),
    "much noise": lambda data: noisy(data, 20_000),
    "twice": lambda data: data + data,
    "its end alone": lambda data: data[len(data) // 2 :],
    "sizes of boxes": lambda data: b"\xff\xff\xff\xff" + data[4:],
    "a picture of a sound": lambda data: data.replace(b"avc1", b"mp4a").replace(b"V_VP8", b"A_AAC"),
    "another codec": lambda data: data.replace(b"avc1", b"hvc1").replace(b"V_VP8", b"V_VP9"),
    "an unknown codec": lambda data: data.replace(b"avc1", b"zzzz").replace(b"V_VP8", b"V_ZZZ"),
    "frames of 65535 pixels": lambda data: _behind(data, (b"avc1", b"\xb0\x82", b"\xba\x82"), 24, b"\xff\xff\xff\xff"),
    "a length of years": lambda data: _behind(data, (b"mvhd", b"tkhd", b"\x44\x89\x88"), 12, b"\x7f\xff\xff\xff"),
    "no time base": lambda data: _behind(data, (b"mdhd", b"\x2a\xd7\xb1\x83"), 12, bytes(4)),
    "times that go back": lambda data: _behind(data, (b"stts", b"ctts"), 8, b"\xff" * 8),
    "no table of samples": lambda data: data.replace(b"stsz", b"free").replace(
        b"\x1f\x43\xb6\x75", b"\xec\xec\xec\xec"
    ),
    "samples of 2 GB": lambda data: _behind(data, (b"stsz",), 4, b"\x7f\xff\xff\xff"),
    "four billion samples": lambda data: _behind(data, (b"stsz", b"stts"), 4, b"\xff" * 8),
    "its parts exchanged": swapped,
    "the beginning of another": lambda data: data[:4096] + noisy(data, len(data))[4096:],
    "a byte a line": lambda data: data.replace(b"\n", b"\r\n"),
    "in seven bits": lambda data: bytes(byte & 0x7F for byte in data),
    "a zero before it": lambda data: b"\0" + data,
    "ten times its head": lambda data: data[:2048] * 10 + data[2048:],
}
"""Each takes the bytes of an MP4 or WebM file."""

KINDS: Final = [
    (suffix, damage)
    for suffix in (".mp4", ".webm")
    for damage in DAMAGES
    if suffix == ".mp4" or damage not in ("times that go back", "samples of 2 GB", "four billion samples")
]
"""Endings of files and what is done to them; WebM has no tables of samples."""
