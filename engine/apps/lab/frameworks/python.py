"""Django's and SQLAlchemy's tests, from their source distributions on PyPI.

Django rolls back each of its tests, so nearly everything that a test reads was written in the same transaction, and
nothing of that may be served. The suite `django-committed` commits every write and empties the tables afterwards.
"""

from __future__ import annotations

import hashlib
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from driver.server import USER
from lab.packages import Unavailable, environment, kept, ran
from lab.suites import FILES, Command, Target


@dataclass
class _Python:
    name: str
    tests: Sequence[str]
    # The source distribution on PyPI, with its version, and the SHA-256 of its archive.
    package: str
    sha256: str

    def prepare(self) -> None:
        self._source = kept(f"tests-{self.package.replace('==', '-')}", self._unpack) / "source"
        self._python = environment("suites", FILES / "requirements.lock") / "bin" / "python"

    def _unpack(self, draft: Path) -> None:
        download = ["-m", "pip", "download", "-q", "--no-deps", "--no-binary=:all:", f"--dest={draft}"]
        ran([sys.executable, *download, self.package], draft)
        archive = next(draft.glob("*.tar.gz"))
        if hashlib.sha256(archive.read_bytes()).hexdigest() != self.sha256:
            raise Unavailable("its archive is another one than the one that is known")
        with tarfile.open(archive) as content:
            content.extractall(draft, filter="data")
        archive.unlink()
        next(draft.iterdir()).rename(draft / "source")


@dataclass
class Django(_Python):
    settings: str = "fqc_settings"
    package: str = "django==5.2.19"
    sha256: str = "ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1"

    def command(self, target: Target, tests: Sequence[str]) -> Command:
        words = [self._python, "runtests.py", f"--settings={self.settings}", "--parallel=1", "--noinput", *tests]
        return Command(words, self._source / "tests", {"PYTHONPATH": str(FILES), "PYTHONHASHSEED": "0"})


@dataclass
class SqlAlchemy(_Python):
    package: str = "sqlalchemy==2.0.58"
    sha256: str = "2acdcec9836b7c1514a9ad426e7731669a1186d96481a2e82c50bf2aebb49061"

    def command(self, target: Target, tests: Sequence[str]) -> Command:
        address = f"mysql+mysqldb://{USER}@127.0.0.1:{target.port}/test?charset=utf8mb4&ssl_mode=DISABLED"
        words = [self._python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        words += [f"--junitxml={target.folder}/outcomes.xml", "--dburi", address, *tests]
        return Command(words, self._source, {"PYTHONHASHSEED": "0"})


def _django(name: str, settings: str, tests: str) -> Django:
    return Django(name, tests.split(), settings=settings)


DJANGO = _django(
    "django",
    "fqc_settings",
    "basic bulk_create delete get_or_create schema select_for_update transaction_hooks transactions update",
)
COMMITTED = _django(
    "django-committed",
    "fqc_committed",
    "aggregation aggregation_regress annotations basic dates datetimes defer delete expressions expressions_case"
    " expressions_window generic_relations get_or_create lookup many_to_many many_to_one model_inheritance null_queries"
    " one_to_one ordering prefetch_related queries reverse_lookup select_related update",
)
SQLALCHEMY = SqlAlchemy(
    "sqlalchemy",
    (
        *(
            "test/dialect/mysql/test_query.py",
            "test/dialect/mysql/test_on_duplicate.py",
            "test/dialect/mysql/test_for_update.py",
        ),
        *("test/engine/test_execute.py", "test/engine/test_transaction.py", "test/orm/test_eager_relations.py"),
        *("test/orm/test_query.py", "test/orm/test_transaction.py", "test/orm/test_unitofwork.py"),
        *("test/orm/test_unitofworkv2.py", "test/orm/test_versioning.py", "test/dialect/test_suite.py"),
        *("test/orm/dml/test_orm_upd_del_basic.py", "test/sql/test_query.py", "test/sql/test_resultset.py"),
        *("test/sql/test_insert_exec.py", "test/sql/test_defaults.py"),
    ),
)
