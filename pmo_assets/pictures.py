"""Encoded pictures: stored renderings, and package pictures from the internet."""

from __future__ import annotations

import hashlib
import io
import struct
import warnings
from collections.abc import Callable
from typing import Final

import cv2
import deflate
import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from pmo_assets.records.faults import raise_fault
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.stores import Picture

MAX_PICTURE_PIXELS = 100_000_000
"""Package pictures with more pixels are decompression bombs: PMC scales its JPEGs down to some 10^6."""

_FORMATS = ("JPEG", "PNG", "GIF", "TIFF")


class PictureUnreadable(ArticleError):
    """A picture cannot be decoded."""


def decoded(picture: Picture | None, key: str) -> NDArray[np.uint8]:
    """Return a stored picture's pixels, (height, width, 3) uint8 RGB.

    Raises:
        PictureUnreadable: if it is missing or no picture.
    """
    if picture is None:
        raise PictureUnreadable(f"the picture of {key} is missing: materialise its asset again")
    try:
        return decoded_bytes(picture.png)
    except PictureUnreadable:
        raise PictureUnreadable(f"the picture of {key} is damaged: materialise its asset again") from None


def decoded_bytes(encoded: bytes) -> NDArray[np.uint8]:
    """Return the pixels of an encoded picture of ours, (height, width, 3) uint8 RGB.

    What `png_bytes` wrote is decoded in a quarter of OpenCV's time.

    Raises:
        PictureUnreadable: if it is no picture.
    """
    own = own_png(encoded)
    if own is not None:
        return own
    # In this order of channels from the start: turning them round takes half as long as decoding.
    image = cv2.imdecode(np.frombuffer(encoded, dtype=np.uint8), cv2.IMREAD_COLOR_RGB) if encoded else None
    if image is None:
        raise PictureUnreadable("a stored picture is damaged: materialise its asset again")
    return np.asarray(image, dtype=np.uint8)


_PNG_HEADER: Final = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPES: Final = {1: 0, 3: 2}
"""PNG's colour types (ISO/IEC 15948, table 11.1) by the number of samples a pixel: gray and RGB."""

_FILTER_UP: Final = 2
"""PNG's filter that takes the byte above off every byte (ISO/IEC 15948, 9.2)."""

_DATA_AT: Final = 41
"""Offset of the compressed rows: after the signature, the chunk IHDR, and name and length of the first IDAT."""

_END: Final = struct.pack(">I", 0) + b"IEND" + struct.pack(">I", deflate.crc32(b"IEND"))


def png_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """Encode uint8 (h, w, 3) RGB or (h, w) gray pixels as PNG: lossless, no metadata, same pixels give same bytes.

    One filter for all rows and libdeflate at its lowest level: half the time of OpenCV's PNG at its lowest level, and
    5 % fewer bytes (`benchmarks/picture_formats.py`). libdeflate gives the same bytes on every processor.

    Raises:
        ValueError: if the pixels cannot be encoded.
    """
    samples = pixels.shape[2] if pixels.ndim == 3 else 1
    if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3) or samples not in _COLOUR_TYPES or not pixels.size:
        raise ValueError(f"cannot encode {pixels.dtype} pixels of shape {pixels.shape} as PNG")
    height, width = pixels.shape[:2]
    plain = pixels.reshape(height, -1)
    rows = np.empty((height, 1 + plain.shape[1]), np.uint8)
    rows[:, 0] = _FILTER_UP
    rows[0, 1:] = plain[0]
    np.subtract(plain[1:], plain[:-1], out=rows[1:, 1:])  # modulo 256, as the filter wants it
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[samples], 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", deflate.zlib_compress(rows, 1)), (b"IEND", b""))
    return _PNG_HEADER + b"".join(_png_chunk(name, data) for name, data in parts)


def own_png(encoded: bytes) -> NDArray[np.uint8] | None:
    """Return the pixels, (height, width, 3) uint8 RGB, of a picture that `png_bytes` wrote; else, or if damaged, None.

    Takes a quarter of the time of a decoder that reads every PNG.
    """
    if len(encoded) < _DATA_AT + 4 + len(_END) or not encoded.startswith(_PNG_HEADER) or encoded[37:41] != b"IDAT":
        return None
    width, height, *kind = struct.unpack(">IIBBBBB", encoded[16:29])
    (size,) = struct.unpack(">I", encoded[33:37])
    if kind != [8, _COLOUR_TYPES[3], 0, 0, 0] or encoded[_DATA_AT + size + 4 :] != _END:
        return None
    # Said sizes are not believed: DEFLATE makes at most 1,032 bytes of one.
    if not 0 < width * height <= MAX_PICTURE_PIXELS or height * (1 + 3 * width) > 1032 * size:
        return None
    try:
        data = deflate.zlib_decompress(memoryview(encoded)[_DATA_AT : _DATA_AT + size], height * (1 + 3 * width))
    except deflate.DeflateError:
        return None
    if len(data) != height * (1 + 3 * width):
        return None
    rows = np.frombuffer(data, np.uint8).reshape(height, 1 + 3 * width)
    if (rows[:, 0] != _FILTER_UP).any():
        return None
    pixels = np.empty((height, 3 * width), np.uint8)
    pixels[0] = rows[0, 1:]
    for row in range(1, height):  # NumPy's own accumulation along the first axis takes four times as long
        np.add(pixels[row - 1], rows[row, 1:], out=pixels[row])
    return pixels.reshape(height, width, 3)


