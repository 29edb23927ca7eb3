import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Fqc, Stack, eventually


def test_instances_are_a_table_for_people(fqc: Fqc, stack: Stack) -> None:
    lines = fqc("instance", "list").out.splitlines()
    assert lines[0].split()[:3] == ["NAME", "STATE", "CLASS"]
    assert {line.split()[0] for line in lines[1:]} >= {each["name"] for each in stack.instances}
    assert "\x1b" not in "".join(lines)


def test_json_and_yaml_say_the_same(fqc: Fqc, instance: str) -> None:
    import yaml

    shown = fqc("instance", "show", instance, "-o", "json").json
    again = yaml.safe_load(fqc("instance", "show", instance, "-o", "yaml").out)
    assert (shown["name"], shown["endpoint"]) == (instance, again["endpoint"])


def test_a_shell_is_offered_names_of_instances_classes_and_templates(fqc: Fqc, bare: Fqc, instance: str) -> None:
    def offered(run: Fqc, line: str) -> list[str]:
        return run(_FQC_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(line.count(" "))).out.split()

    assert instance in offered(fqc, f"fqc instance show {instance[:3]}")
    assert offered(fqc, f"fqc instance resize {instance} local.m") == ["local.medium"]
    assert "fast-query-cache-on" in offered(fqc, "fqc template apply fast-query")
    assert offered(bare, "fqc instance show ") == []  # without a log-in


def test_global_options_may_stand_before_the_noun(fqc: Fqc, stack: Stack, instance: str) -> None:
    assert fqc("-o", "json", "--url", stack.url, "instance", "show", instance).json["name"] == instance
    assert fqc("--url", "http://127.0.0.1:1", "instance", "list").code == 1
    behind = fqc("--output", "yaml", "instance", "show", instance, "-o", "json")
    assert behind.json["name"] == instance, "what stands behind the command counts more"


def test_filters_reach_the_api(fqc: Fqc, instance: str) -> None:
    assert [each["name"] for each in fqc("instance", "list", "--search", instance, "-o", "json").json] == [instance]
    assert fqc("instance", "list", "--state", "failed", "-o", "json").json == []
    assert len(fqc("instance", "list", "--limit", "1", "-o", "json").json) == 1


def test_an_unknown_instance_is_not_found(fqc: Fqc) -> None:
    lost = fqc("instance", "show", "nowhere")
    assert lost.code == 3
    assert "nowhere" in lost.err
    problem = json.loads(fqc("instance", "show", "nowhere", "-o", "json").err)
    assert problem["code"] == "not_found"


def test_a_restart_needs_consent_and_happens_once_given(fqc: Fqc, instance: str) -> None:
    before = fqc("instance", "show", instance, "-o", "json").json["server_started_at"]
    refused = fqc("instance", "restart", instance)
    assert refused.code == 2
    assert "--yes" in refused.err
    done = fqc("instance", "restart", instance, "--yes", "--wait", "-o", "json")
    assert done.json["state"] == "applied"
    started = eventually(
        lambda: fqc("instance", "show", instance, "-o", "json").json["server_started_at"],
        lambda at: at not in (None, before),
    )
    assert started not in (None, before)


def test_a_dry_run_of_a_restart_restarts_nothing(fqc: Fqc, other: str) -> None:
    before = fqc("instance", "show", other, "-o", "json").json["server_started_at"]
    tried = fqc("instance", "restart", other, "--dry-run", "-o", "json").json
    assert (tried["state"], [step["kind"] for step in tried["steps"]][-1]) == ("aborted", "restart")
    assert fqc("instance", "show", other, "-o", "json").json["server_started_at"] == before


def test_the_proxy_is_switched_on_and_then_blocks_the_cache(fqc: Fqc, instance: str) -> None:
    assert "proxy" not in fqc("instance", "show", instance).out
    assert fqc("instance", "proxy", instance, "--on", "--wait").code == 0
    assert "Dedicated proxy" in fqc("instance", "show", instance).out
    check = fqc("cache", "check", instance)
    assert check.code == 4
    assert "proxy" in check.out
    refused = fqc("cache", "enable", instance)
    assert refused.code == 4
    assert fqc("instance", "proxy", instance, "--off", "--wait").code == 0
    assert fqc("cache", "check", instance).code == 0


def test_a_resize_resolves_expressions_anew(fqc: Fqc, instance: str) -> None:
    done = fqc("instance", "resize", instance, "local.medium", "--wait", "-o", "json").json
    assert "innodb_buffer_pool_size" in [line["name"] for line in done["lines"]]
    assert fqc("instance", "show", instance, "-o", "json").json["instance_class"] == "local.medium"
    assert fqc("instance", "resize", instance, "local.small", "--wait").code == 0


