"""The text of the dataset card, section by section. Numbers come from the release's facts, and from nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa

from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.release.facts import SURE, AuditFacts, ExampleFacts, ReleaseFacts, SplitFacts
from pmo_assets.release.hub.citation import PAPER_URL, SOFTWARE, bibtex
from pmo_assets.release.hub.examples import EXAMPLES_FILE
from pmo_assets.release.hub.features import PICTURE
from pmo_assets.release.hub.licence_list import LICENSE_FILE, licence_rows, withheld_names
from pmo_assets.release.hub.markdown import literal, markdown_table, size_text
from pmo_assets.release.instruction_numbers import (
    BALANCE_HEADER,
    BALANCE_REMARK,
    INSTRUCTION_HEADER,
    InstructionCounts,
    balance_cells,
    instruction_cells,
)
from pmo_assets.release.pair_numbers import (
    PAIR_HEADER,
    PANEL2PATCH_HEADER,
    PANEL2PATCH_REMARK,
    pair_cells,
    panel2patch_cells,
)
from pmo_assets.tables.release import arrow_schema, release_tables
from pmo_assets.tables.schemas import column_descriptions


def body(facts: ReleaseFacts) -> str:
    """Return the card without its head, as Markdown."""
    sections = [
        _what_it_is(facts),
        _how_to_load(facts),
        _fields(facts),
        _running_text(),
        _pairs(facts),
        _instructions(facts),
        _splits(facts),
        _statistics(facts),
        _licences(facts),
        _how_it_was_made(facts),
        _limits(facts),
        _uses(facts),
        _changes(facts),
        _citing(facts),
        _CONTACT,
    ]
    return "\n\n".join(section.strip() for section in sections) + "\n"


def _what_it_is(facts: ReleaseFacts) -> str:
    return f"""# {facts.specialty.title}

{facts.specialty.description}

{_usable(facts)}

{_how_good(facts)}

{_shown(facts)}{_all_of_it(facts)}"""


def _usable(facts: ReleaseFacts) -> str:
    """Return what can be used: panels with picture and text, then those without, and why."""
    if not facts.panels:
        return "It has no panels."
    usable = facts.panels - facts.withheld
    share = f" ({usable / facts.panels:.0%} of {facts.panels:,})" if facts.withheld else ""
    said = f"**{usable:,} panels come with picture and text**{share}."
    if not facts.withheld:
        return said
    closed: dict[str, int] = {}
    for item in facts.licences:
        if withheld(item.code):
            name = item.code or "no licence stated"
            closed[name] = closed.get(name, 0) + item.panels
    why = ", ".join(f"{name} {count:,}" for name, count in sorted(closed.items(), key=lambda part: -part[1]))
    return (
        f"{said} Of {facts.withheld:,} more there are boxes, types and credits alone; picture and text are withheld, "
        f"since the licence does not let them be passed on: {why}."
    )


def _how_good(facts: ReleaseFacts) -> str:
    """Return how good this very release is: by its own confidence, and by people who looked."""
    quality = facts.quality
    if quality.expected is None or not facts.panels:
        return "How good it is cannot be said."
    said = (
        f"**How good this release is**: by their calibrated confidence (`assembly_confidence`), {quality.expected:.1%} "
        f"of the subcaptions are expected to belong to their panel; {quality.sure / facts.panels:.0%} of the panels "
        f"have {SURE} or more."
    )
    if quality.decided:
        said += f" People decided something of {quality.decided:,} panels (`annotations`)."
    audit = quality.audits.panels
    if audit is None:
        return f"{said} No panel of it was audited by people."
    return (
        f"{said} People audited {audit.judged:,} panels: {_shares(audit)}, each way of assigning subcaptions counted "
        "as often as it occurs."
    )


def _shares(audit: AuditFacts) -> str:
    return ", ".join(f"{share:.1%} {verdict}" for verdict, share in audit.shares.items())


def _shown(facts: ReleaseFacts) -> str:
    """Return some panels with their subcaptions and credits; nothing where none may be shown."""
    if not facts.examples:
        return ""
    listed = "\n".join(
        f"{number}. {' '.join(literal(item.subcaption).split())} {_credit(item)}"
        for number, item in enumerate(facts.examples, start=1)
    )
    return f"""![Panels of this release, numbered as below]({EXAMPLES_FILE})

