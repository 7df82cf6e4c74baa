"""Score the extractive summaries of panels, and the checks of a model's summaries, on real articles.

    python benchmarks/score_summaries.py [--shared ../shared | --xmls FOLDER] [--show] [--lies]
    python benchmarks/score_summaries.py --choices benchmarks/data/summary_reader_choices.jsonl

Takes every article of the corpus through the pipeline up to `panel_mentions` and summarises all panels. Printed are

- the share of sentences that stand verbatim at their offsets, and words per panel;
- of the panels that a reader judged (`data/summary_judgements.jsonl`): in how many what is needed is there, and in how
  many something foreign is, strictly, and where everything that the reader calls arguable is granted (`arguable`: true,
  or the one question of the two that is), by lot and for PLOS and other journals apart. A judgement holds for the
  summary that it was made of (`digest`); of another one it counts no more, and the panel is named, to be judged again.
  The readers of lots up to the third took no part in the rules and had the articles' text alone; that of the fourth
  and fifth had written the rules, and read the summaries of two states of them in random order;
- of the panels whose sentences were labelled before any summary of them was seen
  (`data/summary_sentence_labels.jsonl`): in how many every need is met, and in how many a foreign sentence stands. A
  need (N1, N2, …) is met by any of its sentences; F is foreign, C neither. Such labels hold for whatever is chosen;
  chosen sentences beyond them are counted, and with `--show` printed; needs that are not met are counted by why. The
  first four lots are fitted on (`fit_passages.py`), the fifth is not. The third was labelled by a reader who took no
  part in the rules, all before a summary had been seen. A clause counts as its sentence;
- with `--lies`, how many sentences pass the checks as they are, and how many pass with one word turned round.

`--choices` scores sentences that somebody chose by hand (lines of article, figure, panel and `sentences`, each a
paragraph and an offset) by the same labels, and reads no article. `data/summary_reader_choices.jsonl` is the choice of
another reader for the third lot, who took no part in the rules, at most 250 words a panel: chosen among the labelled
sentences, before a label or a summary had been seen. It tells what one reader reaches against another's labels.

`--show` prints subcaption, mentions and summary of the panels that are to be judged again, and a line of JSON for the
file. `--xmls` takes a folder of JATS files, of which there is no PDF, in place of the corpus: their panels are
those that the captions name. The judged ones are of allofplos' starter corpus (github.com/PLOS/allofplos), those of the
second and later lots also of what `gather_jats.py` gathers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fit_panel_modality import tables_of

from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets.pipeline.context.article_text import ArticleText, article_text
from pmo_assets.pipeline.context.passages import candidates
from pmo_assets.pipeline.context.steps import mention_article_panels
from pmo_assets.pipeline.context.summaries import (
    PanelWords,
    own_mentions,
    panel_summary,
    panel_words,
    word_count,
)
from pmo_assets.pipeline.context.summary_checks import SummarySources, fitting_summary
from pmo_assets.pipeline.prompting.asking import MisfittingAnswer
from pmo_assets.records.context import PanelMention, PanelSummary, RunningParagraph, SourceSentence
from pmo_assets.records.step_output import Row, rows_by_figure
from pmo_assets.tables.rows import record_of, row_of

JUDGEMENTS = Path(__file__).parent / "data" / "summary_judgements.jsonl"
LABELS = Path(__file__).parent / "data" / "summary_sentence_labels.jsonl"
LOTS = (1, 2, 3, 4, 5)
_NEARLY_FULL = 200
"""Words of a summary from which a sentence may have been left out for its length."""

TURNS = (
    (r"\bright\b", "left"), (r"\bleft\b", "right"), (r"\bincreased\b", "decreased"), (r"\bdecreased\b", "increased"),
    (r"\bno ", ""), (r"\bnot ", ""), (r"\bwithout\b", "with"), (r"\bbefore\b", "after"), (r"\bafter\b", "before"),
    (r"\bhigher\b", "lower"), (r"\blower\b", "higher"), (r"\bwas\b", "was not"), (r"\bwere\b", "were not"),
    (r"\bsuperior\b", "inferior"), (r"\bsuspected ", ""), ("<", ">"), (r"\bmm\b", "cm"), (r"\bpositive\b", "negative"),
)  # fmt: skip
"""Words of a sentence and what they are turned into; beside them a number grows by one."""


@dataclass(frozen=True, slots=True)
class Summarised:
    """A panel with its summary: article, journal, label of its figure, names of the others, mentions, running text."""

    article: str
    journal: str
    label: str
    words: PanelWords
    others: tuple[str, ...]
    mentions: tuple[PanelMention, ...]
    summary: PanelSummary
    text: ArticleText

    def sentence_of(self, item: SourceSentence) -> tuple[int, int]:
        """Return the paragraph and start of the sentence that an item of the summary is, or is a clause of."""
        for mention in self.mentions:
            if mention.paragraph == item.paragraph and mention.start <= item.start < mention.end:
                return mention.paragraph, mention.start
        return item.paragraph, item.start

    def why_missing(self, places: Iterable[tuple[int, int]]) -> str:
        """Say why none of the sentences at `places` is in the summary."""
        places = set(places)
        spoken_of = {(item.paragraph, item.start) for item in self.mentions}
        if not spoken_of.isdisjoint(places):
            return "mention left out"
        positions = [self.text.places[place] for place in spoken_of if place in self.text.places]
        offered = {k for n in positions for k in candidates(n, self.text, spoken_of)}
        if offered.isdisjoint(self.text.places.get(place) for place in places):
            return "not looked at"
        return "not chosen" if word_count(self.summary.summary) < _NEARLY_FULL else "not chosen, nearly full"

    @property
    def key(self) -> tuple[str, str, str]:
        """Article, figure and panel."""
        return self.article, self.label, self.words.identifier or ""

    @property
    def digest(self) -> str:
        """Of subcaption and summary: what was judged."""
        return hashlib.sha256(f"{self.words.subcaption}\n{self.summary.summary}".encode()).hexdigest()[:12]


def summarised(article: str, tables: Mapping[str, Sequence[Row]]) -> tuple[list[Summarised], int, float]:
    """Return the panels of an article with their summaries, the sentences not verbatim, and the seconds it took."""
    found: list[Summarised] = []
    paragraphs = [record_of(RunningParagraph, row) for row in tables["articles"][0]["paragraphs"]]
    mentions, panels = rows_by_figure(tables["panel_mentions"]), rows_by_figure(tables["panel_assembly"])
    start = time.perf_counter()
    captions = [figure["caption"] for figure in tables["figures"]]
    journal = tables["articles"][0]["journal"] or ""
    text = article_text(paragraphs, captions, tables["articles"][0]["title"])
    for figure in tables["figures"]:
        cluster = figure["image_cluster_id"]
        told = [record_of(PanelMention, row) for row in mentions.get(cluster, ())]
        own = panels.get(cluster, [])
        for words in panel_words([(row["identifier"], row["subcaption"]) for row in own], figure["label"]):
            names = tuple(row["identifier"] for row in own if row["identifier"] not in (None, words.identifier))
            summary = panel_summary(words, told, text, figure["caption"])
            theirs = tuple(own_mentions(words, told))
            found.append(Summarised(article, journal, figure["label"] or "", words, names, theirs, summary, text))
    seconds = time.perf_counter() - start
    wrong = [
        (panel.key, item.sentence)
        for panel in found
        for item in panel.summary.sentences
        if paragraphs[item.paragraph].text[item.start : item.end] != item.sentence
    ]
    for key, sentence in wrong:
        print(f"not verbatim: {key}: {sentence!r}")
    return found, len(wrong), seconds


def tables_of_xml(path: Path) -> dict[str, Sequence[Row]]:
    """Return the tables that summaries read, as far as the XML of an article alone gives them."""
    article = parse_jats(path.read_bytes())
    key = {"article_id": path.name.removesuffix(".xml")}
    figures = [
        {**key, "image_cluster_id": item.image_cluster_id, "label": item.label, "caption": item.caption}
        for item in article.figures
    ]
    panels = [
        {**figure, "identifier": part.identifier, "subcaption": part.text}
        for figure in figures
        for part in split_caption(figure["caption"]).subcaptions
    ]
    paragraphs = [row_of(paragraph) for paragraph in article.paragraphs]
    row = {**key, "title": article.title, "journal": article.journal, "paragraphs": paragraphs}
    mentions = mention_article_panels(row, figures, panels, panels).rows
    return {"articles": [row], "figures": figures, "panel_assembly": panels, "panel_mentions": mentions}


def judgements() -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return what was judged, by article, figure and panel."""
    rows = [json.loads(line) for line in JUDGEMENTS.read_text("utf-8").splitlines()]
    return {(row["article"], row["figure"], row["panel"]): row for row in rows}


