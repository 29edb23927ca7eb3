"""Each line of a process's log is one JSON object, whichever library wrote it, and FQC_LOG_LEVEL selects the lines."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from testing.ports import free_port
from testing.workers import BACKEND, environment_of, until

CELERY = ["celery", "--quiet", "--app", "config.celery"]
NO_TASK = "nowhere.nothing"
FIELDS = {"event", "level", "logger", "timestamp"}
FAILING = """
from config import bodies, web
async def fail(*_): raise RuntimeError("of the test")
bodies.BoundedBodies.__call__ = fail
web.main()
"""


class Logged:
    """A process of the product, started with the command line `words`.

    Its standard error is its log, in the file `log`.
    """

    def __init__(self, words, folder, **environment):
        self.log, self.output = folder / "log", folder / "output"
        # A run directory of its own keeps other tests' tasks away.
        self.environment = environment_of(**{"FQC_RUN_DIR": str(folder), "FQC_LOG_LEVEL": "info"} | environment)
        with self.log.open("wb") as log, self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, *words],
                cwd=BACKEND,
                env=self.environment,
                stdout=output,
                stderr=log,
                start_new_session=True,
            )

    def lines(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def until_told(self, what):
        until(lambda: what in self.log.read_text() or self.process.poll() is not None, f"{what!r} is told", 60)

    def end(self):
        self.process.terminate()
        self.process.wait(600)
        return self.lines()


@pytest.fixture
def logged(transactional_db, tmp_path):
    started = []

    def start(*words, **environment):
        started.append(Logged(words, tmp_path, **environment))
        return started[-1]

    yield start
    for each in started:
        with suppress(ProcessLookupError):
            os.killpg(each.process.pid, signal.SIGKILL)  # also kills its children
        each.process.wait()


def is_up(port):
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def web(logged, *words, **environment):
    port = free_port()
    process = logged(*words, "--port", str(port), **environment)
    until(lambda: is_up(port), "the web process listens")
    return process, port


def events(lines):
    assert all(line.keys() >= FIELDS for line in lines)
    return [line["event"] for line in lines]


def test_what_uvicorn_says_is_json(logged):
    process, port = web(logged, "-m", "config.web")
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"no request\r\n\r\n")
        assert b"400" in client.recv(100)
    told = events(process.end())
    assert f"Started server process [{process.process.pid}]" in told
    assert "Invalid HTTP request received." in told
    assert f"Finished server process [{process.process.pid}]" in told
    assert process.output.read_text() == ""


def test_an_exception_with_its_lines_is_one_object(logged):
    process, port = web(logged, "-c", FAILING)
    with pytest.raises(OSError, match="500"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/")
    [told] = [line for line in process.end() if "exception" in line]
    assert (told["level"], told["logger"]) == ("error", "uvicorn.error")
    assert told["exception"].endswith("RuntimeError: of the test")


def test_the_level_is_that_of_uvicorn_too(logged):
    process, _ = web(logged, "-m", "config.web", FQC_LOG_LEVEL="warning")
    assert process.end() == []


@pytest.mark.parametrize("role", [["worker", "--pool", "solo"], ["beat", "--pidfile="]])
def test_the_level_is_that_of_celery_too(logged, role):
    process = logged("-m", *CELERY, *role, FQC_LOG_LEVEL="debug")
    until(lambda: any(line["level"] == "debug" for line in process.lines()), "it tells what it does", 60)
    process.end()


@pytest.mark.parametrize(("level", "is_told"), [("info", False), ("debug", True)])
def test_a_task_that_goes_well_is_told_of_at_debug_alone(logged, level, is_told):
    process = logged("-m", *CELERY, "worker", "--pool", "solo", FQC_LOG_LEVEL=level)
    process.until_told(" ready.")
    sent = [
        sys.executable,
        "-c",
        f"from config.celery import app; app.send_task('metrics.expire'); app.send_task('{NO_TASK}')",
    ]
    subprocess.run(sent, cwd=BACKEND, env=process.environment, check=True)
    process.until_told(NO_TASK)  # an error is logged at every level, and comes second
    told = [event for event in events(process.end()) if "metrics.expire" in event and "succeeded" in event]
    assert bool(told) is is_told
    assert process.output.read_text().split() == ["worker:", "Warm", "shutdown", "(MainProcess)"]


def test_a_child_of_a_worker_that_is_killed_is_told_in_json(logged):
    process = logged("-m", *CELERY, "worker", "--concurrency", "2")
    process.until_told(" ready.")
    children = Path(f"/proc/{process.process.pid}/task/{process.process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)
    process.until_told("exited with")
    # Do not wait for the next child: it would never start if the killed child held the lock for taking work.
    assert any("exited with 'signal 9" in event for event in events(process.lines()))
