"""Words with which captions name marks: nouns by kind, colours, styles, signs, and the verbs that tie them to a thing.

Add here: words. Keep out: how they are put together (`mark_names`), and what a mark shows (`targets`). Detection asks a
looser question, whether a caption names any mark (`MARK_WORDS` of `detection.structure.marks`), with words of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pmo_assets.pipeline.captions.tokens import words
from pmo_assets.records.regions import MarkColour, NamedMark

Strength = Literal["strong", "weak", "faint"]
"""How surely a noun names a drawn mark: "arrow" does by itself, "circle" where something ties it to a thing or it
stands alone in brackets, "dot" only where a verb says what it shows."""


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun that names marks.

    Attributes:
        kind: of mark.
        is_plural: form of the noun.
        strength: how surely it names a mark.
    """

    kind: NamedMark
    is_plural: bool
    strength: Strength


def _nouns(kind: NamedMark, strength: Strength, singular: str, plural: str) -> dict[str, Noun]:
    return {
        **{word: Noun(kind, False, strength) for word in singular.split()},
        **{word: Noun(kind, True, strength) for word in plural.split()},
    }


NOUNS: Final[Mapping[str, Noun]] = {
    **_nouns("arrow", "strong", "arrow arrrow arow", "arrows arrrows arows"),
    **_nouns("arrowhead", "strong", "arrowhead", "arrowheads"),
    **_nouns("arrowhead", "weak", "triangle chevron", "triangles chevrons"),
    **_nouns("circle", "weak", "circle ellipse oval outline contour", "circles ellipses ovals outlines contours"),
    **_nouns("circle", "faint", "ring", "rings"),
    **_nouns("box", "weak", "box rectangle square frame", "boxes rectangles squares frames"),
    **_nouns("asterisk", "strong", "asterisk asterix asterisc asterik", "asterisks asteriks asteriscs asterices"),
    **_nouns("asterisk", "weak", "star hash hashtag plus cross dagger", "stars hashes hashtags pluses crosses daggers"),
    **_nouns("line", "strong", "", "calipers callipers"),
    **_nouns("line", "weak", "line bracket brace caliper calliper", "lines brackets braces"),
    **_nouns("other", "weak", "inset diamond", "insets diamonds"),
    **_nouns("other", "faint", "dot", "dots"),
    **_nouns("any", "weak", "pointer", "pointers"),
    **_nouns("any", "faint", "marker", "markers"),
}
"""Nouns that name marks, in lower case; "arrow head" and "arrow-head" are read as one."""

HEADS: Final[Mapping[str, bool]] = {"head": False, "heads": True}
"""Second half of "arrow head", and whether it is a plural."""

SIGN_NOUNS: Final = words("sign signs symbol symbols mark marks")
"""Nouns after the name of a sign: "plus sign", "asterisk symbol", "+ marks"; "arrow sign" is a finding's name."""

CROSSES: Final = frozenset({"x", "×"})
"""Letters printed as crosses: "“x” marks", "small x's"."""

PARTICIPLES: Final[Mapping[str, NamedMark]] = {
    "outlined": "circle", "encircled": "circle", "circled": "circle", "boxed": "box", "framed": "box",
    "bracketed": "line", "traced": "line", "delineated": "line", "demarcated": "line", "arrowed": "arrow",
    "marked": "any", "highlighted": "any",
}  # fmt: skip
"""Participles that say that a thing is drawn round or marked, with the mark that does it."""

DRAWN: Final = words("outlined encircled circled boxed arrowed framed bracketed")
"""Those that name a mark alone in brackets, or before the area that it is drawn round."""

AREAS: Final = words("area areas region regions zone zones part parts portion portions")
"""Nouns after a participle that name the marked part: "boxed area"."""

COLOURS: Final[Mapping[str, MarkColour]] = {
    "white": "white", "black": "black", "grey": "grey", "gray": "grey", "red": "red", "orange": "orange",
    "yellow": "yellow", "green": "green", "cyan": "cyan", "blue": "blue", "purple": "purple", "pink": "pink",
    "brown": "brown", "magenta": "pink", "violet": "purple", "turquoise": "cyan", "aqua": "cyan", "teal": "cyan",
    "gold": "yellow", "golden": "yellow", "lime": "green", "navy": "blue", "crimson": "red", "fuchsia": "pink",
    "silver": "grey", "lavender": "purple", "yellowish": "yellow", "reddish": "red", "whitish": "white",
}  # fmt: skip
"""Words for colours, with the basic term; magenta is what editors offer as pink."""

