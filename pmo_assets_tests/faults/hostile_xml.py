"""JATS as it must not be: cut off, explosive, nested without end, mislabelled, full of attacks."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable

from lxml import etree

from pmo_assets.samples.hostile import entity_bomb, malformed_xml
from pmo_assets_tests.faults.hostile_captions import hostile_caption
from pmo_assets_tests.faults.material import ATTACKS, ODD_CHARACTERS, cut, flipped, without_a_part

XLINK = "{http://www.w3.org/1999/xlink}href"


def _tree(xml: bytes) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True)
    return etree.fromstring(xml, parser)


def _written(root: etree._Element) -> bytes:
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))


def _elements(root: etree._Element, *names: str) -> list[etree._Element]:
    return [item for item in root.iter(*names) if isinstance(item.tag, str)]


def _xml_text(text: str) -> str:
    """Return what of a text an XML tree can hold."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text)


def _inserted(xml: bytes, what: bytes, rng: random.Random, before: bytes = b"</p>") -> bytes:
    places = [match.start() for match in re.finditer(re.escape(before), xml)] or [len(xml) // 2]
    place = rng.choice(places)
    return xml[:place] + what + xml[place:]


def truncated(xml: bytes, rng: random.Random) -> bytes:
    return cut(xml, rng)


def byte_flips(xml: bytes, rng: random.Random) -> bytes:
    return flipped(xml, rng, rng.choice((1, 2, 5, 20, 200)))


def a_part_lost(xml: bytes, rng: random.Random) -> bytes:
    return without_a_part(xml, rng)


def not_well_formed(xml: bytes, rng: random.Random) -> bytes:
    return malformed_xml(xml)


def billion_laughs(xml: bytes, rng: random.Random) -> bytes:
    return entity_bomb(xml)


def long_entity(xml: bytes, rng: random.Random) -> bytes:
    text = "A" * rng.choice((60, 64, 65, 10_000, 1_000_000))
    bomb = re.sub(rb"(<!DOCTYPE[^>]*)>", lambda m: m[1] + f' [<!ENTITY e "{text}">]>'.encode(), xml, count=1)
    return _inserted(bomb, b"&e;" * rng.choice((1, 10, 5000)), rng)


def outside_entity(xml: bytes, rng: random.Random) -> bytes:
    target = rng.choice(("file:///etc/passwd", "http://127.0.0.1:9/x", "php://x", "/dev/zero", "\\\\x\\y"))
    kind = rng.choice((f'<!ENTITY e SYSTEM "{target}">', f'<!ENTITY % e SYSTEM "{target}"> %e;', "<!ENTITY e &e;>"))
    return _inserted(re.sub(rb"(<!DOCTYPE[^>]*)>", lambda m: m[1] + f" [{kind}]>".encode(), xml, count=1), b"&e;", rng)


def inclusion(xml: bytes, rng: random.Random) -> bytes:
    include = b'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd" parse="text"/>'
    return _inserted(xml, include, rng)


def deeply_nested(xml: bytes, rng: random.Random) -> bytes:
    name = rng.choice((b"sec", b"p", b"italic", b"fig-group", b"fig", b"caption", b"alternatives", b"list", b"sup"))
    depth = rng.choice((50, 250, 255, 300, 2000, 50_000))
    inner = b"<fig id='deep'><label>Figure 9</label><caption><p>Deep.</p></caption></fig>"
    return _inserted(xml, (b"<" + name + b">") * depth + inner + (b"</" + name + b">") * depth, rng)


def huge_attribute(xml: bytes, rng: random.Random) -> bytes:
    value = rng.choice("A<&\u00e9 /").replace("<", "&lt;").replace("&", "&amp;") * rng.choice((300, 10**5, 3 * 10**6))
    return re.sub(rb'<fig id="[^"]*"', lambda m: f'<fig id="{value}"'.encode(), xml, count=rng.choice((0, 1)))


def many_attributes(xml: bytes, rng: random.Random) -> bytes:
    extra = " ".join(f'a{k}="{k}"' for k in range(rng.choice((10, 1000, 50_000)))).encode()
    return xml.replace(b"<fig ", b"<fig " + extra + b" ", 1)


def wrong_encoding(xml: bytes, rng: random.Random) -> bytes:
    text = xml.decode("utf-8", errors="replace")
    said = rng.choice(("UTF-16", "latin-1", "ASCII", "EBCDIC-CP-US", "utf-7", "UTF-32", "x-nothing", "GB18030", ""))
    really = rng.choice(("utf-8", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp037", "gb18030", "utf-7"))
    text = re.sub(r"<\?xml[^>]*\?>", f'<?xml version="1.0" encoding="{said}"?>', text, count=1)
    return text.encode(really, errors="replace")


def byte_order_marks(xml: bytes, rng: random.Random) -> bytes:
    marks = (
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xff\xfe\0\0",
        b"\0\0\xfe\xff",
        b"\xef\xbb\xbf\xef\xbb\xbf",
        b"\n ",
    )
    return rng.choice(marks) + xml


def control_characters(xml: bytes, rng: random.Random) -> bytes:
    return _inserted(xml, bytes(rng.randrange(32) for _ in range(rng.choice((1, 10)))), rng)


def character_references(xml: bytes, rng: random.Random) -> bytes:
    codes = (
        "#xD800",
        "#xDFFF",
        "#0",
        "#1",
        "#x110000",
        "#xFFFE",
        "#xFFFF",
        "#99999999999999",
        "#x202E",
        "nothing",
        "#",
    )
    what = "".join(f"&{rng.choice(codes)};" for _ in range(rng.choice((1, 3))))
    return _inserted(xml, what.encode(), rng, rng.choice((b"</p>", b"</label>", b"</article-title>", b"</caption>")))


def instructions_and_comments(xml: bytes, rng: random.Random) -> bytes:
    what = (
        b"<?x y?>",
        b"<!-- <fig> -->",
        b"<![CDATA[<fig id='c'>]]>",
        b"<?xml version='1.0'?>",
        b"<!DOCTYPE x>",
        b"<!-->",
    )
    for _ in range(rng.choice((1, 5, 50))):
        place = rng.choice((b"<fig ", b"<caption>", b"</label>", b"<graphic", b"</p>", b"<article-meta>"))
        xml = _inserted(xml, rng.choice(what), rng, place)
    return xml


def namespaces(xml: bytes, rng: random.Random) -> bytes:
    swaps = (
        (b"<article ", b'<article xmlns="http://jats.nlm.nih.gov" '),
        (b"xmlns:xlink", b"xmlns:other"),
        (b"xlink:href", b"href"),
        (b"<fig ", b"<j:fig "),
        (b"http://www.w3.org/1999/xlink", b"urn:x"),
        (b"<article ", b'<article xmlns:a="" '),
    )
    old, new = rng.choice(swaps)
    return xml.replace(old, new)


def identifiers(xml: bytes, rng: random.Random) -> bytes:
    odd = ("", " ", "F1", "../../etc/passwd", "a/b", "é", "A" * 199, "A" * 201, "x\u202ey", *ATTACKS[:3])
    root = _tree(xml)
    for item in root.iter():
        if isinstance(item.tag, str) and "id" in item.attrib and rng.random() < 0.7:
            if rng.random() < 0.3:
                del item.attrib["id"]
            else:
                item.set("id", rng.choice(odd))
    for item in _elements(root, "xref"):
        item.set("rid", rng.choice((*odd, "F1 F1 F1", item.get("rid") or "")))
    return _written(root)


def cycles(xml: bytes, rng: random.Random) -> bytes:
    root = _tree(xml)
    for fig in _elements(root, "fig"):
        name = fig.get("id") or "F1"
        for graphic in fig.findall("graphic"):
            alternatives = etree.SubElement(fig, "alternatives", {"id": name})
            alternatives.append(graphic)
            inner = etree.SubElement(alternatives, rng.choice(("fig", "alternatives", "fig-group")), {"id": name})
            etree.SubElement(inner, "xref", {"rid": name, "ref-type": "fig"}).text = "Figure 1"
            etree.SubElement(inner, "graphic", {XLINK: name})
    return _written(root)


def thousands_of_figures(xml: bytes, rng: random.Random) -> bytes:
    count, same = rng.choice((300, 3000)), rng.random() < 0.5
    figures = "".join(
        f'<fig id="{"F1" if same else f"X{k}"}"><label>Figure {k}</label>'
        f"<caption><p>(A) Eye {k}. (B) Other.</p></caption>"
        f'<graphic xlink:href="g{k}"/></fig>'
        for k in range(count)
    )
    return _inserted(xml, figures.encode(), rng, b"</sec>")


def thousands_of_references(xml: bytes, rng: random.Random) -> bytes:
    what = '<xref ref-type="fig" rid="F1">Figures 1-{}</xref>, Fig. {}-{}; '
    many = "".join(what.format(rng.choice((2, 10**6)), k, rng.randrange(10**6)) for k in range(rng.choice((100, 5000))))
    return _inserted(xml, many.encode(), rng)


def empty_everywhere(xml: bytes, rng: random.Random) -> bytes:
    root = _tree(xml)
    for item in list(root.iter()):
        if isinstance(item.tag, str) and rng.random() < 0.3 and item is not root:
            chance = rng.random()
            if chance < 0.5:
                item.text = rng.choice((None, "", " ", "\n"))
            elif chance < 0.8:
                for child in list(item):
                    item.remove(child)
            else:
                item.attrib.clear()
    return _written(root)


def lost_elements(xml: bytes, rng: random.Random) -> bytes:
    root = _tree(xml)
    items = [item for item in root.iter() if item.getparent() is not None]
    for item in rng.sample(items, min(len(items), rng.choice((1, 5, 50)))):
        parent = item.getparent()
        if parent is not None:
            parent.remove(item)
    return _written(root)


def swapped_elements(xml: bytes, rng: random.Random) -> bytes:
    root = _tree(xml)
    for _ in range(rng.choice((1, 5, 30))):
        items = [item for item in root.iter() if isinstance(item.tag, str) and item is not root]
        if not items:
            break
        first, second = rng.choice(items), rng.choice(items)
        if first is second or first in second.iterancestors() or second in first.iterancestors():
            continue
        one, other = first.getparent(), second.getparent()
        i, j = one.index(first), other.index(second)
        copies = (
            etree.fromstring(etree.tostring(first, with_tail=False)),
            etree.fromstring(etree.tostring(second, with_tail=False)),
        )
        if one is other and i > j:
            one[i], one[j] = copies[1], copies[0]
        else:
            other[j], one[i] = copies[0], copies[1]
    return _written(root)


def renamed_elements(xml: bytes, rng: random.Random) -> bytes:
    names = (
        "fig",
        "caption",
        "label",
        "graphic",
        "p",
        "title",
        "xref",
        "sec",
        "article-title",
        "permissions",
        "x",
        "year",
    )
    root = _tree(xml)
    for item in root.iter():
        if isinstance(item.tag, str) and rng.random() < 0.15:
            item.tag = rng.choice(names)
    return _written(root)


def copied_elements(xml: bytes, rng: random.Random) -> bytes:
    root = _tree(xml)
    for _ in range(rng.choice((1, 10, 40))):
        items = [item for item in root.iter() if isinstance(item.tag, str) and item is not root and len(item) < 40]
        if not items:
            break
        item, home = rng.choice(items), rng.choice(items)
        home.append(etree.fromstring(etree.tostring(item, with_tail=False)))
    return _written(root)


def hostile_words(xml: bytes, rng: random.Random) -> bytes:
    root = _tree(xml)
    for item in root.iter():
        if isinstance(item.tag, str) and item.text and item.text.strip() and rng.random() < 0.5:
            text = rng.choice((rng.choice(ATTACKS), "".join(rng.choices(ODD_CHARACTERS, k=5)), hostile_caption(rng)[1]))
            item.text = _xml_text(text)[:20_000]
    return _written(root)


def hostile_captions_in_place(xml: bytes, rng: random.Random) -> bytes:
    root = _tree(xml)
    for caption in _elements(root, "caption")[:50]:
        for paragraph in caption.iter("p"):
            for child in list(paragraph):
                paragraph.remove(child)
            paragraph.text = _xml_text(hostile_caption(rng)[1])
    return _written(root)


def odd_facts(xml: bytes, rng: random.Random) -> bytes:
    odd = (
        "",
        "0",
        "-1",
        "99999999999999999999",
        "20\u0662\u0666",
        "MMXX",
        "1e400",
        "nan",
        "\u202e2020",
        "PMC",
        "10.1/" + "x" * 5000,
    )
    root = _tree(xml)
    for item in _elements(root, "year", "month", "day", "volume", "issue", "fpage", "article-id", "license", "surname"):
        if rng.random() < 0.6:
            item.text = rng.choice(odd)
            if rng.random() < 0.3:
                item.set(
                    XLINK,
                    rng.choice(("javascript:x", "http://[", "//", "http://creativecommons.org/licenses/by/4.0/x y")),
                )
    return _written(root)


def odd_graphics(xml: bytes, rng: random.Random) -> bytes:
    odd = (
        "",
        "../../../etc/passwd",
        "/",
        ".",
        "x" * 5000,
        "a\tb",
        "%00",
        "https://x/y.jpg?z",
        "C:\\x",
        ATTACKS[1],
        "é.jpg",
    )
    root = _tree(xml)
    for graphic in _elements(root, "graphic", "inline-graphic", "media"):
        chance = rng.random()
        if chance < 0.7:
            graphic.set(XLINK, rng.choice(odd))
        elif chance < 0.85:
            graphic.attrib.pop(XLINK, None)
        for _ in range(rng.choice((0, 0, 1, 100))):
            graphic.getparent().append(etree.fromstring(etree.tostring(graphic, with_tail=False)))
    return _written(root)


def no_xml(xml: bytes, rng: random.Random) -> bytes:
    return rng.choice(
        (
            b"",
            b"\n",
            b"<",
            b"<a/>",
            b"<html><body><p>Not found</p></body></html>",
            b"<!DOCTYPE html><html><br></html>",
            b'{"error": 404}',
            b"%PDF-1.4",
            gzip.compress(xml, mtime=0),
            b"\0" * 5000,
            bytes(rng.randrange(256) for _ in range(2000)),
            b"<article>" * 5000,
            b"<article><front/><body/></article>",
        )
    )


MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    truncated, byte_flips, a_part_lost, not_well_formed, billion_laughs, long_entity, outside_entity, inclusion,
    deeply_nested, huge_attribute, many_attributes, wrong_encoding, byte_order_marks, control_characters,
    character_references, instructions_and_comments, namespaces, identifiers, cycles, thousands_of_figures,
    thousands_of_references, empty_everywhere, lost_elements, swapped_elements, renamed_elements, copied_elements,
    hostile_words, hostile_captions_in_place, odd_facts, odd_graphics, no_xml,
)  # fmt: skip


def hostile_xml(xml: bytes, rng: random.Random) -> tuple[str, bytes]:
    """Return the names of one to three mutations, and what they make of a sound XML."""
    names = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        mutation = rng.choice(MUTATIONS)
        try:
            xml = mutation(xml, rng)
        except (etree.LxmlError, ValueError):  # what came before left nothing that this mutation can read
            continue
        names.append(mutation.__name__)
    return " + ".join(names), xml
