"""Free ports for the servers of tests, which keep their port over a restart.

They are below the range that Linux uses for outgoing connections, since one of those could take a stopped server's
port.
"""

from __future__ import annotations

import random

from controlplane.gateway.local import is_free

RANGE = range(14_000, 17_000)


def free_port() -> int:
    return next(port for port in random.sample(RANGE, len(RANGE)) if is_free(port))
