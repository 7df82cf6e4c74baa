"""Instructions in the gallery's data: turns, the words that answers rest on, boxes in percent."""

from __future__ import annotations

from pmo_assets.viewing.gallery.instructions import instructions_entry
from pmo_assets_tests.viewing.gallery_figures import figure, instruction, panel, registered, written_files

TEXT = "OCT shows <b>drusen</b>."
ASKED = instruction(
    "What is marked?", "<b>Drusen</b>.", "mark: arrow", words="<b>drusen</b>", text=TEXT, boxes=((0.1, 0.2, 0.3, 0.6),)
)


def test_what_answers_rest_on_is_marked_and_boxes_are_in_percent() -> None:
    entry = instructions_entry(figure(panel("A"), panel("B", subcaption=TEXT, instructions=(ASKED,))))
    assert entry == {
        "panels": [
            None,
            [
                {
                    "kind": "what",
                    "turns": [[0, "What is marked?"], [1, "<b>Drusen</b>."]],
                    "texts": [["subcaption", ["OCT shows ", ["<b>drusen</b>"], "."]]],
                    "others": ["mark: arrow"],
                    "places": [[10, 20, 20, 40]],
                }
            ],
        ]
    }
    assert instructions_entry(figure(panel("A"))) is None


def test_a_file_is_there_only_where_something_is_asked() -> None:
    _, files = written_files([figure(panel("A", instructions=(ASKED,))), figure(panel("A"), cluster="other")])
    (name,) = [name for name in files if name.startswith("data/instructions/")]
    first, second = registered(files[name])
    assert first["panels"][0][0]["kind"] == "what"
    assert second is None
    assert b"<b>" not in files[name], "nothing in it reads as markup"
    shown = registered(files["data/figures/0/0.js"])["figures"]
    assert [entry.get("asked") for entry in shown] == [True, None]
    assert not [name for name in written_files([figure(panel("A"))])[1] if name.startswith("data/instructions/")]
