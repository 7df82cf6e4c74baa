"""The whole way with a real server and a real browser: out, shown, drawn with the mouse, submitted, in, row changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import pmo_assets
from pmo_assets.annotation.interfaces import INTERFACES
from pmo_assets.records.geometry import Box, denormalise, iou
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.annotate.browser import CHROMEDRIVER, CHROMIUM, Browser, browser
from pmo_assets_tests.annotate.conftest import EMAIL, PASSWORD, TOKEN, RunningLabelStudio

pytestmark = pytest.mark.annotate

ARTICLE, ANOTHER = "PMC9000000001", "PMC9000000002"
"""The one that is annotated, and one that is not."""

SHOTS = Path(os.environ.get("PMO_TEST_SCREENSHOTS", "")) if os.environ.get("PMO_TEST_SCREENSHOTS") else None
"""Where screenshots stay, for people to look at."""

REGIONS = """
const chosen = window.Htx.annotationStore.selected;
return chosen ? chosen.regions.filter(r => r.type === 'rectangleregion').map(r => ({
    id: r.cleanId, label: r.labeling.selectedLabels[0].value, box: r.serialize().value,
})) : [];
"""

LABEL = """
const found = [...document.querySelectorAll('.lsf-label')].filter(e => e.textContent.trim().startsWith(arguments[0]));
const place = found[0].getBoundingClientRect();
return {x: place.x + place.width / 2, y: place.y + place.height / 2};
"""

CONTROL = "\ue009"
"""The key, as WebDriver calls it."""

PARTS = """
const regions = window.Htx.annotationStore.selected.regions;
return regions.filter(r => r.type !== 'rectangleregion').length;
"""

PICTURE = """
const found = [...document.querySelectorAll('img')].filter(i => i.naturalWidth > 200 && i.width > 200);
if (!found.length) return null;
const place = found[0].getBoundingClientRect();
return place.width > 200 ? {x: place.x, y: place.y, width: place.width, height: place.height} : null;
"""

ASKED_WHY = "return [...document.querySelectorAll('textarea')].some(e => e.offsetParent !== null);"
"""Whether a reason can be typed."""

CLICK = """
const wanted = arguments[0];
const found = [...document.querySelectorAll('button')].filter(b => b.textContent.trim() === wanted && !b.disabled);
if (!found.length) return false;
found[0].click();
return true;
"""


@dataclass
class Project:
    """A data root with two articles, and the environment of commands on it."""

    root: Path
    annotations: Path
    environment: dict[str, str]

    def pmo(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pmo_assets.cli", *arguments],
            env=self.environment, cwd=self.root, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    def rows(self, table: str) -> list[dict[str, Any]]:
        tables = Tables(DataRoot(str(self.root / "data")))
        return [row for batch in tables.batches(table) for row in tables.read(table, batch).to_dicts()]


@pytest.fixture(scope="module")
def project(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory, label_studio: RunningLabelStudio) -> Project:
    root = tmp_path_factory.mktemp("project")
    for name in (ARTICLE, ANOTHER):
        shutil.copytree(sample_folder / "articles" / name, root / "articles" / name)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PMO_")}
    environment = {
        **kept,
        "PMO_DATA_ROOT": str(root / "data"),
        "PMO_DAGSTER_HOME": str(root / "dagster"),
        "PMO_WORKERS": "1",
        "PMO_ANNOTATIONS": str(root / "annotations"),
        "LABEL_STUDIO_URL": label_studio.url,
        "LABEL_STUDIO_API_KEY": TOKEN,
    }
    (root / "annotations").mkdir()
    made = Project(root, root / "annotations", environment)
    made.pmo("batches", "add", "--source", str(root / "articles"))
    made.pmo("run")
    return made


@pytest.fixture(scope="module")
def window(label_studio: RunningLabelStudio, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None or CHROMEDRIVER is None:
        pytest.skip("needs Chromium and its driver (Debian: apt-get install chromium chromium-driver)")
    with browser(tmp_path_factory.mktemp("browser") / "profile") as shown:
        shown.open(f"{label_studio.url}/user/login/")
        shown.fill("input[name=email]", EMAIL)
        shown.fill("input[name=password]", PASSWORD)
        shown.click("button[type=submit]")
        shown.wait(lambda: "login" not in shown.run("return window.location.href"))
        yield shown


def pushed(project: Project, folder: Path, *arguments: str) -> dict[str, int]:
    """Export and push; return the numbers of the projects by interface."""
    said = project.pmo("annotate", "export", str(folder), *arguments, "--push")
    words = [line.split() for line in said.splitlines()]
    interfaces = [line[0] for line in words if line and line[0] in INTERFACES]
    numbers = [int(line[1].rstrip(":")) for line in words if line and line[0] == "project"]
    return dict(zip(sorted(interfaces), numbers, strict=True))


def opened(window: Browser, url: str, number: int, task: int | None = None) -> list[dict[str, Any]]:
    """Open a project's next task, or a certain one, and return its boxes when they are there."""
    window.open(f"{url}/projects/{number}/data?{'labeling=1' if task is None else f'task={task}'}")
    return list(window.wait(lambda: window.run(PICTURE) and window.run(REGIONS), 90))


