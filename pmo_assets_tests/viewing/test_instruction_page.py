"""The page of a case's instructions: evidence is marked where it stands, and hostile words stay words."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.marked_words import marked_parts
from pmo_assets.viewing.instruction_page import InstructedPanel, ShownInstruction, instruction_page

WORDS = "OCT of a man shows <b>drusen</b> & fluid."


def cue(start: int, end: int) -> dict[str, Any]:
    return {"found_in": "subcaption", "mention": None, "start": start, "end": end, "text": WORDS[start:end]}


def panel(**values: Any) -> InstructedPanel:
    evidence = [
        {"kind": "scene", "text": WORDS[19:32], "mention": None, "start": 19, "end": 32},
        {"kind": "mark", "text": "white arrow", "mention": None, "start": None, "end": None},
    ]
    row = {
        "kind": "what", "topic": "mark", "maker": "template", "confidence": 0.9, "evidence": evidence,
        "messages": [
            {"role": "user", "content": "What is <i>marked</i>?"}, {"role": "assistant", "content": "Drusen."},
        ],
    }  # fmt: skip
    said = {"is_kept": True, "verdicts": [{"who": "checks", "criterion": "claim", "reason": ""}]}
    shown = ShownInstruction(row, said, ((0.1, 0.2, 0.3, 0.4),))
    cues = {"scenes": [cue(13, 40)], "context": [cue(4, 12)]}
    return InstructedPanel("p1", [WORDS], cues, None, [shown], **values)


def test_evidence_and_cues_are_marked_where_they_stand() -> None:
    page = instruction_page("A case", [panel(picture=b"\x89PNG\r\n\x1a\n...")])
    assert '<mark class="context">of a man</mark>' in page
    assert '<mark class="evidence">&lt;b&gt;drusen&lt;/b&gt;</mark>' in page
    assert "mark: white arrow" in page
    assert 'style="left:10.0%;top:20.0%;width:20.00%;height:20.00%"' in page


def test_words_of_articles_are_no_markup() -> None:
    page = instruction_page("<script>alert(1)</script>", [panel()])
    assert "<script>" not in page
    assert "<i>marked</i>" not in page
    assert "data:image" not in page, "no picture, no element for it"


@given(
    st.text("ab <&", max_size=20),
    st.lists(st.tuples(st.integers(-3, 25), st.integers(-3, 25), st.sampled_from(["scene", "context"])), max_size=4),
)
def test_parts_are_the_text_whatever_is_marked(text: str, spans: list[tuple[int, int, str]]) -> None:
    parts = marked_parts(text, spans)
    assert "".join(words for words, _ in parts) == text
    covered = {place for start, end, _ in spans for place in range(max(0, start), min(end, len(text)))}
    marked, at = set(), 0
    for words, kind in parts:
        marked |= set(range(at, at + len(words))) if kind else set()
        at += len(words)
    assert marked == covered
