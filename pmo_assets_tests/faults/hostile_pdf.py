"""PDFs as servers, broken programmes and attackers make them."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable
from typing import Any, TypeAlias

import pymupdf

from pmo_assets_tests.faults.material import ATTACKS, cut, flipped, without_a_part

BOXES = (
    "[0 0 0 0]", "[0 0 600 0]", "[600 800 0 0]", "[0 0 -600 -800]", "[0 0 100000 100000]", "[0 0 1e38 1e38]",
    "[nan nan nan nan]",
    "[0 0 600]", "null", "(x)", "[0 0 0.4 0.4]", "[0 0 600 0.0001]", "[1000000000 1000000000 1000000000 1000000000]",
    "[16777216 0 16777217 800]", "[0 0 1 800]", "[0 0 20000000 1]", "[-300 -400 300 400]", "[100 100 100 500]",
    "[100.7 100.2 500.9 700.4]", "[300 300 301 301]", "[0 0 14400 14400]", "[[0 0] 0 600 800]", "[0 0 inf inf]",
)  # fmt: skip

NUMBERS = (
    "0",
    "-1",
    "1",
    "3",
    "32",
    "2147483647",
    "4294967296",
    "99999999999999999999",
    "1e10",
    "nan",
    "null",
    "(x)",
    "0.0001",
    "[]",
    "<<>>",
)

Document: TypeAlias = Any
"""A `pymupdf.Document`, which comes without types."""


def _pages(document: Document) -> list[int]:
    return [document.page_xref(index) for index in range(document.page_count)]


def _objects(document: Document, wanted: str) -> list[int]:
    found = []
    for xref in range(1, document.xref_length()):
        text = document.xref_object(xref, compressed=True)
        if wanted in text:
            found.append(xref)
    return found


def _saved(document: Document, **options: object) -> bytes:
    try:
        return bytes(document.tobytes(no_new_id=True, **options))
    except (RuntimeError, ValueError):  # PyMuPDF counts the pages first; MuPDF itself writes any objects
        buffer = pymupdf.mupdf.FzBuffer(2**20)
        output = pymupdf.mupdf.FzOutput(buffer)
        pymupdf.mupdf.pdf_write_document(pymupdf._as_pdf_document(document), output, pymupdf.mupdf.PdfWriteOptions())
        output.fz_close_output()
        return bytes(buffer.fz_buffer_extract())


def _new_stream(document: Document, dictionary: str, content: bytes, *, compress: bool = True) -> int:
    xref = int(document.get_new_xref())
    document.update_object(xref, dictionary)
    document.update_stream(xref, content, new=True, compress=compress)
    return xref


def _with_content(document: Document, page: int, content: bytes, *, first: bool = False) -> None:
    """Add a content stream to a page."""
    xref = _new_stream(document, "<<>>", content)
    kind, value = document.xref_get_key(page, "Contents")
    old = value.strip("[]") if kind in ("array", "xref") else ""
    document.xref_set_key(page, "Contents", f"[{xref} 0 R {old}]" if first else f"[{old} {xref} 0 R]")


def _resource(document: Document, page: int, kind: str, name: str, xref: int) -> None:
    _, value = document.xref_get_key(page, "Resources")
    match = re.fullmatch(r"(\d+) 0 R", value.strip())
    if match:
        document.xref_set_key(int(match[1]), f"{kind}/{name}", f"{xref} 0 R")
    else:
        document.xref_set_key(page, f"Resources/{kind}/{name}", f"{xref} 0 R")


# on the bytes


def truncated(pdf: bytes, rng: random.Random) -> bytes:
    return cut(pdf, rng)


def byte_flips(pdf: bytes, rng: random.Random) -> bytes:
    return flipped(pdf, rng, rng.choice((1, 5, 50, 1000)))


def flips_outside_streams(pdf: bytes, rng: random.Random) -> bytes:
    parts = re.split(rb"(stream\r?\n.*?endstream)", pdf, flags=re.DOTALL)
    chosen = {rng.randrange(len(parts)) for _ in range(rng.choice((1, 5, 20)))}
    return b"".join(
        flipped(part, rng, 2) if k in chosen and not part.startswith(b"stream") else part
        for k, part in enumerate(parts)
    )


def a_part_lost(pdf: bytes, rng: random.Random) -> bytes:
    return without_a_part(pdf, rng)


def broken_cross_references(pdf: bytes, rng: random.Random) -> bytes:
    number = str(rng.choice((0, 1, len(pdf), 10**12, rng.randrange(len(pdf) + 1)))).encode()
    swaps: tuple[tuple[bytes, bytes], ...] = (
        (rb"startxref\s+\d+", b"startxref\n" + number),
        (rb"\d{10} 00000 n", b"9999999999 00000 n"),
        (rb"xref\s+0 \d+", b"xref\n0 " + number),
        (rb"/Root \d+ 0 R", b"/Root 0 0 R"),
        (rb"/Size \d+", b"/Size " + number),
        (rb"trailer", b"tra1ler"),
        (rb"/Prev \d+|/Info", b"/Prev " + number),
        (rb"%%EOF", b""),
    )
    pattern, new = rng.choice(swaps)
    return re.sub(pattern, lambda _: new, pdf, count=rng.choice((0, 1)))


def stream_lengths(pdf: bytes, rng: random.Random) -> bytes:
    wrong = rng.choice((b"0", b"-1", b"1", b"99999999", b"2147483648", b"1 0 R", b"(x)"))
    return re.sub(rb"/Length \d+(?! \d+ R)", lambda m: b"/Length " + wrong if rng.random() < 0.5 else m[0], pdf)


def names_swapped(pdf: bytes, rng: random.Random) -> bytes:
    names = (b"/Page", b"/Pages", b"/Kids", b"/Contents", b"/Resources", b"/Font", b"/XObject", b"/Filter",
             b"/FlateDecode",
             b"/Width", b"/Height", b"/DCTDecode", b"/ToUnicode", b"/Encoding", b"/Type", b"/Subtype",
             b"/MediaBox")  # fmt: skip
    old, new = rng.choice(names), rng.choice(names)
    return re.sub(re.escape(old) + rb"\b", lambda m: new if rng.random() < 0.5 else m[0], pdf)


def no_pdf(pdf: bytes, rng: random.Random) -> bytes:
    return rng.choice(
        (b"", b"\n", b"%PDF-", b"%PDF-1.7\n", b"<html>403</html>", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04" + pdf[:100],
         b" " * 1000 + pdf, b" " * 2000 + pdf, pdf + pdf, pdf[::-1], b"\0" * 10_000,
         b"%PDF-1.4\n" + b"1 0 obj\n" * 10_000)
    )  # fmt: skip


# on the objects


def page_boxes(document: Document, rng: random.Random) -> bytes:
    for page in _pages(document):
        if rng.random() < 0.7:
            document.xref_set_key(page, rng.choice(("MediaBox", "CropBox")), rng.choice(BOXES))
    return _saved(document)


def user_units_and_rotation(document: Document, rng: random.Random) -> bytes:
    for page in _pages(document):
        document.xref_set_key(
            page, "Rotate", rng.choice(("90", "180", "270", "-90", "45", "450", "99999999999", "(x)"))
        )
        if rng.random() < 0.5:
            units = ("0", "-1", "0.0001", "0.5", "2", "1000000", "null", "(x)")
            document.xref_set_key(page, "UserUnit", rng.choice(units))
    return _saved(document)


def page_tree(document: Document, rng: random.Random) -> bytes:
    root = int(document.xref_get_key(document.pdf_catalog(), "Pages")[1].split()[0])
    pages = _pages(document)
    kids = rng.choice(
        (
            f"[{root} 0 R]",
            f"[{pages[0]} 0 R {root} 0 R]",
            "[" + f"{pages[0]} 0 R " * rng.choice((3, 400, 5000)) + "]",
            "[]",
            "null",
            "[999999 0 R]",
            f"[{document.pdf_catalog()} 0 R]",
        )
    )
    document.xref_set_key(root, rng.choice(("Kids", "Kids", "Parent")), kids)
    if rng.random() < 0.5:
        document.xref_set_key(root, "Count", rng.choice(("-1", "0", "1000000000", "null", "3")))
    return _saved(document)


def thousands_of_pages(document: Document, rng: random.Random) -> bytes:
    for _ in range(rng.choice((50, 600, 3000))):
        document.new_page(width=200, height=200)
    return _saved(document)


def encrypted(document: Document, rng: random.Random) -> bytes:
    method = rng.choice((pymupdf.PDF_ENCRYPT_RC4_40, pymupdf.PDF_ENCRYPT_RC4_128, pymupdf.PDF_ENCRYPT_AES_256))
    return bytes(document.tobytes(encryption=method, owner_pw="o", user_pw=rng.choice(("", "u")), permissions=0))


def active_content(document: Document, rng: random.Random) -> bytes:
    catalog = document.pdf_catalog()
    document.xref_set_key(catalog, "OpenAction", "<</S/JavaScript/JS(app.alert\\(1\\);while\\(1\\){})>>")
    document.xref_set_key(catalog, "AA", "<</WC<</S/Launch/F(/bin/sh)>>>>")
    document.embfile_add("evil.exe", b"MZ" * 1000)
    document.xref_set_key(_pages(document)[0], "AA", "<</O<</S/URI/URI(http://127.0.0.1:9/)>>>>")
    return _saved(document)


def picture_dictionaries(document: Document, rng: random.Random) -> bytes:
    keys = (
        "Width",
        "Height",
        "BitsPerComponent",
        "ColorSpace",
        "Filter",
        "DecodeParms",
        "SMask",
        "Decode",
        "Mask",
        "ImageMask",
    )
    values = (
        *NUMBERS,
        "/DeviceN",
        "/Nothing",
        "[/Indexed /DeviceRGB 255 (x)]",
        "[1 0]",
        "/JPXDecode",
        "/JBIG2Decode",
        "/CCITTFaxDecode",
        "true",
    )
    pictures = _objects(document, "/Subtype/Image")
    for xref in pictures:
        for _ in range(rng.choice((0, 1, 2))):
            value = f"{rng.choice(pictures)} 0 R" if rng.random() < 0.15 else rng.choice(values)
            document.xref_set_key(xref, rng.choice(keys), value)
    return _saved(document)


def picture_streams(document: Document, rng: random.Random) -> bytes:
    for xref in _objects(document, "/Subtype/Image"):
        if rng.random() < 0.6:
            raw = document.xref_stream_raw(xref) or b""
            damaged = flipped(raw, rng, 20) if rng.random() < 0.5 else raw[: rng.randrange(len(raw) + 1)]
            _, kind = document.xref_get_key(xref, "Filter")
            document.update_stream(xref, damaged, new=False, compress=False)
            document.xref_set_key(xref, "Filter", kind)
    return _saved(document)


def bombs(document: Document, rng: random.Random) -> bytes:
    page = rng.choice(_pages(document))
    side = rng.choice((6_000, 30_000, 100_000))
    bits = zlib.compress(bytes(min(side * side // 8, 40_000_000)), 9)
    picture = _new_stream(document, "<<>>", bits, compress=False)
    document.update_object(
        picture,
        f"<</Type/XObject/Subtype/Image/Width {side}/Height {side}/BitsPerComponent 1/ColorSpace/DeviceGray"
        f"/Filter/FlateDecode/Length {len(bits)}>>",
    )
    _resource(document, page, "XObject", "Bomb", picture)
    many = rng.choice((1, 50))
    _with_content(document, page, b"q 400 0 0 300 100 300 cm /Bomb Do Q\n" * many)
    return _saved(document)


def content_bomb(document: Document, rng: random.Random) -> bytes:
    kind = rng.choice(
        (b"0 0 m 9 9 l S\n", b"q ", b"BT (x) Tj ET\n", b"%\n", b"1 0 0 1 1 1 cm ", b"9 9 re f ", b"[", b"<<", b"((")
    )
    _with_content(
        document, rng.choice(_pages(document)), kind * rng.choice((1000, 100_000, 700_000)), first=rng.random() < 0.5
    )
    return _saved(document)


def forms_in_circles(document: Document, rng: random.Random) -> bytes:
    page = rng.choice(_pages(document))
    first, second = int(document.get_new_xref()), int(document.get_new_xref())
    kind = rng.choice(("Form", "Pattern", "Mask"))
    for here, there in ((first, second), (second, rng.choice((first, second)))):
        other = f"<</R {there} 0 R>>"
        common = f"/BBox[0 0 600 800]/Resources<</XObject{other}/Pattern{other}/ExtGState{other}>>"
        if kind == "Pattern":
            step = rng.choice(("1", "0", "0.0001"))
            text = f"<</Type/Pattern/PatternType 1/PaintType 1/TilingType 1/XStep {step}/YStep 1{common}>>"
        else:
            text = f"<</Type/XObject/Subtype/Form/Group<</S/Transparency>>{common}>>"
        document.update_object(here, text)
        document.update_stream(here, b"/R Do /R Do /Pattern cs /R scn 0 0 600 800 re f /R gs", new=True)
    _resource(document, page, "XObject", "Loop", first)
    _resource(document, page, "Pattern", "Loop", first)
    _with_content(document, page, b"q /Loop Do Q /Pattern cs /Loop scn 100 100 300 300 re f")
    return _saved(document)


def doubling_forms(document: Document, rng: random.Random) -> bytes:
    """Forms that draw the next one several times: the work grows as a power."""
    page = rng.choice(_pages(document))
    inner = _new_stream(document, "<</Type/XObject/Subtype/Form/BBox[0 0 600 800]>>", b"100 100 50 50 re f")
    depth, factor = rng.choice(((4, 8), (8, 3), (40, 8)) if rng.random() < 0.1 else ((4, 8), (8, 3)))
    for _ in range(depth):
        text = f"<</Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</F {inner} 0 R>>>>>>"
        inner = _new_stream(document, text, b"/F Do " * factor)
    _resource(document, page, "XObject", "F", inner)
    _with_content(document, page, b"/F Do")
    return _saved(document)


def fonts(document: Document, rng: random.Random) -> bytes:
    keys = ("ToUnicode", "Encoding", "FontFile2", "FontFile3", "FontFile", "DescendantFonts", "Widths", "FirstChar",
            "FontMatrix",
            "Subtype", "BaseFont", "W", "CIDToGIDMap", "FontBBox", "FontDescriptor")  # fmt: skip
    for xref in _objects(document, "/Font"):
        for _ in range(rng.choice((0, 1, 3))):
            if document.xref_get_key(xref, "Type")[1] in ("/Font", "/FontDescriptor"):
                document.xref_set_key(
                    xref, rng.choice(keys), rng.choice((*NUMBERS, "/Type3", "/Identity-V", f"{xref} 0 R"))
                )
    return _saved(document)


def font_streams(document: Document, rng: random.Random) -> bytes:
    for xref in range(1, document.xref_length()):
        if document.xref_is_font(xref) or document.xref_get_key(xref, "Length1")[0] != "null":
            stream = document.xref_stream(xref)
            if stream:
                document.update_stream(xref, flipped(stream, rng, rng.choice((1, 30, 500))))
    return _saved(document)


def letters_that_mean_others(document: Document, rng: random.Random) -> bytes:
    """ToUnicode maps that read what is printed as half a surrogate pair, a control character or markup."""
    attack = rng.choice(ATTACKS).encode("utf-16-be")[:200].hex()
    target = rng.choice(("D800", "DC00D800", "0000", "0007", "FFFE", "202E", "0041" * 300, attack, "", "D83DDC41"))
    one = rng.choice(("<20>", "<41>", "<61>", "<2e>"))
    ranges = f"<00> <ff> <{target}>" if rng.random() < 0.5 else f"{one} {one} <{target}>"
    text = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def 1 begincodespacerange <00> <ff> "
        f"endcodespacerange 1 beginbfrange {ranges} endbfrange endcmap end end"
    )
    for xref in _objects(document, "/Type/Font"):
        if document.xref_get_key(xref, "Type")[1] == "/Font":
            stream = _new_stream(document, "<<>>", text.encode())
            document.xref_set_key(xref, "ToUnicode", f"{stream} 0 R")
    return _saved(document)


def content_garbage(document: Document, rng: random.Random) -> bytes:
    numbers = ("0", "-1", "1e30", "nan", "99999999999999999999", "0.00001", "300", "-.", "--5", "/N", "(x)", "[", "<<")
    operators = (
        "cm",
        "re",
        "f",
        "S",
        "l",
        "m",
        "c",
        "Tm",
        "Tf",
        "Tj",
        "Do",
        "q",
        "Q",
        "W n",
        "gs",
        "sh",
        "BI",
        "ID",
        "EI",
        "w",
        "d",
        "BT",
        "ET",
        "Tz",
        "rg",
    )
    for page in _pages(document):
        garbage = " ".join(
            " ".join(rng.choices(numbers, k=rng.choice((0, 1, 4, 6)))) + " " + rng.choice(operators)
            for _ in range(rng.choice((5, 200)))
        )
        _with_content(document, page, garbage.encode(), first=rng.random() < 0.5)
    return _saved(document)


def content_flips(document: Document, rng: random.Random) -> bytes:
    for page in _pages(document):
        for xref in document[document.page_count - 1].get_contents() if page == _pages(document)[-1] else []:
            document.update_stream(xref, flipped(document.xref_stream(xref) or b"", rng, rng.choice((1, 20, 300))))
    return _saved(document)


def matrices(document: Document, rng: random.Random) -> bytes:
    values = ("0 0 0 0 0 0", "0 1 -1 0 600 0", "-1 0 0 -1 600 800", "0.00001 0 0 0.00001 0 0",
              "100000 0 0 100000 0 0", "1 1 1 1 0 0",
              "0.7 0.7 -0.7 0.7 300 0", "1 0 0 0 0 0", "nan 0 0 1 0 0")  # fmt: skip
    for page in _pages(document):
        if rng.random() < 0.7:
            _with_content(document, page, f"{rng.choice(values)} cm\n".encode(), first=True)
    return _saved(document)


def values_anywhere(document: Document, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 5, 30))):
        xref = rng.randrange(1, document.xref_length())
        keys = document.xref_get_keys(xref)
        if keys:
            value = rng.choice((*NUMBERS, f"{rng.randrange(1, document.xref_length())} 0 R", f"{xref} 0 R", "/Name"))
            document.xref_set_key(xref, rng.choice(keys), value)
    return _saved(document)


def annotations_and_forms(document: Document, rng: random.Random) -> bytes:
    page = document[0]
    xref = page.xref
    document.xref_set_key(
        xref, "Annots", f"[<</Type/Annot/Subtype/Link/Rect[0 0 nan 9]/Parent {xref} 0 R>> {xref} 0 R null 5]"
    )
    document.xref_set_key(document.pdf_catalog(), "AcroForm", f"<</Fields[{xref} 0 R]/NeedAppearances true>>")
    document.xref_set_key(document.pdf_catalog(), "Outlines", f"{document.pdf_catalog()} 0 R")
    document.xref_set_key(document.pdf_catalog(), "PageLabels", "<</Nums[0 5 0]>>")
    return _saved(document)


def strange_text(document: Document, rng: random.Random) -> bytes:
    page = document[rng.randrange(document.page_count)]
    for _ in range(rng.choice((1, 40))):
        text = rng.choice(
            (
                "Figure 1.",
                "Fig. 99999999999999999999",
                "Figure",
                "Figure 0",
                "FIGURE 1-1000",
                "Fig. 1 (Continued)",
                "A",
                "Table 1",
                "·" * 300,
            )
        )
        place = (rng.uniform(-50, page.rect.width + 50), rng.uniform(-50, page.rect.height + 50))
        page.insert_text(place, text, fontsize=rng.choice((0.1, 4, 9, 200)), rotate=rng.choice((0, 90, 180, 270)))
    return _saved(document)


def hostile_text(document: Document, rng: random.Random) -> bytes:
    """Captions that attack, printed beside the true ones."""
    for page in document:
        for k in range(3):
            text = f"Figure {k + 1}. (A) {rng.choice(ATTACKS)} (B) {rng.choice(ATTACKS)}"
            page.insert_text((40, rng.uniform(40, 760)), text, fontsize=rng.choice((7, 9)))
    return _saved(document)


ON_BYTES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    truncated, byte_flips, flips_outside_streams, a_part_lost, broken_cross_references, stream_lengths,
    names_swapped, no_pdf,
)  # fmt: skip
ON_OBJECTS: tuple[Callable[[Document, random.Random], bytes], ...] = (
    page_boxes, page_boxes, user_units_and_rotation, page_tree, thousands_of_pages, encrypted, active_content,
    picture_dictionaries, picture_streams, bombs, content_bomb, forms_in_circles, doubling_forms, fonts, font_streams,
    content_garbage, content_flips, matrices, values_anywhere, annotations_and_forms, strange_text,
    letters_that_mean_others,
    hostile_text,
)  # fmt: skip


def _few_pages(pdf: bytes, rng: random.Random) -> Document:
    """Open a PDF with at most three pages in a row, so that a case takes little time."""
    document = pymupdf.open(stream=pdf, filetype="pdf")
    if document.page_count > 3:
        first = rng.randrange(document.page_count - 2)
        document.select(range(first, first + 3))
    return document


def hostile_pdf(pdf: bytes, rng: random.Random) -> tuple[str, bytes]:
    """Return the names of one or two mutations, and what they make of a sound PDF.

    Objects first, bytes afterwards: MuPDF itself crashes when it edits what is damaged.
    """
    pdf, names = _saved(_few_pages(pdf, rng), garbage=1), []
    if rng.random() < 0.75:
        change = rng.choice(ON_OBJECTS)
        pdf = change(pymupdf.open(stream=pdf, filetype="pdf"), rng)
        names.append(change.__name__)
    if not names or rng.random() < 0.2:
        damage = rng.choice(ON_BYTES)
        pdf = damage(pdf, rng)
        names.append(damage.__name__)
    return " + ".join(names), pdf
