import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import BACKEND, Fqc, Stack, eventually

from fqc.api import Api
from fqc.contexts import Context

PROGRAM = BACKEND.parent / "engine" / "dist" / "fqc-near"
RULES = '[[rule]]\nschema = "near"\ncache = "always"\nttl = 3600\n'
# A table, and three reads of it through the near cache: the second and third need not reach the server.
READS = """
import json, sys, pymysql
from stack.fleet import Instance
from stack.owner import as_owner
made = [
    "CREATE DATABASE near", "CREATE TABLE near.stock (number INT)",
    "CREATE USER near_app@'127.0.0.1' IDENTIFIED BY 'secret'", "GRANT SELECT ON near.* TO near_app@'127.0.0.1'",
]
with as_owner(Instance(**json.loads(sys.argv[1]))) as owner, owner.cursor() as cursor:
    for statement in made:
        cursor.execute(statement)
near = pymysql.connect(unix_socket=sys.argv[2], user="near_app", password="secret", autocommit=True)
with near, near.cursor() as cursor:
    for _ in range(3):
        cursor.execute("SELECT COUNT(*) FROM near.stock")
"""


def serves(found: list[dict[str, Any]]) -> bool:
    return [each["state"] for each in found] == ["serving"]


def test_a_near_cache_is_listed_once_the_cache_of_its_server_is_on(fqc: Fqc, instance: str) -> None:
    refused = fqc("near", "check", instance)
    assert (refused.code, "REPLICATION MASTER ADMIN" in refused.out) == (4, True)
    assert fqc("cache", "enable", instance, "--size", "8M", "--wait").code == 0
    try:
        found = eventually(lambda: fqc("near", "list", instance, "-o", "json").json, serves)
        assert [(each["name"], each["state"]) for each in found] == [(instance, "serving")]
        assert instance in fqc("near", "list", instance).out
        checked = fqc("near", "check", instance)
        assert (checked.code, "fqc-near --server" in checked.out) == (0, True)
    finally:
        assert fqc("cache", "disable", instance, "--wait").code == 0


def test_the_file_that_is_told_is_one_that_the_program_takes(fqc: Fqc, instance: str, tmp_path: Path) -> None:
    found = json.loads(fqc("near", "check", instance, "-o", "json").out)
    password = tmp_path / "password"
    password.write_text("secret\n")
    lines = [
        line.replace("/run/credentials/fqc-near.service/password", str(password))
        for line in found["ways"][0]["config_lines"]
    ]
    config = tmp_path / "fqc-near.toml"
    config.write_text("\n".join(lines))
    done = subprocess.run(
        [str(PROGRAM), "--check", "--config", str(config)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_instance_without_near_caches_lists_none(fqc: Fqc, other: str) -> None:
    assert fqc("near", "list", other, "-o", "json").json == []


@pytest.fixture
def quick_polls(stack: Stack, config: Path) -> Iterator[None]:
    """Makes the control plane poll often during the test, so that it reports a missing near cache within a minute."""
    token = json.loads(config.read_text())["contexts"]["default"]["token"]
    api = Api(Context(stack.url, token))
    before = api.get("settings")["poll_interval_seconds"]
    api.replace("PATCH", "settings", {"poll_interval_seconds": 5})
    yield
    api.replace("PATCH", "settings", {"poll_interval_seconds": before})


@contextmanager
def reporting(stack: Stack, server: dict[str, Any], token: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a near cache in front of the server while the block runs, which reports with this token. Clients reach it by
    the socket `near.sock` in the folder.
    """
    (folder / "rules.toml").write_text(RULES)
    (folder / "token").write_text(token + "\n")
    options = {
        "server": f"{server['host']}:{server['port']}", "listen": folder / "near.sock", "metrics": "off",
        "rules": folder / "rules.toml", "control-plane": stack.url, "control-plane-token-file": folder / "token",
        "name": "shop-1",
    }  # fmt: skip
    with (folder / "log").open("wb") as log:
        words = [f"--{name}={value}" for name, value in options.items()]
        process = subprocess.Popen([str(PROGRAM), *words], stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_one_without_the_plugin_reports_is_counted_and_missed(
    stack: Stack, fqc: Fqc, other: str, quick_polls: None, tmp_path: Path
) -> None:
    would = fqc("near", "token", other, "shop hosts", "--dry-run", "-o", "json").json
    assert would["path"] == f"/api/v1/instances/{other}/near-caches/tokens"
    made = fqc("near", "token", other, "shop hosts", "--days", "1", "-o", "json").json
    server = next(each for each in stack.instances if each["name"] == other)

    def listed() -> Any:
        return fqc("near", "list", other, "-o", "json").json

    def metric(name: str) -> Any:
        [row] = fqc("metrics", "latest", "--instance", other, "-m", name, "-o", "json").json
        return row["values"][name]

    with reporting(stack, server, made["token"], tmp_path) as process:
        assert serves(eventually(listed, serves)), (tmp_path / "log").read_text()
        words = [str(BACKEND / ".venv/bin/python"), "-c", READS, json.dumps(server), str(tmp_path / "near.sock")]
        subprocess.run(words, cwd=BACKEND, check=True)
        [near] = eventually(listed, lambda found: found[0]["hits"] == 2)
        told = {"name": "shop-1", "source": "reporting", "mode": "rules", "hits": 2, "misses": 1}
        assert {name: near[name] for name in told} == told
        shown = fqc("near", "list", other).out
        assert "reporting" in shown and "OBSTACLE" in shown
        assert eventually(lambda: metric("near_caches"), lambda count: count == 1) == 1
        process.kill()
        assert eventually(lambda: metric("near_caches_detached"), lambda count: count == 1) == 1
        assert [each["state"] for each in listed()] == ["detached"]
    with reporting(stack, server, made["token"], tmp_path) as process:
        assert serves(eventually(listed, serves))
        assert fqc("token", "revoke", made["id"], "--yes").code == 0
        refused = eventually((tmp_path / "log").read_text, lambda log: "it answers 401" in log)
        assert "it answers 401: The token is unknown" in refused
