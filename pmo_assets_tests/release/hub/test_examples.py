"""Panels that the card shows: which are chosen, and what of them is written."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from pmo_assets.release.hub.examples import MOST, SIDE, card_examples, chosen_panels
from pmo_assets.storage.data_root import DataRoot

KINDS = ("cfp", "oct", "retinal")
SCHEMA = {"rights_statement": pl.String, "article_url": pl.String, "license_url": pl.String, "license": pl.String}


def row(number: int, kind: str = "oct", **changes: Any) -> dict[str, Any]:
    return {
        "panel_id": f"p_{number}", "article_id": number, "subcaption_text": f"OCT of the macula of patient {number}.",
        "attribution": f"Author {number}", "article_url": None, "license": "CC BY", "license_url": None,
        "rights_statement": None, "assembly_confidence": 0.97, "picture_width": 400, "picture_height": 300,
        **{f"contains_{name}": name == kind for name in KINDS}, **changes,
    }  # fmt: skip


def chosen(*rows: dict[str, Any]) -> list[str]:
    return [found["panel_id"] for found in chosen_panels(pl.DataFrame(rows, schema_overrides=SCHEMA))]


@pytest.mark.parametrize(
    "changes",
    [
        {"license": "CC BY-ND"}, {"license": "CC BY-NC"}, {"license": None}, {"rights_statement": "© A museum"},
        {"subcaption_text": None}, {"subcaption_text": "OCT."}, {"subcaption_text": "x" * 400},
        {"assembly_confidence": 0.7}, {"picture_height": 60}, {"picture_width": 1000}, {"contains_oct": False},
    ],
)  # fmt: skip
def test_what_may_not_or_need_not_be_shown_is_not(changes: dict[str, Any]) -> None:
    assert chosen(row(1, **changes), row(2)) == ["p_2"]


def test_kinds_take_turns_and_an_article_is_shown_once() -> None:
    rows = [row(number, "oct") for number in range(20)] + [row(100, "cfp"), row(101, "cfp"), row(102, "retinal")]
    found = chosen(*rows, row(101, "cfp", panel_id="p_101_b"))
    assert len(found) == MOST
    numbers = [int(name.split("_")[1]) for name in found]
    assert len(set(numbers)) == MOST
    assert {100, 101, 102} < set(numbers)
    assert numbers[2] == 102, "CFP, OCT, retinal, and again"
    assert chosen(*reversed(rows), row(101, "cfp", panel_id="p_101_b")) == found, "whatever the order of the rows"


def test_pictures_are_small_and_those_of_their_panels(tmp_path: Path) -> None:
    def encoded(shade: int) -> bytes:
        buffer = io.BytesIO()
        Image.new("RGBA", (800, 600), (shade, shade, shade, 255)).save(buffer, "PNG")
        return buffer.getvalue()

    rows = [row(1), row(2, assembly_confidence=0.1), row(3, "cfp")]
    table = pl.DataFrame(rows, schema_overrides=SCHEMA).to_arrow()
    pictures = [{"bytes": encoded(60 * (at + 1)), "path": "x.png"} for at in range(3)]
    pq.write_table(table.append_column("panel_image", pa.array(pictures)), tmp_path / "a.parquet", row_group_size=2)
    found = card_examples(DataRoot(str(tmp_path)), ["a.parquet"])
    assert found is not None
    assert [item.panel_id for item in found.panels] == ["p_3", "p_1"]
    picture = Image.open(io.BytesIO(found.picture))
    assert picture.format == "WEBP"
    assert 2 * SIDE < picture.width < 3 * SIDE
    shades = np.asarray(picture.convert("L"))[SIDE // 2, [SIDE // 2, -SIDE // 2]].tolist()
    assert shades == pytest.approx([180, 60], abs=4)
    assert card_examples(DataRoot(str(tmp_path)), []) is None