STYLES: Final[Mapping[str, str]] = {
    "dashed": "dashed", "broken": "dashed", "dotted": "dotted", "solid": "solid", "continuous": "solid",
    "filled": "filled", "closed": "filled", "open": "open", "hollow": "open", "empty": "open", "thick": "thick",
    "bold": "thick", "wide": "thick", "broad": "thick", "fat": "thick", "thin": "thin", "narrow": "thin",
    "fine": "thin", "slim": "thin", "large": "large", "big": "large", "larger": "large", "small": "small",
    "tiny": "small", "smaller": "small", "long": "long", "longer": "long", "short": "short", "shorter": "short",
    "double": "double", "curved": "curved", "bent": "curved", "straight": "straight",
}  # fmt: skip
"""Words for styles of marks, with the term of `RegionPhrase.style`."""

TELLING_STYLES: Final = frozenset({"dashed", "dotted", "double", "curved"})
"""Styles that tell marks apart best: of several, these are taken before the first."""

LINE_STYLES: Final = frozenset({"dashed", "dotted"})
"""Styles that only drawn lines, circles and boxes have: with them a weak noun is a strong one."""

FILLERS: Final = words(
    "horizontal vertical oblique diagonal transparent headed shaded colored coloured colour color filled light dark "
    "bright pale single isolated enclosed outlined square rectangular circular oval triangular hatched upper lower "
    "upward downward upwards downwards left right pointing head superimposed respective corresponding asterisked "
    "notched "
    "unfilled block line segmented wavy outer inner concentric"
)
"""Words between determiner, colour and noun that are neither."""

STARS: Final = frozenset("*∗⁎＊✱✲✳★☆⋆✶✻")
"""Signs printed as asterisks and stars."""

SIGNS: Final[Mapping[str, NamedMark]] = {
    **dict.fromkeys(STARS, "asterisk"), **dict.fromkeys("#†‡＃+", "asterisk"),
    **dict.fromkeys("→←↑↓↔↗↘↙↖⇒⇐⇑⇓⇨⇦⇧⇩➔➙➝➞➡⬅⟶⟵➜", "arrow"),
    **dict.fromkeys("➤►▶◄◀▲△▼▽▸◂▷◁⊳⊲➢", "arrowhead"),
}  # fmt: skip
"""Signs that stand for the mark itself."""

FOLLOWERS_OF_NONE: Final = words(
    "shape shapes shaped like sign signs length lengths plot plots blot blots graph graphs chart charts whisker "
    "whiskers diagram diagrams scan scans test tests profile profiles pattern patterns folds map jelly"
)
"""Words after a noun that make it no mark: "arrow sign", "box plot", "star-shaped", "line graph", "circle scan"."""

INDICATING: Final = words(
    "indicate indicates indicating indicated point points pointing mark marks marking show shows showing denote "
    "denotes denoting denoted represent represents representing highlight highlights highlighting delineate "
    "delineates delineating depict depicts depicting demonstrate demonstrates demonstrating outline outlines "
    "outlining identify identifies identifying designate designates correspond corresponds corresponding surround "
    "surrounds surrounding encircle encircles encircling enclose encloses enclosing illustrate illustrates "
    "illustrating reveal reveals signify signifies refer refers locate locates label labels emphasize emphasizes "
    "emphasise emphasises symbolize symbolizes trace traces tracing define defines demarcate demarcates demarcating "
    "mean means measure measures encompass encompasses circumscribe circumscribes display displays delimit "
    "delimits delimiting delimitate delimitates bound bounds"
)
"""Verbs whose subject is a mark and whose object is what it shows."""

PARTICLES: Final = words("to at out towards toward that onto where how")
"""Words between such a verb and its object."""

INDICATED: Final = words(
    "indicated shown marked pointed denoted delineated highlighted depicted represented identified outlined "
    "designated labelled labeled encircled circled enclosed surrounded demonstrated illustrated demarcated defined "
    "bordered traced noted seen visible signified signalled displayed bounded boxed emphasized pinpointed framed "
    "visualized located annotated bracketed presented"
)
"""Participles before "by", "with", "as" and a mark."""

