"""Converts engine lines to the dialect's two names for them: engine and version."""

from __future__ import annotations

from controlplane.catalogue.line import Line
from controlplane.catalogue.selectors import line_list
from controlplane.rpc.errors import RpcError


def line_of(engine: str, version: str) -> Line:
    known = line_list()
    for line in known:
        if (line.product.lower(), line.version) == (engine.lower(), version):
            return line
    names = ", ".join(f"{line.product} {line.version}" for line in known)
    raise RpcError("InvalidEngineVersion.NotFound", f"There is no {engine} {version} here. There are: {names}.", 404)
