"""PHP from unpacked packages: runs scripts, and its own web server with some worker processes.

Its php.ini is in the run's own folder. It sends no mail, and reads nothing of the system's configuration.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lab.web import WebServer

WORKERS = 2
# These modules are loaded first, since others depend on them.
FIRST = ("mysqlnd", "pdo", "xml")
LEFT_OUT = ("ffi", "opcache")
SETTINGS = """\
display_errors = stderr
error_log = {folder}/php-errors.log
log_errors = 1
memory_limit = 256M
date.timezone = UTC
sendmail_path = /bin/true
session.save_path = {folder}
sys_temp_dir = {folder}
opcache.enable_cli = 1
opcache.validate_timestamps = 0
apc.enable_cli = 1
allow_url_fopen = 0
"""


class PhpFailed(RuntimeError):
    """A script of PHP failed; the message contains what it printed."""


class Php:
    """A PHP below `root` with settings of its own, kept in `folder`."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._program = max(root.glob("usr/bin/php[0-9]*.[0-9]*"))
        libraries = next(root.glob("usr/lib/*-linux-gnu"), root)
        extensions = max(root.glob("usr/lib/php/20*"))
        ini = folder / "php.ini"
        ini.write_text(SETTINGS.format(folder=folder) + _loading(extensions))
        self.command = [self._program, "-c", ini]
        self.environment = {
            "PATH": os.environ["PATH"],
            "LD_LIBRARY_PATH": str(libraries),
            "PHP_INI_SCAN_DIR": "",
            "TMPDIR": str(folder),
            "HOME": str(folder),
        }

    def script(self, *words: str | Path, environment: Mapping[str, str]) -> str:
        done = subprocess.run(
            [*self.command, *words],
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise PhpFailed(f"{' '.join(map(str, words))} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.stdout

    def serve(self, documents: Path, router: Path, environment: Mapping[str, str]) -> WebServer:
        """Starts PHP's own web server, and returns when it serves. `router`: the script that handles each request."""

        def command(port: int) -> list[str | Path]:
            return [*self.command, "-S", f"127.0.0.1:{port}", "-t", documents, router]

        workers = {"PHP_CLI_SERVER_WORKERS": str(WORKERS)}
        return WebServer(command, {**self.environment, **environment, **workers}, self.folder)


def _loading(extensions: Path) -> str:
    found = {path.stem for path in extensions.glob("*.so")}
    order = [name for name in FIRST if name in found] + sorted(found - {*FIRST, *LEFT_OUT})
    lines = [f"extension_dir = {extensions}"]
    lines += ["zend_extension = opcache"] * ("opcache" in {path.stem for path in extensions.glob("*.so")})
    return "\n".join([*lines, *(f"extension = {name}" for name in order)]) + "\n"