LOOKING: Final = words("seen noted visible located visualized identified demonstrated defined")
"""Those that say with "as" what a thing looks like: "seen as double lines"."""

BY: Final = words("by with using as via in at through between within inside")
"""Words between such a participle and the mark."""

AT: Final = words(
    "between within inside in at along above below under beneath beyond near around behind beside outside from of on "
    "by adjacent"
)
"""Prepositions before a mark that place a thing: "fluid between the arrows"."""

DETERMINERS: Final = words(
    "the a an two three four five six seven eight both all these those this that each several many multiple some "
    "following same"
)

IRREGULAR: Final = words("lost drawn shown seen made taken set given put cut left found broken torn worn bent")
"""Participles that are not told by their ending."""

SEEN: Final = words(
    "seen noted observed identified visible present evident found visualized visualised detected apparent appreciated "
    "noticed noticeable discernible recognized recognised shown depicted demonstrated marked indicated highlighted "
    "pointed denoted demarcated delineated outlined displayed illustrated labelled labeled located"
)
"""Participles whose subject is what a picture shows."""

SHOWS: Final = words(
    "show shows showed showing reveal reveals revealed revealing demonstrate demonstrates demonstrated demonstrating "
    "depict depicts depicted depicting display displays displayed displaying illustrate illustrates illustrated "
    "illustrating exhibit exhibits exhibited exhibiting confirm confirms confirmed confirming disclose discloses "
    "disclosed disclosing indicate indicates indicated indicating suggest suggests suggested visualize visualizes "
    "visualizing highlight highlights highlighted highlighting identify identifies identified identifying present "
    "presents presenting represent represents represented representing include includes including contain contains "
    "containing note notice see detect detects detected detecting delineate delineates delineating find shown via "
    "presented evidencing evidenced noting exemplifying became becomes become develop develops developed called termed "
    "involves"
)
"""Verbs whose object is what a picture shows, in every form; forms of the past are also passive."""

ACTIVE: Final = words(
    "show shows showed showing reveal reveals revealing demonstrate demonstrates demonstrating depict depicts "
    "depicting display displays displaying illustrate illustrates illustrating exhibit exhibits exhibiting confirm "
    "confirms confirming disclose discloses disclosing indicate indicates indicating suggest suggests highlight "
    "highlights highlighting identify identifies identifying note notice see include includes including contain "
    "contains containing represents represent representing called termed become becomes became"
)
"""Forms of these that are never passive."""

AUXILIARIES: Final = words(
    "is are was were be been being has have had can could may might will would should must do does did appears appear "
    "appeared remains remain remained"
)
"""Finite verbs and what stands with them in a group."""

GROUP_ADVERBS: Final = words("also still not now only just well best then again even no longer most more further once")
"""Adverbs within a group of verbs; those in "-ly" are told by their ending."""

CLAUSE_WORDS: Final = words(
    "while whereas but although though because when whose however thus therefore hence if then as than where"
)
"""Words that begin another clause."""

PREPOSITIONS: Final = words(
    "of in on at by for from to with without into onto via through along across around over under above below beneath "
    "behind between among within inside outside near toward towards against during after before following as until "
    "due throughout beyond adjacent upon"
)

DATA_WORDS: Final = words(
    "curve curves slope slopes plot plots plotted graph graphs regression axes histogram histograms median mean means "
    "sem sd percentile percentiles quartile quartiles fitted kaplan boxplot boxplots whisker whiskers outliers "
    "interquartile probability probabilities simulated simulations fit fits roc"
)
"""Words of the legend of a plot, in whose clause shapes and lines are no marks."""

AVERAGES: Final = words("mean median sd")
"""Those of these that are also said of what is measured in a mark: "the mean value of the blue boxes"."""

COHORTS: Final = words(
    "patients controls subjects participants volunteers individuals animals mice rats group groups cohort cohorts"
)
"""Nouns for whom a plot's symbols stand: "healthy controls (circles)"; a mark on a picture shows none."""

COUNTED: Final = words("quantification quantifications percentage percentages proportion proportions frequency rate")
"""Nouns of what a plot's symbols stand for: "quantification of the layers (circles)"."""

