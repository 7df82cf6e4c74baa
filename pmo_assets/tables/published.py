"""Tables of files in the published form (PubMed-Ophtha, Table 2) that others made: as they are read, and compared.

None of them is the table of an asset; the form itself, as a release writes it, is `tables.release.PublishedPanels`.
"""

from __future__ import annotations

import dataframely as dy

from pmo_assets.tables.columns import page_boxes_column

_BOX = dy.List(dy.Float64(), nullable=True)


class ReadPanels(dy.Schema):
    """A row of a file in the published form, JSON taken apart; null is what the file does not say."""

    panel_id = dy.String(description="As in the file: p_17, p_gt_17, …")
    article_id = dy.Int64(min=1, description='PMC number without "PMC"')
    image_cluster_id = dy.String(description="Figure within the article, as in the file")
    panel_name = dy.String(nullable=True, description='Panel identifier; null for a single panel ("None" in the file)')
    subcaption_text = dy.String(nullable=True, description="Subcaption; null where it is withheld")
    subcaption_parts = dy.List(
        dy.Struct({"start": dy.Int64(nullable=True), "end": dy.Int64(nullable=True), "text": dy.String(nullable=True)}),
        nullable=True,
        description="What the subcaption is made of, in order: a [start, end) range of the caption, or a text",
    )
    in_text_mention = dy.List(dy.String(), nullable=True, description="Paragraphs that refer to the figure")
    is_multi_page_figure = dy.Bool(nullable=True, description="The figure runs over several pages")
    figure_page_boxes = page_boxes_column("Where the figure lies: page (from 0) and [l, t, r, b] in PDF points")
    panel_box = dy.List(dy.Float64(), nullable=True, description="Panel as detected, normalised to the figure")
    content_box = dy.List(dy.Float64(), nullable=True, description="What the picture shows, normalised to the figure")
    panel_score = dy.Float64(nullable=True, description="Score of the panel detection")
    images = dy.List(
        dy.Struct(
            {
                "id": dy.String(nullable=True),
                "box": _BOX,
                "score": dy.Float64(nullable=True),
                "image_types": dy.List(dy.String()),
                "type_score": dy.Float64(nullable=True),
                "marked": dy.Bool(nullable=True),
                "mark_score": dy.Float64(nullable=True),
                "is_gt": dy.Bool(nullable=True),
            }
        ),
        nullable=True,
        description="Images in the panel; annotated ones may have several types, undecided ones have none",
    )
    identifiers = dy.List(
        dy.Struct(
            {
                "id": dy.String(nullable=True),
                "box": _BOX,
                "score": dy.Float64(nullable=True),
                "text": dy.String(nullable=True),
                "is_gt": dy.Bool(nullable=True),
            }
        ),
        nullable=True,
        description="Identifiers printed in the panel",
    )
    contains_cfp = dy.Bool(nullable=True, description="Holds a colour fundus photograph")
    contains_oct = dy.Bool(nullable=True, description="Holds an OCT image")
    contains_retinal = dy.Bool(nullable=True, description="Holds another retinal image")
    contains_other = dy.Bool(nullable=True, description="Holds another image")
    contains_marked = dy.Bool(nullable=True, description="Holds an image with arrows or other marks")
    assembly = dy.String(nullable=True, description="Who assigned the subcaption")
    annotation = dy.String(nullable=True, description="What people annotated, JSON")
    license = dy.String(nullable=True, description="Licence code; null when none is stated")
    attribution = dy.String(nullable=True, description="Whom to credit")
    commercial_use = dy.Bool(nullable=True, description="The licence allows commercial use")


class ComparedPanels(dy.Schema):
    """A panel of a published file, of a release, or of both: how far they agree."""

    article_id = dy.Int64(min=1, description='PMC number without "PMC"')
    found_by = dy.Enum(["both", "published", "release"], description="Which of the two files has it")
    published_panel_id = dy.String(nullable=True, description="Its id in the published file")
    release_panel_id = dy.String(nullable=True, description="Its id in the release")
    published_figure = dy.String(nullable=True, description="image_cluster_id there")
    release_figure = dy.String(nullable=True, description="image_cluster_id here")
    figure_matched_by = dy.Enum(
        ["name", "similar name", "place"], nullable=True, description="What shows that both figures are the same"
    )
    figure_iou = dy.Float64(nullable=True, min=0, max=1, description="Overlap of the figures' boxes on the pages")
    panel_iou = dy.Float64(nullable=True, min=0, max=1, description="Overlap of the panels' boxes")
    published_name = dy.String(nullable=True, description="Panel identifier there")
    release_name = dy.String(nullable=True, description="Panel identifier here")
    same_name = dy.Bool(nullable=True, description="The identifiers are the same but for case and punctuation")
    subcaption = dy.Enum(
        ["compared", "withheld there", "withheld here", "withheld in both"],
        nullable=True,
        description="Whether both files have the subcaption",
    )
    subcaption_exact = dy.Bool(nullable=True, description="The subcaptions are the same but for white space")
    edit_similarity = dy.Float64(nullable=True, min=0, max=1, description="1 - edit distance / length of the longer")
    token_overlap = dy.Float64(nullable=True, min=0, max=1, description="Dice coefficient of the words, counted")
    published_types = dy.List(dy.String(), description="Image types there")
    release_types = dy.List(dy.String(), description="Image types here")
    published_marked = dy.Bool(nullable=True, description="Holds a marked image there")
    release_marked = dy.Bool(nullable=True, description="Holds a marked image here")
    published_license = dy.String(nullable=True, description="Licence there")
    release_license = dy.String(nullable=True, description="Licence here")
    reason = dy.String(nullable=True, description="Why only one of the files has it")
