"""Front pages for tests, set line by line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

import pymupdf

from pmo_assets.pipeline.articles.front_page import FrontMatter, read_front_matter

BODY = "The retina was examined with a slit lamp and the findings were recorded by two observers."

Line = tuple[float, float, str]
"""Distance from the page's top in points, size of type, text."""


def front_page(
    lines: Iterable[Line],
    *,
    info: Mapping[str, str] | None = None,
    xmp: str | None = None,
    links: Iterable[str] = (),
    second: Iterable[Line] = (),
) -> bytes:
    """Return a PDF whose first page holds the lines and body text below 400 points; 842 points high."""
    document = pymupdf.open()
    for number, part in enumerate((lines, second)):
        if number and not part:
            continue
        page = document.new_page(width=595, height=842)
        for top, size, text in part:
            page.insert_text((60, top), text, fontsize=size, fontname="helv")
        for row in range(20):
            page.insert_text((60, 400 + 12 * row), BODY, fontsize=9, fontname="helv")
        if not number:
            for link in links:
                page.insert_link({"kind": pymupdf.LINK_URI, "from": pymupdf.Rect(60, 60, 90, 70), "uri": link})
    document.set_metadata(dict(info or {}))
    if xmp:
        document.set_xml_metadata(xmp)
    return bytes(document.tobytes())


def xmp_packet(
    *, title: str = "", creators: Iterable[str] = (), prism: Mapping[str, str] | None = None, rights: str = ""
) -> str:
    """Return an XMP packet as publishers write it: dc, prism and xmpRights."""
    people = "".join(f"<rdf:li>{escape(name)}</rdf:li>" for name in creators)
    facts = "".join(f"<prism:{name}>{escape(value)}</prism:{name}>" for name, value in (prism or {}).items())
    return f"""<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:prism="http://prismstandard.org/namespaces/basic/2.1/" xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/">
<dc:title><rdf:Alt><rdf:li xml:lang="de">Ein anderer</rdf:li>
<rdf:li xml:lang="x-default">{escape(title)}</rdf:li></rdf:Alt></dc:title>
<dc:creator><rdf:Seq>{people}</rdf:Seq></dc:creator>{facts}
<xmpRights:WebStatement>{escape(rights)}</xmpRights:WebStatement>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>"""


TITLE = "Serous macular detachment secondary to an optic pit"
PRINTED: list[Line] = [
    (40, 8, "Case Rep Eyes. 2016;3:17"),
    (52, 8, "https://doi.org/10.1000/eyes.17"),
    (120, 18, TITLE),
    (150, 11, "Selim Cevher, Nedime Sahinoglu-Keskek and Fikret Unal"),
    (170, 8, "Department of Ophthalmology, State Hospital, Konya, Turkey"),
    (185, 8, "Correspondence: cevher@example.org"),
    (200, 8, "Copyright 2016 The Authors. This article is distributed under the Creative Commons Attribution License"),
]


def read(lines: Sequence[Line] = PRINTED, **options: object) -> FrontMatter:
    """Return what is read from a front page, see `front_page`."""
    return read_front_matter(front_page(lines, **options))  # type: ignore[arg-type]


def changed(*changes: tuple[int, Line | None]) -> list[Line]:
    """Return `PRINTED` with lines, by their place, replaced or left out."""
    lines: list[Line | None] = list(PRINTED)
    for place, line in changes:
        lines[place] = line
    return [line for line in lines if line is not None]
