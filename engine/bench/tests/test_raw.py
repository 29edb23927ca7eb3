"""A kept run has all that its summary and its plots are made from, and is small."""

from pathlib import Path

import pytest

from driver import plots, raw
from driver.kept import read_folder
from driver.summary import render
from driver.workload import FOLDER

RUNS = [
    {
        "configuration": "OFF",
        "conditions": {"threads": threads},
        "round": 1,
        "results": {"qps": 1.0, "histogram": [[0.1, 2], [0.1, 3], [0.2, 1]]},
    }
    for threads in (1, 8, 64)
]
FOLDERS = sorted(path.parent for path in (FOLDER / "runs").glob("*/raw"))


def test_latency_is_kept_where_it_is_plotted_with_each_bucket_once():
    histograms = {run["conditions"]["threads"]: run["results"].get("histogram") for run in raw.kept("threads", RUNS)}
    assert histograms == {1: None, 8: [[0.1, 5], [0.2, 1]], 64: None}
    assert "histogram" in RUNS[0]["results"]


def test_what_is_kept_is_not_made_smaller_a_second_time():
    once = raw.kept("threads", RUNS)
    assert raw.kept("threads", once) == once


def test_the_same_document_gives_the_same_bytes_and_is_read_again(tmp_path):
    for name in ("a", "b"):
        raw.write(tmp_path / name, {"runs": RUNS})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert raw.read(tmp_path / "a") == {"runs": RUNS}


def test_the_summaries_in_the_repository_are_those_of_what_is_kept_beside_them():
    assert len(FOLDERS) > 3
    for folder in FOLDERS:
        assert render(read_folder(folder)) == (folder / "summary.md").read_text(), folder.name


def test_each_plot_that_a_summary_shows_is_drawn_from_what_is_kept(tmp_path):
    folder = min(FOLDERS, key=size)
    plots.draw_all(read_folder(folder), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        path.name for path in (folder / "plots").iterdir()
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_kept_run_is_small(folder):
    assert size(folder) < 750_000
    assert {path.suffix for path in (folder / "raw").iterdir()} == {".xz"}


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
