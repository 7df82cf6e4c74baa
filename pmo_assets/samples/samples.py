"""The standard set of sample articles: each shows something that a pipeline must cope with."""

from __future__ import annotations

from dataclasses import replace

from pmo_assets.samples.spec import (
    FIRST_ARTICLE_NUMBER,
    ArticleSpec,
    CaptionEntry,
    CaptionSpec,
    Damage,
    FigureSpec,
    ImageSpec,
    JournalStyle,
    LabelStyle,
    PanelSpec,
    PictureKind,
    TableSpec,
)

TWO_COLUMN_SERIF = JournalStyle(
    "Journal of Retinal Imaging and Measurement", "J Retin Imaging Meas", "JRIM", page_width=600, page_height=800
)
TWO_COLUMN_SANS = JournalStyle(
    "Vision Reports", "Vis Rep", "VISREP", page_width=595, page_height=791, margin_left=57, margin_right=57,
    family="Helvetica", body_size=9, leading=1.28, caption_size=8, logo=True,
)  # fmt: skip
ONE_COLUMN = JournalStyle(
    "Open Ophthalmic Science", "Open Ophthalmic Sci", "OPOS", page_width=612, page_height=792, margin_left=92,
    margin_right=72, columns=1, body_size=10.5, leading=1.3, caption_size=9,
)  # fmt: skip
HEART_JOURNAL = JournalStyle(
    "Archives of Experimental Cardiology", "Arch Exp Cardiol", "AXC", page_width=595, page_height=842, logo=True
)

_BASELINE_TABLE = TableSpec(
    "Baseline characteristics of the patients. Values are mean ± standard deviation.",
    (("Characteristic", "Affected", "Control"), ("Patients", "48", "46"), ("Age (years)", "63.4 ± 8.2", "62.9 ± 7.7"),
     ("Women", "27", "24"), ("Thickness (µm)", "412 ± 66", "268 ± 21")),
)  # fmt: skip
_RETINA_KEYWORDS = ("optical coherence tomography", "retina", "macula")
_RETINA_MESH = ("Humans", "Tomography, Optical Coherence", "Retina")


def _panels(identifiers: str, *images: ImageSpec) -> tuple[PanelSpec, ...]:
    return tuple(PanelSpec(name, (image,)) for name, image in zip(identifiers, images, strict=True))


def _image(kind: PictureKind, aspect: float = 1.0, y_title: str = "") -> ImageSpec:
    return ImageSpec(kind, aspect, y_title=y_title)


def _entries(*pairs: tuple[str, str]) -> tuple[CaptionEntry, ...]:
    """Pair identifiers ("a", or "a b" for several panels) with texts."""
    return tuple(CaptionEntry(tuple(names.split()), text) for names, text in pairs)


def _single(kind: PictureKind, aspect: float, caption: str, y_title: str = "", **options: object) -> FigureSpec:
    figure = FigureSpec((PanelSpec(None, (_image(kind, aspect, y_title),)),), CaptionSpec(caption), grid_columns=1)
    return replace(figure, **options)  # type: ignore[arg-type]


MULTIMODAL = FigureSpec(
    panels=_panels("abcd", _image("cfp"), _image("angiography"), _image("oct", 1.6), _image("oct", 1.6)),
    caption=CaptionSpec(
        "Multimodal imaging of the right eye at presentation.",
        _entries(
            ("a", "Color fundus photography (CFP) with drusen around the fovea"),
            ("b", "Late-phase fluorescein angiography with leakage at the posterior pole"),
            ("c", "Horizontal optical coherence tomography (OCT) scan through the fovea"),
            ("d", "Vertical OCT scan of the same eye"),
        ),
        "OCT: optical coherence tomography.",
        style="sentences",
    ),
    width="page",
    width_share=0.62,
)
"""The same figure stands as separate bitmaps in one sample article and as one flat bitmap in another."""

_COURSE = FigureSpec(
    panels=_panels(
        "ab", _image("line_plot", 1.35, "Central thickness (µm)"), _image("bar_chart", 1.35, "Visual acuity (letters)")
    ),
    caption=CaptionSpec(
        "",
        _entries(
            ("a", "Central retinal thickness during follow-up"),
            ("b", "mean visual acuity of the three groups at month 12"),
        ),
        style="semicolons",
    ),
    grid_columns=1,
)
_FOLLOW_UP_OCT = FigureSpec(
    panels=_panels("AB", _image("oct", 2.2), _image("oct", 2.2)),
    caption=CaptionSpec(
        "",
        _entries(
            ("A", "OCT scan before treatment with subretinal fluid"), ("B", "OCT scan three months later without fluid")
        ),
        style="trailing",
    ),
    grid_columns=1,
    identifier_place="inside",
    identifier_print="{}",
    label=LabelStyle("Fig. {}", ".", True),
)


