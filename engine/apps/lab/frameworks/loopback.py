"""Tests of LoopBack's object-relational mapper, a library of Node.js that has them in its package, for its connectors.

They ran first with the connector for MySQL, whose own tests include the same files.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from lab.packages import Unavailable, kept, ran
from lab.suites import FILES, Command, Target

VERSION = "4.28.9"
OLDEST_NODE = 20


class LoopBack:
    name = "loopback"
    tests = ("basic-querying", "crud-with-options", "datatype", "default-scope", "hooks", "include", "manipulation")
    tests += ("relations", "scope", "transaction")

    def prepare(self) -> None:
        self._modules = kept(f"tests-loopback-{VERSION}", _fetch) / "node_modules"

    def command(self, target: Target, tests: Sequence[str]) -> Command:
        words = ["node", self._modules / "mocha" / "bin" / "mocha.js", "--no-config", "--exit", "--timeout=20000"]
        words += ["--reporter=xunit", f"--reporter-option=output={target.folder}/outcomes.xml"]
        words += [f"--require={FILES / 'loopback' / 'connected.js'}", *(f"{name}.test.js" for name in tests)]
        # The files are found from where mocha is; the modules that they share with the connector, by NODE_PATH.
        folder = self._modules / "loopback-datasource-juggler" / "test"
        return Command(words, folder, {"NODE_PATH": str(self._modules)})


def _fetch(draft: Path) -> None:
    node = shutil.which("node")
    if not node or not shutil.which("npm"):
        raise Unavailable("this system has no Node.js with npm")
    major = ran([node, "--version"], draft).removeprefix("v").partition(".")[0]
    if int(major) < OLDEST_NODE:
        raise Unavailable(f"it runs on Node.js {OLDEST_NODE} and later, and here is {major}")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(FILES / "loopback" / name, draft)
    ran(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], draft)