def report(panels: Sequence[Summarised]) -> None:
    """Print in how many judged summaries what is needed is there, and in how many something foreign."""
    digests = {panel.key: panel.digest for panel in panels}
    journals = {panel.article: panel.journal for panel in panels}
    rows = {key: row for key, row in judgements().items() if row["article"] in journals}
    held = [row for key, row in rows.items() if row["digest"] == digests.get(key)]
    for lot in sorted({row.get("lot", 0) for row in held}):
        of_lot = [row for row in held if row.get("lot", 0) == lot]
        plos = [row for row in of_lot if journals[row["article"]].lower().startswith("plos")]
        others = [row for row in of_lot if row not in plos]
        for name, some in (("all", of_lot), ("PLOS", plos), ("others", others)):
            if some:
                print(f"judged, {f'lot {lot}' if lot else 'earlier rounds'}, {name}, {len(some)} panels:")
                report_judged(some)
    for key, row in rows.items():
        if row not in held:
            print("    to be judged again:", *key)


def report_judged(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the shares of judged summaries with what is needed, and with something foreign, and their intervals."""
    lines = {
        "what is needed": [row["needed"] for row in rows],
        "something foreign": [row["foreign"] for row in rows],
        "needed, granting what is arguable": [row["needed"] or row["arguable"] in (True, "needed") for row in rows],
        "foreign, likewise": [row["foreign"] and row["arguable"] not in (True, "foreign") for row in rows],
    }
    for name, are in lines.items():
        print(f"  {name}: {sum(are)}, {sum(are) / len(rows):.3f}, 95 % {wilson(sum(are), len(rows))}")


def wilson(count: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson)."""
    z, share = 1.96, count / total
    middle = (share + z * z / 2 / total) / (1 + z * z / total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / 4 / total / total) / (1 + z * z / total)
    return round(middle - half, 3), round(middle + half, 3)


def labelled_panels(lot: int) -> dict[tuple[str, str, str], dict[tuple[int, int], str]]:
    """Return the labels of a lot by (paragraph, start) of their sentences, by article, figure and panel."""
    rows = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]
    return {
        (row["article"], row["figure"], row["panel"]): {
            (paragraph, start): label for paragraph, start, label in row["sentences"]
        }
        for row in rows
        if row.get("lot", 1) == lot
    }


