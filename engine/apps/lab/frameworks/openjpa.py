"""Tests of OpenJPA, an implementation of Java's persistence API: the jar of tests that it publishes in Maven Central.

Tables are made once and keep their rows from test to test; each test clears those of its own entities.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from driver.server import USER
from lab.packages import Unavailable, kept, ran
from lab.suites import FILES, Command, Target

VERSION = "3.2.2"
SHA256 = "f78b0d1ddadaf07bc1848e873126ade66b43c951add73e1b689fe5c3c80c2bcd"
PACKAGE = "org.apache.openjpa.persistence"
DRIVERS = {"MariaDB": "org.mariadb.jdbc.Driver", "MySQL": "com.mysql.cj.jdbc.Driver"}
# Parameters of the connection. The proxy that repeats reads needs a client that waits for each response.
PARAMETERS = {"MariaDB": "usePipelineAuth=false&sslMode=disable", "MySQL": "sslMode=DISABLED"}


class OpenJpa:
    name = "openjpa"
    # The usual tests: packages below the package of all tests.
    tests = ("query", "relations")

    def prepare(self) -> None:
        self._jars = kept(f"tests-openjpa-{VERSION}", _fetch)

    def command(self, target: Target, tests: Sequence[str]) -> Command:
        product = target.product.name
        settings = {
            "ConnectionURL": f"jdbc:{product.lower()}://127.0.0.1:{target.port}/test?{PARAMETERS[product]}",
            "ConnectionDriverName": DRIVERS[product],
            "ConnectionUserName": USER,
            "ConnectionPassword": "",
        }
        words = ["java", "-Xmx768m", *(f"-Dopenjpa.{name}={value}" for name, value in settings.items())]
        words += ["-classpath", f"{self._jars}/*", "org.junit.platform.console.ConsoleLauncher", "--details=none"]
        words += [f"--reports-dir={target.folder}", "--include-classname=.*[.]Test[^.]*"]
        return Command([*words, *(f"--select-package={PACKAGE}.{name}" for name in tests)], target.folder)


def _fetch(draft: Path) -> None:
    for program in ("java", "mvn"):
        if not shutil.which(program):
            raise Unavailable(f"this system has no {program}")
    # Maven writes next to the file of the project.
    shutil.copy(FILES / "openjpa" / "pom.xml", draft)
    ran(["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={draft}"], draft)
    tests = draft / f"openjpa-persistence-jdbc-{VERSION}-tests.jar"
    if hashlib.sha256(tests.read_bytes()).hexdigest() != SHA256:
        raise Unavailable("its archive is another one than the one that is known")
