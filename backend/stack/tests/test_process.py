"""Nothing is signalled that is not proved to be ours."""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from stack.process import MARK, identify, is_alive, marked, send, stop
from stack.waiting import wait_until

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
DEAF = [
    sys.executable,
    "-c",
    "import signal as s, time; s.signal(15, s.SIG_IGN); print(1, flush=True); time.sleep(600)",
]


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(SLEEP)
    yield process
    process.kill()
    process.wait()


def test_a_running_process_is_itself(child: subprocess.Popen[bytes]) -> None:
    identity = identify(child.pid)
    assert identity is not None
    assert is_alive(identity)


def test_the_same_pid_with_another_start_time_is_a_stranger(child: subprocess.Popen[bytes]) -> None:
    identity = identify(child.pid)
    assert identity is not None
    stranger = replace(identity, started_ticks=identity.started_ticks + 1)
    assert not is_alive(stranger)
    assert not send(stranger, signal.SIGKILL)
    assert child.poll() is None


def test_a_process_of_an_earlier_boot_is_a_stranger(child: subprocess.Popen[bytes]) -> None:
    identity = identify(child.pid)
    assert identity is not None
    assert not send(replace(identity, boot_id="of-last-week"), signal.SIGKILL)
    assert child.poll() is None


def test_a_dead_process_that_was_not_reaped_is_not_alive(child: subprocess.Popen[bytes]) -> None:
    identity = identify(child.pid)
    assert identity is not None
    child.kill()
    assert wait_until(lambda: not is_alive(identity), 60)


def test_stop_kills_what_ignores_a_polite_request() -> None:
    deaf = subprocess.Popen(DEAF, stdout=subprocess.PIPE)
    assert deaf.stdout is not None
    deaf.stdout.readline()
    identity = identify(deaf.pid)
    assert identity is not None
    stop([identity], grace_seconds=0.2)
    assert deaf.wait(60) == -signal.SIGKILL
    deaf.stdout.close()


def test_a_grandchild_is_found_by_its_mark_after_its_parent_is_gone() -> None:
    stack_id = secrets.token_hex(8)
    code = f"import subprocess as s; print(s.Popen({SLEEP!r}, stdout=s.DEVNULL, stderr=s.DEVNULL).pid)"
    parent = [sys.executable, "-c", code]
    done = subprocess.run(parent, env=os.environ | {MARK: stack_id}, capture_output=True, text=True, check=True)
    orphan = int(done.stdout)
    assert [identity.pid for identity in marked(stack_id)] == [orphan]
    assert marked(stack_id + "-of-another") == []
    stop(marked(stack_id), grace_seconds=60)
    assert identify(orphan) is None