def needs_among(labels: Iterable[str]) -> set[str]:
    """Return the needs that sentences with these labels meet: "N1,N2" meets N1 and N2, F and C none."""
    return {need for label in labels if label[0] == "N" for need in label[1:].split(",")}


def met_by(labels: Mapping[tuple[int, int], str], chosen: Iterable[tuple[int, int]]) -> Counter[str]:
    """Count what the sentences chosen for one panel meet of its labels, and how many of them are foreign."""
    places = set(chosen)
    needs = needs_among(labels.values())
    told = needs_among(labels[place] for place in places if place in labels)
    foreign = sum(labels.get(place) == "F" for place in places)
    return Counter(
        {
            "panels": 1,
            "all needs met": int(needs <= told),
            "something foreign": int(foreign > 0),
            "needs": len(needs),
            "needs met": len(needs & told),
            "chosen": len(places),
            "foreign sentences": foreign,
            "unlabelled sentences": sum(place not in labels for place in places),
        }
    )


def print_met(title: str, met: Counter[str]) -> None:
    """Print the counts of `met_by` over panels, and the two shares with their intervals."""
    print(f"{title}: {dict(met)}")
    for name in ("all needs met", "something foreign"):
        share = met[name] / met["panels"]
        print(f"  {name}: {share:.3f}, 95 % {wilson(met[name], met['panels'])}")


def report_labelled(panels: Sequence[Summarised], lot: int, *, is_shown: bool = False) -> None:
    """Print in how many panels with labelled sentences all needs are met, and in how many something foreign stands."""
    by_key = {panel.key: panel for panel in panels}
    met: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    for key, labels in labelled_panels(lot).items():
        if key not in by_key:
            continue
        panel = by_key[key]
        chosen = {panel.sentence_of(item): item.sentence for item in panel.summary.sentences}
        met.update(met_by(labels, chosen))
        needs = needs_among(labels.values())
        told = needs_among(labels[place] for place in chosen if place in labels)
        for need in needs - told:
            missing[panel.why_missing(place for place, label in labels.items() if need in needs_among([label]))] += 1
        if is_shown:
            print("##", *key, "| needs", *sorted(needs), "| told", *sorted(told))
            for place, sentence in chosen.items():
                print("   ", labels.get(place, "?"), *place, sentence)
    if met:
        print_met(f"labelled sentences, lot {lot}", met)
        print(f"  needs not met: {dict(missing)}")