def _retina(title: str, journal: JournalStyle, *figures: FigureSpec, features: tuple[str, ...]) -> ArticleSpec:
    return ArticleSpec(
        number=0,
        seed=0,
        journal=journal,
        title=title,
        keywords=_RETINA_KEYWORDS,
        mesh_terms=_RETINA_MESH,
        figures=figures,
        features=features,
    )


def _readable() -> list[ArticleSpec]:
    """The articles that differ in layout, figures and captions."""
    marked = FigureSpec(
        panels=(
            PanelSpec("A", (ImageSpec("cfp", 1.0, "arrow"),)),
            PanelSpec("B", (ImageSpec("oct", 1.0, "circle", "vector"),)),
            PanelSpec("C", (ImageSpec("angiography", 1.0, "arrowhead", "vector"),)),
            PanelSpec("D", (ImageSpec("cfp", 1.0),)),
            PanelSpec("E", (ImageSpec("oct", 1.0, "box"),)),
            PanelSpec("F", (ImageSpec("autofluorescence", 1.0, "asterisk"),)),
        ),
        caption=CaptionSpec(
            "Lesions of the posterior pole.",
            _entries(
                ("A", "Fundus photograph with a haemorrhage (arrow)"),
                ("B", "OCT scan with a pigment epithelial detachment (circle)"),
                ("C", "Fluorescein angiogram with a leaking point (arrowhead)"),
                ("D", "Fundus photograph of the unaffected fellow eye"),
                ("E F", "OCT scan and fundus autofluorescence after six months; the scar is marked"),
            ),
            "Pictures were cropped to the region of interest.",
            style="sentences",
            bracket="{}:",
        ),
        grid_columns=3,
        width="page",
        gutter=6,
        identifier_place="above",
        identifier_print="{}",
        identifier_size=10,
    )
    continued = FigureSpec(
        panels=tuple(
            PanelSpec(name, (_image("cfp"), _image("oct", 1.5))) for name in "abcdefgh"
        ),
        caption=CaptionSpec(
            "Fundus photographs (left of each pair) and OCT scans (right of each pair) of eight patients.",
            _entries(
                ("a b", "Patients with subretinal fluid in the fovea"), ("c d", "Patients with intraretinal cysts"),
                ("e f", "Patients with a macular hole"), ("g h", "Healthy controls of the same age"),
            ),
            style="sentences",
        ),
        width="page",
        pages=2,
        gutter=10,
    )  # fmt: skip
    positional = FigureSpec(
        panels=_panels_named(("left", _image("cfp")), ("right", _image("autofluorescence"))),
        caption=CaptionSpec(
            "Eye of a patient with retinitis pigmentosa.",
            _entries(("left", "Color fundus photography of the posterior pole"),
                     ("right", "Fundus autofluorescence of the same field")),
            style="positional",
        ),
        identifier_place="none",
        gutter=5,
    )  # fmt: skip
    beside = FigureSpec(
        panels=_panels("ab", _image("oct", 1.8), _image("oct", 1.8)),
        caption=CaptionSpec(
            "Macular OCT of the left eye:",
            _entries(("a", "At baseline with cystoid spaces"), ("b", "Four weeks after the injection")),
            "Both scans cross the fovea.",
            style="listing",
        ),
        grid_columns=1,
        width_share=0.5,
        caption_place="beside",
        label=LabelStyle("FIGURE {}", ":", True),
    )
    above = FigureSpec(
        panels=_panels("abc", _image("oct"), _image("histology"), _image("scatter_plot", 1.0)),
        caption=CaptionSpec(
            "Optical coherence tomography and tissue of the same retina.",
            _entries(
                ("a", "OCT scan in vivo"), ("b", "Corresponding section, haematoxylin and eosin"),
                ("c", "Correlation of both measurements, P < 0.001"),
            ),
            style="semicolons",
        ),
        grid_columns=3,
        caption_place="above",
    )  # fmt: skip
    numbered = _single(
        "oct",
        1.7,
        "Optical coherence tomography of the macula in a healthy volunteer.",
        label=LabelStyle("{}", "", True),
    )
    unlabelled = _single(
        "cfp", 1.2, "Color fundus photography of the right eye after laser treatment of the peripheral retina.",
        label=LabelStyle("", "", False), width_share=0.7,
    )  # fmt: skip
    return [
        replace(
            _retina("Multimodal Imaging of Central Serous Chorioretinopathy: A Case Series", TWO_COLUMN_SERIF,
                    MULTIMODAL, _COURSE, features=("two_columns", "separate_bitmaps", "vector_plots", "table")),
            article_type="case-report", tables=(_BASELINE_TABLE,),
        ),
        _retina("Imaging of Central Serous Chorioretinopathy in a Reading Centre", TWO_COLUMN_SERIF,
                replace(MULTIMODAL, flat=True, identifier_size=9),
                _single("oct", 1.6, "OCT of the fovea after two months."),
                features=("two_columns", "flat_bitmap", "single_panel")),
        replace(
            _retina("Marks and Measurements in Fundus Pictures of the Macula", ONE_COLUMN, marked, beside,
                    features=("one_column", "marks", "caption_beside", "identifiers_above", "caption_list")),
            license_code="CC BY-NC",
        ),
        _retina("A Pictorial Atlas of Macular Disease in Eight Patients", TWO_COLUMN_SERIF, continued, _FOLLOW_UP_OCT,
                features=("two_columns", "figure_over_two_pages", "identifiers_inside", "trailing_identifiers",
                          "several_images_per_panel")),
        replace(
            _retina("Positional Panels in Retinitis Pigmentosa", TWO_COLUMN_SANS, positional, numbered, unlabelled,
                    features=("two_columns", "positional_identifiers", "caption_number_only", "caption_without_label",
                              "logo")),
            license_code="CC BY-ND",
        ),
        replace(
            _retina("Comparison of OCT with Histology of the Retina", ONE_COLUMN, above, _COURSE,
                    features=("one_column", "caption_above", "vector_plots", "floats_group")),
            license_code="CC0", floats_group=True,
        ),
        replace(
            _retina("Angiography of Retinal Vein Occlusion Revisited", TWO_COLUMN_SANS,
                    replace(marked, width_share=0.9, flat=True, label=LabelStyle("Fig. {}", "", True)), positional,
                    features=("two_columns", "marks", "flat_bitmap", "logo", "retracted")),
            retracted=True,
        ),
        replace(
            _retina("Retraction: Angiography of Retinal Vein Occlusion Revisited", TWO_COLUMN_SANS,
                    features=("retraction_notice", "no_figures")),
            article_type="retraction", relevant=False,
        ),
        ArticleSpec(
            number=0, seed=0, journal=HEART_JOURNAL, topic="cardiology",
            title="Interstitial Fibrosis after Myocardial Infarction in the Rat",
            keywords=("fibrosis", "heart failure", "remodelling"), mesh_terms=("Animals", "Myocardium"),
            figures=(
                FigureSpec(
                    panels=_panels("abc", _image("histology", 1.3), _image("histology", 1.3),
                                   _image("bar_chart", 1.3, "Collagen area (%)")),
                    caption=CaptionSpec(
                        "Fibrosis of the left ventricle.",
                        _entries(("a", "Sham-operated animal"), ("b", "Animal four weeks after the infarct"),
                                 ("c", "Collagen area of all groups, P < 0.01")),
                        "Haematoxylin and eosin.", style="sentences",
                    ),
                    grid_columns=3, width="page",
                ),
                _single("bar_chart", 1.4, "Ejection fraction of the three groups. Bars show mean and standard error.",
                        "Ejection fraction (%)"),
            ),
            features=("two_columns", "not_ophthalmic", "logo"), relevant=False,
        ),
        ArticleSpec(
            number=0, seed=0, journal=HEART_JOURNAL, topic="intracoronary",
            title="Strut Coverage Nine Months after Stent Implantation",
            keywords=("optical coherence tomography", "stents"), mesh_terms=("Humans", "Tomography, Optical Coherence"),
            figures=(
                _single("line_plot", 1.5, "Strut coverage by optical coherence tomography (OCT) over time.",
                        "Strut coverage (%)"),
                _single("histology", 1.4, "Tissue around a strut."),
            ),
            license_code="CC BY-NC",
            features=("two_columns", "not_ophthalmic", "intracoronary_oct", "logo"), relevant=False,
        ),
    ]  # fmt: skip


