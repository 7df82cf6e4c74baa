"""Tables of BIOMEDICA's figures: what was read of them, and which package figure each one is."""

from __future__ import annotations

import dataframely as dy

from pmo_assets.tables.columns import ArticleKey, FigureKey

_LABELS = {
    "panel_type": '"single" or "multiple"; empty when not stated',
    "panel_subtype": "Kind of panels; empty when not stated",
    "primary_labels": 'Coarse classes, e.g. "Clinical Imaging"',
    "secondary_labels": 'Fine classes, e.g. "optical coherence tomography"',
}


class BiomedicaFigures(ArticleKey):
    """What BIOMEDICA (PMO_BIOMEDICA) has of the batch's articles; empty without it."""

    row_id = dy.String(primary_key=True, description="File of the dataset and place in it")
    image_cluster_id = dy.String(description="Name of the picture's file without extension, as the dataset states it")
    caption = dy.String(description="Caption; empty when the dataset has none")
    panel_type = dy.String(description=_LABELS["panel_type"])
    panel_subtype = dy.String(description=_LABELS["panel_subtype"])
    primary_labels = dy.List(dy.String(), description=_LABELS["primary_labels"])
    secondary_labels = dy.List(dy.String(), description=_LABELS["secondary_labels"])
    image_hash = dy.String(nullable=True, description="Hash of the picture as the dataset states it")
    context = dy.List(dy.String(), description="Paragraphs of the article that mention the figure")
    license = dy.String(nullable=True, description="Licence of the article as the dataset states it")
    perceptual_hash = dy.String(
        nullable=True, description="Perceptual hash of the picture, 64 bits in hexadecimal digits; null without picture"
    )
    aspect_ratio = dy.Float64(nullable=True, description="Width / height of the picture; null when not known")


class BiomedicaMatches(FigureKey):
    """The labels that BIOMEDICA gives package figures, where it is certain which one a picture is."""

    accepted = dy.Bool(description="A row of BIOMEDICA is this figure")
    row_id = dy.String(nullable=True, description="That row; null when there is none")
    criteria_passed = dy.Int64(nullable=True, min=0, max=4, description="How many of the four criteria pass")
    hash_distance = dy.Int64(nullable=True, description="Differing bits of 64; null without both pictures")
    name_matches = dy.Bool(nullable=True, description="The picture is named as a graphic of the figure")
    aspect_ratio_error = dy.Float64(nullable=True, description="Relative difference of width / height")
    caption_distance = dy.Float64(nullable=True, description="Normalised edit distance of the captions, 0..1")
    panel_type = dy.String(nullable=True, description=_LABELS["panel_type"])
    panel_subtype = dy.String(nullable=True, description=_LABELS["panel_subtype"])
    primary_labels = dy.List(dy.String(), description=_LABELS["primary_labels"])
    secondary_labels = dy.List(dy.String(), description=_LABELS["secondary_labels"])
    reason = dy.String(description="Which criteria agree, or why there is no row")


class BiomedicaShard(dy.Schema):
    """What was read of one file of the dataset: rows of registered articles, and which other articles it holds."""

    state = dy.String(description="figure, malformed, or other: of an article that nobody has asked for")
    article_id = dy.Int64(nullable=True, min=1, description="PMC number; null in malformed rows without one")
    message = dy.String(nullable=True, description="Why a row is malformed")
    row_id = dy.String(nullable=True, description="As in biomedica_figures, like all that follows")
    image_cluster_id = dy.String(nullable=True)
    caption = dy.String(nullable=True)
    panel_type = dy.String(nullable=True)
    panel_subtype = dy.String(nullable=True)
    primary_labels = dy.List(dy.String(), nullable=True)
    secondary_labels = dy.List(dy.String(), nullable=True)
    image_hash = dy.String(nullable=True)
    context = dy.List(dy.String(), nullable=True)
    license = dy.String(nullable=True)
    perceptual_hash = dy.String(nullable=True)
    aspect_ratio = dy.Float64(nullable=True)


SCHEMAS: dict[str, type[dy.Schema]] = {
    "biomedica_figures": BiomedicaFigures,
    "biomedica_matches": BiomedicaMatches,
}
"""The schema of each asset that is a table."""
