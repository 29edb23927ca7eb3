import json
from pathlib import Path

from conftest import Fqc, Stack


def test_a_template_lives_from_clone_to_deletion(fqc: Fqc, tmp_path: Path) -> None:
    assert fqc("template", "clone", "managed-defaults", "mine").code == 0
    assert fqc("template", "edit", "mine", "--set", "wait_timeout=600", "--unset", "sort_buffer_size").code == 0
    differing = {
        each["name"]: each["kind"] for each in fqc("template", "diff", "managed-defaults", "mine", "-o", "json").json
    }
    assert differing["wait_timeout"] in ("added", "changed")
    file = tmp_path / "values"
    file.write_text("# the whole of it\nwait_timeout = 700\n")
    edited = fqc("template", "edit", "mine", "--file", str(file), "-o", "json").json
    assert edited["values"] == {"wait_timeout": "700"}
    assert fqc("template", "diff", "mine", "--version", "2", "-o", "json").json
    assert fqc("template", "delete", "mine", "--yes").code == 0
    assert fqc("template", "show", "mine").code == 3


def test_one_that_ships_may_not_be_edited(fqc: Fqc) -> None:
    refused = fqc("template", "edit", "managed-defaults", "--set", "wait_timeout=600")
    assert refused.code in (4, 5)
    assert "lone" in refused.err  # the error advises to clone it


def test_applying_shows_its_plan_first_and_then_does_it(fqc: Fqc, instance: str) -> None:
    assert fqc("template", "create", "tables", "--set", "table_definition_cache={512*2}").code == 0
    plan = fqc("template", "apply", "tables", instance, "--dry-run", "-o", "json").json
    assert [line["new_value"] for line in plan["lines"]] == ["1024"]
    assert fqc("template", "apply", "tables", instance, "--wait").code == 0
    found = fqc("param", "get", instance, "table_definition_cache", "-o", "json").json
    assert (found["configured"], found["running"]) == ("{512*2}", "1024")
    uses = fqc("template", "instances", "tables", "-o", "json").json
    assert [(each["instance_name"], each["is_in_step"]) for each in uses] == [(instance, True)]
    assert fqc("template", "edit", "tables", "--set", "table_definition_cache=2048").code == 0
    assert "table_definition_cache: {512*2}" in fqc("template", "instances", "tables").out


def test_a_fleet_gets_a_template_after_a_preview_of_each(fqc: Fqc, instance: str, other: str) -> None:
    assert fqc("template", "create", "fleetwide", "--set", "thread_cache_size=88").code == 0
    both = ("--instance", instance, "--instance", other)
    plan = fqc("fleet", "apply", "fleetwide", *both, "--dry-run", "-o", "json").json
    assert {item["instance_name"] for item in plan["items"]} == {instance, other}
    assert fqc("fleet", "apply", "fleetwide", *both).code == 2  # there is no terminal for the confirmation
    done = fqc("fleet", "apply", "fleetwide", *both, "--yes", "--wait", "-o", "json").json
    assert {item["state"] for item in done["items"]} == {"applied"}
    assert fqc("param", "get", other, "thread_cache_size", "-o", "json").json["running"] == "88"
    assert done["id"] in fqc("fleet", "list").out
    assert fqc("fleet", "status", "-o", "json").json["instance_count"] >= 2


def test_an_instance_whose_account_lacks_a_privilege_is_told_with_its_grant_and_skipped(
    fqc: Fqc, instance: str, stack: Stack
) -> None:
    server = stack.instances[1]  # registered as an external server, with the account that only reads
    add = ("instance", "add", "watched", "--class", "local.small", "--host", server["host"], "--port")
    account = ("--username", server["username"], "--password-stdin")
    made = fqc(*add, str(server["port"]), *account, "--yes", "--wait", stdin=f"{server['password']}\n")
    assert made.code == 0, made.err
    assert fqc("template", "create", "granted", "--set", "thread_cache_size=89").code == 0
    assert fqc("cache", "check", "watched").code == 4
    both = ("fleet", "apply", "granted", "--instance", instance, "--instance", "watched")
    plan = fqc(*both, "--dry-run", "-o", "json")
    grants = {item["instance_name"]: item["blocking"][-1:] for item in json.loads(plan.out)["items"]}
    assert grants == {instance: [], "watched": [f"GRANT SUPER ON *.* TO '{server['username']}'@'127.0.0.1';"]}
    assert plan.code == 4
    asked = fqc(*both)
    assert "granted will be applied to 1 instances; 1 blocked, --dry-run shows why" in asked.err
    done = fqc(*both, "--yes", "--wait", "-o", "json").json
    assert {item["instance_name"]: item["state"] for item in done["items"]} == {
        instance: "applied",
        "watched": "blocked",
    }
    assert fqc("instance", "remove", "watched", "--yes", "--wait").code == 0


def test_the_plugin_goes_to_a_fleet_after_a_preview_of_each(fqc: Fqc, instance: str) -> None:
    """The servers of the stack run it already, so nothing is left to do."""
    plan = fqc("fleet", "upgrade", "--instance", instance, "--dry-run", "-o", "json").json
    assert (plan["kind"], [item["lines"] for item in plan["items"]]) == ("upgrade", [[]])
    assert fqc("fleet", "upgrade", "--instance", instance).code == 2  # there is no terminal for the confirmation
    words = ["--instance", instance, "--wave", "2", "--settle", "0", "--yes", "--wait"]
    done = fqc("fleet", "upgrade", *words, "-o", "json").json
    assert (done["state"], done["counts"]["unchanged"], done["settle_seconds"]) == ("done", 1, 0)
    assert f"plugin {plan['minor_version']}" in fqc("fleet", "list").out
    assert fqc("fleet", "upgrade").code == 2


def test_an_upgrade_that_is_watched_can_be_told_how_long_statements_may_take(fqc: Fqc, instance: str) -> None:
    words = ("fleet", "upgrade", "--instance", instance, "--yes", "--wait", "-o", "json")
    done = fqc(*words, "--settle", "1", "--max-p95", "150").json
    assert (done["state"], done["settle_seconds"], done["max_p95_percent"]) == ("done", 1, 150)
    assert fqc(*words, "--settle", "1").json["max_p95_percent"] is None
    unwatched = fqc(*words, "--settle", "0", "--max-p95", "150")  # the API refuses the combination
    assert (unwatched.code, "max_p95_percent" in unwatched.err) == (2, True), unwatched.err
    assert fqc(*words, "--max-p95", "99").code == 2


def test_a_fleet_apply_needs_to_know_where(fqc: Fqc) -> None:
    assert fqc("fleet", "apply", "fast-query-cache-on").code == 2