{listed}

Cut from the figures of their articles and made smaller for this page.

"""


def _credit(item: ExampleFacts) -> str:
    licence = f"[{item.license}]({item.license_url})" if item.license_url else item.license
    article = f" ([article]({item.article_url}))" if item.article_url else ""
    return f"*{' '.join(literal(item.attribution).split()).rstrip('. ')}*{article}, {licence}, `{item.panel_id}`."


def _all_of_it(facts: ReleaseFacts) -> str:
    years = "" if facts.years is None else f", published {' to '.join(dict.fromkeys(map(str, facts.years)))}"
    searched = ""
    if facts.searched_on is not None:
        searched = f" PubMed Central was last searched on {facts.searched_on}."
    return f"""{facts.panels:,} panels of {facts.figures:,} figures from {facts.articles:,} open-access articles in {
        facts.journals:,}
journals{years}, cut from the article PDFs at full resolution. Each panel comes with the part of the caption that speaks
of it, its place in the figure and on the page, the images and printed identifiers found in it, the paragraphs of the
article that refer to its figure, and its article's licence and authors. The method and the published columns are those
of [PubMed-Ophtha]({PAPER_URL}); this is release **{facts.version}**, made with {SOFTWARE} {facts.software}.{searched}

{
        markdown_table(
            ("config", "one row is", "rows", "size"),
            [
                (f"`{config.name}`", _ROW[config.name], sum(config.rows.values()), size_text(config.size))
                for config in facts.configs
            ],
        )
    }

`{facts.configs[0].name}` is the default. Pictures are WebP or PNG without loss, inside the tables."""


_ROW: Mapping[str, str] = {
    "panels": "a panel with its picture and subcaption",
    "figures": "a figure with its picture and whole caption",
    "articles": "an article",
    "pairs": "a picture region with one of its texts; the picture stands in the config that the row names",
    "instructions": "a question or dialogue about a panel or a picture of a lecture, with answers and evidence; the "
    "picture stands in the config that the row names",
    "videos": "a picture of a lecture video with what is said while it is shown; faces and names are black",
}


def _first_split(facts: ReleaseFacts) -> str:
    """Return the split that the examples read: train where there is one."""
    return next(iter(facts.configs[0].rows), "train")


def _how_to_load(facts: ReleaseFacts) -> str:
    split, name = _first_split(facts), facts.repository
    return f"""## Loading

No code of ours is needed. `datasets` reads `{name}` from the hub, or from a folder of that name (which must not be
"."). The other examples read a copy, which `hf download --repo-type dataset {name} --local-dir {name}` makes, or with
`hf://datasets/{name}/data/…` in place of `{name}/data/…` the hub itself.

