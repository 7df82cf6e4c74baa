"""What people do in the web UI: each wish by the clicks that `docs/ui.md` names."""

from __future__ import annotations

import pytest

from pmo_assets_tests.ui.dagster_ui import RUN_LIMIT, DagsterUi
from pmo_assets_tests.ui.deployment import Deployment, broken_specs, retinal_specs, short_specs

pytestmark = pytest.mark.ui


def test_the_graph_opens(deployment: Deployment, ui: DagsterUi) -> None:
    assert ui.location == "pmo_assets", "the code location's one name"
    ui.open("/asset-groups")
    for group in ("articles", "figures", "captions", "detections", "panels", "dataset"):
        ui.wait_for(group, 60)


def test_materialize_all_makes_a_batch_and_the_release_and_all_is_green(deployment: Deployment, ui: DagsterUi) -> None:
    """One click on a new data root; the release follows, training and quality are not among it."""
    batch = deployment.batch()
    ui.open("/asset-groups")
    dialog = ui.open_dialog()
    ui.choose(dialog, batch)
    ui.picture("materialize_all")
    ui.launch_run()
    assert ui.run_ends(2 * RUN_LIMIT) == "Success"
    ui.open_partition("rejections", batch)
    assert ui.partition_counts() == {"Failed": 0, "Materialized": 1, "Materializing": 0, "Missing": 0}
    for asset in ("annotations", "pmc_batches", "retractions", "panel_duplicates", "pubmed_ophtha"):
        ui.open(f"/assets/{asset}")
        ui.wait_for("Timestamp")
    ui.open("/assets/dataset_report")
    ui.wait_for("/release/report.html")
    for asset in ("figure_quality", "detection_quality", "panel_detector", "mark_classifier"):
        ui.open(f"/assets/{asset}")
        ui.wait_for("Never materialized")
    ui.picture_of_graph("asset_graph")


def test_a_batch_is_materialised_by_a_job_and_its_picture_is_seen(deployment: Deployment, ui: DagsterUi) -> None:
    batch = deployment.batch()
    ui.materialise("process_batch", batch)
    assert ui.run_ends() == "Success"
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
    (broken,) = broken_specs()
    (batch,) = deployment.register("broken", [broken])
    ui.materialise("process_batch", batch)
    assert ui.run_ends() == "Success"
    ui.open_partition("rejections", batch)
    ui.wait_for("UnreadablePdf")
    assert ui.width_beyond("stage") <= 0, "the table fits its page"
    ui.picture("rejections")
    with ui.page.expect_popup() as opened:
        ui.page.get_by_role("link", name=f"/quality/rejections/{batch}.html").first.click()
    opened.value.get_by_text("UnreadablePdf").first.wait_for()
    article = opened.value.get_by_role("link", name=str(broken.number)).first
    assert article.get_attribute("href") == f"https://doi.org/10.5555/pmo.{broken.number}"
    opened.value.close()


def test_the_sensor_processes_what_is_registered_and_the_release_follows(deployment: Deployment, ui: DagsterUi) -> None:
    ui.switch("registered_batches")
    ui.picture("automation")
    (batch,) = deployment.register("sensed", retinal_specs(2)[1:])
    rows = f"/assets/dataset_rows?view=partitions&partition={batch}"
    ui.wait_for_anew(rows, "dagster/partition_row_count", 2 * RUN_LIMIT)
    made = deployment.made_last("dataset_rows")
    deployment.wait_for("a release", lambda: deployment.made_last("dataset_report") > made, 2 * RUN_LIMIT)
    ui.open("/assets/dataset_report")
    ui.wait_for("/release/report.html")
    ui.picture("release")
    ui.switch("registered_batches")


def test_rates_are_plotted_over_the_batches(ui: DagsterUi) -> None:
    ui.show_plots("panel_detections")
    ui.shown("articles_per_minute", exact=True).scroll_into_view_if_needed()
    plots = ui.page.locator("canvas").locator("visible=true")
    plots.first.wait_for()
    assert plots.count() > 3
    ui.shown("Metadata", exact=True).evaluate("heading => heading.scrollIntoView()")
    ui.picture("plots")


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
    ui.filter_to_group("detections")
    ui.wait_for("1 / 2 Passed", 60)
    assert ui.page.get_by_text("1 / 2 Passed").locator("visible=true").count() == 2
    ui.picture("stale_graph")

    ui.launch("renew")
    assert ui.run_ends() == "Success"
    ui.open("/runs?view=backfills")
    ui.wait_for("pmo/renewal", 60)
    deployment.wait_for_backfills(3 * RUN_LIMIT)
    ui.open("/assets/panel_detections?view=checks&checkDetail=current")
    ui.wait_for("Every batch is up to date.", RUN_LIMIT)


def test_a_backfill_over_twenty_batches_and_what_failed_of_it_made_again(deployment: Deployment, ui: DagsterUi) -> None:
    """One batch's source is gone at first; what failed is made again in one click, and the release with it."""
    (lost,) = deployment.register("lost", short_specs(2)[1:])
    batches = deployment.register("short", short_specs(21)[2:])
    assert len(batches) == 19
    (deployment.folder / "lost").rename(deployment.folder / "elsewhere")
    ui.open("/asset-groups")
    ui.choose_all(ui.open_dialog(), "Missing", "20 partitions")
    first = ui.launch_backfill()
    assert ui.backfill_ends(6 * RUN_LIMIT) == "Failed"
    ui.open_partition("articles", lost)
    assert ui.partition_counts()["Failed"] == 1

    (deployment.folder / "elsewhere").rename(deployment.folder / "lost")
    ui.open("/asset-groups")
    ui.choose_all(ui.open_dialog(), "Failed and missing", "1 partition")
    ui.picture("failed_and_missing")
    ui.open(f"/runs/b/{first}")
    ui.open_menu_of_backfill()
    ui.picture("retry")
    ui.re_execute_backfill_from_failure()
    assert ui.backfill_ends(2 * RUN_LIMIT) == "Succeeded"
    ui.picture("backfill")
    made = ui.backfilled()
    assert {name: cells for name, cells in made.items() if "100% completed" not in cells} == {}
    assert {"articles", "panel_entities", "dataset_report"} <= set(made), "all from the lost one to the release"
    ui.open_partition("rejections", lost)
    assert ui.partition_counts()["Missing"] == 0
    assert ui.partition_counts()["Failed"] == 0


def test_the_end_of_the_program_ends_all_that_it_began(deployment: Deployment) -> None:
    assert deployment.stop() == [], deployment.log()
