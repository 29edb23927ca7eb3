from typing import Any

import pytest
from conftest import Fqc

EXPRESSION = "{DBInstanceClassMemory/262144}"  # 2048 on 512 MiB


def _running(fqc: Fqc, instance: str, name: str) -> str:
    return str(fqc("param", "get", instance, name, "-o", "json").json["running"])


def test_an_expression_is_kept_as_written_and_runs_as_a_number(fqc: Fqc, instance: str) -> None:
    done = fqc("param", "set", instance, f"table_open_cache={EXPRESSION}", "--note", "more tables", "--wait")
    assert done.code == 0, done.err
    assert "set_global" in done.out
    found = fqc("param", "get", instance, "table_open_cache", "-o", "json").json
    assert (found["configured"], found["resolved"], found["running"]) == (EXPRESSION, "2048", "2048")
    assert "table_open_cache" in fqc("param", "diff", instance).out


def test_revert_restores_and_reset_gives_the_default_back(fqc: Fqc, instance: str) -> None:
    assert fqc("param", "set", instance, "table_open_cache=1500", "--wait").code == 0
    assert fqc("param", "set", instance, "table_open_cache=1600", "--wait").code == 0
    assert fqc("param", "revert", instance, "--wait").code == 0
    assert _running(fqc, instance, "table_open_cache") == "1500"
    assert fqc("param", "reset", instance, "table_open_cache", "--wait").code == 0
    found = fqc("param", "get", instance, "table_open_cache", "-o", "json").json
    assert (found["configured"], found["running"]) == (None, found["default"])
    history = fqc("param", "history", instance, "--limit", "4", "-o", "json").json
    assert {each["name"] for each in history} == {"table_open_cache"}
    assert [each["new_value"] for each in history][1:] == ["1500", "1600", "1500"]


def test_a_dry_run_shows_the_plan_and_alters_nothing(fqc: Fqc, instance: str) -> None:
    before = _running(fqc, instance, "thread_cache_size")
    plan = fqc("param", "set", instance, "thread_cache_size=77", "--dry-run", "-o", "json").json
    assert [(line["name"], line["new_value"]) for line in plan["lines"]] == [("thread_cache_size", "77")]
    assert _running(fqc, instance, "thread_cache_size") == before


@pytest.mark.parametrize("value", ["x", "99999999999", "{DBInstanceClassMemory*0.75}"])
@pytest.mark.parametrize("how", [(), ("--dry-run",)])
def test_what_a_check_refuses_ends_with_4(fqc: Fqc, instance: str, value: str, how: tuple[str, ...]) -> None:
    refused = fqc("param", "set", instance, f"max_connections={value}", *how)
    assert refused.code == 4
    assert "max_connections" in refused.out + refused.err


def test_a_preview_waits_for_its_approval(fqc: Fqc, instance: str) -> None:
    made = fqc("param", "set", instance, "thread_cache_size=66", "--preview", "-o", "json").json
    assert made["state"] == "previewed"
    assert fqc("change", "approve", made["id"], "--wait").code == 0
    shown = fqc("change", "show", made["id"]).out
    assert "thread_cache_size" in shown
    assert fqc("change", "approve", made["id"]).code == 4  # it has been applied
    assert fqc("change", "rollback", made["id"], "--wait").code == 0
    assert _running(fqc, instance, "thread_cache_size") != "66"


def test_an_aborted_preview_is_never_applied(fqc: Fqc, instance: str) -> None:
    made = fqc("param", "set", instance, "thread_cache_size=55", "--preview", "-o", "json").json
    assert fqc("change", "abort", made["id"], "-o", "json").json["state"] == "aborted"
    assert fqc("change", "approve", made["id"]).code == 4


def test_two_instances_are_compared_by_what_runs(fqc: Fqc, instance: str, other: str) -> None:
    assert fqc("param", "set", instance, "max_heap_table_size=8388608", "--wait").code == 0
    differing = fqc("param", "diff", instance, other, "-o", "json").json
    assert {"name": "max_heap_table_size", "here": "8388608"}.items() <= next(
        each for each in differing if each["name"] == "max_heap_table_size"
    ).items()


def test_an_unknown_parameter_is_not_found(fqc: Fqc, instance: str) -> None:
    assert fqc("param", "get", instance, "no_such_thing").code == 3


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (("{DBInstanceClassMemory*63/100}", "--class", "fqc.n4.large"), "8117488189"),
        (("{LEAST(DBInstanceClassCPU*500, 8000)}", "--class", "fqc.n4.large"), "2000"),
        (("<7*6>",), "42"),
    ],
)
def test_expressions_are_evaluated_on_a_class(fqc: Fqc, arguments: tuple[str, ...], value: str) -> None:
    assert fqc("eval", *arguments).out.strip() == value


def test_a_wrong_expression_is_marked_at_its_column(fqc: Fqc) -> None:
    wrong = fqc("eval", "{DBInstanceClassMemory*0.75}")
    assert wrong.code == 2
    lines = wrong.err.splitlines()
    assert lines[2].index("^") == lines[1].index("0.75")
    assert "3/4" in wrong.err
    assert "--class" in fqc("eval", "{DBInstanceClassCPU}").err


def test_a_value_that_does_not_fit_its_parameter_is_found(fqc: Fqc) -> None:
    where = ("--parameter", "query_cache_size", "--line", "5.7", "--class", "fqc.n4.large")
    assert "multiple of 1024" in fqc("eval", "{10*1}", *where).out
    assert fqc("eval", "{DBInstanceClassMemory*10}", *where).code == 4
    assert fqc("eval", "{1024*1024}", *where).out.strip() == "1048576"


def test_an_expression_tried_for_an_instance_has_the_findings_of_its_preview(fqc: Fqc, instance: str) -> None:
    """The findings also consider the other buffers and the connections that the server runs with."""
    expression = "{DBInstanceClassMemory*9/10}"
    plan = fqc("param", "set", instance, f"innodb_buffer_pool_size={expression}", "--dry-run", "-o", "json").json
    where = ("--instance", instance, "--parameter", "innodb_buffer_pool_size")
    tried = fqc("eval", expression, *where, "-o", "json").json
    [line] = plan["lines"]
    assert line["name"] == "innodb_buffer_pool_size"

    def memory(findings: list[dict[str, Any]]) -> list[str]:
        return [each["seen"] for each in findings if each["code"].startswith("memory_")]

    assert memory(tried["findings"]) == memory(plan["findings"]) != []


def test_what_is_never_set_is_refused_with_the_reason(fqc: Fqc, instance: str) -> None:
    for how in ((), ("--dry-run",)):
        refused = fqc("param", "set", instance, "general_log_file=/tmp/elsewhere.pth", *how)
        assert refused.code == 4
        assert "names a file or folder" in refused.out + refused.err
    shown = fqc("param", "get", instance, "general_log_file").out
    assert "never" in shown and "names a file or folder" in shown
    assert fqc("param", "get", instance, "general_log", "-o", "json").json["access"] == "admin"
