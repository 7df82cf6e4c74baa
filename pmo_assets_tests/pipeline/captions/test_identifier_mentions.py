"""Places where a caption may name panels: what is read there, and what is no mention."""

# ruff: noqa: E501 (a caption is a line)

from __future__ import annotations

import pytest

from pmo_assets.pipeline.captions.identifier_mentions import mentions
from pmo_assets.pipeline.captions.tokens import tokenized

MENTIONS = """
Retina in Fig. 2 (A) and table 3 (b).

See Figure 2(A), ref 4 (b).

In figs. 2 (A) and 3 (B).
brackets | B | (B) | (B) |

Eye 2 (A) and case. 3 (B).
brackets | A | (A) | (A) |
brackets | B | (B) | (B) |

2 (A) as first.
brackets | A | (A) | (A) |

Fig 2 (A) and (B).
brackets | B | (B) | (B) |

Seen () and (A) (unclosed (B
brackets | A | (A) | (A) |

The retina (panel A) and lens (image. B).
brackets | A | (panel A) | (panel A) |
brackets | B | (image. B) | (image. B) |

Shown (fig. A) and (figures B and C).
brackets | A | (fig. A) | (fig. A) |
brackets | B, C | (figures B and C) | (figures B and C) |

Cells (A, B, respectively) and (C respectively).
brackets | A, B | (A, B, respectively) | (A, B, respectively) |
brackets | C | (C respectively) | (C respectively) |

Cells (A and so on) here.

Stage (II), grade (iv), type (1) and (II).
brackets | II | (II) | (II) |

Groups (A) and classes (B).
brackets | A | (A) | (A) |
brackets | B | (B) | (B) |

Eyes (1) and (2, 3), (panel 4).
brackets | 1 | (1) | (1) |
brackets | 2, 3 | (2, 3) | (2, 3) |
brackets | 4 | (panel 4) | (panel 4) | opens

Eyes (1) and (A), (2).
brackets | 1 | (1) | (1) |
brackets | A | (A) | (A) |
brackets | 2 | (2) | (2) | opens

Eyes (A) to (C) and (D).
brackets | A–C, D | (A) to (C) and (D) | (A) to (C) and (D) |

Eyes (A)–(C), (D), and (E) or (F).
brackets | A–C, D, E, F | (A)–(C), (D), and (E) or (F) | (A)–(C), (D), and (E) or (F) |

Eyes (A) and (1).
brackets | A | (A) | (A) |
brackets | 1 | (1) | (1) |

Eyes (A) and and and (B).
brackets | A | (A) | (A) |
brackets | B | (B) | (B) |

Eyes (A), (H & E).
brackets | A, H, E | (A), (H & E) | (A), (H & E) |

Eyes (H & E) and (B).
brackets | H, E | (H & E) | (H & E) |
brackets | B | (B) | (B) |

Eyes (A, B)-(D, E).
brackets | A, B–D, E | (A, B)-(D, E) | (A, B)-(D, E) |

Eyes (A)–(C, D).
brackets | A–C, D | (A)–(C, D) | (A)–(C, D) |

Eyes (A–B)–(D).
brackets | A–B | (A–B) | (A–B) |
brackets | D | (D) | (D) |

Eyes (A)–(c).
brackets | A | (A) | (A) |
brackets | c | (c) | (c) |

Eyes (A)–(B–C).
brackets | A | (A) | (A) |
brackets | B–C | (B–C) | (B–C) |

Eyes (A) through (D) live.
brackets | A–D | (A) through (D) | (A) through (D) |

Eyes (A), (B, x).
brackets | A, B, x | (A), (B, x) | (A), (B, x) |

Eyes (a) (b) (c).
brackets | a, b, c | (a) (b) (c) | (a) (b) (c) |

Eyes [A] and [B].
brackets | A, B | [A] and [B] | [A] and [B] |

(A and C: 100x; B and D: 400x)
delimited | A, C | (A and C: | (A and C: | opens
delimited | B, D | B and D: | B and D: | opens

(A, right eye; B, left eye)
delimited | A | (A, | (A, | opens
delimited | B | B, | B, | opens

(A = right eye, B = left eye)
delimited | A | (A = | (A = | opens
delimited | B | B = | B = | opens

(A = right eye; B = left eye)
delimited | A | (A = | (A = | opens
delimited | B | B = | B = | opens

(A = right eye)

(A, 200x, B, 400x)
partial | A | (A, 200x, B, 400x) | A, | opens

(A, 200x; b)
partial | A | (A, 200x; b) | A, | opens

(A, x; B: y)
delimited | A, x, B | (A, x; B: | (A, x; B: | opens

(C, 200x)
partial | C | (C, 200x) | C, | opens

(C; 200x)
partial | C | (C; 200x) | C; | opens

(1, 200x)

(anti-CD34, E-H)
partial | E–H | (anti-CD34, E-H) | , E-H | opens

(anti-CD34; panels E-H)
partial | E–H | (anti-CD34; panels E-H) | ; panels E-H | opens

(anti-CD34, panel E)
partial | E | (anti-CD34, panel E) | , panel E | opens

(HE stain, A, B, C and D)
partial | A, B, C, D | (HE stain, A, B, C and D) | , A, B, C and D | opens

(HE stain, A, panels B)
partial | B | (HE stain, A, panels B) | , panels B | opens

(HE stain, more, words)

(HE stain, 1)

(HE stain; A, x)
partial | A, x | (HE stain; A, x) | ; A, x | opens

(HE stain, panel)

(one, two three four five six seven eight nine ten eleven twelve thirteen, A b)

(left, x) and (right; y).
partial | left | (left, x) | left, | opens place
partial | right | (right; y) | right; | place

(left: x) and (upper row).
delimited | left | (left: | (left: | opens place
brackets | upper row | (upper row) | (upper row) | place

(left) and (right) of (left eye).
brackets | left | (left) | (left) | opens place
brackets | right | (right) | (right) | place

(the left panel) and (left x).

Step 1: the camera. Step 2: the eye.
delimited | Step 1 | Step 1: | Step 1: | opens
delimited | Step 2 | Step 2: | Step 2: | opens

Then step 1: no. Step 2 no. Step x: no. Row 3: yes.
delimited | Row 3 | Row 3: | Row 3: | opens

Step 1

Panel (A) and panels (B, C).
noun | A | Panel (A) |  | opens
brackets | B, C | (B, C) | (B, C) |

Photograph (A) and image (B).
brackets | A | (A) | (A) |
brackets | B | (B) | (B) |

As shown in images (A) and (B), from photograph (C).
noun | A, B | images (A) and (B) |  |
noun | C | photograph (C) |  |

Image (A) alone.
brackets | A | (A) | (A) |

image a of the eye. Image A of the eye. image A.
noun | A | Image A |  | opens
noun | A | image A |  | opens

Image a of the eye. IMAGE a is.
noun | a | Image a |  | opens
noun | a | IMAGE a |  | opens

panels a and b. panel a is.
noun | a, b | panels a and b |  | opens

Panels A and B: fundus. Panel C) OCT.
delimited | A, B | Panels A and B: | Panels A and B: | opens
delimited | C | Panel C) | Panel C) | opens

Panel A. Fundus. panel B. fundus.
delimited | A | Panel A. | Panel A. | opens
noun | B | panel B |  | opens

Panel A.
noun | A | Panel A |  | opens

Panel A
noun | A | Panel A |  | opens

Panel 1 and panel 2.

The panel shows. In panel B the eye.
noun | B | panel B |  | opens

Shown here: panel A: x. And panel B: y.
delimited | A | panel A: | panel A: | opens
noun | B | panel B |  |

Left: x. Right: y.
delimited | left | Left: | Left: | opens place
delimited | right | Right: | Right: | opens place

Left) x. Upper right) y.
delimited | left | Left) | Left) | opens place
delimited | upper right | Upper right) | Upper right) | opens place

Left, x; right, y. Top and bottom, z.
delimited | left | Left, | Left, | opens place
delimited | right | right, | right, | opens place

left, x. Left. X. Right – y.
delimited | left | Left. | Left. | opens place
delimited | X | X. | X. | opens
delimited | right | Right – | Right – | opens place

Left panel, x. Right panel. Y. Left panel-x.
delimited | left | Left panel, | Left panel, | opens place
delimited | right | Right panel. | Right panel. | opens place
delimited | Y | Y. | Y. | opens
delimited | left | Left panel- | Left panel- | opens place

Left x, right y.

Left,x. Left.

Eyes: left, x; top, y: right, z.
delimited | top | top, | top, | opens place
delimited | y | y: | y: | opens

The left panel shows x and the right panel y.
noun | left | left panel |  | place
noun | right | right panel |  | place

The upper row shows x and the lower row displays y.
noun | upper row | upper row |  | place
noun | lower row | lower row |  | place

x and the lower row shows y, whereas lower panel is z.
bare | x | x | x | opens
noun | lower row | lower row |  | place
noun | lower | lower panel |  | place

x of the lower row shows y.
bare | x | x | x | opens

A left panel and left side shows.
bare | A | A | A | opens

Left side shows the eye. Left half is dark.
noun | left | Left side |  | opens place
noun | left | Left half |  | opens place

Left shows the eye, right shows.

The left eye panel. Then the left panel. the left panel

A) tissue and B) lens. (x B) y.
half | A | A) | A) | opens
half | B | B) | B) |

Tissue a) x; b) y. tissue b ) y.
half | a | a) | a) |
half | b | b) | b) | opens

A ) x.

(see A) x. Then B) y.
half | B | B) | B) |

A: x. B: y; c: z, d: w.
delimited | A | A: | A: | opens
delimited | B | B: | B: | opens
delimited | y, c | y; c: | y; c: | opens
delimited | z, d | z, d: | z, d: | opens

Values are a: p < 0.05 and 1: x.

A: p < 0.05. B: P = 0.1. C: p53 cells.
delimited | C | C: | C: | opens

A, p < 0.05. B. p > 1.

A = x, B = y; C = z and D = w.
delimited | B | B = | B = | opens
delimited | C | C = | C = | opens

A = x. B=y

A. X. B. y. C.d
delimited | A | A. | A. | opens
delimited | B | B. | B. | opens

x; A. Y. x, A. Y. x: A. Y.
delimited | x, A | x; A. | x; A. | opens
delimited | Y | Y. | Y. | opens
delimited | Y | Y. | Y. | opens
delimited | x | x: | x: | opens

A, B, x. C and D, y. E & F, z. G–H, w.
delimited | A, B, x | A, B, x. | A, B, x. | opens
delimited | C, D, y | C and D, y. | C and D, y. | opens
delimited | E, F, z | E & F, z. | E & F, z. | opens

A, x. B – y. C-y. D-, z.
delimited | A, x | A, x. | A, x. | opens
delimited | B | B – | B – | opens

A and B. X. A, B. X
delimited | A, B | A and B. | A and B. | opens
delimited | X | X. | X. | opens

x; A, y; B – z.
bare | x, A, y, B | x; A, y; B | x; A, y; B | opens

A Fundus. B OCT. C (x). D ±2. E,F g.
bare | A | A | A | opens
bare | B | B | B | opens
bare | C | C | C | opens
brackets | x | (x) | (x) |
bare | D | D | D | opens
bare | E, F | E,F | E,F | opens

a Fundus. b OCT and c ICGA and e x.
bare | a | a | a | opens
bare | b | b | b | opens
bare | c | c | c |

tissue a Text and tissue b Text, e Text.
bare | a | a | a |
bare | b | b | b |

a, b Fundus. a, b fundus; c, d Text
bare | a, b | a, b | a, b | opens
bare | a, b | a, b | a, b | opens
bare | d | d | d | opens

A fundus is seen. Vitamin A and B here.
bare | A | A | A | opens

1 Fundus. 2 OCT. 1) x. 2. y.
bare | 1 | 1 | 1 | opens
bare | 2 | 2 | 2 | opens
half | 1 | 1) | 1) | opens

1: x. 2, y.

A

A.

A,

A B
bare | A | A | A | opens

i fundus ii OCT.
bare | i | i | i | opens

The left panel with drusen. The lower row with the
noun | left | left panel |  | place
noun | lower row | lower row |  | place

Eyes (A), (B, 200x) and (C text).
brackets | A | (A) | (A) |
partial | B | (B, 200x) | B, | opens

Eyes (A) and
brackets | A | (A) | (A) |

Eye (A)
brackets | A | (A) | (A) |

In figure panels (A) and B.
noun | A, B | panels (A) and B |  |
"""
"""One block per text, every branch of the grammar of mentions: the text, then one line per mention, "form | identifiers |
as printed | what a subcaption leaves out of it | whether it opens a clause, and is a word of place"."""


@pytest.mark.parametrize("block", MENTIONS.strip().split("\n\n"))
def test_mentions(block: str) -> None:
    text, *expected = block.split("\n")
    found = []
    for mention in mentions(tokenized(text)):
        identifiers = ", ".join(f"{first}–{last}" if last else first for first, last in mention.items)
        cut = " … ".join(text[start:end] for start, end in mention.cuts)
        flags = [word for word, flag in (("opens", mention.opens), ("place", mention.positional)) if flag]
        parts = [mention.form.name.lower(), identifiers, text[mention.start : mention.end], cut, " ".join(flags)]
        found.append(" | ".join(parts).rstrip())
    assert found == expected


def test_brackets_far_into_a_caption_are_joined_all_the_same() -> None:
    text = "word " * 300 + "(A) and (B)."
    assert [mention.items for mention in mentions(tokenized(text))] == [(("A", ""), ("B", ""))]
