"""What people decided in place of what the machine assembled: field by field, on the figure that they saw."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.assembly.steps import NOT_APPLIED, review_article
from pmo_assets.pipeline.figures.fingerprint import difference, fingerprint
from pmo_assets.records.step_output import StepOutput
from pmo_assets.records.stores import Picture
from pmo_assets.tables.panels import ReviewedPanels
from pmo_assets.tables.schemas import checked
from pmo_assets_tests.annotation.answered_cases import CAPTION, LEFT, RIGHT, SEEN, figure_row, image, panel_row, pixels

B_TEXT = "Overview. OCT scan. Scale bars 1 mm."


class Pixels:
    def __init__(self, shade: int = 200) -> None:
        self.shade = shade

    def read(self, article_id: int) -> dict[str, Picture]:
        return {"p1-1": Picture("p1-1", 400, 200, png_bytes(pixels(self.shade)))}

    def write(self, article_id: int, pictures: object) -> None:
        raise AssertionError("review writes no pictures")


def decided(box: Any, identifier: str | None, subcaption: str | None = None, **further: Any) -> dict[str, Any]:
    return {"identifier": identifier, "identifier_box": None, "box": list(box), "subcaption": subcaption, "images": [],
            "segments": None, "verdict": None, "judged": None} | further  # fmt: skip


def annotation(*panels: dict[str, Any], purpose: str = "resolve", fields: tuple[str, ...] = ("subcaptions",),
               seen: Any = SEEN, **further: Any) -> dict[str, Any]:  # fmt: skip
    row = figure_row()
    review = {"purpose": purpose, "decided": list(fields), "interface": None, "annotator": "p1", "at": "2026-01-02",
              "fingerprint": asdict(seen) if seen else None}  # fmt: skip
    return {
        "label": row["label"], "image_cluster_id": "f1", "figure_locations": row["locations"],
        "caption_locations": [], "caption": CAPTION, "panels": list(panels), "review": review,
    } | further  # fmt: skip


def split() -> list[dict[str, Any]]:
    shared = {"confidence": 0.7, "reasons": [], "method": "grammar", "model": None, "prompt_version": None}
    return [
        {"article_id": 7, "image_cluster_id": "f1", "ordinal": n, "identifier": name, "text": text,
         "segments": [[0, 9]], **shared}
        for n, (name, text) in enumerate((("a", "Overview. CFP of the eye."), ("b", B_TEXT)))
    ]  # fmt: skip


MACHINE = (panel_row(0, LEFT, "a"), panel_row(1, RIGHT, None))


def reviewed(*annotations: dict[str, Any], machine: Any = MACHINE, shade: int = 200, **figure: Any) -> StepOutput:
    rows = [{"article_id": 7, "name": "PMC7", "figures": list(annotations)}] if annotations else []
    output = review_article([figure_row(**figure)], machine, split(), [], rows, Pixels(shade))
    checked(ReviewedPanels, output.rows)
    assert output.rejections == []
    return output


def notes(output: StepOutput) -> list[str]:
    return [text.removeprefix(NOT_APPLIED) for text in output.tally if text.startswith(NOT_APPLIED)]


def without_decisions(row: dict[str, Any]) -> dict[str, Any]:
    stripped = {key: [{k: v for k, v in item.items() if k != "is_gt"} for item in row[key]]
                for key in ("images", "printed_identifiers")}  # fmt: skip
    return {key: value for key, value in {**row, **stripped}.items() if key != "annotations"}


def test_without_annotations_everything_passes_through() -> None:
    output = reviewed()
    assert [without_decisions(row) for row in output.rows] == list(MACHINE)
    assert not any(item["is_gt"] for row in output.rows for item in (*row["images"], *row["printed_identifiers"]))
    assert all(row["annotations"] == [] for row in output.rows)
    assert output.tally.total() == 0


def test_an_open_panel_gets_the_subcaption_that_a_person_gave_and_nothing_else_changes() -> None:
    first, second = reviewed(annotation(decided(LEFT, "a"), decided(RIGHT, "b", B_TEXT))).rows
    assert without_decisions(first) == MACHINE[0], "null means that the person left it to the machine"
    assert (second["subcaption"], second["identifier"], second["assembly"]) == (B_TEXT, "b", "Manual Assignment")
    assert (second["method"], second["confidence"], second["caption_confidence"]) == ("resolved", 1.0, 1.0)
    assert second["evidence"][0]["kind"] == "person"
    assert second["images"] == [{**MACHINE[1]["images"][0], "is_gt": False}]
    assert second["content_box"] == MACHINE[1]["content_box"]
    assert "".join(CAPTION[a:b] for a, b in second["segments"]).startswith("Overview.")


def test_marked_segments_are_kept_where_the_caption_is_the_same() -> None:
    given = decided(RIGHT, "b", "OCT scan.", segments=[[34, 43]])
    assert reviewed(annotation(given)).rows[1]["segments"] == [[34, 43]]
    other = CAPTION.replace("Overview", "An overview")
    moved = reviewed(annotation(given), caption=other).rows[1]["segments"]
    assert [other[a:b] for a, b in moved] == ["OCT scan."]


def test_subcaptions_of_another_caption_are_not_taken_and_that_is_said() -> None:
    output = reviewed(annotation(decided(RIGHT, "b", B_TEXT)), caption="Something else altogether stands here now.")
    assert output.rows[1]["subcaption"] is None
    assert notes(output) == ["Figure 1: the caption is another one than people read: their subcaptions are not taken"]


def test_images_that_people_drew_replace_the_machines_under_their_names() -> None:
    same, new = list(MACHINE[0]["images"][0]["box"]), [0.01, 0.01, 0.08, 0.15]
    images = [{"box": same, "type": "OCT", "marked": True}, {"box": new, "type": "Other", "marked": None}]
    given = decided(LEFT, "a", images=images, identifier_box=[0.0, 0.0, 0.06, 0.1])
    fields = ("panels", "identifiers", "images")
    output = reviewed(annotation(given, decided(RIGHT, None), purpose="full", fields=fields))
    first, second = output.rows
    assert [(i["id"], i["image_type"], i["marked"], i["is_gt"]) for i in first["images"]] == [
        ("i0", "OCT", True, True), ("h0-1", "Other", None, True)
    ]  # fmt: skip
    assert first["printed_identifiers"] == [
        {"id": "d0", "box": [0.0, 0.0, 0.06, 0.1], "score": 1.0, "text": "a", "is_gt": True}
    ]
    assert (first["subcaption"], first["assembly"]) == (MACHINE[0]["subcaption"], "Ground Truth")
    assert second["images"] == []
    assert first["annotations"] == [{"purpose": "full", "decided": list(fields), "annotator": "p1", "at": "2026-01-02"}]


def test_an_unassigned_image_that_people_put_into_a_panel_stands_there_and_nowhere_else() -> None:
    box = [0.3, 0.8, 0.45, 0.95]
    listed = [panel_row(0, LEFT, "a", unassigned_images=[image("i9", box)]), MACHINE[1]]
    given = decided(LEFT, "a", images=[{"box": box, "type": "OCT", "marked": None}])
    first, _ = reviewed(
        annotation(given, decided(RIGHT, None), purpose="full", fields=("images",)), machine=listed
    ).rows
    assert [item["id"] for item in first["images"]] == ["i9"]
    assert first["unassigned_images"] == []


@pytest.mark.parametrize("machine", [panel_row(1, RIGHT, "b", confidence=0.4),
                                     panel_row(1, RIGHT, "b", subcaption=None, assembly=None)])  # fmt: skip
def test_an_identifier_that_a_person_confirms_decides_the_panel(machine: dict[str, Any]) -> None:
    given = annotation(decided(RIGHT, "b"), purpose="full", fields=("identifiers",))
    (row,) = reviewed(given, machine=[machine]).rows
    assert (row["subcaption"], row["assembly"], row["confidence"]) == (B_TEXT, "Ground Truth", 1.0)


def test_panels_added_twice_have_numbers_of_their_own() -> None:
    top, bottom = (0.5, 0.0, 1.0, 0.5), (0.5, 0.5, 1.0, 1.0)
    resolve = annotation(decided(top, "a"), decided(LEFT, "b"), fields=("panels", "identifiers"))
    full = annotation(decided(bottom, "b"), decided(top, "a"), purpose="full", fields=("panels", "identifiers"))
    numbers = [row["ordinal"] for row in reviewed(resolve, full).rows]
    assert len(set(numbers)) == 2, numbers


def test_panels_that_people_drew_are_added_under_numbers_of_their_own_and_struck_out_ones_go() -> None:
    top, bottom = (0.0, 0.0, 0.5, 0.5), (0.0, 0.5, 0.5, 1.0)
    given = annotation(decided(top, "a"), decided(bottom, "b"), purpose="full", fields=("panels", "identifiers"))
    output = reviewed(given)
    assert [row["ordinal"] for row in output.rows] == [0, 1001]
    assert output.rows[0]["box"] == list(top)
    assert (output.rows[1]["subcaption"], output.rows[1]["caption_confidence"]) == (B_TEXT, 0.7)
    assert output.rows[1]["assembly"] == "Ground Truth"
    assert output.tally["panels added"] == output.tally["panels removed"] == 1
    assert len(output.rows[1]["images"]) + len(output.rows[0]["images"]) <= 1


def test_a_full_annotation_has_the_last_word_and_may_say_that_there_is_no_subcaption() -> None:
    resolve = annotation(decided(RIGHT, "b", "From the undecided case."))
    full = annotation(decided(LEFT, "a", "True words."), decided(RIGHT, None), purpose="full",
                      fields=("panels", "subcaptions"))  # fmt: skip
    first, second = reviewed(full, resolve).rows
    assert (first["subcaption"], first["assembly"], first["method"]) == ("True words.", "Ground Truth", "annotated")
    assert (second["subcaption"], second["assembly"]) == (None, None)
    assert [item["purpose"] for item in first["annotations"]] == ["resolve", "full"]


def test_an_audit_overrides_nothing() -> None:
    output = reviewed(annotation(decided(LEFT, "a", "Other", verdict="wrong"), purpose="audit", fields=()))
    assert [without_decisions(row) for row in output.rows] == list(MACHINE)
    assert notes(output) == []


def test_a_figure_that_changed_keeps_the_machines_rows_and_that_is_said() -> None:
    output = reviewed(annotation(decided(RIGHT, "b", B_TEXT)), shade=90)
    assert [without_decisions(row) for row in output.rows] == list(MACHINE)
    assert notes(output) == ["Figure 1: the figure changed under the annotation: it looks different"]


def test_a_figure_that_was_only_rendered_again_is_the_same() -> None:
    import cv2

    larger = cv2.resize(pixels(), (611, 305), interpolation=cv2.INTER_CUBIC)
    assert difference(fingerprint(larger), SEEN) is None
    assert "pixels" in str(difference(fingerprint(larger[:250]), SEEN))


def test_the_machine_may_count_differently_after_a_re_run() -> None:
    renumbered = (panel_row(0, RIGHT, None), panel_row(4, LEFT, "a"))
    output = reviewed(annotation(decided(RIGHT, "b", B_TEXT)), machine=renumbered)
    assert {row["ordinal"]: row["subcaption"] for row in output.rows} == {0: B_TEXT, 4: MACHINE[0]["subcaption"]}
    gone = reviewed(annotation(decided(RIGHT, "b", B_TEXT)), machine=(panel_row(0, LEFT, "a"),))
    assert notes(gone) == ["Figure 1: no panel is where panel “b” was"]


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"image_cluster_id": None, "figure_locations": [{"page": 5, "bbox": [0.0, 0.0, 9.0, 9.0]}]},
         "Figure 1: no such figure was found"),
        ({"panels": [decided(RIGHT, "b", images=[{"box": [0.0, 0.0, 1.0, 1.0], "type": "Fundus", "marked": None}])]},
         "Figure 1: panels.0.images.0.type"),
    ],
)  # fmt: skip
def test_what_fits_no_figure_is_said(change: dict[str, Any], note: str) -> None:
    output = reviewed(annotation(decided(RIGHT, "b", B_TEXT), **change))
    assert [without_decisions(row) for row in output.rows] == list(MACHINE)
    assert notes(output)[0].startswith(note)


def test_an_annotation_by_hand_is_full_and_holds_where_the_figure_lies_as_annotated() -> None:
    by_hand = annotation(decided(LEFT, "a", "True."), decided(RIGHT, "b", "True, too."), review=None)
    by_hand["figure_locations"] = [{"page": 1, "bbox": [100.0, 100.0, 500.0, 310.0]}]
    first, second = reviewed(by_hand).rows
    assert (first["subcaption"], second["subcaption"], first["assembly"]) == ("True.", "True, too.", "Ground Truth")
    assert first["box"] == pytest.approx([0, 0, 0.5, 1]), "1.05 of the found figure, cut to it"
    by_hand["figure_locations"] = [{"page": 1, "bbox": [100.0, 100.0, 500.0, 450.0]}]
    output = reviewed(by_hand)
    assert [without_decisions(row) for row in output.rows] == list(MACHINE)
    assert notes(output) == ["Figure 1: the figure lies elsewhere than the annotated one (IoU 0.57)"]
