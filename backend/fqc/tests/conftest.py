"""A private stack per test session, and `fqc` as a process of its own: what is tested is what people run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

BACKEND = Path(__file__).resolve().parents[2]
START = "import sys; from fqc.app import main; sys.argv[0] = 'fqc'; main()"


@dataclass(frozen=True)
class Stack:
    url: str
    username: str
    password: str
    instances: list[dict[str, Any]]


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self
        return json.loads(self.out)


Fqc = Callable[..., Result]


def _stack(*arguments: str) -> str:
    command = [str(BACKEND / ".venv/bin/python"), "-m", "stack", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FQC_")}
    done = subprocess.run(command, cwd=BACKEND, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    run_dir = str(tmp_path_factory.mktemp("stack"))
    up = json.loads(_stack("up", "--run-dir", run_dir, "--ports", "auto", "--json"))
    try:
        yield Stack(up["address"], up["admin"]["username"], up["admin"]["password"], up["instances"])
    finally:
        _stack("reset", "--run-dir", run_dir)


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Fqc:
    """`fqc` with an empty home and nothing in the environment."""
    home = tmp_path_factory.mktemp("home")

    def run(*arguments: str, stdin: str = "", **environment: str) -> Result:
        own = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8", **environment}
        command = [sys.executable, "-c", START, *arguments]
        done = subprocess.run(command, env=own, input=stdin, capture_output=True, text=True, timeout=60, check=False)
        return Result(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def config(stack: Stack, bare: Fqc, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `fqc login` kept the administrator's token."""
    file = tmp_path_factory.mktemp("config") / "config.json"
    login = ("login", "--url", stack.url, "-u", stack.username, "--password-stdin")
    done = bare(*login, stdin=f"{stack.password}\n", FQC_CONFIG=str(file))
    assert done.code == 0, done.err
    return file


@pytest.fixture(scope="session")
def fqc(bare: Fqc, config: Path) -> Fqc:
    """`fqc`, logged in."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> Result:
        return bare(*arguments, stdin=stdin, FQC_CONFIG=str(config), **environment)

    return run


@pytest.fixture(scope="session")
def instance(stack: Stack) -> str:
    """The one that tests alter."""
    return str(stack.instances[0]["name"])


@pytest.fixture(scope="session")
def other(stack: Stack) -> str:
    """One that tests only look at, but for a fleet's apply."""
    return str(stack.instances[1]["name"])


@pytest.fixture(scope="session")
def viewer(bare: Fqc, fqc: Fqc, stack: Stack) -> Fqc:
    token = fqc("token", "create", "looking", "--scope", "viewer", "-o", "json").json["token"]

    def run(*arguments: str, **more: str) -> Result:
        return bare(*arguments, FQC_URL=stack.url, FQC_TOKEN=token, **more)

    return run
