"""The engine (the plugin that caches queries) in a local server: the library to install, copying it, and loading it.

The library itself says which products can load it, by the symbols that their servers look for.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from functools import lru_cache
from pathlib import Path

from controlplane.gateway.errors import RefusedStatement
from controlplane.gateway.local import LocalServer, LocalServerError, server_program
from controlplane.gateway.product import DEFAULT_PRODUCT, PRODUCTS, Product
from controlplane.gateway.server import Server

MINOR_VERSION = re.compile(r"^fqc-minor-version +(\d+)$", re.MULTILINE)
HELP_SECONDS = 30


def install_engine(local: LocalServer, server: Server, library: Path) -> None:
    """Copies the library into the server's plugin folder and loads it through the open connection `server`.

    A server that has loaded an older library keeps that until its next start.
    """
    local.install_engine_file(library)
    for statement in local.product.install_engine:
        try:
            server.run(statement)
        except RefusedStatement as error:
            if error.number not in local.product.engine_installed_errors:
                raise
    server.__dict__.pop("has_engine", None)  # cached before the engine was loaded


def is_loaded_by(product: Product, library: Path) -> bool:
    """Returns whether servers of this product can load the engine's library, by the symbols in it.

    Without a library, true only for the default product.
    """
    try:
        return product.engine_symbol in _symbols(library, library.stat().st_mtime_ns)
    except OSError:
        return product is DEFAULT_PRODUCT


@lru_cache(maxsize=4)
def _symbols(library: Path, changed_at: int) -> frozenset[bytes]:
    content = library.read_bytes()
    return frozenset(each.engine_symbol for each in PRODUCTS if each.engine_symbol in content)


def library_digest(library: Path) -> str:
    """Returns the SHA-256 of the engine's library, so that two builds can be compared; empty if there is no library."""
    try:
        return _digest(library, library.stat().st_mtime_ns)
    except OSError:
        return ""


@lru_cache(maxsize=4)
def _digest(library: Path, changed_at: int) -> str:
    return hashlib.sha256(library.read_bytes()).hexdigest()


def library_minor_version(library: Path) -> int | None:
    """Returns the minor version of the engine in this library, which an upgrade of a local instance installs.

    None if it is unknown: there is no library, or no server program on this machine that can load it. May run that
    program.
    """
    try:
        return _minor_version(library, library.stat().st_mtime_ns)
    except (OSError, LocalServerError, subprocess.TimeoutExpired):
        return None


@lru_cache(maxsize=4)
def _minor_version(library: Path, changed_at: int) -> int | None:
    """Runs the server program with --help, for which it loads the library without starting, and reads the engine's
    minor version from the output; None if it is not there.
    """
    folder = library.parent
    words = [server_program(), "--no-defaults", "--user=root", f"--datadir={folder}", f"--plugin-dir={folder}"]
    words += [f"--plugin-load-add={library.name}", "--verbose", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=HELP_SECONDS, check=False)
    found = MINOR_VERSION.search(done.stdout)
    return int(found[1]) if found else None
