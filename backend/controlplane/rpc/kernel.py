"""Minor versions of the engine as the dialect writes them: `rds_20200331`."""

from __future__ import annotations

from django.conf import settings

from controlplane.gateway.engine import library_minor_version

PREFIX = "rds_"


def kernel_name(minor_version: int | None) -> str:
    return f"{PREFIX}{minor_version}" if minor_version else ""


def kernel_number(name: str) -> int:
    return int(name.removeprefix(PREFIX))


def offered() -> int:
    """Returns the engine's minor version that an upgrade installs; 0 if the control plane has no
    file of the plugin."""
    return library_minor_version(settings.ENGINE_LIBRARY) or 0
