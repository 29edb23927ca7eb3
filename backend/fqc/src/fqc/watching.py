"""The repetition of `--watch`. A terminal is cleared each time; a pipe receives all results, as YAML in separate
documents.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from fqc.output import Format, console

if TYPE_CHECKING:
    from fqc.call import Call


def repeat(look: Callable[[], None], call: Call) -> None:
    """Calls `look`, which prints a result, again and again with the interval of the options. Returns on Ctrl-C."""
    is_screen = call.form is Format.TABLE and sys.stdout.isatty()
    try:
        while True:
            if is_screen:
                console().clear()
            if call.form is Format.YAML:
                sys.stdout.write("---\n")
            look()
            sys.stdout.flush()
            time.sleep(call.interval_seconds)
    except KeyboardInterrupt:
        return
