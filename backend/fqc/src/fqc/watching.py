"""`--watch`: the same look again and again. A terminal is cleared in between; a pipe gets each result."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from fqc.output import Format, console

if TYPE_CHECKING:
    from fqc.call import Call


def repeat(look: Callable[[], None], call: Call) -> None:
    is_screen = call.form is Format.TABLE and sys.stdout.isatty()
    try:
        while True:
            if is_screen:
                console().clear()
            look()
            sys.stdout.flush()
            time.sleep(call.interval_seconds)
    except KeyboardInterrupt:
        return
