"""Fixtures of this package's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from controlplane.fleet.kept_connections import Connections


@pytest.fixture
def connections() -> Iterator[Connections]:
    kept = Connections()
    yield kept
    kept.keep_only(())