def report_choices(path: Path) -> None:
    """Print of sentences chosen by hand what `report_labelled` prints of summaries; name panels without a choice."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    choices = {(row["article"], row["figure"], row["panel"]): row["sentences"] for row in rows}
    for lot in LOTS:
        labelled = labelled_panels(lot)
        if choices.keys().isdisjoint(labelled):
            continue
        met: Counter[str] = Counter()
        for key, labels in labelled.items():
            if key in choices:
                met.update(met_by(labels, ((paragraph, start) for paragraph, start in choices[key])))
            else:
                print("no choice:", *key)
        print_met(f"chosen sentences, lot {lot}", met)


def show(panels: Sequence[Summarised]) -> None:
    """Print the panels that are to be judged again."""
    judged = judgements()
    for panel in panels:
        row = judged.get(panel.key)
        if row is None or row["digest"] == panel.digest:
            continue
        print("##", *panel.key, "|", panel.words.subcaption)
        for item in panel.mentions:
            print("    mention:", item.kind, item.identifier, item.section, "|", item.sentence)
        for sentence in panel.summary.sentences:
            print("    summary:", sentence.sentence)
        print(json.dumps({**row, "digest": panel.digest, "needed": None, "foreign": None}, ensure_ascii=False))


def lies_of(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield (what was turned round, the sentence with it)."""
    for pattern, other in TURNS:
        if re.search(pattern, sentence):
            yield pattern.replace(r"\b", ""), re.sub(pattern, other, sentence, count=1)
    number = re.search(r"(?<![\w.\[,])\d+(?![\w.\],)])", sentence)
    if number is not None:
        yield "a number", f"{sentence[: number.start()]}{int(number.group()) + 1}{sentence[number.end() :]}"


def report_lies(panels: Sequence[Summarised]) -> None:
    """Print how many sentences pass the checks as they are, and how many that were turned round."""
    honest: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    told: Counter[str] = Counter()
    for panel in panels:
        summary = panel.summary
        sentences = [*(item.sentence for item in panel.mentions), *(item.sentence for item in summary.sentences)]
        sources = SummarySources(
            panel.label,
            panel.words.identifier,
            panel.others,
            panel.words.subcaption,
            tuple(dict.fromkeys(sentences)),
            summary.abbreviations,
        )
        for item in summary.sentences:
            reason = why_not(item.sentence, sources)
            kind = "passes" if reason is None else "names others" if "another" in reason else "is refused"
            honest[kind] += 1
            if kind == "is refused":
                print(f"    {panel.key}: {reason}")
            if kind == "passes":
                for name, lie in lies_of(item.sentence):
                    told[name] += 1
                    passed[name] += why_not(lie, sources) is None
    print("sentences as they are:", dict(honest))
    print(f"sentences turned round: {told.total()}, of these pass {passed.total() / max(1, told.total()):.3f}")
    print("   ", {name: f"{passed[name]}/{count}" for name, count in told.items()})


def why_not(text: str, sources: SummarySources) -> str | None:
    """Return why a summary does not fit; None when it does."""
    try:
        fitting_summary(text, sources)
    except MisfittingAnswer as error:
        return str(error)
    return None


def main() -> None:
    """Summarise and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--xmls", type=Path, help="a folder of JATS files in place of the corpus")
    parser.add_argument("--show", action="store_true", help="print the panels to be judged again")
    parser.add_argument("--lies", action="store_true", help="try the checks of a model's summaries")
    parser.add_argument("--choices", type=Path, help="a file of sentences chosen by hand, scored in place of summaries")
    arguments = parser.parse_args()
    if arguments.choices is not None:
        report_choices(arguments.choices)
        return
    panels: list[Summarised] = []
    seconds, wrong = 0.0, 0
    if arguments.xmls is not None:
        articles = sorted(arguments.xmls.glob("*.xml"))
    else:
        articles = sorted(path for path in (arguments.shared / "corpus").iterdir() if path.is_dir())
    for path in articles:
        tables = tables_of(path, "panel_mentions") if path.is_dir() else tables_of_xml(path)
        if tables.get("figures"):
            found, altered, took = summarised(path.name.removesuffix(".xml"), tables)
            panels += found
            wrong += altered
            seconds += took
    if arguments.show:
        show(panels)
        for lot in LOTS:
            report_labelled(panels, lot, is_shown=True)
        return
    told = [panel for panel in panels if panel.summary.summary]
    words = sum(word_count(panel.summary.summary) for panel in told)
    sentences = sum(len(panel.summary.sentences) for panel in told)
    print(
        f"{len(panels)} panels of {len({panel.article for panel in panels})} articles, {len(told)} with a summary: "
        f"{words / max(1, len(told)):.0f} words, {sentences} sentences, {wrong} not verbatim; "
        f"{1000 * seconds / len(articles):.1f} ms per article"
    )
    report(panels)
    for lot in LOTS:
        report_labelled(panels, lot)
    if arguments.lies:
        report_lies(panels)


if __name__ == "__main__":
    main()
