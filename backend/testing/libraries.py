"""Makes the engine's library of an older release: the same build with another release date."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from controlplane.gateway.engine import library_minor_version

OLDER = 20200331


@pytest.fixture(scope="session")
def older_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    newest = library_minor_version(settings.ENGINE_LIBRARY)
    assert newest is not None
    content = settings.ENGINE_LIBRARY.read_bytes()
    date, older = (number.to_bytes(8, "little") for number in (newest, OLDER))
    assert content.count(date) == 2, "the variable, and its default"
    library = tmp_path_factory.mktemp("older") / "fqc.so"
    library.write_bytes(content.replace(date, older))
    return library
