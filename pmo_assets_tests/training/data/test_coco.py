"""Data sets written in COCO format are valid and read back as they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pmo_assets.training.data.coco import (
    CATEGORIES,
    article_of_image,
    boxes_of,
    figure_of_coco,
    read_coco,
    shards,
    write_coco,
)
from pmo_assets.training.data.training_data import SHARD_SIZE, write_synthetic_shards
from pmo_assets.training.synthetic.synthetic_figures import synthetic_figure
from pmo_assets_tests.training.pools import small_pool


def test_a_data_set_is_valid_coco(tmp_path: Path) -> None:
    figures = [(k, synthetic_figure(k, small_pool(), ())) for k in range(4)]
    assert write_coco(tmp_path, figures, {"split": "train"}) == 4
    data = json.loads((tmp_path / "annotations.json").read_text())
    assert [c["name"] for c in data["categories"]] == list(CATEGORIES)
    sizes = {image["id"]: image for image in data["images"]}
    assert len({a["id"] for a in data["annotations"]}) == len(data["annotations"])
    for row in data["annotations"]:
        x, y, w, h = row["bbox"]
        image = sizes[row["image_id"]]
        assert w > 0
        assert h > 0
        assert x >= 0
        assert y >= 0
        assert x + w <= image["width"] + 0.02
        assert y + h <= image["height"] + 0.02
        assert row["area"] == pytest.approx(w * h, rel=0.01)
        assert row["iscrowd"] == 0
        assert 1 <= row["category_id"] <= len(CATEGORIES)
    assert all((tmp_path / image["file_name"]).is_file() for image in data["images"])


def test_figures_read_back_have_the_same_boxes(tmp_path: Path) -> None:
    figure = synthetic_figure(3, small_pool(), ())
    write_coco(tmp_path, [(3, figure)])
    ((path, size, rows),) = read_coco(tmp_path)
    again = figure_of_coco(path, size, rows)
    assert again.pixels.shape == figure.pixels.shape
    for (box, category, _), (other, kind, _) in zip(boxes_of(figure), boxes_of(again), strict=True):
        assert category == kind
        assert box == pytest.approx(other, abs=0.002)
    assert [i.marked for i in again.images] == [i.marked for i in figure.images]
    assert [p.identifier for p in again.panels] == [p.identifier for p in figure.panels]


def test_an_unknown_category_is_refused(tmp_path: Path) -> None:
    (tmp_path / "annotations.json").write_text(
        '{"images": [], "annotations": [], "categories": [{"id": 1, "name": "Cat"}]}'
    )
    with pytest.raises(ValueError, match="Cat"):
        list(read_coco(tmp_path))


@pytest.mark.slow  # many figures
def test_only_complete_shards_count_and_they_are_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pmo_assets.training.data import training_data

    monkeypatch.setattr(training_data, "SHARD_SIZE", 3)
    assert SHARD_SIZE > 3
    made = list(write_synthetic_shards(tmp_path, "train", 5, [], None))
    assert [path.name for path in made] == ["shard_0000", "shard_0001"]
    (tmp_path / "train" / "shard_0001" / "annotations.json").unlink()
    before = (tmp_path / "train" / "shard_0000" / "annotations.json").stat().st_mtime_ns
    assert shards(tmp_path / "train") == [made[0]]
    list(write_synthetic_shards(tmp_path, "train", 5, [], None))
    assert shards(tmp_path / "train") == made
    assert (tmp_path / "train" / "shard_0000" / "annotations.json").stat().st_mtime_ns == before


def test_as_many_figures_are_written_as_asked_for_and_a_small_shard_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pmo_assets.training.data import training_data

    def contents(count: int) -> list[list[bytes]]:
        made = list(write_synthetic_shards(tmp_path, "test", count, [], None))
        return [[path.read_bytes() for path, _, _ in read_coco(shard)] for shard in made]

    monkeypatch.setattr(training_data, "SHARD_SIZE", 2)
    few = contents(1)
    assert [len(shard) for shard in few] == [1]
    more = contents(3)
    assert [len(shard) for shard in more] == [2, 1]
    assert more[0][0] == few[0][0]
    assert contents(1) == more[:1]


def test_an_image_belongs_to_its_own_article_before_the_data_sets_before_its_file_name() -> None:
    image = {"file_name": "images/PMC12_fig1.jpg"}
    assert article_of_image(image, {}) == "PMC12"
    assert article_of_image(image, {"info": {"article_id": "PMC7"}}) == "PMC7"
    assert article_of_image(image | {"article_id": 5}, {"info": {"article_id": "PMC7"}}) == "5"
