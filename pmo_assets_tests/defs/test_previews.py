"""Pictures for the UI: small, and never the reason why a step fails."""

import io
from typing import Any

import dagster as dg
import numpy as np
from PIL import Image

from pmo_assets.defs.page_links import page_link, plain_markdown, shortened
from pmo_assets.defs.previews import NOTHING, plot_metadata, preview
from pmo_assets.settings import Settings


def noise(side: int = 1200) -> Any:
    """Return what no codec makes small."""
    return np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)


def text_of(made: dg.MarkdownMetadataValue) -> str:
    return made.md_str or ""


def test_a_picture_is_small_whatever_it_shows() -> None:
    made = preview(dg.build_asset_context(), "noise", noise)
    assert text_of(made).startswith("![noise](data:image/webp;base64,")
    assert len(text_of(made)) < 20_000


def test_a_picture_that_fails_does_not_fail_the_step() -> None:
    def draw() -> None:
        raise ZeroDivisionError("of the drawing")

    @dg.asset
    def drawn(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        return dg.MaterializeResult(metadata={"preview": preview(context, "a sheet", draw)})

    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize([drawn], instance=instance)
        assert result.success
        event = result.asset_materializations_for_node("drawn")[0]
        assert "no preview: ZeroDivisionError" in str(event.metadata["preview"].value)
        lines = [record.event_log_entry.user_message for record in instance.get_records_for_run(result.run_id).records]
    assert any("no preview (a sheet): ZeroDivisionError: of the drawing" in line for line in lines), "the log says why"


def test_nothing_to_show_is_said() -> None:
    assert preview(dg.build_asset_context(), "nothing", lambda: None).md_str == NOTHING


def test_a_large_plot_is_made_small() -> None:
    buffer = io.BytesIO()
    Image.fromarray(noise(400)).save(buffer, "PNG")
    assert len(text_of(plot_metadata(dg.build_asset_context(), buffer.getvalue(), "plot"))) < 20_000
    small = io.BytesIO()
    Image.new("RGB", (20, 20)).save(small, "PNG")
    assert "data:image/png" in text_of(plot_metadata(dg.build_asset_context(), small.getvalue(), "plot"))


def test_a_page_is_linked_where_people_reach_it() -> None:
    settings = Settings(pages_url="https://pages.example.org/pmo/")
    assert page_link(settings, "release/report.html").url == "https://pages.example.org/pmo/release/report.html"


def test_text_of_articles_is_no_markdown() -> None:
    hostile = "a|b [c](javascript:alert(1))\n<img src=x> `d` **e**"
    shown = plain_markdown(hostile)
    assert "\n" not in shown
    assert "](" not in shown
    assert all(f"\\{sign}" in shown for sign in "|[]<>`*")


def test_a_long_message_is_cut_at_a_word() -> None:
    assert shortened("short", 90) == "short"
    cut = shortened("word " * 50, 90)
    assert len(cut) <= 92
    assert cut.endswith("word …")
