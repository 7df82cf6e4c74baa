"""Rows of instructions for the tests of releases: questions of a panel, as the steps and as a release have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def asked(panel_id: str, ordinal: int, secret: str = "") -> list[dict[str, Any]]:
    """Return the instructions of a panel without its key: yes/no by turns, and what an arrow marks; each with words.

    Args:
        panel_id: of the panel.
        ordinal: its turn: even ones say yes, odd ones no.
        secret: words that stand in each of the texts.
    """
    said = f"{secret}Drusen of {panel_id}"
    words = {
        "kind": "scene", "text": said, "found_in": "subcaption", "mention": None, "start": 0, "end": len(said),
        "number": None,
    }  # fmt: skip
    shared = {"evidence": [words], "maker": "template", "confidence": 0.9}
    return [
        {
            **shared, "kind": "yes_no", "topic": "finding", "asked": "drusen", "boxes": [],
            "messages": [
                {"role": "user", "content": f"{secret}Does this image show drusen ({panel_id})?"},
                {"role": "assistant", "content": ("Yes.", "No.")[ordinal % 2]},
            ],
        },
        {
            **shared, "kind": "what", "topic": "mark", "asked": "arrow", "boxes": [[0.1, 0.2, 0.3, 0.4]],
            "messages": [
                {"role": "user", "content": "What is marked by the arrow?"},
                {"role": "assistant", "content": f"{said}."},
            ],
        },
    ]  # fmt: skip


def batch_rows(key: Mapping[str, Any], secret: str) -> dict[str, list[dict[str, Any]]]:
    """Return a panel's rows of the group's tables; the last instruction is discarded.

    Args:
        key: of the panel (`tables.context.PanelKey`).
        secret: words that stand in each of the texts.
    """
    own = {name: key[name] for name in ("article_id", "image_cluster_id", "ordinal", "panel_id")}
    found = asked(key["panel_id"], key["ordinal"], secret)
    lie = {**found[1], "messages": [found[1]["messages"][0], {"role": "assistant", "content": f"{secret}A lie."}]}
    rows = [{**own, "number": number, **row} for number, row in enumerate((*found, lie))]
    keep = {"who": "checks", "criterion": "claim", "verdict": "keep", "reason": ""}
    discard = {**keep, "verdict": "discard", "reason": "the evidence gives another answer, or none"}
    words = {"found_in": "subcaption", "mention": None, "start": 0, "end": 9, "text": f"{secret}scene"}
    return {
        "cues": [
            {
                **own, "scenes": [words], "context": [{**words, "text": f"{secret}history", "kind": "history"}],
                "model": None, "prompt_version": None, "refused": None,
            }
        ],
        "cue_scores": [
            {
                **own, "quality": 8, "difficulty": 5, "relevance": 4, "has_details": True, "is_kept": True,
                "for_reasoning": False, "scene_words": 9, "terms": 3, "findings": 1, "places": 1, "doubts": 0,
            }
        ],
        "instructions": rows,
        "verdicts": [
            {
                **own, "number": row["number"], "is_kept": row["number"] < len(found),
                "verdicts": [keep if row["number"] < len(found) else discard],
            }
            for row in rows
        ],
    }  # fmt: skip


def spoken_rows(pair_id: str, *, video_id: int, episode: int, answer: str = "Yes.") -> dict[str, list[dict[str, Any]]]:
    """Return the rows of `video_cues` and `video_instructions` of a picture of a lecture whose text is "drusen here".

    Three instructions: about drusen, by words; about the technique, by none; a lie that is discarded.
    """
    key = {"video_id": video_id, "episode": episode, "pair_id": pair_id}
    words = {"start": 0, "end": 11, "text": "Drusen here", "from_second": 1.0, "to_second": 2.5}
    no_words = dict.fromkeys(("start", "end", "from_second", "to_second"))
    modality = {"kind": "modality", "text": "OCT", **no_words}

    def row(number: int, topic: str, asked: str, question: str, evidence: dict[str, Any], said: str) -> dict[str, Any]:
        return {
            **key, "number": number, "kind": "yes_no" if said in ("Yes.", "No.") else "what", "topic": topic,
            "asked": asked, "evidence": [evidence], "maker": "template", "confidence": 0.9,
            "messages": [{"role": "user", "content": question}, {"role": "assistant", "content": said}],
            "is_kept": said != "A lie.", "verdicts": [],
        }  # fmt: skip

    return {
        "video_cues": [
            {
                **key, "scenes": [words], "context": [], "quality": 8, "difficulty": 4, "relevance": 4,
                "has_details": True, "is_kept": True, "modality": "OCT", "eye": None,
            }
        ],
        "video_instructions": [
            row(0, "finding", "drusen", "Are there drusen?", {"kind": "scene", **words}, answer),
            row(1, "imaging", "OCT", "What is this?", modality, "Optical coherence tomography."),
            row(2, "imaging", "OCT", "What is this?", modality, "A lie."),
        ],
    }  # fmt: skip


def hub_rows(panel: Mapping[str, Any], picture_row: int, turn: int) -> list[dict[str, Any]]:
    """Return a panel's rows of the hub's table.

    Args:
        panel: its row of the hub's panels.
        picture_row: its place among those of its split.
        turn: even ones say yes, odd ones no.
    """
    credit = (
        "panel_id", "article_id", "image_cluster_id", "license", "license_url", "commercial_use", "attribution",
        "split",
    )  # fmt: skip
    return [
        {
            **row, **{name: panel[name] for name in credit}, "instruction_id": f"{panel['panel_id']}_q{number}",
            "picture_row": picture_row, "scene": ["Drusen"], "context": ["A man of 60 years."],
            "picture_config": "panels", **dict.fromkeys(("pair_id", "video_id", "start", "end")),
        }
        for number, row in enumerate(asked(panel["panel_id"], turn))
    ]  # fmt: skip


def lecture_rows(video: Mapping[str, Any], picture_row: int, turn: int) -> list[dict[str, Any]]:
    """Return the rows of the hub's table about a picture of a lecture.

    Args:
        video: its row of the hub's videos.
        picture_row: its place among those of its split.
        turn: even ones say yes, odd ones no.
    """
    own = ("pair_id", "video_id", "start", "end", "license", "license_url", "commercial_use", "attribution", "split")
    (row, _) = asked(video["pair_id"], turn)
    evidence = [{**item, "found_in": "transcript"} for item in row["evidence"]]
    return [
        {
            **row, **{name: video[name] for name in own}, "evidence": evidence, "boxes": [],
            "instruction_id": f"{video['pair_id']}_q0", "picture_config": "videos", "picture_row": picture_row,
            "scene": ["Drusen"], "context": [],
            **dict.fromkeys(("panel_id", "article_id", "image_cluster_id")),
        }
    ]  # fmt: skip
