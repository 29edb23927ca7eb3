"""Only processes that are verified to be the stack's own are signalled."""

import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stack import record
from stack.down import down
from stack.layout import RunDir
from stack.problem import Problem
from stack.process import MARK, Identity, boot_id, identify, is_alive, marked, send, stop
from stack.waiting import wait_until

NOBODY = 65534
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
# A process that ignores SIGTERM. It prints a line once it does.
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


@pytest.fixture
def thread_id() -> Iterator[int]:
    """Yields the id of an additional thread: a number in /proc that does not belong to a process."""
    end, known, ids = threading.Event(), threading.Event(), []

    def wait() -> None:
        ids.append(threading.get_native_id())
        known.set()
        end.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    known.wait()
    yield ids[0]
    end.set()
    thread.join()


@pytest.mark.parametrize("is_exact", [True, False])
def test_a_number_that_is_a_threads_now_is_no_process_and_the_others_are_ended(
    child: subprocess.Popen[bytes], thread_id: int, is_exact: bool
) -> None:
    fields = Path(f"/proc/{thread_id}/stat").read_text().rpartition(")")[2].split()
    thread = Identity(thread_id, int(fields[19]) if is_exact else 1, boot_id())
    assert identify(thread_id) is None and not is_alive(thread)
    assert not send(thread, signal.SIGKILL)
    other = identify(child.pid)
    assert other is not None
    stop([thread, other, thread], grace_seconds=60)
    assert child.wait(60) == -signal.SIGTERM


def test_down_ends_what_else_was_recorded(child: subprocess.Popen[bytes], thread_id: int, tmp_path: Path) -> None:
    run_dir, other = RunDir(tmp_path), identify(child.pid)
    assert other is not None
    processes = {"web": Identity(thread_id, 1, boot_id()), "worker": other}
    record.save(run_dir.record, record.Record(processes=processes))
    down(run_dir)
    assert child.wait(60) == -signal.SIGTERM
    assert record.load(run_dir.record).processes == {}


@pytest.mark.parametrize("pid", [-1, 0, 2**22, 2**70])
def test_a_number_that_is_nobodys_is_no_process(pid: int) -> None:
    assert identify(pid) is None
    assert not send(Identity(pid, 1, boot_id()), signal.SIGKILL)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not signal another's process")
def test_who_may_not_be_signalled_is_told_of_and_the_others_are_ended() -> None:
    protected = subprocess.Popen(SLEEP)
    own = subprocess.Popen(["/bin/sleep", "600"], user=NOBODY, cwd="/")
    identities = [identify(process.pid) for process in (protected, own)]
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        with pytest.raises(Problem, match=rf"process {protected.pid} could not be ended"):
            stop([each for each in identities if each], grace_seconds=60)
    finally:
        os.setresuid(0, 0, 0)
        protected.kill()
    assert own.wait(60) == -signal.SIGTERM
    assert protected.wait(60) == -signal.SIGKILL


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
