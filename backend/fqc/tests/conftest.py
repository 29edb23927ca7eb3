"""A control plane with servers for the tests, and `fqc` as users run it: arguments and stdin in, exit code and text
out.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from fqc.app import main

BACKEND = Path(__file__).resolve().parents[2]


LIMIT_SECONDS = 120  # for what happens without further action; only reached by a failure


@dataclass(frozen=True)
class Stack:
    """The control plane of the tests: its address, the administrator's log-in, and its instances."""

    url: str
    username: str
    password: str
    instances: list[dict[str, Any]]


@dataclass(frozen=True)
class Result:
    """The outcome of a run of `fqc`: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The printed JSON, parsed. Fails the test if the exit code is not 0."""
        assert self.code == 0, self
        return json.loads(self.out)


Fqc = Callable[..., Result]


def _stack(*arguments: str) -> str:
    """Runs a command of the backend's supervisor, and returns what it printed."""
    command = [str(BACKEND / ".venv/bin/python"), "-m", "stack", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FQC_")}
    done = subprocess.run(command, cwd=BACKEND, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Yields the stack of all tests, in a temporary folder, and removes it with its data afterwards."""
    run_dir = str(tmp_path_factory.mktemp("stack"))
    try:
        up = json.loads(_stack("up", "--run-dir", run_dir, "--ports", "auto", "--json"))
        yield Stack(up["address"], up["admin"]["username"], up["admin"]["password"], up["instances"])
    finally:
        _stack("reset", "--run-dir", run_dir)


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Fqc:
    """Returns a function that runs `fqc` with an empty home: without a log-in, and with only the given environment
    variables.
    """
    home = tmp_path_factory.mktemp("home")

    def run(*arguments: str, stdin: str = "", **environment: str) -> Result:
        own = {"HOME": str(home), "PATH": os.environ["PATH"], "FQC_TIMEOUT": "300", **environment}
        return _in_this_process(["fqc", *arguments], io.StringIO(stdin), own)

    return run


def _in_this_process(arguments: list[str], stdin: io.StringIO, environment: dict[str, str]) -> Result:
    """Runs `fqc` in this process, and returns its result. A process for each of some hundred commands would take
    minutes.
    """
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.dict(os.environ, environment, clear=True),
        patch.multiple(sys, argv=arguments, stdin=stdin),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
            code = 0
        except SystemExit as done:
            code = int(done.code or 0)
    return Result(code, out.getvalue(), err.getvalue())


def loaded(*arguments: str, **environment: str) -> set[str]:
    """Returns the modules that a separate process has loaded after running `fqc` with these arguments."""
    program = (
        "import atexit, sys; from fqc.app import main; out = sys.__stderr__;"
        "atexit.register(lambda: print('loaded', *sys.modules, file=out)); main()"
    )
    command = [sys.executable, "-c", program, *arguments]
    own = {"PATH": os.environ["PATH"], **environment}
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    return set(done.stderr.splitlines()[-1].removeprefix("loaded ").split())


def eventually(look: Callable[[], Any], is_right: Callable[[Any], bool]) -> Any:
    """Calls `look` until `is_right` accepts the result, at most 120 seconds, and returns the last result. Assert on it,
    since it is returned even if it is not right.
    """
    end = time.monotonic() + LIMIT_SECONDS
    while not is_right(found := look()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


@pytest.fixture(scope="session")
def config(stack: Stack, bare: Fqc, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the file in which `fqc login` stored the administrator's token."""
    file = tmp_path_factory.mktemp("config") / "config.json"
    login = ("login", "--url", stack.url, "-u", stack.username, "--password-stdin")
    done = bare(*login, stdin=f"{stack.password}\n", FQC_CONFIG=str(file))
    assert done.code == 0, done.err
    return file


@pytest.fixture(scope="session")
def fqc(bare: Fqc, config: Path) -> Fqc:
    """Returns a function that runs `fqc` logged in as the administrator."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> Result:
        return bare(*arguments, stdin=stdin, FQC_CONFIG=str(config), **environment)

    return run


@pytest.fixture(scope="session")
def instance(stack: Stack) -> str:
    """Returns the name of the instance that tests alter."""
    return str(stack.instances[0]["name"])


@pytest.fixture(scope="session")
def other(stack: Stack) -> str:
    """Returns the name of an instance that tests only read, except for a fleet apply."""
    return str(stack.instances[1]["name"])


@pytest.fixture(scope="session")
def viewer(bare: Fqc, fqc: Fqc, stack: Stack) -> Fqc:
    """Returns a function that runs `fqc` with the token of a viewer."""
    token = fqc("token", "create", "looking", "--scope", "viewer", "-o", "json").json["token"]

    def run(*arguments: str, **more: str) -> Result:
        return bare(*arguments, FQC_URL=stack.url, FQC_TOKEN=token, **more)

    return run
