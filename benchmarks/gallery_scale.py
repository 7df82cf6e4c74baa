"""How the gallery does at scale: writing it, its size, the first view, memory of the page, filters and searches.

    python benchmarks/gallery_scale.py [--panels 100000] [--out FOLDER] [--keep] [--pictures 300]

Figures are generated from a seed: captions and words with the lengths and the long tail of real ones, pictures that
the sample typesetter draws (`--pictures` different ones, in turn). One to three sentences of the running text speak of
a panel; they name terms of the lexicon, which are found as in articles. The browser is the system's Chromium, headless,
without a GPU, with a new profile for each first view. Numbers depend on the machine.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import psutil
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from pmo_assets.lexicon.terms import shipped_lexicon
from pmo_assets.pipeline.context.entities import panel_entities, panel_terms
from pmo_assets.records.context import MODALITY_CLASSES, MentionKind, PanelMention, PanelSummary, SourceSentence
from pmo_assets.records.figure import PageBox, PageSize
from pmo_assets.records.image_types import ImageType
from pmo_assets.records.modalities import MODALITIES
from pmo_assets.records.panels import PanelImage
from pmo_assets.samples import sample_articles
from pmo_assets.tables.release import filters
from pmo_assets.viewing.gallery import (
    GalleryContext,
    GalleryFigure,
    GalleryFilter,
    GalleryPanel,
    write_gallery_folder,
)

PANELS_PER_FIGURE = (1, 1, 1, 2, 2, 2, 3, 4, 4, 6, 6)
TYPES: tuple[ImageType | None, ...] = ("OCT", "CFP", "Retinal Imaging", "Other", None)
TERMS = """
retina retinal macular macula fovea foveal edema oedema fundus photograph color optical coherence tomography scan
image images eye eyes right left patient showing shows with without and of the in at before after treatment visual
acuity subretinal intraretinal fluid drusen choroidal neovascularization membrane pigment epithelium detachment
hemorrhage hyperfluorescence leakage fluorescein angiography arrow arrows indicate arrowhead white black yellow
thickness central inferior superior nasal temporal optic disc nerve fiber layer baseline months follow-up case
"""
SYLLABLES = "ba co di fu ga he io ka lu mi no or pe qui ra su ta ul ve xo ya ze ph th str cal"


def vocabulary(random_source: random.Random, size: int = 40_000) -> tuple[list[str], list[float]]:
    """Return words and their cumulated weights: real terms first, then invented ones, by Zipf's law."""
    words = TERMS.split()
    seen, syllables = set(words), SYLLABLES.split()
    while len(words) < size:
        word = "".join(random_source.choices(syllables, k=random_source.randint(2, 5)))
        if word not in seen:
            seen.add(word)
            words.append(word)
    return words, list(accumulate(1 / (rank + 8) for rank in range(size)))


