"""Finds out whether this machine's stack is building `fqc-near` for an instance.

`backend/stack/near_build.py` writes the file, and holds its lock during the build. A lock ends with its process, so a
build that was killed does not count as running.
"""

from __future__ import annotations

import fcntl
import json
from typing import Literal

from django.conf import settings

NAME = "near-build.json"


def near_build(instance_name: str) -> Literal["building", "failed"] | None:
    """Returns the state of the build of the near cache in front of this instance.

    None if nothing is being built for it, or the build has succeeded.
    """
    try:
        with (settings.RUN_DIR / NAME).open() as file:
            told = json.load(file)
            if told["before"] != instance_name:
                return None
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return "building"
            return "failed" if told["has_failed"] else None
    except (FileNotFoundError, ValueError):
        return None