[datasets](https://huggingface.co/docs/datasets):

```python
from datasets import load_dataset

panels = load_dataset("{name}", split="{split}")  # or load_dataset("{name}", "figures", split="{split}")
panel = panels[0]
print(panel["panel_image"], panel["subcaption_text"], panel["license"])
```

Without downloading all of it first:

```python
from datasets import load_dataset

for panel in load_dataset("{name}", split="{split}", streaming=True).take(2):
    print(panel["panel_id"], panel["panel_image"])
```

[Polars](https://pola.rs):

```python
import polars as pl

panels = pl.scan_parquet("{name}/data/panels/*.parquet")
free = panels.filter("contains_oct", "commercial_use").select("panel_id", "subcaption_text", "attribution").collect()
```

[pandas](https://pandas.pydata.org), and a picture by hand:

```python
import io

import pandas as pd
from PIL import Image

panels = pd.read_parquet("{name}/data/panels", columns=["panel_id", "panel_image", "subcaption_text"])
panels = panels.dropna(subset="panel_image")  # rows whose licence forbids redistribution
pictures = [Image.open(io.BytesIO(picture["bytes"])) for picture in panels["panel_image"].head(2)]
```

[DuckDB](https://duckdb.org):

```python
import duckdb

duckdb.sql("SELECT license, count(*) AS panels FROM '{name}/data/panels/*.parquet' GROUP BY license").show()
```

[PyTorch](https://pytorch.org):

```python
from datasets import load_dataset
from torch.utils.data import DataLoader

panels = load_dataset("{name}", split="{split}").select_columns(["panel_image", "subcaption_text"])
panels = panels.filter(lambda text: text is not None, input_columns="subcaption_text")
for pairs in DataLoader(panels, batch_size=8, shuffle=True, collate_fn=list):
    pictures = [pair["panel_image"].convert("RGB") for pair in pairs]
    texts = [pair["subcaption_text"] for pair in pairs]
```

`pmo release webdataset {name}` ({SOFTWARE}) writes tar shards for
[webdataset](https://github.com/webdataset/webdataset). `croissant.json` describes the folder in
[Croissant](https://mlcommons.org/croissant). `sha256sum -c SHA256SUMS` checks a copy."""


def type_name(kind: pa.DataType) -> str:
    """Return a column's type as it stands in the card."""
    if kind == PICTURE:
        return "Image"
    if pa.types.is_list(kind):
        return f"list({type_name(kind.value_type)})"
    if pa.types.is_struct(kind):
        return "{" + ", ".join(f"{field.name}: {type_name(field.type)}" for field in kind) + "}"
    return {"double": "float64"}.get(str(kind), str(kind))


def _fields(facts: ReleaseFacts) -> str:
    parts = [
        """## Fields

Boxes are [left, top, right, bottom]. "Normalised" boxes run from 0 to 1 over the figure's picture, page boxes are in
PDF points from the page's upper left corner. `article_id` and `image_cluster_id` join the configs. Ids are the same in
every release."""
    ]
    for config in facts.configs:
        schema = release_tables()[config.name]
        types = arrow_schema(schema)
        rows = [(f"`{name}`", type_name(types.field(name).type), text) for name, _, text in column_descriptions(schema)]
        parts.append(f"### {config.name}\n\n{markdown_table(('field', 'type', 'meaning'), rows)}")
    return "\n\n".join(parts)


CONTEXT_QUALITY: Final[Sequence[tuple[str, str, str]]] = (
    (
        "`mentions`",
        "precision 1.000, recall 0.994 (figures); 1.000, 0.969 (panels)",
        "218 references of 21 articles that were not looked at",
    ),
    (
        "`summary`",
        "what is needed is there: 0.705; something foreign: 0.182 (0.886 and 0.045 granting what is arguable)",
        "44 panels of 44 articles, a reader who did not write the rules",
    ),
    (
        "`entities`",
        "F1 1.000 (eye, 16), 0.847 (disease, 61); negated or doubted rightly: 0.983 of 117",
        "60 captions of retinal imaging, drawn at random, read for the first time",
    ),
    ("`modality_class`", "accuracy 0.956", "363 panels of 61 articles, each left out of the fit"),
)
"""How good the columns of the running text are: (columns, measure with its value, what it was measured on), as
`docs/measurements.md` has it; the card says nothing of it while this is empty."""


def _running_text() -> str:
    measured = ""
    if CONTEXT_QUALITY:
        measured = f"""

How good they are:

{markdown_table(("columns", "measured", "on"), CONTEXT_QUALITY)}"""
    return f"""## What the article says of each panel

Half of what an article says of a panel stands in its running text. These columns of `panels` hold it.

* `mentions`: the sentences that name the panel, that name its figure as a whole, or that carry on directly from such
  a one, verbatim, with section, paragraph and range; found by the XML's cross-references, or by words of XML or PDF.
* `summary`: what is needed to understand the panel, at most 250 words. **Its sentences are the article's own, verbatim
  and in its order**; none is written, shortened or joined. `summary_places` says where they stand, `abbreviations` has
  the long forms that the article gives. Null where no sentence helps.
* `generated_summary`: the same by a language model, where the release was made with one, else null. It is **not**
  verbatim: numbers, units, sides, negations, terms and panel names were checked against the article's sentences, and a
  summary that failed was left out.
* `entities`: eye, diseases, findings, anatomy, imaging, devices, treatments, stages, times and demographics that
  subcaption and mentions name, by a lexicon: normal form, wider terms, verbatim text with its range, and whether the
  words deny it (`negated`) or doubt it (`uncertain`). `diseases`, `findings` and `eye` are made of those that are not
  denied; with the wider terms, a search for "age-related macular degeneration" finds its neovascular form.
* `modality_class`: R radiology, V visible light and retinal imaging, M microscopy, N none of them, or ambiguous;
  `modality` is finer, `medical` says whether it is a medical picture at all. Pixels of the panel's images and its words
  decide together. Nothing was left out by them.

* `marks`: arrows, arrowheads, circles, boxes, asterisks and lines on the panel's images, from the PDF's drawing
  operators, its text, and a small network that looks at the pixels: box, tip, direction, colour, probability.
* `regions`: what marks show: a box sized by the picture before the tip or within the circle, and the authors' words
  for it ("white arrows: drusen"); without words where no phrase names the mark.
* `phrases`: words of subcaption and mentions that name marks, with their ranges and the `marks` that they mean;
  `undecided` says why that is not sure. `phrase` of a region is the position of its phrase here.

Rules, networks and a lexicon made them, no person looked: a sentence may be missing, or speak of something else too,
and a mark may be none.{measured}"""


def _pairs(facts: ReleaseFacts) -> str:
    return f"""## Pairs to train on

`pairs` has a row for each picture region with each of its texts, at the three levels of
Panel2Patch (Yuan et al., "From Panel to Pixel"): `figure` (M), `panel` (P), `region` (R: what a mark shows). Filter by
`level`, `text_kind` and `generated` (words of a model; all others are the article's).{_lectures(facts)}

The picture of a row is row `picture_row` of config `picture_config` in the same split: `figure_image` or `panel_image`.
`box` is the part of that picture that the text is of, `figure_box` the same in the figure. Rows of one picture follow
each other, in the order of figures and panels. `figure_panels` is 1 where figure and panel show much the same: leave
out one of the levels there. A text or picture that a licence withholds makes no pair.

{markdown_table(PAIR_HEADER, pair_cells(facts.pairs))}

{markdown_table(PANEL2PATCH_HEADER, panel2patch_cells(facts.pairs, facts.articles))}

{PANEL2PATCH_REMARK}"""


def _lectures(facts: ReleaseFacts) -> str:
    """Return what is said of level V; nothing of a release without lectures."""
    if not facts.pairs.paired.get("video"):
        return ""
    return """ Level `video`
(V, after OphIn-Engine) is a picture of a lecture video with what is said while it is shown, by captions or a speech
recogniser: `video_id` is its number, what names an article or a figure is null, and times, images and the channel's
credit stand in the row of `videos` with the same `pair_id`."""


def _instructions(facts: ReleaseFacts) -> str:
    counts = facts.instructions
    return f"""## Instructions

`instructions` has questions (`yes_no`, `what`, `where`), conversations and reasoning about {counts.panels:,}
panels{_of_lectures(counts)}, after OphIn-Engine (Dong et al., arXiv 2605.27916, steps 8 to 17). `messages` are ready
for chat templates; the picture of a row is row `picture_row` of config `picture_config` in the same split. `scene`
is what the article's words about the panel state as visible, `context` what they add, both verbatim; `evidence` is
what the answers rest on, `boxes` where that is in the picture.

{markdown_table(INSTRUCTION_HEADER, instruction_cells(counts))}

`maker` is `template` where no model wrote a row: questions are phrasings by rule, answers are the authors' words,
or follow from modality, marks and regions, which machines found. "No" is said only of what the words negate or
contradict, never of what they do not mention. Every row passed checks of its form, words, numbers, sides, negations
and claims against its evidence. {_judged(facts.quality.audits.instructions)} A row under a licence that withholds
the panel's words is left out.

{markdown_table(BALANCE_HEADER, balance_cells(counts))}

{BALANCE_REMARK} That left out {counts.left_out:,} rows.

**Limits.** What authors name is not all that a picture shows. A finding that the words place in the panel may lie
outside of what was cut out. Questions are written by rule and read so. Nothing here is medical advice.
{_lecture_instructions(counts)}""".rstrip()


def _of_lectures(counts: InstructionCounts) -> str:
    return f" and {counts.lectures:,} pictures of lectures" if counts.lectures else ""


def _lecture_instructions(counts: InstructionCounts) -> str:
    """Return what is said of instructions about lectures; nothing of a release without any."""
    if not counts.lectures:
        return ""
    return """
Rows with a `video_id` are about a picture of a lecture (`pair_id` is its row of `videos`); what names a panel is null
there. Their words are the lecturer's, by captions or a speech recogniser, with their range in the transcript; `start`
and `end` are the seconds of the video. They are taken only of sentences that point at the picture ("here you see …"),
are said as a whole while it is shown, and of which no word was doubtful. What a lecturer says of the picture need not
be what it shows."""


def _judged(audit: AuditFacts | None) -> str:
    """Return what people found who judged instructions."""
    if audit is None:
        return "No person looked."
    return (
        f"People judged a sample of {audit.judged:,}: {_shares(audit)}, each kind of question counted as often as it "
        "occurs; what anybody called wrong or unclear is left out."
    )


def _wanted(splits: SplitFacts, name: str) -> str:
    """Return which articles a split is to have: a share of all, or with test articles by year of the others."""
    if splits.test_from_year is None:
        return f"{splits.shares[name]:.0%}"
    if name == "test":
        return f"from {splits.test_from_year} on"
    others = sum(share for split, share in splits.shares.items() if split != "test")
    return f"{splits.shares[name] / others:.0%} of the others"


def _splits(facts: ReleaseFacts) -> str:
    splits = facts.splits
    rows = [
        (name, _wanted(splits, name), splits.articles.get(name, 0), splits.panels.get(name, 0))
        for name in splits.shares
    ]
    rule = (
        "an article's split follows from a hash of its number, and stays the same from release to release unless a new "
        "article shares a picture with it"
        if splits.test_from_year is None
        else f"articles of {splits.test_from_year} and later are the test split; for every other article a hash of its "
        "number decides"
    )
    return f"""## Splits

Splits are by article: {rule}.

{markdown_table(("split", "wanted articles", "articles", "panels"), rows)}

**Near-duplicates.** Panels whose pictures are the same bytes, or whose perceptual hashes are close, form a group
(`duplicate_group`; `duplicates.parquet` lists the groups), and articles that share a group have the same split. Nothing
is left out for it. In this release {splits.groups:,} groups hold {splits.grouped_panels:,} panels,
{splits.groups_across_articles:,} groups span several articles, {splits.moved:,} articles have another split than their
number gives them, and {splits.groups_across_splits:,} groups lie in several splits. `splits.parquet` has the split of
every article."""


def _statistics(facts: ReleaseFacts) -> str:
    return f"""## Statistics

{markdown_table(("panels that contain", "panels"), list(facts.contains.items()))}

{markdown_table(("subcaption assigned by", "panels"), list(facts.assembly.items()))}

{facts.statistics}"""


def _licences(facts: ReleaseFacts) -> str:
    left_out = ""
    if facts.noncommercial_left_out is not None:
        left_out = f" {facts.noncommercial_left_out:,} panels whose licence forbids commercial use are left out."
    return f"""## Licences

There is no one licence. Each row is under the licence of the article it was cut from: `license`, its deed `license_url`
where a version is stated, whom to credit in `attribution` (and apart `title`, `authors`, `journal`, `year`, `doi`,
`article_url`). `commercial_use` is true for CC0, CC BY, CC BY-SA and CC BY-ND.{left_out}
[{LICENSE_FILE}]({LICENSE_FILE}) says what each licence asks. Source of the articles: U.S. National Library of Medicine,
PubMed Central.

{markdown_table(("licence", "deed", "panels"), licence_rows(facts.licences))}

{facts.withheld:,} panels lie under a licence that does not allow adapted material to be passed on (ND, text mining
only, or none stated): their {withheld_names()} are null.
Boxes, segments, identifiers, places of sentences and terms of the lexicon stay. Whoever may use the articles restores
the nulls from them with `pmo release fill-null` ({SOFTWARE}), but for `generated_summary`: `withheld.parquet` has the
hash that each restored value must have."""


def _how_it_was_made(facts: ReleaseFacts) -> str:
    source = "Articles came as packages with PDF, XML and metadata, as PubMed Central has them."
    if facts.searched_on is not None:
        source = (
            "Articles of the specialty were searched for at PubMed Central; packages with PDF, XML and metadata were "
            "taken from its open-access subset."
        )
    return f"""## How it was made

{source}
From each PDF the figures were located and matched with those of the XML, captions were split into
subcaptions, panels and the images in them were detected, each panel was given its subcaption, and images were typed
(colour fundus photograph, OCT, other retinal image, other) and looked at for arrows and other marks.
The method is the [paper's]({PAPER_URL}). Subcaptions are cut from captions, never written (`subcaption_segments` says
where); `assembly` says where a vision model or a person assigned one. Each row says how sure the machine was
(`panel_score`, `assembly_confidence`, `caption_confidence`, scores of images) and what people decided (`annotations`,
`is_gt`). `manifest.json` names the batches of articles, versions, settings and models that made this release."""


def _limits(facts: ReleaseFacts) -> str:
    return f"""## Known limits

* **Made by machines.** Places, types, marks and the assignment of subcaptions are automatic unless `is_gt` or
  `annotations` say that people decided; some are wrong. Filter by the scores where precision matters.
* **What is missing.** Panels without a subcaption, figures that could not be located and articles whose PDF could not
  be read are not in here; the losses stand under Statistics. Types and marks that are undecided are null.
* **Published pictures are no sample of patients.** Authors show what is typical, rare or striking, and who publishes
  open access differs by country, device and disease: how often something occurs here does not say how often it occurs.
  Age and sex are known only where the text names them (`entities`), ethnicity is not recorded.
* **Pictures of figures.** They carry letters, arrows, scale bars and the journal's compression; they are not the
  devices' raw images, and pixels are no measure of the eye.
* **Duplicates.** The check of near-duplicates compares whole panels by perceptual hash: cropped, mirrored or strongly
  changed copies, and other pictures of the same patient in another article, are not found.
* **Overlap with other sets.** Every article is public at PubMed Central. Models that were trained on PMC-OA, BIOMEDICA
  or the web may have seen the test split.
* **Text as in print.** Abbreviations are explained beside the text (`abbreviations`) and not in it, references to other
  figures and panels are kept.
* {facts.duplicate_articles:,} packages with an article that another package holds as well are left out and listed in
  `duplicate_articles.parquet`."""


def _uses(facts: ReleaseFacts) -> str:
    return f"""## Uses

**Meant for** training and evaluating vision-language models on scientific figures of the specialty, retrieval,
captioning, detection of panels and images in figures, and research on such data.

**Not meant for** diagnosis, treatment or any other clinical use, for medical devices without validation on clinical
data, for estimating how common something is, or for identifying people. {_people(facts)} Authors and
journals are responsible for consent and anonymity in what they published; nothing beyond that was checked or
removed."""


def _people(facts: ReleaseFacts) -> str:
    if not facts.masks_people:
        return "Some pictures may show faces."
    return (
        "Faces, and printed names, dates and\nnumbers of patients, are black where two networks saw them "
        "(`masked.parquet` lists them, if there are any); some may\nhave been missed."
    )


def _changes(facts: ReleaseFacts) -> str:
    previous = "This is the first release." if facts.previous is None else f"The release before is {facts.previous}."
    return f"""## Versions and retractions

{previous} `CHANGES.md` says which rows are new, changed and gone, and why. Retracted articles, and those that PubMed
Central removed, are left out; `retractions.parquet` lists them with the rows of earlier releases: remove those from
what you made of an earlier one."""


def _citing(facts: ReleaseFacts) -> str:
    return f"""## Citation

`CITATION.cff` has the same in another form. Where you show a figure, credit its article (`attribution`).

```bibtex
{bibtex(facts)}
```"""


_CONTACT = """## Contact

Mistakes, wishes, and requests to take something out: please open a discussion in this dataset's repository, with the
`panel_id`."""