def _panels_named(*pairs: tuple[str, ImageSpec]) -> tuple[PanelSpec, ...]:
    return tuple(PanelSpec(name, (image,)) for name, image in pairs)


def _hostile() -> list[ArticleSpec]:
    """Packages with something broken or missing; short, because nobody looks at their layout."""
    base = replace(
        _retina("Macular Findings in Twelve Eyes", TWO_COLUMN_SERIF, _FOLLOW_UP_OCT, features=()), paragraphs=2
    )
    names: tuple[tuple[Damage, str], ...] = (
        ("truncated_pdf", "Follow-up by OCT: A Download that Broke Off"),
        ("encrypted_pdf", "Follow-up by OCT: A File that Was Locked"),
        ("malformed_xml", "Follow-up by OCT: A Record with Errors"),
        ("entity_bomb", "Follow-up by OCT: A Record that Explodes"),
        ("no_pdf", "Follow-up by OCT: Full Text Only"),
        ("no_xml", "Follow-up by OCT: Pages Only"),
    )
    return [replace(base, title=title, damage=damage, features=(damage,)) for damage, title in names]


def sample_specs(seed: int = 0) -> tuple[ArticleSpec, ...]:
    """Return the standard set; another seed gives other pictures and other running text in the same layouts."""
    specs = [*_readable(), *_hostile()]
    return tuple(replace(spec, number=FIRST_ARTICLE_NUMBER + i, seed=seed * 1000 + i) for i, spec in enumerate(specs))
