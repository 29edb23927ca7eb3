"""The engine in a local server: its library in place, and loaded."""

from __future__ import annotations

from pathlib import Path

from controlplane.gateway.errors import RefusedStatement
from controlplane.gateway.local import LocalServer
from controlplane.gateway.server import Server

ALREADY_THERE = ("1968", "1125")  # plugin, or function, is already installed


def install_engine(local: LocalServer, server: Server, library: Path) -> None:
    """A server that has loaded an older library keeps it until its next start."""
    local.install_engine_file(library)
    try:
        server.run("INSTALL SONAME 'fqc'")
    except RefusedStatement as error:
        if not any(code in error.detail for code in ALREADY_THERE):
            raise
    server.__dict__.pop("has_engine", None)  # it was asked before there was one
