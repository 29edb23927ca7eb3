"""Decides whether time is left for further tests, on a machine that is too slow for all of them.

FQC_TEST_END is a moment, in seconds since 1970, after which no further test of the large suites begins. Unset means
that every test runs. The runners in `.ci` import this module, so it needs the standard library only.
"""

import os
import time

NAME = "FQC_TEST_END"
# The reason with which tests are skipped then. The summary of a run counts these.
REASON = "no time was left"


def is_past() -> bool:
    return time.time() > float(os.environ.get(NAME, "inf"))
