"""Functional tests of Doctrine, an object-relational mapper for PHP, from its source package in Debian.

Its tests make the tables once, and delete their rows after each test.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from driver.server import USER
from lab.packages import PHP, fetch, fetch_source
from lab.php import Php
from lab.suites import FILES, Command, Target

PACKAGES = (
    "php-doctrine-orm",
    "php-doctrine-annotations",
    "php-sqlite3",
    "php-symfony-cache",
    "php-symfony-yaml",
    "phpunit",
)
TESTS = "tests/Doctrine/Tests/ORM/Functional"
# Groups of tests that are not run: they measure time, and start helpers that are not in the package.
LEFT_OUT = ("performance", "locking_functional")


class Doctrine:
    name = "doctrine"
    # The usual tests: files or folders below the folder of the functional tests.
    tests = (".",)

    def prepare(self) -> None:
        self._root = fetch([*PHP, *PACKAGES])
        self._source = fetch_source("php-doctrine-orm")
        (self._source / "vendor").mkdir(exist_ok=True)
        shutil.copy(FILES / "doctrine" / "autoload.php", self._source / "vendor")

    def command(self, target: Target, tests: Sequence[str]) -> Command:
        php = Php(self._root, target.folder / "php")
        settings = target.folder / "phpunit.xml"
        settings.write_text(_settings(target, self._source / TESTS, tests))
        words = [*php.command, "-d", f"include_path={self._root}/usr/share/php", self._root / "usr" / "bin" / "phpunit"]
        words += ["-c", settings, "--log-junit", target.folder / "outcomes.xml", "--exclude-group", ",".join(LEFT_OUT)]
        return Command(words, self._source, php.environment)


def _settings(target: Target, folder: Path, tests: Sequence[str]) -> str:
    """Returns PHPUnit's configuration. It names the tests, and the server for Doctrine."""

    def place(test: str) -> str:
        kind = "file" if test.endswith(".php") else "directory"
        return f"<{kind}>{folder / test}</{kind}>"

    server = {"driver": "mysqli", "host": "127.0.0.1", "port": target.port, "user": USER, "dbname": "test"}
    variables = "".join(f'<var name="db_{name}" value="{value}"/>' for name, value in server.items())
    return (
        f'<phpunit bootstrap="{folder / "../../TestInit.php"}"><php>{variables}</php>'
        f'<testsuites><testsuite name="all">{"".join(map(place, tests))}</testsuite></testsuites></phpunit>'
    )