def normalised(value: dict[str, float]) -> Box:
    left, top = value["x"] / 100, value["y"] / 100
    return left, top, left + value["width"] / 100, top + value["height"] / 100


def submit(window: Browser) -> None:
    window.wait(lambda: window.run(CLICK, "Submit"))
    window.wait(lambda: not window.run("return document.querySelector('.lsf-spin-badge') !== null"), 10)


def asked(url: str, path: str, body: dict[str, Any] | None = None) -> Any:
    headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}{path}", content, headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def answered(url: str, number: int, count: int) -> bool:
    return int(asked(url, f"/api/projects/{number}")["num_tasks_with_annotations"]) >= count


def test_a_box_that_a_person_draws_is_in_the_row_that_is_released(
    project: Project, window: Browser, label_studio: RunningLabelStudio, tmp_path: Path
) -> None:
    url = label_studio.url
    before = {(row["image_cluster_id"], row["ordinal"]): row for row in project.rows("reviewed_panels")}
    folder = label_studio.documents / "full"
    number = pushed(project, folder, "--articles", ARTICLE, "--interfaces", "boxes", "--pictures", "folder")["boxes"]
    shown = opened(window, url, number)
    window.screenshot((SHOTS or tmp_path) / "boxes.png")

    # what is shown is what the machine found, at its place
    figure = project.rows("figures")[0]
    machine = [row for row in project.rows("panel_assembly") if row["image_cluster_id"] == figure["image_cluster_id"]]
    drawn = [normalised(item["box"]) for item in shown if item["label"] == "Panel"]
    assert len(drawn) == len(machine)
    assert all(max(iou(tuple(row["content_box"]), box) for box in drawn) > 0.999 for row in machine)
    images = sum(len(row["images"]) for row in machine)
    assert sum(item["label"] in ("CFP", "OCT", "Retinal Imaging", "Other") for item in shown) == images

    # a person draws an image with the mouse: a quarter of the first panel, seen from the picture's place on the screen
    place = window.run(PICTURE)
    left, top, right, bottom = machine[0]["content_box"]
    wanted = (left + (right - left) * 0.3, top + (bottom - top) * 0.3,
              left + (right - left) * 0.6, top + (bottom - top) * 0.6)  # fmt: skip
    points = [(place["x"] + place["width"] * x, place["y"] + place["height"] * y)
              for x, y in (wanted[:2], wanted[2:])]  # fmt: skip
    label = window.run(LABEL, "Other")
    window.pointer(label, {"down": True}, {"up": True})
    half = ((points[0][0] + points[1][0]) / 2, (points[0][1] + points[1][1]) / 2)
    window.key("keyDown", CONTROL)  # without it the panel under the pointer would be moved
    window.pointer(
        {"x": points[0][0], "y": points[0][1]}, {"down": True}, {"x": half[0], "y": half[1]},
        {"x": points[1][0], "y": points[1][1]}, {"up": True},
    )  # fmt: skip
    window.key("keyUp", CONTROL)
    window.wait(lambda: len(window.run(REGIONS)) == len(shown) + 1, 20)
    window.screenshot((SHOTS or tmp_path) / "drawn.png")
    submit(window)
    window.wait(lambda: answered(url, number, 1))

    said = project.pmo("annotate", "import", "--pull", "--project", str(number))
    assert "1 answer of 1 task taken" in said
    (file,) = project.annotations.glob("*.json")
    (annotated,) = json.loads(file.read_text())["figures"]
    assert annotated["image_cluster_id"] == figure["image_cluster_id"]
    assert set(annotated["review"]["decided"]) == {"panels", "identifiers", "images"}

    project.pmo("run")
    after = {(row["image_cluster_id"], row["ordinal"]): row for row in project.rows("reviewed_panels")}
    assert after.keys() == before.keys()
    changed = after[figure["image_cluster_id"], machine[0]["ordinal"]]
    new = [item for item in changed["images"] if iou(tuple(item["box"]), wanted) > 0.9]
    assert [(item["image_type"], item["is_gt"]) for item in new] == [("Other", True)]
    assert changed["annotations"][0]["purpose"] == "full"
    untouched = [key for key, row in after.items() if row["image_cluster_id"] != figure["image_cluster_id"]]
    assert untouched
    assert all(after[key] == before[key] for key in untouched)


