"""Package pictures as publishers and attackers send them."""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from PIL import Image

from pmo_assets_tests.faults.material import cut, flipped, without_a_part


@lru_cache(maxsize=4)
def _photograph(mode: str) -> Image.Image:
    coarse = np.random.default_rng(3).integers(20, 220, size=(6, 8, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize((240, 180), Image.Resampling.BICUBIC).convert(mode)


def _saved(image: Image.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def _encoded(rng: random.Random) -> bytes:
    return _saved(_photograph("RGB"), rng.choice(("JPEG", "PNG", "GIF", "TIFF")))


def truncated(rng: random.Random) -> bytes:
    return cut(_encoded(rng), rng)


def byte_flips(rng: random.Random) -> bytes:
    return flipped(_encoded(rng), rng, rng.choice((1, 3, 30)))


def a_part_lost(rng: random.Random) -> bytes:
    return without_a_part(_encoded(rng), rng)


def ink_for_print(rng: random.Random) -> bytes:
    return _saved(_photograph("CMYK"), rng.choice(("JPEG", "TIFF")))


def deep(rng: random.Random) -> bytes:
    gray = np.asarray(_photograph("L")).astype(np.uint16) * 257
    return _saved(Image.fromarray(gray), rng.choice(("PNG", "TIFF")))


def floating_point(rng: random.Random) -> bytes:
    values = np.asarray(_photograph("L")).astype(np.float32)
    values[0, 0] = rng.choice((0.0, np.nan, np.inf, -1e30, 1e30))
    return _saved(Image.fromarray(values), "TIFF")


def modes(rng: random.Random) -> bytes:
    mode = rng.choice(("1", "L", "LA", "P", "RGBA", "I", "YCbCr", "LAB"))
    if mode == "LAB":
        return _saved(Image.merge("LAB", _photograph("RGB").split()), "TIFF")
    image = _photograph("L").convert("I") if mode == "I" else _photograph("RGB").convert(mode)
    return _saved(image, "TIFF" if mode in ("I", "YCbCr") else "PNG")


def sizes(rng: random.Random) -> bytes:
    side = (1, 2, 3, 7, 23, 24, 5000)
    image = Image.new(rng.choice(("RGB", "L")), (rng.choice(side), rng.choice(side)), rng.choice((0, 128, "white")))
    return _saved(image, rng.choice(("PNG", "JPEG")))


def _png(width: int, height: int, body: bytes, *, depth: int = 8, colour: int = 0) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(body, 9)) + chunk(b"IEND", b"")


def bomb(rng: random.Random) -> bytes:
    width, height = rng.choice(
        ((20_000, 20_000), (65_535, 65_535), (2**31 - 1, 2**31 - 1), (9_000, 9_000), (10**6, 50))
    )
    return _png(width, height, bytes(min(width * height, 10**7)), depth=rng.choice((1, 8)))


def no_pixels(rng: random.Random) -> bytes:
    return _png(
        rng.choice((0, 240)),
        rng.choice((0, 180)),
        b"",
        depth=rng.choice((0, 3, 8, 16)),
        colour=rng.choice((0, 1, 3, 9)),
    )


def animated(rng: random.Random) -> bytes:
    frames = [_photograph("RGB").rotate(angle) for angle in range(0, 90, 30)]
    return _saved(frames[0], rng.choice(("GIF", "TIFF", "PNG")), save_all=True, append_images=frames[1:])


def turned(rng: random.Random) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = rng.choice((0, 3, 6, 8, 9, 65_535))
    return _saved(_photograph("RGB"), "JPEG", exif=exif)


def progressive(rng: random.Random) -> bytes:
    return cut(_saved(_photograph("RGB"), "JPEG", progressive=True, quality=rng.choice((1, 95))), rng)


def other_files(rng: random.Random) -> bytes:
    return rng.choice(
        (b"", b"\0", b"GIF89a", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"<html>404</html>", b"%PDF-1.4",
        b"\xff\xd8\xff",
         _saved(_photograph("RGB"), "BMP"), _saved(_photograph("RGB"), "WEBP"), b"P6 99999999 99999999 255\n",
         b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", b"II*\0" + b"\xff" * 100)
    )  # fmt: skip


def uniform(rng: random.Random) -> bytes:
    return _saved(Image.new("RGB", (240, 180), rng.choice(("white", "black", "gray"))), "PNG")


def transparent(rng: random.Random) -> bytes:
    image = _photograph("RGB").convert("RGBA")
    image.putalpha(rng.choice((0, 1, 128)))
    return _saved(image, "PNG")


GENERATORS: tuple[Callable[[random.Random], bytes], ...] = (
    truncated, byte_flips, a_part_lost, ink_for_print, deep, floating_point, modes, sizes, bomb, no_pixels, animated,
    turned, progressive, other_files, uniform, transparent,
)  # fmt: skip


def hostile_picture(rng: random.Random) -> tuple[str, bytes]:
    """Return a generator's name and the bytes of a picture file; its suffix in the package may say something else."""
    generator = rng.choice(GENERATORS)
    return generator.__name__, generator(rng)


def odd_pixels(rng: random.Random) -> tuple[str, np.ndarray]:
    """Return a name and the pixels of a figure, uint8 (h, w, 3), as no article shows one."""
    side = (1, 2, 3, 5, 31, 200, 1200)
    height, width = rng.choice(side), rng.choice(side)
    noise = np.random.default_rng(rng.randrange(2**32))
    kind = rng.choice(("noise", "white", "black", "grid", "halves", "picture", "speckle", "lines"))
    pixels = np.full((height, width, 3), 255, dtype=np.uint8)
    if kind == "noise":
        pixels = noise.integers(0, 256, size=(height, width, 3), dtype=np.uint8)
    elif kind == "black":
        pixels[:] = 0
    elif kind == "grid":
        pixels[:: rng.choice((1, 2, 7, 40)), :] = 0
        pixels[:, :: rng.choice((1, 2, 7, 40))] = 0
    elif kind == "halves":
        pixels[: height // 2] = noise.integers(0, 256, size=3, dtype=np.uint8)
    elif kind == "picture":
        pixels = np.asarray(_photograph("RGB").resize((width, height)), dtype=np.uint8).copy()
    elif kind == "speckle":
        pixels[noise.random((height, width)) < 0.02] = 0
    elif kind == "lines":
        pixels[noise.integers(0, height, size=5)] = 0
    return f"{kind} {width} x {height}", pixels
