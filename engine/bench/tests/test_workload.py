import pytest

from driver import plots, published
from driver.load import centre, run_command, warm_command
from driver.workload import BadWorkload, Profile, axis_value, make_workload, read_profile, read_workload

PROFILE = Profile(
    "quick", (), tables=25, rows=1000, seconds=3, rounds=3, noisy_above=0.2, stage="mariadb", is_kept=False
)
PLACE = ("--mysql-port=3306",)
DOCUMENT = {
    "title": "a title",
    "about": "about it",
    "configurations": ["OFF", "FQC"],
    "axis": "threads",
    "values": [1, 8, 1024],
    "conditions": {"script": "oltp_point_select", "cache_mb": 16},
    "profiles": {"quick": {"values": [8], "conditions": {"cache_mb": 4}}},
}


def test_a_profile_overrides_what_it_names_and_nothing_else():
    (point,) = make_workload("one", DOCUMENT, "quick").points(PROFILE)
    assert (point["threads"], point["cache_mb"], point["script"]) == (8, 4, "oltp_point_select")
    assert make_workload("one", DOCUMENT, "full").values == (1, 8, 1024)


def test_where_a_profile_says_nothing_the_one_it_is_like_holds():
    own = {**DOCUMENT, "profiles": {**DOCUMENT["profiles"], "mysql": {"conditions": {"rows": 500}}}}
    (point,) = make_workload("one", own, "quick", "mysql").points(PROFILE)
    assert (point["threads"], point["cache_mb"], point["rows"]) == (8, 4, 500)


def test_no_workload_asks_for_rows_that_are_not_loaded():
    (point,) = make_workload("one", {**DOCUMENT, "conditions": {"rows": 5000}}, "quick").points(PROFILE)
    assert (point["tables"], point["rows"]) == (25, 1000)


def test_an_axis_that_is_no_condition_is_an_option_of_sysbench():
    workload = make_workload("one", {**DOCUMENT, "axis": "hit-percent"}, "quick")
    (point,) = workload.points(PROFILE)
    assert axis_value(point, "hit-percent") == 8
    assert "--hit-percent=8" in run_command(PLACE, point)


@pytest.mark.parametrize("wrong", [{"conditions": {"cash_mb": 4}}, {"tilte": "a title"}])
def test_a_mistyped_key_is_refused(wrong):
    with pytest.raises(BadWorkload, match=r"cash_mb|tilte"):
        make_workload("one", {**DOCUMENT, **wrong, "profiles": {}}, "full")


@pytest.mark.parametrize(
    "name", ["full", "standard", "quick", "mysql", "smoke", "near", "away", "rules", "rules-away", "pgpool"]
)
def test_every_workload_of_every_profile_can_be_read(name):
    profile = read_profile(name)
    for each in profile.workloads:
        workload = read_workload(each, profile.like, name)
        assert workload.points(profile)
        assert workload.kind != "load" or workload.axis in plots.AXES
        for changes in published.changes(workload.published, workload.scale).values():
            assert set(workload.values) & set(changes)


def test_the_warming_pass_covers_the_special_keys():
    # sysbench draws them from 1 % in the middle.
    first, last = centre(40000, 1)
    assert first < 20000 - 200 and last > 20000 + 200
    assert centre(40000, 100) == (1, 40000)


def test_warming_asks_for_the_statements_of_the_recipe():
    recipe = {"script": "sweep", "percent": 100, "statements": ["point_selects", "sum_ranges"]}
    (point,) = make_workload("one", {**DOCUMENT, "conditions": {"warm": recipe}}, "quick").points(PROFILE)
    assert "--statements=point_selects,sum_ranges" in warm_command(PLACE, point)