def _png_chunk(name: bytes, data: bytes | bytearray) -> bytes:
    checksum = deflate.crc32(data, deflate.crc32(name))
    return b"".join((struct.pack(">I", len(data)), name, data, struct.pack(">I", checksum)))


MAX_WEBP_SIDE = 16_383
"""Longest side of a WebP in pixels (its format)."""


HARDLY_SMALLER: Final = 0.9
"""Size of a lossless WebP made at the least effort, relative to the PNG, from which more effort pays: drawings of few
colours become half as large by it, photographs a tenth smaller for four times the time."""


def compact_bytes(pixels: NDArray[np.uint8], png: bytes | None = None) -> bytes:
    """Encode uint8 (h, w, 3) RGB pixels without loss and small: as WebP, or as PNG where a side is too long for it.

    WebP's least effort (method 0) where it suffices; method 1 for what gains most by it: grey pictures, and those that
    are hardly smaller than the PNG. That is 0.75 of `png_bytes`' size for 0.04 s per megapixel; method 1 for all gives
    0.67 for 0.1 s, the best that WebP can do 0.61 for 4.6 s (`benchmarks/picture_formats.py`). All decode as fast as
    PNG.

    Args:
        pixels: the picture.
        png: what `png_bytes` makes of it, where that is known.
    """
    png = png_bytes(pixels) if png is None else png
    if max(pixels.shape[:2]) > MAX_WEBP_SIDE:
        return png
    image = Image.fromarray(pixels)
    if not _is_grey(pixels):
        quick = _webp(image, method=0)
        if len(quick) < HARDLY_SMALLER * len(png):
            return quick
    return _webp(image, method=1)


def _is_grey(pixels: NDArray[np.uint8]) -> bool:
    red, green, blue = (pixels[..., channel] for channel in range(3))
    return bool(np.array_equal(red, green) and np.array_equal(red, blue))


def _webp(image: Image.Image, method: int) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", lossless=True, method=method, quality=0)  # without search for the best entropy codes
    return buffer.getvalue()


def pixels_digest(pixels: NDArray[np.uint8]) -> str:
    """Return the SHA-256 of uint8 (h, w, 3) RGB pixels, row by row: what a picture is, however it is encoded."""
    return hashlib.sha256(np.ascontiguousarray(pixels).data).hexdigest()


def decode_gray(data: bytes, side: int) -> tuple[Image.Image, tuple[int, int]]:
    """Decode a package picture to gray, what is transparent to white.

    Args:
        data: encoded picture; untrusted.
        side: the caller needs no more pixels than this on a side; a JPEG then decodes for a fraction of the cost.

    Returns:
        The picture (mode "L") and its size (width, height) as stored.

    Raises:
        PictureUnreadable: if it is empty, no picture, too large or damaged.
    """

    def gray(image: Image.Image) -> Image.Image:
        image.draft("RGB", (side, side))
        return _on_white(image).convert("L")

    return _untrusted(data, gray)


def decode_rgb(data: bytes) -> NDArray[np.uint8]:
    """Decode a picture of a file as (height, width, 3) uint8 RGB, what is transparent to white.

    Args:
        data: encoded picture; untrusted.

    Raises:
        PictureUnreadable: if it is empty, no picture, too large or damaged.
    """
    image, _ = _untrusted(data, lambda image: _on_white(image).convert("RGB"))
    return np.asarray(image, dtype=np.uint8)


def _untrusted(data: bytes, finish: Callable[[Image.Image], Image.Image]) -> tuple[Image.Image, tuple[int, int]]:
    """Return what `finish` makes of an untrusted picture, and the picture's size (width, height) as stored."""
    if not data:
        raise PictureUnreadable("it is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
                size = image.size
                if min(size) < 1 or size[0] * size[1] > MAX_PICTURE_PIXELS:
                    raise PictureUnreadable(
                        f"it has {size[0]:,} × {size[1]:,} pixels, the limit is {MAX_PICTURE_PIXELS:,} in all"
                    )
                return finish(image), size
    except PictureUnreadable:
        raise
    except UnidentifiedImageError as error:
        raise PictureUnreadable("it is no JPEG, PNG, GIF or TIFF") from error
    except Exception as error:  # Pillow raises many classes on damaged files
        raise_fault(error)
        raise PictureUnreadable(f"it is damaged: {error}") from error


def decoded_gray(data: bytes | None, side: int) -> tuple[Image.Image, tuple[int, int]] | None:
    """Decode a package picture as `decode_gray` does; None if there is none, or it cannot be decoded."""
    if data is None:
        return None
    try:
        return decode_gray(data, side)
    except PictureUnreadable:
        return None


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba)
    return image
