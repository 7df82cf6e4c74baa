"""What people do in the web UI: each wish by the clicks that `docs/ui.md` names."""

from __future__ import annotations

import pytest

from pmo_assets_tests.ui.dagster_ui import RUN_LIMIT, DagsterUi
from pmo_assets_tests.ui.deployment import Deployment, broken_specs, retinal_specs, short_specs

pytestmark = pytest.mark.ui


def test_the_graph_opens(deployment: Deployment, ui: DagsterUi) -> None:
    ui.open("/asset-groups")
    for group in ("articles", "figures", "captions", "detections", "panels", "dataset"):
        ui.wait_for(group, 60)
    ui.picture("asset_graph")


def test_a_batch_is_materialised_and_its_picture_is_seen(deployment: Deployment, ui: DagsterUi) -> None:
    (batch,) = deployment.register("first", retinal_specs(1))
    ui.materialise("process_batch", batch)
    assert ui.run_ends() == "Success"
    ui.picture("run")
    ui.open_partition("panels", batch)
    assert ui.partition_counts() == {"Failed": 0, "Materialized": 1, "Materializing": 0, "Missing": 0}
    width, height = ui.preview_size()
    assert width > 200
    assert height > 100
    ui.picture("panels_preview")


def test_a_batch_that_failed_says_why_and_is_made_when_the_cause_is_gone(deployment: Deployment, ui: DagsterUi) -> None:
    (batch,) = deployment.register("gone", short_specs(1))
    (deployment.folder / "gone").rename(deployment.folder / "elsewhere")
    run = ui.materialise("process_batch", batch)
    assert ui.run_ends() == "Failure"
    reason = ui.reason_of("article_packages")
    assert f"{deployment.folder / 'gone'} is gone" in reason
    assert "is its disk mounted?" in reason
    ui.picture("failed_run")
    ui.open_partition("article_packages", batch)
    assert ui.partition_counts()["Failed"] == 1

    (deployment.folder / "elsewhere").rename(deployment.folder / "gone")
    ui.open(f"/runs/{run}")
    ui.re_execute_from_failure()
    assert ui.run_ends() == "Success"
    for asset in ("article_packages", "dataset_rows", "rejections"):
        ui.open_partition(asset, batch)
        assert ui.partition_counts() == {"Failed": 0, "Materialized": 2, "Materializing": 0, "Missing": 0}


def test_a_broken_article_does_not_fail_its_batch_and_is_listed_with_its_reason(
    deployment: Deployment, ui: DagsterUi
) -> None:
    (batch,) = deployment.register("broken", broken_specs())
    ui.materialise("process_batch", batch)
    assert ui.run_ends() == "Success"
    ui.open_partition("rejections", batch)
    ui.wait_for("UnreadablePdf")
    ui.picture("rejections")


def test_the_sensor_processes_what_is_registered_and_the_release_follows(deployment: Deployment, ui: DagsterUi) -> None:
    ui.switch("registered_batches")
    ui.picture("automation")
    (batch,) = deployment.register("sensed", retinal_specs(2)[1:])
    ui.open_partition("dataset_rows", batch)
    ui.wait_for("dagster/partition_row_count", 2 * RUN_LIMIT)
    ui.open("/assets/dataset_report")
    ui.wait_for("/release/report.html", 2 * RUN_LIMIT)
    ui.picture("release")
    ui.switch("registered_batches")


def test_gallery_and_report_open_from_the_page_of_their_asset(ui: DagsterUi) -> None:
    ui.open("/assets/dataset_report")
    for page, shown in (("/release/gallery/index.html", "searchbox"), ("/release/report.html", "heading")):
        with ui.page.expect_popup() as opened:
            ui.page.get_by_role("link", name=page).first.click()
        opened.value.get_by_role(shown).first.wait_for()  # type: ignore[arg-type]
        opened.value.close()


def test_a_changed_setting_is_seen_and_what_is_stale_is_renewed(deployment: Deployment, ui: DagsterUi) -> None:
    deployment.set(score_threshold="0.3")
    ui.reload_definitions()
    ui.open("/assets/panel_detections?view=checks&checkDetail=current")
    ui.wait_for("PMO_SCORE_THRESHOLD 0.25 → 0.3", RUN_LIMIT)
    ui.picture("stale_check")
    ui.open("/assets/figures?view=checks&checkDetail=current")
    ui.wait_for("Every batch is up to date.", RUN_LIMIT)
    ui.open("/asset-groups")
    ui.wait_for("detections", 60)
    ui.picture("stale_graph")

    ui.launch("renew")
    assert ui.run_ends() == "Success"
    ui.open("/runs?view=backfills")
    ui.wait_for("Renew what is stale", 60)
    deployment.wait_for_backfills(2 * RUN_LIMIT)
    ui.open("/assets/panel_detections?view=checks&checkDetail=current")
    ui.wait_for("Every batch is up to date.", RUN_LIMIT)


def test_a_backfill_over_twenty_batches(deployment: Deployment, ui: DagsterUi) -> None:
    batches = deployment.register("short", short_specs(21)[1:])
    assert len(batches) == 20
    ui.open("/asset-groups")
    dialog = ui.open_dialog()
    dialog.get_by_text("Missing", exact=True).click()
    dialog.get_by_text("20 partitions", exact=True).wait_for()
    ui.page.get_by_role("button", name="Launch").last.click()
    ui.shown("View", exact=True).click()
    ui.page.wait_for_url("**/runs/b/*")
    ui.wait_for("Completed", 5 * RUN_LIMIT, exact=True)
    ui.picture("backfill")
    ui.open_partition("rejections", batches[-1])
    assert ui.partition_counts()["Missing"] == 0
    assert ui.partition_counts()["Failed"] == 0


def test_the_end_of_the_program_ends_all_that_it_began(deployment: Deployment) -> None:
    assert deployment.stop() == [], deployment.log()
