import os
import sys
from itertools import pairwise

import pytest

from driver.generator import LoadFailed, run_in_turns
from driver.turns import turn_seconds

# Speaks the other side of the turns as lua/turns.lua does, and prints when it worked.
GENERATOR = """
import os, struct, sys, threading, time

begins, ended, left = int(os.environ["TURNS_BEGIN"]), int(os.environ["TURNS_ENDED"]), int(sys.argv[2])

def work():
    global left
    while turn_end := os.read(begins, 8):
        if not left:
            print("gave up", flush=True)
            os._exit(3)
        left -= 1
        begun = time.monotonic()
        while time.monotonic() < struct.unpack("d", turn_end)[0]:
            pass
        os.write(1, f"{begun} {time.monotonic()}\\n".encode())
        os.write(ended, b"x")

threads = [threading.Thread(target=work) for _ in range(int(sys.argv[1]))]
print("Threads started!", flush=True)
for thread in threads:
    thread.start()
"""
THREADS = 2


def play(folder, turns_before_giving_up=1000, seconds=0.4):
    script = folder / "generator.py"
    script.write_text(GENERATOR)
    commands = {
        "PATIENT": [sys.executable, str(script), str(THREADS), "1000"],
        "OTHER": [sys.executable, str(script), str(THREADS), str(turns_before_giving_up)],
    }
    servers = dict.fromkeys(commands, os.getpid())
    return run_in_turns(commands, servers, dict.fromkeys(commands, os.environ), folder, THREADS, seconds)


def worked(run):
    lines = run.output.splitlines()[1:]
    return [tuple(map(float, line.split())) for line in lines]


def test_everybody_works_in_turns_and_nobody_beside_another(tmp_path):
    runs = play(tmp_path)
    turns = sorted((begun, ended, name) for name, run in runs.items() for begun, ended in worked(run))
    assert {name: len(worked(run)) for name, run in runs.items()} == {"PATIENT": 4 * THREADS, "OTHER": 4 * THREADS}
    assert all(early[1] <= late[0] for early, late in pairwise(turns) if early[2] != late[2])


def test_its_time_is_that_of_its_turns(tmp_path):
    for run in play(tmp_path).values():
        begun, ended = zip(*worked(run), strict=True)
        assert 0.4 <= run.seconds < max(ended) - min(begun)
        assert run.cpu.client > 0


def test_one_that_ends_before_its_time_is_an_error_that_shows_what_it_said(tmp_path):
    with pytest.raises(LoadFailed, match=r"exit code 3:\n(.*\n)*gave up"):
        play(tmp_path, turns_before_giving_up=2 * THREADS)


def test_more_threads_have_longer_turns_but_not_longer_than_the_run():
    assert [turn_seconds(threads, 2) for threads in (1, 8, 64, 1024)] == [0.1, 0.1, 0.5, 2]
