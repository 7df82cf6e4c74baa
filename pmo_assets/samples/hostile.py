"""Files as the internet serves them at its worst: cut off, locked, malformed, explosive."""

from __future__ import annotations

import hashlib
import re
import struct

import pymupdf

_ENTITIES = 10
_ENTITY_FACTOR = 10
"""Ten levels of tenfold nesting: 10^10 copies of three letters if a parser expands them ("billion laughs")."""
_XML_CUT = 0.6
_PDF_CUT = 700
"""Bytes that are left of a download that broke off: the header and some objects, no page tree."""
PASSWORD = "sample"
"""User password of the encrypted PDF."""
_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
_PERMISSIONS = -4
_FILE_ID = b"pmo-assets sampl"
_STREAM = re.compile(
    rb"(?P<number>\d+) 0 obj\n<<(?:(?!endobj).)*?/Length (?P<length>\d+)(?:(?!endobj).)*?stream\r?\n", re.S
)


def pdf_bytes(document: pymupdf.Document) -> bytes:
    """Return the document as a file; the same document gives the same bytes (no file identifier, no date)."""
    return bytes(document.tobytes(no_new_id=True, deflate=True, garbage=3))


def truncated_pdf(pdf: bytes) -> bytes:
    """Return the beginning of the file, from which no page can be recovered."""
    return pdf[:_PDF_CUT]


def encrypted_pdf(document: pymupdf.Document) -> bytes:
    """Return the document as a file that opens only with the user password `PASSWORD`; its metadata is removed.

    The standard security handler, revision 3 (PDF 32000-1:2008, section 7.6.3: RC4 with 128 bits), is applied here
    because MuPDF draws a random file identifier for every encrypted file. Streams keep their length, so the
    cross-reference table stays valid; without metadata there are no strings to encrypt.
    """
    document.set_metadata({})
    plain = pdf_bytes(document)
    owner = _owner_entry()
    key = _repeated_md5(_padded(PASSWORD) + owner + struct.pack("<i", _PERMISSIONS) + _FILE_ID, 51)
    user = hashlib.md5(_PADDING + _FILE_ID, usedforsecurity=False).digest()
    for i in range(20):
        user = _rc4(bytes(b ^ i for b in key), user)

    def locked(match: re.Match[bytes]) -> bytes:
        number, start = int(match["number"]), match.end()
        length = int(match["length"])
        salted = key + struct.pack("<I", number)[:3] + b"\0\0"
        cipher = _rc4(hashlib.md5(salted, usedforsecurity=False).digest(), plain[start : start + length])
        return match[0] + cipher

    parts, end = [], 0
    for match in _STREAM.finditer(plain):
        if match.start() >= end:  # not a look-alike within a stream
            parts += [plain[end : match.start()], locked(match)]
            end = match.end() + int(match["length"])
    body, trailer = (b"".join(parts) + plain[end:]).rsplit(b"trailer\n<<", 1)
    security = (
        f"/ID[<{_FILE_ID.hex()}><{_FILE_ID.hex()}>]/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P {_PERMISSIONS}"
        f"/O<{owner.hex()}>/U<{user.hex()}{'00' * 16}>>>"
    )
    return body + b"trailer\n<<" + security.encode() + trailer


def _padded(password: str) -> bytes:
    return (password.encode("latin-1") + _PADDING)[:32]


def _repeated_md5(data: bytes, times: int) -> bytes:
    for _ in range(times):
        data = hashlib.md5(data, usedforsecurity=False).digest()
    return data


def _owner_entry() -> bytes:
    """Return the /O entry (algorithm 3) with the same password for owner and user."""
    key, entry = _repeated_md5(_padded(PASSWORD), 51), _padded(PASSWORD)
    for i in range(20):
        entry = _rc4(bytes(b ^ i for b in key), entry)
    return entry


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) & 255
        state[i], state[j] = state[j], state[i]
    i = j = 0
    out = bytearray(len(data))
    for n, byte in enumerate(data):
        i = (i + 1) & 255
        a = state[i]
        j = (j + a) & 255
        b = state[j]
        state[i], state[j] = b, a
        out[n] = byte ^ state[(a + b) & 255]
    return bytes(out)


def malformed_xml(xml: bytes) -> bytes:
    """Return XML that is not well-formed: cut off in the middle, with a stray ampersand and a crossed tag."""
    cut = xml[: int(len(xml) * _XML_CUT)]
    return cut.replace(b"<abstract>", b"<abstract>Vision & <bold><italic>retina</bold></italic> ", 1)


def entity_bomb(xml: bytes) -> bytes:
    """Return the XML with nested entities declared, and the outermost referenced in the abstract."""
    levels = ['<!ENTITY lol0 "lol">']
    levels += [f'<!ENTITY lol{i} "{f"&lol{i - 1};" * _ENTITY_FACTOR}">' for i in range(1, _ENTITIES + 1)]
    subset = "[\n" + "\n".join(levels) + "\n]>"
    bomb = re.sub(rb"(<!DOCTYPE[^>]*)>", lambda m: m[1] + b" " + subset.encode(), xml, count=1)
    return bomb.replace(b"<abstract><p>", f"<abstract><p>&lol{_ENTITIES}; ".encode(), 1)
