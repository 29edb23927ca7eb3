"""Reading the processor time of programs."""

import subprocess
import sys

import pytest

from driver.machine import exact_seconds

THREADS_THAT_END = """
import threading
print(flush=True)
while True:
    threads = [threading.Thread(target=sum, args=([1],)) for _ in range(50)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
"""


def test_threads_may_end_while_their_time_is_read():
    with subprocess.Popen([sys.executable, "-c", THREADS_THAT_END], stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            assert all(exact_seconds(program.pid) > 0 for _ in range(2000))
        finally:
            program.kill()
    with pytest.raises(FileNotFoundError):
        exact_seconds(program.pid)