def test_a_resize_takes_a_custom_size(fqc: Fqc, instance: str) -> None:
    before = fqc("instance", "show", instance, "-o", "json").json["instance_class"]
    assert fqc("instance", "resize", instance).code == 2, "neither a class nor a size"
    assert fqc("instance", "resize", instance, before, "--memory", "3G").code == 2, "both"
    assert "would send" in fqc("instance", "resize", instance, "--memory", "3G", "--dry-run").out
    assert fqc("instance", "resize", instance, "--memory", "3G", "--cpus", "3", "--wait").code == 0
    name = fqc("instance", "show", instance, "-o", "json").json["instance_class"]
    [made] = [each for each in fqc("class", "list", "-o", "json").json if each["name"] == name]
    assert (made["cpu_count"], made["memory_bytes"]) == (3, 3 * 1024**3)
    assert fqc("instance", "resize", instance, before, "--wait").code == 0


def test_an_external_server_is_added_and_forgotten(fqc: Fqc, stack: Stack) -> None:
    server = stack.instances[1]
    add = ("instance", "add", "borrowed", "--class", "local.small", "--host", server["host"], "--port")
    account = ("--username", server["username"], "--password-stdin", "--tag", "team=tests")
    account += ("--trial-username", "reader")
    assert "password" not in fqc(*add, str(server["port"]), *account, "--dry-run", "-o", "json").json["body"]
    passwords = f"{server['password']}\nof-the-reader\n"
    asked = fqc(*add, str(server["port"]), *account, stdin=passwords)
    assert (asked.code, f"registered already, as {server['name']}" in asked.err) == (2, True)
    made = fqc(*add, str(server["port"]), *account, "--yes", "--wait", "-o", "json", stdin=passwords)
    assert (made.json["state"], made.json["tags"]) == ("running", {"team": "tests"})
    assert made.json["endpoint"]["trial_username"] == "reader"
    assert server["password"] not in made.out and "of-the-reader" not in made.out
    # an external server, which the control plane cannot restart
    assert fqc("instance", "restart", "borrowed", "--yes").code == 4
    edit = ("instance", "edit", "borrowed")
    assert fqc(*edit).code == 2, "nothing to change"
    assert server["password"] not in fqc(*edit, "--password-stdin", "--dry-run", stdin=passwords).out
    edited = fqc(*edit, "--name", "lent", "--tag", "team=others", "-o", "json")
    assert (edited.json["name"], edited.json["tags"]) == ("lent", {"team": "others"})
    edit = ("instance", "edit", "lent", "--password-stdin", "-o", "json")
    assert fqc(*edit, stdin="a password that its account does not have\n").code == 0
    assert fqc("cache", "status", "lent").code == 4
    assert fqc(*edit, stdin=passwords).code == 0
    assert fqc("cache", "status", "lent").code == 0
    assert fqc("instance", "remove", "lent", "--yes", "--wait").code == 0


def test_the_zero_byte_after_a_certificate_of_mysql_is_left_out(fqc: Fqc, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(b"-----END CERTIFICATE-----\n\0")
    add = ("instance", "add", "borrowed", "--class", "local.small", "--host", "db.internal", "--dry-run", "-o", "json")
    sent = fqc(*add, "--tls", "--tls-ca", str(tmp_path / "ca.pem")).json["body"]
    assert sent["tls_ca"] == "-----END CERTIFICATE-----"


def test_waiting_has_an_end_of_its_own(fqc: Fqc, instance: str) -> None:
    late = ("--at", "2999-01-01T00:00Z", "--wait", "--timeout", "0")
    timed_out = fqc("instance", "restart", instance, "--yes", *late)
    assert timed_out.code == 6
    waiting = fqc("change", "list", instance, "--state", "approved", "-o", "json").json
    assert waiting == fqc("change", "list", "--instance", instance, "--state", "approved", "-o", "json").json
    listed = fqc("change", "list", "--instance", instance, "--state", "approved").out
    assert "2999-01-01 00:00:00Z" in listed
    assert fqc("change", "abort", waiting[0]["id"]).code == 0


def test_watching_shows_it_again(bare: Fqc, fqc: Fqc, config: os.PathLike[str], other: str) -> None:

    command = [sys.executable, "-m", "fqc", "instance", "show", other, "--watch", "--interval", "0.2"]
    environment = {**os.environ, "FQC_CONFIG": str(config)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        seen = 0
        for line in process.stdout:
            seen += line.startswith("Name ")
            if seen == 2:
                process.terminate()
                break
    assert seen == 2


def test_versions_of_the_engine_say_how_many_run_them(fqc: Fqc, stack: Stack) -> None:
    found = fqc("instance", "versions", "-o", "json").json
    newest = found["items"][0]
    assert (newest["minor_version"], newest["is_offered"]) == (found["offered"], True)
    assert newest["instance_count"] >= len(stack.instances)
    offered = str(found["offered"])
    assert f"{offered[:4]}-{offered[4:6]}-{offered[6:]}" in fqc("instance", "versions").out


@pytest.mark.parametrize("name", ["local.small", "fqc.n4.large"])
def test_classes_are_listed(fqc: Fqc, name: str) -> None:
    assert name in fqc("class", "list").out