def test_an_audit_is_answered_by_a_click_and_reported(
    project: Project, window: Browser, label_studio: RunningLabelStudio, tmp_path: Path
) -> None:
    number = pushed(project, tmp_path / "audit", "--audit", "1")["audit"]
    (shown,) = opened(window, label_studio.url, number)
    assert shown["label"] == "Panel"
    window.click("input[type=radio]")
    window.screenshot((SHOTS or tmp_path) / "audit.png")
    submit(window)
    window.wait(lambda: answered(label_studio.url, number, 1))
    before = project.rows("reviewed_panels")
    project.pmo("annotate", "import", "--pull", "--project", str(number))
    assert "audit: right" in project.pmo("annotate", "report")
    project.pmo("run")
    assert project.rows("reviewed_panels") == before, "an audit overrides nothing"


def test_an_instruction_that_people_call_wrong_is_shown_with_its_evidence_and_not_released(
    project: Project, window: Browser, label_studio: RunningLabelStudio, tmp_path: Path
) -> None:
    url = label_studio.url
    number = pushed(project, tmp_path / "instructions", "--instructions", "1")["instructions"]
    shown = opened(window, url, number)
    assert shown[0]["label"] == "Panel"
    (task,) = asked(url, f"/api/projects/{number}/tasks?page_size=100")
    page = " ".join(window.run("return document.body.innerText").split())
    for told in (task["data"]["turns"], task["data"]["evidence"], task["data"]["caption"]):
        assert " ".join(told.split()) in page
    assert not window.run(ASKED_WHY)
    window.run("[...document.querySelectorAll('input[type=radio]')][1].click()")
    window.wait(lambda: window.run(ASKED_WHY), 20)
    window.fill("textarea", "No leakage is shown")
    window.screenshot((SHOTS or tmp_path) / "instructions.png")
    submit(window)
    window.wait(lambda: answered(url, number, 1))
    said = project.pmo("annotate", "import", "--pull", "--project", str(number))
    assert "1 answer of 1 task taken" in said
    assert "audit: wrong" in project.pmo("annotate", "report")
    (file,) = [place for place in project.annotations.glob("*.json") if "No leakage is shown" in place.read_text()]
    assert file.stem == task["data"]["pmo"]["article"]
    before = project.rows("verdicts")
    project.pmo("run")
    name = task["data"]["pmo"]["instruction"]
    (changed,) = [row for row in project.rows("verdicts") if row not in before]
    assert not changed["is_kept"]
    assert [(cell["criterion"], cell["verdict"]) for cell in changed["verdicts"]][-1] == ("audit", "discard")
    released = {row.instruction_id for row in pmo_assets.load(project.root / "data").instructions}
    assert released
    assert name not in released


