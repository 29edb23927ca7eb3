"""A private stack with instances that are not ready for the cache, and keys to the RPC endpoint.

There is one MariaDB server per language. If there is a MySQL server, Python gets one more instance.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from stack.enabling import Api
from stack.fleet import Administrator
from stack.waiting import wait_until

HERE = Path(__file__).parent
BACKEND = HERE.parent
LANGUAGES = ("python", "node", "go")
ON_MYSQL = "python on MySQL"
NO_MYSQL = "NO MYSQL SERVER IS HERE: set FQC_MYSQLD, or run scripts/fetch-server MySQL tested"
ENDED = ("applied", "rolled_back", "failed", "aborted")
WAIT_SECONDS = 180.0
PROGRAM_SECONDS = 600.0
UNINSTALL = {
    "MariaDB": ("UNINSTALL SONAME 'fqc'",),
    "MySQL": tuple(f"UNINSTALL PLUGIN {name}" for name in ("query", "fqc", "fqc_events")),
}
PROGRAMS = {
    "python": lambda name: [str(HERE / ".venv/bin/python"), f"python/{name}.py"],
    "node": lambda name: ["node", f"node/{name}.mjs"],
    "go": lambda name: [f"go/bin/{name}"],
}


@dataclass
class Run:
    """A running program. Its output is read once and kept for later calls."""

    process: subprocess.Popen[str]
    output: str | None = None

    def finished(self) -> str:
        if self.output is None:
            self.output, _ = self.process.communicate(timeout=PROGRAM_SECONDS)
        assert self.process.returncode == 0, self.output
        return self.output


@dataclass
class Stack:
    address: str
    api: Api
    instances: dict[str, dict[str, Any]]  # by language, and ON_MYSQL
    environment: dict[str, str]

    def await_change(self, change: dict[str, Any]) -> None:
        path = f"changes/{change['id']}"
        assert wait_until(lambda: self.api.call("GET", path)["state"] in ENDED, WAIT_SECONDS), f"{path} has no end"
        ended = self.api.call("GET", path)
        assert ended["state"] == "applied", ended

    def configured(self, language: str) -> dict[str, str | None]:
        rows = self.api.call("GET", f"instances/{self.instances[language]['id']}/parameters")["items"]
        return {row["name"]: row["configured"] for row in rows}

    def start(self, story: str, name: str) -> Run:
        own, language = {"FQC_RPC_INSTANCE": str(self.instances[story]["id"])}, story.partition(" ")[0]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        environment = os.environ | self.environment | own
        return Run(subprocess.Popen(PROGRAMS[language](name), cwd=HERE, env=environment, **pipes))


def mysqld() -> str:
    """Returns the path of a MySQL server program; empty if there is none."""
    named = os.environ.get("FQC_MYSQLD", "")
    return named if Path(named).is_file() else ""


def control(*arguments: str) -> str:
    command = [str(BACKEND / ".venv/bin/python"), "-m", "stack", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FQC_")}
    environment |= {"FQC_MYSQLD": mysqld()}
    done = subprocess.run(command, cwd=BACKEND, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    run_dir = str(tmp_path_factory.mktemp("stack"))
    try:
        start = ("up", "--run-dir", run_dir, "--ports", "auto", "--json", "--count")
        up = json.loads(control(*start, str(len(LANGUAGES))))
        if mysqld():
            up = json.loads(control(*start, "1", "--product", "MySQL"))
        api = Api(up["address"])
        api.log_in(Administrator(**up["admin"]))
        stories = [*LANGUAGES, ON_MYSQL] if mysqld() else LANGUAGES
        instances = dict(zip(stories, up["instances"], strict=True))
        found = Stack(up["address"], api, instances, environment_of(up["address"], api))
        without_engine(found)
        yield found
    finally:
        control("reset", "--run-dir", run_dir)


def environment_of(address: str, api: Api) -> dict[str, str]:
    key = api.call("POST", "access-keys", {"name": "official clients", "scope": "operator"})
    token = api.call("POST", "tokens", {"name": "official clients", "scope": "operator"})
    return {
        "FQC_RPC_ENDPOINT": address.removeprefix("http://"),
        "FQC_TOKEN": token["token"],
        "ALIBABA_CLOUD_ACCESS_KEY_ID": key["id"],
        "ALIBABA_CLOUD_ACCESS_KEY_SECRET": key["secret"],
        "NO_PROXY": "127.0.0.1",
    }


def without_engine(stack: Stack) -> None:
    """Removes the engine, as on servers that the control plane did not make."""
    for instance in stack.instances.values():
        for statement in UNINSTALL[instance["product"]]:
            run_sql(instance, statement)
    restarts = [stack.api.call("POST", f"instances/{each['id']}/restart", {}) for each in stack.instances.values()]
    for change in restarts:
        stack.await_change(change)


def run_sql(instance: dict[str, Any], statement: str) -> None:
    """Runs a statement as the owner of the server's process, who may log in through the socket."""
    who = [f"--socket={instance['folder']}/server.sock", f"--user={instance['owner']}"]
    environment = os.environ | {"MYSQL_PWD": instance["owner_password"]}
    subprocess.run(["mariadb", "--no-defaults", *who, "-e", statement], env=environment, check=True)


@pytest.fixture(scope="session")
def stories(stack: Stack) -> Iterator[dict[str, Run]]:
    """Runs all programs at once, each on its own instance, since they mostly wait."""
    started = {name: stack.start(name, "story") for name in stack.instances}
    yield started
    for run in started.values():
        run.process.kill()
        run.process.wait()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if not mysqld():
        terminalreporter.write_line(f"ONE TEST WAS SKIPPED. {NO_MYSQL}", yellow=True)
