"""A part of the tests, for a machine that is too slow for all of them.

FQC_TEST_SLICE is `PARTS:SEED`. One test in PARTS runs, chosen by a hash of its name and the seed: a run with another
seed, such as the next commit, chooses others. Unset means that every test runs. This module is pytest's plugin for
the backend; the runners in `.ci` import it too, so it needs the standard library only.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

NAME = "FQC_TEST_SLICE"


def is_among(test: str) -> bool:
    """Whether this test belongs to the slice that the environment asks for."""
    parts, _, seed = os.environ.get(NAME, "1:").partition(":")
    digest = hashlib.sha256(f"{seed} {test}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % int(parts) == 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if left_out := [item for item in items if not is_among(item.nodeid)]:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if is_among(item.nodeid)]