def test_captions_and_pages_open_with_what_was_found(
    project: Project, window: Browser, label_studio: RunningLabelStudio, tmp_path: Path
) -> None:
    numbers = pushed(project, tmp_path / "whole", "--articles", ARTICLE, "--interfaces", "pages,captions")
    panels = opened(window, label_studio.url, numbers["captions"])
    assert window.wait(lambda: window.run(PARTS)) >= len(panels)
    assert window.run("return window.Htx.annotationStore.selected.relationStore.relations.length") >= len(panels)
    window.screenshot((SHOTS or tmp_path) / "captions.png")
    submit(window)
    window.wait(lambda: answered(label_studio.url, numbers["captions"], 1))
    figure = project.rows("figures")[0]
    place = figure["locations"][0]
    tasks = asked(label_studio.url, f"/api/projects/{numbers['pages']}/tasks?page_size=100")
    task = next(item for item in tasks if item["data"]["pmo"]["page"] == place["page"])
    shown = opened(window, label_studio.url, numbers["pages"], task["id"])
    window.screenshot((SHOTS or tmp_path) / "pages.png")
    assert {item["label"] for item in shown} == {"Figure", "Caption"}
    frame = tuple(task["data"]["pmo"]["frame"])
    boxes = [denormalise(normalised(item["box"]), frame) for item in shown if item["label"] == "Figure"]
    assert max(iou(tuple(place["bbox"]), box) for box in boxes) > 0.999
    said = project.pmo("annotate", "import", "--pull", "--project", str(numbers["captions"]))
    assert "1 answer of 1 task taken" in said
    file = project.annotations / f"{ARTICLE}.json"
    answers = [a for a in json.loads(file.read_text())["answers"] if a["review"]["interface"] == "captions"]
    machine = {row["identifier"]: row["subcaption"] for row in project.rows("panel_assembly")
               if row["image_cluster_id"] == answers[0]["image_cluster_id"]}  # fmt: skip
    assert {p["identifier"]: p["subcaption"] for p in answers[0]["panels"]} == machine, "submitted as it was shown"


def test_marks_and_regions_submitted_as_shown_are_the_machines_and_one_more_is_peoples(
    project: Project, label_studio: RunningLabelStudio, tmp_path: Path
) -> None:
    """The server takes interface and tasks, and gives answers back as they are checked; without a browser."""
    url = label_studio.url
    number = pushed(project, tmp_path / "regions", "--articles", ARTICLE, "--regions")["regions"]
    figure = project.rows("figures")[0]
    own = [row for row in project.rows("regions") if row["image_cluster_id"] == figure["image_cluster_id"]]
    tasks = asked(url, f"/api/projects/{number}/tasks?page_size=100")
    task = next(item for item in tasks if item["data"]["pmo"]["figure"] == figure["image_cluster_id"])
    (shown,) = asked(url, f"/api/tasks/{task['id']}")["predictions"]
    panel = task["data"]["pmo"]["panels"][0]
    left, top, right, bottom = (edge * 100 for edge in panel["images"][0])
    place = {"x": left, "y": top, "width": (right - left) / 2, "height": (bottom - top) / 2, "rotation": 0}
    circle = {"id": "mine", "from_name": "boxes", "to_name": "figure", "type": "rectanglelabels",
              "image_rotation": 0, "original_width": 100, "original_height": 100,
              "value": {**place, "rectanglelabels": ["Circle"]}}  # fmt: skip
    asked(url, f"/api/tasks/{task['id']}/annotations/", {"result": [*shown["result"], circle]})
    said = project.pmo("annotate", "import", "--pull", "--project", str(number))
    assert "1 answer of 1 task taken" in said
    project.pmo("run")
    marks = [row for row in project.rows("marks") if row["image_cluster_id"] == figure["image_cluster_id"]]
    added = [mark for row in marks for mark in row["marks"] if mark["kind"] == "circle" and mark["label"] is None]
    assert {"person"} == {mark["source"] for row in marks for mark in row["marks"]}
    assert any(iou(tuple(mark["box"]), normalised(place)) > 0.99 for mark in added)
    after = [row for row in project.rows("regions") if row["image_cluster_id"] == figure["image_cluster_id"]]
    assert [[(r["box"], r["text"]) for r in row["regions"]] for row in after] == [
        [(r["box"], r["text"]) for r in row["regions"]] for row in own
    ]
    untouched = [row for row in project.rows("marks") if row["image_cluster_id"] != figure["image_cluster_id"]]
    assert {row["machine_marks"] is None for row in untouched} == {True}
