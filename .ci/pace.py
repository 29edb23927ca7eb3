"""Decides how much of the suites a machine can run in its time, from work that is done and timed once.

Suites start programs most of the time, so the work is starts of an interpreter that compiles a large module, as many
at a time as there are suites at a time. What it takes grows with everything that slows the suites down: slower
processors, fewer of them, and other users of the machine.
"""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

WORK = (
    "import argparse, typing; text = open(typing.__file__).read(); [compile(text, 'typing', 'exec') for _ in range(4)]"
)
STARTS = 80
# Its time on the machine whose suites take SUITES_SECONDS after the build, with nothing else at work.
WORK_SECONDS = 4.6
SUITES_SECONDS = 1400.0
# The share of SUITES_SECONDS that a slice divides. The rest is linters, tests of wrong rows, and starts of stacks.
DIVIDED = 0.6
# When a run should have ended. The rest of the time is for second tries, and for neighbours that come later.
END_SECONDS = 65 * 60
PARTS = (1, 2, 4)


def work_seconds(at_once: int) -> float:
    started = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(lambda _: subprocess.run([sys.executable, "-I", "-c", WORK], check=True), range(STARTS)))
    return time.monotonic() - started


def parts(elapsed: float, work: float) -> int:
    """Into how many slices the large suites are cut: as few as let the run end in time, or the most there are."""
    whole = SUITES_SECONDS * work / WORK_SECONDS
    return next((n for n in PARTS if elapsed + whole * (1 - DIVIDED + DIVIDED / n) <= END_SECONDS), PARTS[-1])
