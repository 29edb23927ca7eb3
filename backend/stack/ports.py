"""The ports that a stack listens on.

`fixed` takes them from the environment, so that addresses stay the same between runs; `auto` takes free ones, so that
several stacks can run at the same time. A chosen port is stored in the stack's record and used again.
"""

import os
import random
import socket
from dataclasses import asdict, dataclass

from stack.problem import Problem

LOOPBACK = "127.0.0.1"
WEB_SETTING = "FQC_WEB_PORT"
FLEET_SETTING = "FQC_LOCAL_PORT_BASE"
_DEFAULTS = {WEB_SETTING: 8000, FLEET_SETTING: 13306}
# Below the range that Linux uses for outgoing connections (32768 and up).
_AUTO_RANGE = range(20_000, 32_000)


@dataclass(frozen=True)
class Ports:
    web: int
    fleet_base: int

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def require_free(setting: str, port: int) -> None:
    if not is_free(port):
        raise Problem(
            f"port {port} on {LOOPBACK} is taken by another program; choose a free one with {setting}, "
            f"for example: {setting}={port + 100} make up"
        )


def fixed() -> Ports:
    return Ports(web=_from_environment(WEB_SETTING), fleet_base=_from_environment(FLEET_SETTING))


def automatic(fleet_size: int) -> Ports:
    wanted = fleet_size + 1
    for _ in range(200):
        base = random.randrange(_AUTO_RANGE.start, _AUTO_RANGE.stop - wanted)
        if all(is_free(port) for port in range(base, base + wanted)):
            return Ports(web=base, fleet_base=base + 1)
    raise Problem(f"found no {wanted} free ports in a row between {_AUTO_RANGE.start} and {_AUTO_RANGE.stop}")


def _from_environment(setting: str) -> int:
    text = os.environ.get(setting, "")
    if not text:
        return _DEFAULTS[setting]
    if not text.isdigit() or not 1024 <= int(text) <= 65_000:
        raise Problem(f"{setting}={text!r} is not a port; set a number from 1024 to 65000")
    return int(text)