REFERENCES: Final = words("figure fig figs table tables file files movie video text supplementary supplement")
"""Nouns of what a text refers to: "(S7 Fig. in S1 File, arrows)"."""

AXES: Final = words("x y z horizontal vertical")
"""Words before the axis of a plot; the axes of eyes and legs have others."""

MEASURED_IN: Final = words("of in within inside")
"""Prepositions between what is measured on a picture and the mark round it: "the mean value of the blue boxes"."""

PICTURED: Final = words(
    "imaging image images scan scans photograph photographs picture pictures appearance appearances demonstration "
    "demonstrations depiction illustration visualization visualisation presence evidence view views drawing drawings"
)
"""Nouns that only say that a thing is on the picture: "imaging of lesions" shows lesions."""

PICTURES: Final = words("image images scan scans photograph photographs picture pictures")
"""Those that are pictures themselves, and not what a mark on them shows."""

TAKEN: Final = words("obtained taken acquired captured recorded")
"""Participles between a picture and its place: "scans obtained at the pit" show the pit."""

EXTENDING: Final = words(
    "involving extending reaching resembling causing corresponding propagating abutting occupying arising originating "
    "containing mimicking simulating affecting coinciding encasing suggesting falling replacing "
    "compressing displacing encircling surrounding obstructing occluding eroding invading infiltrating traversing "
    "projecting protruding radiating communicating connecting separating overlying underlying"
)
"""Participles that stand only behind their noun, and tell where the thing goes or what it does, not what it is."""

NO_CLAUSES: Final = words(
    "bleeding scarring swelling thickening thinning narrowing staining lining opening widening tracking pitting "
    "using including"
)
"""Words in "-ing" that begin no clause: findings ("bleeding into the vitreous"), and what is said like "with"."""

PLACE_NOUNS: Final = AREAS | words(
    "site sites point points position positions location locations level border edge margin line distance thickness"
)
"""Nouns that say nothing without what follows them: "the area affected by atrophy"."""

MEANING: Final = words("consistent compatible suggestive indicative")
"""Adjectives after a noun that tell what the thing may be."""

PATHS: Final = words("into onto to toward towards through from along across under over beyond between around within")
"""Prepositions after a participle of movement: "vessels running along the fibres"."""

COURSES: Final = words(
    "attaches inserts projects extends divides passes runs courses enters arises originates crosses lies drains "
    "terminates ends continues reaches leads bulges protrudes radiates opens consists"
)
"""Verbs that say where a thing goes; behind them and a preposition stands what is there: "inserts on the wall"."""

COURSE_STEMS: Final = words(
    "attach insert project extend divide pass run course enter arise originate cross lie drain terminate end continue "
    "reach lead bulge protrude radiate open consist"
)
"""The same verbs of a subject in the plural, where most are nouns, too: "the neurons project across the midline"."""

MODALS: Final = words("can could may might will would should must")
"""Auxiliaries before the stem of a verb: "lines that may radiate from the disc"."""

SPEAKERS: Final = words("we they i authors")
"""Subjects behind which a form of the past is active: "we found small haemorrhages"."""

SIDES: Final = words(
    "posterior anterior medial lateral superior inferior temporal nasal distal proximal caudal cranial adjacent"
)
"""Adjectives before "to" that place a thing at the next: "3 mm posterior to the spur"."""

SIGNIFICANCE: Final = words(
    "significant significantly significance statistically statistical anova pvalue pvalues student students wilcoxon "
    "mann tukey bonferroni"
)
"""Words of a legend of significance: "* significant against control"."""

EXTENT_WORDS: Final = words(
    "figure fig figs left right upper lower top bottom eye eyes image images panel panels inset row column "
    "magnification original same black white see also i e g arrow middle center centre od os ou day days week weeks "
    "month months bar"
)
"""Words beside a mark in brackets that name no target: "(left eye, arrow)"."""

LEADS: Final = words(
    "see also i e g in the a an of at between above below within inside tip tips midpoint center centre area region "
    "areas indicated shown marked by with represented denoted highlighted seen delineated depicted identified both "
    "near around under over and or as next to left right pointed demarcated enclosed outlined from along red image "
    "note large small level labelled labeled using on behind adjacent defined designated"
)
"""Words before a mark in brackets that tie it to what stands before the bracket."""
