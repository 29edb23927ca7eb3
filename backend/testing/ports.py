"""Free ports for the servers of tests, which keep theirs over a restart.

Below the range from which Linux gives ports to outgoing connections: one of those could take a stopped server's port.
"""

from __future__ import annotations

import random

from controlplane.gateway.local import is_free

RANGE = range(14_000, 17_000)


def free_port() -> int:
    return next(port for port in random.sample(RANGE, len(RANGE)) if is_free(port))
