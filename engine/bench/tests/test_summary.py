"""The summary of a small folder of raw data: what must be said, and what must not."""

import json

import pytest

from driver import raw
from driver.kept import read_folder
from driver.statistic import DifferentConditions
from driver.summary import render

MACHINE = {
    "processor": "A processor", "cores": 2, "memory_gb": 24, "kernel": "6.1", "system": "A system",
    "versions": ["a server 10.11"], "commit": "abc", "plugin_sha256": "0" * 64,
}  # fmt: skip
PROFILE = {
    "name": "quick", "workloads": ["one"], "tables": 25, "rows": 1000, "seconds": 3, "rounds": 3, "noisy_above": 0.2,
}  # fmt: skip
WORKLOAD = {
    "name": "one", "kind": "load", "title": "A title", "about": "About it.", "axis": "threads", "published": "T1",
    "scale": 1, "targets": [{"measure": "qps", "against": "OFF", "at_least": {"8": 3.0}}],
}  # fmt: skip


def results(qps, foreign=0.0):
    used = {"server": 2.0, "client": 3.0, "machine": 5.0 + foreign}
    plain = dict.fromkeys(("p50_ms", "p95_ms", "p99_ms", "hit_ratio", "cpu_us_per_query"), 1.0)
    return {**plain, "qps": qps, "seconds": 3.0, "cpu_seconds": used}


def summary_of(tmp_path, fqc, off=(100, 100, 100), fqc_conditions=None, foreign=0.0):
    conditions = {"threads": 8, "cache_mb": 512}
    runs = [
        {"configuration": name, "conditions": own, "round": number, "results": results(qps, foreign)}
        for name, own, values in (("OFF", conditions, off), ("FQC", fqc_conditions or conditions, fqc))
        for number, qps in enumerate(values, 1)
    ]
    (tmp_path / "machine.json").write_text(json.dumps(MACHINE))
    document = {"workload": WORKLOAD, "profile": PROFILE, "runs": runs}
    raw.write(tmp_path / "raw" / "one.json.xz", document)
    return render(read_folder(tmp_path))


def test_the_machine_is_described_by_the_cores_that_were_used(tmp_path, monkeypatch):
    assert "- A processor, 2 cores, 24 GB" in summary_of(tmp_path, [100, 100, 100])
    monkeypatch.setitem(MACHINE, "all_cores", 4)
    (tmp_path / "bound").mkdir()
    assert "- A processor, 2 of 4 cores, 24 GB" in summary_of(tmp_path / "bound", [100, 100, 100])


def test_an_aim_that_is_reached_is_met(tmp_path):
    text = summary_of(tmp_path, fqc=(320, 310, 330))
    assert "| >= 3.0 | 3.200 (3.100..3.300) | met |" in text
    assert "+220.0 % (+210.0 %..+230.0 %)" in text
    assert "None is worse." in text


def test_what_is_worse_than_published_is_said(tmp_path):
    text = summary_of(tmp_path, fqc=(110, 110, 110))
    assert "**not met**" in text
    assert "| A title | threads 8 | +10.0 % (+10.0 %..+10.0 %) | +21.0 % |" in text


def test_a_noisy_ratio_is_no_result(tmp_path):
    text = summary_of(tmp_path, fqc=(250, 320, 400))
    assert "too noisy to tell" in text
    assert "too noisy (+150.0 %..+300.0 %)" in text
    assert "+220.0 %" not in text


def test_too_few_rounds_are_no_verdict(tmp_path):
    text = summary_of(tmp_path, fqc=(110, 110), off=(100, 100))
    assert "too few rounds to tell" in text
    assert "not met" not in text


def test_no_summary_compares_runs_under_different_conditions(tmp_path):
    with pytest.raises(DifferentConditions, match="cache_mb"):
        summary_of(tmp_path, fqc=(300, 300, 300), fqc_conditions={"threads": 8, "cache_mb": 16})


def test_a_machine_that_did_other_work_is_named(tmp_path):
    assert "do not trust" in summary_of(tmp_path, fqc=(300, 300, 300), foreign=1.0)


def memory_summary(tmp_path, entries, overhead):
    figures = {"entries": entries, "payload_bytes": 230, "overhead_bytes": overhead, "bytes_per_entry": 230 + overhead}
    found = {**figures, "resident_bytes_per_entry": 300}
    workload = {**WORKLOAD, "kind": "memory", "axis": "statement", "published": None, "targets": []}
    conditions = {"statement": "point_selects"}
    runs = [{"configuration": "FQC", "conditions": conditions, "round": 1, "results": found}]
    (tmp_path / "machine.json").write_text(json.dumps(MACHINE))
    raw.write(tmp_path / "raw" / "one.json.xz", {"workload": workload, "profile": PROFILE, "runs": runs})
    return render(read_folder(tmp_path))


@pytest.mark.parametrize(("overhead", "verdict"), [(60, "found 60: met"), (83, "found 83: **not met**")])
def test_what_a_million_entries_take_is_held_against_its_aim(tmp_path, overhead, verdict):
    assert verdict in memory_summary(tmp_path, 1_000_000, overhead)


def test_few_entries_tell_nothing_of_what_many_take(tmp_path):
    assert "Aim:" not in memory_summary(tmp_path, 10_000, 600)


def test_a_cold_start_pays_by_speed_and_by_what_it_uses(tmp_path):
    measures = {
        "OFF": {0: (100, 10), 50: (100, 10), 100: (100, 10)},
        "MEMORY": {0: (50, 30), 50: (150, 20), 100: (300, 5)},
    }
    runs = [
        {
            "configuration": name,
            "conditions": {"threads": 1, "options": {"hit-percent": percent}},
            "round": number,
            "results": {"qps": qps, "cpu_us_per_query": used, "hit_ratio": 0},
        }
        for name, points in measures.items()
        for percent, (qps, used) in points.items()
        for number in (1, 2, 3)
    ]
    (tmp_path / "machine.json").write_text(json.dumps(MACHINE))
    workload = {**WORKLOAD, "kind": "cold", "axis": "hit-percent", "published": None, "targets": []}
    document = {"workload": workload, "profile": PROFILE, "runs": runs}
    raw.write(tmp_path / "raw" / "one.json.xz", document)
    by_speed, by_use = render(read_folder(tmp_path)).split("By the processor time")
    assert "MEMORY pays from 25 % hits on." in by_speed
    assert "MEMORY pays from 67 % hits on." in by_use
