"""Pictures of a JATS figure: names of graphics, and one reference per picture whatever its renditions."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.articles.jats_graphics import image_cluster_id
from pmo_assets_tests.pipeline.articles.jats_articles import parsed


@pytest.mark.parametrize(
    ("href", "name"),
    [
        ("CRIOPM2016-4567840.001", "CRIOPM2016-4567840.001"),
        ("pone.0056489.g001.tif", "pone.0056489.g001"),
        ("figures/NPR2-43-85-g001.JPG", "NPR2-43-85-g001"),
        ("info:doi/10.1371/journal.pone.0056489.g001", "journal.pone.0056489.g001"),
        ("dir\\fig1.eps", "fig1"),
        ("a.b.c", "a.b.c"),
        ("../..", ""),
        (".png", ""),
    ],
)
def test_image_cluster_id_drops_folder_and_picture_extension_only(href: str, name: str) -> None:
    assert image_cluster_id(href) == name


def graphic(href: str, attributes: str = "", *, tag: str = "graphic") -> str:
    return f'<{tag} {attributes} xlink:href="{href}"/>'


def alternatives(*forms: str) -> str:
    return f"<alternatives>{''.join(forms)}</alternatives>"


RENDITIONS = [
    pytest.param(alternatives(graphic("f1.tif"), graphic("f1.gif"), graphic("f1.jpg")), "f1.jpg", id="three formats"),
    pytest.param(
        alternatives(graphic("p.tif"), graphic("p.jpg"), graphic("p.png", 'mimetype="image/png"', tag="media")),
        "p.jpg",
        id="the tag library's example, a picture as media",
    ),
    pytest.param(
        alternatives(
            graphic("gf1.tif"),
            graphic("gf1.png", 'specific-use="scielo-web"'),
            graphic("gf1.thumbnail.jpg", 'specific-use="scielo-web" content-type="scielo-267x140"'),
        ),
        "gf1.png",
        id="SciELO, thumbnail by its size",
    ),
    pytest.param(
        alternatives(graphic("f01.gif", 'content-type="thumb"'), graphic("f01.webp", 'content-type="image"')),
        "f01.webp",
        id="PMC, thumbnail first",
    ),
    pytest.param(
        alternatives(graphic("fig-0001-m", 'specific-use="print"'), graphic("fig-0001-g", 'specific-use="web"')),
        "fig-0001-g",
        id="for print and for the web",
    ),
    pytest.param(
        alternatives(graphic("f1.jpg"), "<textual-form>A graph.</textual-form>", graphic("f1.mp4", tag="media")),
        "f1.jpg",
        id="text and video beside the picture",
    ),
    pytest.param(
        graphic("f1.tif", 'id="g1"') + graphic("web1.jpg", 'alternate-form-of="g1"'), "web1.jpg", id="NLM 2.3"
    ),
    pytest.param(graphic("a/f1.eps") + graphic("b/f1.jpg"), "b/f1.jpg", id="one name, two formats"),
    pytest.param(graphic("f1.png", tag="media"), "f1.png", id="media known by its suffix"),
    pytest.param(
        graphic("f1", 'mimetype="image" mime-subtype="jpeg"', tag="media"), "f1", id="media known by its type"
    ),
    pytest.param(graphic("t.jpg", 'specific-use="thumbnail"'), "t.jpg", id="nothing but a thumbnail"),
    pytest.param(f"<p>{graphic('f1')}</p>", "f1", id="inside a paragraph"),
    pytest.param(f"<caption><p>An eye. {graphic('f1')}</p></caption>", "f1", id="nowhere but in the caption"),
]


@pytest.mark.parametrize(("inner", "href"), RENDITIONS)
def test_of_several_renditions_one_counts(inner: str, href: str) -> None:
    (figure,) = parsed(f'<fig id="f"><label>Figure 1</label>{inner}</fig>').figures

    assert figure.graphics == (href,)


NOT_PICTURES = [
    pytest.param(
        "<caption><p>Where <inline-formula><alternatives><tex-math>k</tex-math><inline-graphic xlink:href='m1'/>"
        "</alternatives></inline-formula> is small <inline-graphic xlink:href='star'/>.</p></caption>",
        id="Cambridge: formulas and symbols in the caption",
    ),
    pytest.param("<disp-formula><graphic xlink:href='e1'/></disp-formula>", id="formula"),
    pytest.param(
        "<p><supplementary-material id='d1'><media mimetype='application' xlink:href='data.xlsx'/><graphic "
        "xlink:href='data.jpg'/></supplementary-material></p>",
        id="eLife: source data",
    ),
    pytest.param(
        "<permissions><license><license-p><inline-graphic xlink:href='by.png'/><graphic xlink:href='by2.png'/>"
        "</license-p></license></permissions>",
        id="eLife: logo of a licence",
    ),
    pytest.param("<media mimetype='video' xlink:href='v.jpg'/>", id="video"),
    pytest.param("<graphic xlink:href=' '/><graphic/>", id="no reference"),
]


@pytest.mark.parametrize("inner", NOT_PICTURES)
def test_other_graphics_are_no_pictures_of_the_figure(inner: str) -> None:
    (figure,) = parsed(f"<fig><label>Figure 1</label>{graphic('f1')}{inner}</fig>").figures

    assert figure.graphics == ("f1",)


def test_formulas_do_not_stand_in_for_a_missing_picture() -> None:
    caption = (
        "<caption><p>Ratio <inline-formula><inline-graphic xlink:href='m1'/></inline-formula> of</p>"
        "<disp-formula><graphic xlink:href='m2'/></disp-formula></caption>"
    )
    (figure,) = parsed(f"<fig id='f'><label>Figure 1</label>{caption}</fig>").figures

    assert (figure.image_cluster_id, figure.graphics) == ("f", ())


def test_each_alternatives_is_a_picture_of_its_own() -> None:
    (figure,) = parsed(
        "<fig id='f'><label>Figure 1</label>"
        + alternatives(graphic("f1a.tif"), graphic("f1a.jpg"))
        + alternatives(graphic("f1b.tif"), graphic("f1b.jpg"))
        + graphic("f1c")
        + "</fig>"
    ).figures

    assert (figure.image_cluster_id, figure.graphics) == ("f1a", ("f1a.jpg", "f1b.jpg", "f1c"))
