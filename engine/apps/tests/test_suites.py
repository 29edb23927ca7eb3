"""Suites of frameworks: outcomes are read, differences are named, and a run without a hit is a fault."""

from lab.suites import Ran, _complaints, _outcomes

JUNIT = """<testsuites><testsuite>
<testcase classname="a.B" name="one"/><testcase classname="a.B" name="two"><failure message="no"/></testcase>
<testcase classname="a.B" name="three"><skipped/></testcase>
</testsuite></testsuites>"""


def test_outcomes_are_read_from_both_kinds_of_files(tmp_path):
    (tmp_path / "one.xml").write_text(JUNIT)
    (tmp_path / "outcomes.tsv").write_text("a.one\tpassed\na.two\tfailed with {'n': 1}\na.two\tpassed\n")
    assert _outcomes(tmp_path) == {
        "a.B.one": "passed",
        "a.B.two": "failure",
        "a.B.three": "skipped",
        "a.one": "passed",
        "a.two": "failed with {'n': 1} passed",
    }


def test_outcomes_of_tests_with_the_same_name_are_all_compared(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.xml").write_text(JUNIT)
    assert _outcomes(tmp_path)["a.B.two"] == "failure failure"


def test_a_test_that_fails_with_and_without_the_cache_is_no_fault():
    same = {"a": "passed", "b": "failed"}
    assert list(_complaints("suite", {"off": Ran(same, 0), "plugin": Ran(same, 1)})) == []


def test_what_ends_in_another_way_or_does_not_run_with_the_cache_is_named():
    without, with_it = Ran({"a": "passed", "b": "passed"}, 0), Ran({"a": "failed"}, 1)
    assert list(_complaints("suite", {"off": without, "plugin": with_it})) == [
        "suite, plugin: a passed without the cache, but failed with it",
        "suite, plugin: b passed without the cache, but did not run with it",
    ]


def test_a_run_without_a_hit_or_without_a_test_shows_nothing():
    assert list(_complaints("suite", {"off": Ran({"a": "passed"}, 0), "plugin": Ran({"a": "passed"}, 0)})) == [
        "suite, plugin: nothing came from the cache"
    ]
    assert list(_complaints("suite", {"off": Ran({}, 0)})) == ["suite: no test ran"]