def pictures(count: int) -> list[tuple[bytes, int, int]]:
    """Return figures that the sample typesetter drew, cropped differently so that none is like another."""
    sources = [Image.open(io.BytesIO(data)).convert("RGB") for article in sample_articles()
               for data in article.figures.values()]  # fmt: skip
    made = []
    for number in range(count):
        source = sources[number % len(sources)]
        cut = number // len(sources) * 7 % 60
        picture = source.crop((cut, cut // 2, source.width - cut // 3, source.height - cut))
        buffer = io.BytesIO()
        picture.save(buffer, "PNG", compress_level=1)
        made.append((buffer.getvalue(), picture.width, picture.height))
    return made


def figures(panels: int, drawn: Sequence[tuple[bytes, int, int]], seed: int = 0) -> Iterator[GalleryFigure]:
    """Yield figures with so many panels altogether."""
    source = random.Random(seed)
    words, weights = vocabulary(source)
    named = [term.name for term in shipped_lexicon().terms.values() if term.group in ("disease", "finding", "anatomy")]
    source.shuffle(named)
    frequency = list(accumulate(1 / (rank + 8) for rank in range(len(named))))
    journals = [f"Journal of {' '.join(source.sample(words[:2000], 3)).title()}" for _ in range(600)]

    def text(length: int) -> str:
        return " ".join(source.choices(words, cum_weights=weights, k=length)).capitalize() + "."

    def sentence(paragraph: int, kind: MentionKind) -> PanelMention:
        terms = source.choices(named, cum_weights=frequency, k=source.choice((1, 1, 2, 3)))
        said = f"Fig. {number % 8 + 1} shows {source.choice(('', 'no ', 'the right eye with '))}" + " and ".join(terms)
        said += f", {text(source.randint(4, 16))}"
        return PanelMention(None, paragraph, "results", "Imaging findings", 0, len(said), said, kind, "xref")

    def told(own: str, mentions: tuple[PanelMention, ...]) -> tuple[GalleryContext, tuple[tuple[str, ...], ...]]:
        entities = panel_entities(own, [item.sentence for item in mentions], {})
        chosen = panel_terms(entities, [item.kind for item in mentions])
        parts = tuple(SourceSentence(item.paragraph, item.start, item.end, item.sentence) for item in mentions)
        summary = PanelSummary(" ".join(part.sentence for part in parts), parts)
        values = (
            chosen.diseases, chosen.findings, (chosen.eye,) if chosen.eye else (), (source.choice(MODALITY_CLASSES),),
            (source.choice(MODALITIES),),
        )  # fmt: skip
        return GalleryContext(mentions, entities, summary), values

    done = number = article = left = 0
    title = journal = ""
    year = 2020
    while done < panels:
        if not left:
            article += 1
            left = source.choice((1, 2, 3, 4, 4, 5, 6))
            title, journal, year = text(14), source.choice(journals), source.randint(2004, 2025)
        left -= 1
        count = min(source.choice(PANELS_PER_FIGURE), panels - done)
        intro = text(source.randint(8, 30))
        caption, own, segments = intro, [], []
        for index in range(count):
            part = text(source.randint(6, 28))
            start = len(caption) + 5
            caption += f" ({chr(65 + index)}) {part}"
            own.append(f"{intro} {part}")
            segments.append(((0, len(intro)), (start, start + len(part))))
        png, width, height = drawn[number % len(drawn)]
        pmc = 3_000_000 + article
        made = []
        shared = tuple(sentence(place, "names figure") for place in range(source.choice((0, 1, 1, 2))))
        for index in range(count):
            said, values = told(own[index], (*shared, sentence(10 + index, "names panel")))
            box = (index / count, 0.0, (index + 1) / count, 1.0)
            kind = source.choices(TYPES, (50, 25, 15, 8, 2))[0]
            image = PanelImage("", box, 0.9, kind, 0.9, source.choice((True, False, False, None)), 0.9)
            made.append(
                GalleryPanel(
                    f"p_{pmc}_gr{number}_{index}", chr(65 + index) if count > 1 else None, box, 0.93,
                    ((index / count, 0.0, index / count + 0.04, 0.05),), (image,), own[index], segments[index],
                    "Automatic Caption Assignment (identifier)", True, source.uniform(0.6, 1.0),
                    values, said,
                )
            )  # fmt: skip
        page = source.randint(1, 11)
        yield GalleryFigure(
            pmc, title, f"https://pmc.ncbi.nlm.nih.gov/articles/PMC{pmc}/", f"gr{number}", f"Figure {number % 8 + 1}",
            caption, source.choice(("CC BY", "CC BY", "CC BY-NC", "CC0")), True, f"'{title}', A. Author. {journal}",
            False, png, width, height, tuple(made), f"10.1000/{pmc}", journal, year,
            ("train", "train", "train", "validation", "test")[article % 5], source.uniform(0.7, 1.0),
            (PageBox(page, (60.0, 80.0, 540.0, 420.0)),), (PageBox(page, (60.0, 430.0, 540.0, 500.0)),),
            (PageSize(page, 595.0, 842.0),), f"https://pmc.ncbi.nlm.nih.gov/articles/PMC{pmc}/pdf/",
        )  # fmt: skip
        done += count
        number += 1


FIRST_VIEW = """() => new Promise((resolve) => {
  const look = () => {
    const pictures = [...document.querySelectorAll('.card img')].slice(0, 8);
    if (pictures.length === 8 && pictures.every((one) => one.complete && one.naturalWidth)) resolve();
    else requestAnimationFrame(look);
  };
  look();
})"""
"""Waits until the first cards show their pictures; the page's own policy forbids what `wait_for_function` does."""

MEASURED = """async (work) => {
  const { filters } = PmoGallery;
  const times = [];
  for (let i = 0; i < 7; i += 1) {
    filters.read(work);
    const start = performance.now();
    await filters.find();
    const left = filters.evaluate();
    times.push(performance.now() - start);
    if (i === 0) var result = left;
  }
  return { first: times[0], again: times.sort((a, b) => a - b)[3], panels: result.panels, figures: result.figures };
}"""


def timed(source: Iterator[GalleryFigure], spent: list[float]) -> Iterator[GalleryFigure]:
    """Yield figures and add the seconds that it took to generate them to `spent[0]`."""
    while True:
        start = time.perf_counter()
        figure = next(source, None)
        spent[0] += time.perf_counter() - start
        if figure is None:
            return
        yield figure


def first_views(address: str, executable: str, times: int) -> list[float]:
    """Return the seconds from the call of the address until the first cards show their pictures, new profile each."""
    seconds = []
    for _ in range(times):
        with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
            browser = playwright.chromium.launch_persistent_context(
                profile, executable_path=executable, viewport={"width": 1440, "height": 900}
            )
            page = browser.pages[0]
            start = time.perf_counter()
            page.goto(address, wait_until="commit")
            page.evaluate(FIRST_VIEW)
            seconds.append(time.perf_counter() - start)
            browser.close()
    return seconds


def memory(page: Page) -> str:
    """Return the page's JavaScript heap after a collection, array buffers included, and what its process holds."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")
    heap = used["usedSize"] + used.get("backingStorageSize", 0)
    assert page.context.browser is not None
    told = page.context.browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
    pages = [psutil.Process(item["id"]) for item in told["processInfo"] if item["type"] == "renderer"]
    whole = max(process.memory_full_info().uss for process in pages)
    return f"{heap / 1e6:.0f} MB of heap and array buffers, {whole / 1e6:.0f} MB in its process"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--panels", type=int, default=100_000)
    parser.add_argument("--pictures", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "gallery_scale")
    parser.add_argument("--keep", action="store_true", help="measure what lies there already")
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"))
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores (load {os.getloadavg()[0]:.0f}), {options.panels:,} panels")
    if not options.keep:
        shutil.rmtree(options.out, ignore_errors=True)
        drawn = pictures(options.pictures)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

        def write(name: str, content: bytes) -> None:
            path = options.out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

        spent = [0.0]
        start = time.perf_counter()
        chosen = [GalleryFilter(name, said.filter or name, said.names) for name, said in filters().items()]
        source = timed(figures(options.panels, drawn), spent)
        written = write_gallery_folder(source, write, title="Scale", facts={}, filters=chosen)
        seconds = time.perf_counter() - start - spent[0]
        print(f"written in {seconds:.0f} s, {1000 * seconds / written.figures:.1f} ms for each of {written.figures:,}")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"memory: {peak:.0f} MiB at most, {before:.0f} MiB before the first figure")
    sizes: dict[str, list[int]] = {}
    for path in options.out.rglob("*"):
        if path.is_file():
            parts = path.relative_to(options.out).parts
            sizes.setdefault("/".join(parts[: 2 if parts[0] == "data" else 1]), []).append(path.stat().st_size)
    for name, found in sorted(sizes.items()):
        print(f"  {name:18s} {sum(found) / 1e6:9.1f} MB in {len(found):5d} files, largest {max(found) / 1e3:7.0f} kB")
    total = sum(map(sum, sizes.values()))
    files = sum(map(len, sizes.values()))
    print(
        f"on disk: {total / 1e6:.0f} MB in {files} files, {1000 * total / options.panels / 1e6:.1f} MB per 1,000 panels"
    )
    address = (options.out / "index.html").as_uri()
    views = first_views(address, options.chromium, 5)
    print(f"first view: {statistics.median(views):.2f} s, median; {min(views):.2f} to {max(views):.2f}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        page.evaluate(FIRST_VIEW)
        print(f"memory of the page: {memory(page)} at the first view")
        for work in ("", "type=OCT&mark=marked", "confidence=0.9-&year=2015-2020&split=train", "licence=CC BY-NC",
                     "diseases=retinal disease", "diseases=retinal disease&eye=OD&modality=OCT",
                     "q=drusen", "q=macular edema", "q=the retina sub", "q=re", "sort=unsure"):  # fmt: skip
            took = page.evaluate(MEASURED, f"#{work}")
            print(f"  {work or 'nothing set':44s} {took['first']:6.1f} ms at first, {took['again']:5.1f} ms again, "
                  f"{took['panels']:6d} panels in {took['figures']:6d} figures")  # fmt: skip
        page.goto(f"{address}#type=CFP&mark=marked&confidence=0.8-")
        page.reload()
        page.evaluate(FIRST_VIEW)
        turned = min(40, page.evaluate("PmoGallery.grid.pages()") - 2)  # the last page may have few cards
        for _ in range(turned):
            page.click("#page-after")
            page.evaluate(FIRST_VIEW)
        print(f"after {turned} more pages of a sparse selection: {memory(page)}")
        browser.close()


if __name__ == "__main__":
    main()
