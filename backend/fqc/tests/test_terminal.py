"""The effects of a terminal, a pipe and Ctrl-C on `fqc`, with separate processes and real pseudo-terminals."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import Fqc, loaded

PROGRAM = [sys.executable, "-m", "fqc"]


def interruptible() -> None:
    """Makes Ctrl-C end child processes as usual. Tests that a script runs in the background ignore it, and children
    inherit that.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def on_a_terminal(config: Path, *arguments: str, **more: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Runs `fqc` in a process with a pseudo-terminal while the block runs. Yields the process and the terminal's
    descriptor.
    """
    ours, theirs = pty.openpty()
    # The environment of the test run may switch colours off.
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment = {**inherited, "FQC_CONFIG": str(config), "TERM": "xterm-256color", "COLUMNS": "80", **more}
    with subprocess.Popen(
        [*PROGRAM, *arguments],
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=interruptible,
    ) as process:
        os.close(theirs)
        try:
            yield process, ours
        finally:
            process.kill()
            os.close(ours)


def until(terminal: int, is_enough: Callable[[bytes], bool] = lambda seen: False) -> bytes:
    """Returns what is written to the terminal, up to where `is_enough` accepts it, or to the end."""
    seen = b""
    while not is_enough(seen):
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # on Linux this means that the other side is closed
            break
        if not piece:
            break
        seen += piece
    return seen


def test_colours_are_for_terminals_that_want_them(config: Path, fqc: Fqc) -> None:
    with on_a_terminal(config, "instance", "list") as (_, terminal):
        assert b"\x1b[32mrunning" in until(terminal)
    with on_a_terminal(config, "instance", "list", NO_COLOR="1") as (_, terminal):
        shown = until(terminal)
        assert b"running" in shown
        assert b"\x1b[32m" not in shown
    with on_a_terminal(config, "instance", "list", "-o", "json") as (_, terminal):
        assert b"\x1b" not in until(terminal)
    assert "\x1b" not in fqc("instance", "list").out


def test_ctrl_c_ends_the_waiting_and_not_the_change(config: Path, fqc: Fqc, other: str) -> None:
    late = ("--at", "2999-01-01T00:00Z", "--yes", "--wait")
    with on_a_terminal(config, "instance", "restart", other, *late) as (process, terminal):
        until(terminal, lambda seen: b"approved" in seen)
        process.send_signal(signal.SIGINT)
        said = until(terminal)
        assert process.wait() == 130
    assert b"It continues in the background: fqc change show chg-" in said
    assert b"Traceback" not in said
    waiting = fqc("change", "list", "--instance", other, "--state", "approved", "-o", "json").json
    assert [fqc("change", "abort", each["id"]).code for each in waiting] == [0]


def test_a_question_is_asked_and_a_no_does_nothing(config: Path, fqc: Fqc, other: str) -> None:
    before = fqc("instance", "show", other, "-o", "json").json["server_started_at"]
    with on_a_terminal(config, "instance", "restart", other) as (process, terminal):
        until(terminal, lambda seen: b"Continue?" in seen)
        os.write(terminal, b"n\n")
        assert b"Nothing was changed." in until(terminal)
        assert process.wait() == 1
    newest = fqc("change", "list", "--instance", other, "--limit", "1", "-o", "json").json[0]
    assert (newest["kind"], newest["state"]) == ("restart", "aborted")
    assert fqc("instance", "show", other, "-o", "json").json["server_started_at"] == before


@pytest.mark.parametrize("form", ["table", "json", "yaml"])
def test_a_reader_that_has_seen_enough_is_no_error_to_talk_about(config: Path, other: str, form: str) -> None:
    command = [*PROGRAM, "param", "list", other, "--all", "-o", form]
    environment = {**os.environ, "FQC_CONFIG": str(config)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_full_disk_is_named(config: Path, other: str) -> None:
    environment = {**os.environ, "FQC_CONFIG": str(config)}
    with Path("/dev/full").open("w") as full:
        command = [*PROGRAM, "instance", "show", other, "-o", "json"]
        done = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "error: [Errno 28] No space left on device\n"


def test_a_list_for_scripts_loads_neither_tables_nor_validation(config: Path) -> None:
    found = loaded("instance", "list", "-o", "json", FQC_CONFIG=str(config))
    assert "httpx" in found
    assert not {"rich", "yaml", "pydantic"} & found
