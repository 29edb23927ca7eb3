"""The settings of a test run: a run directory of its own, and the database that FQC_TEST_DATABASE_URL names.

Unset means SQLite; `private` starts a PostgreSQL cluster for this run alone.
"""

import atexit
import os
from contextlib import ExitStack

from testing import guard, postgres

# The variable names what a worker copies instead of migrating its own database (testing/migrated.py): a folder of
# PostgreSQL's data, or a file of SQLite.
TO_COPY = "FQC_TEST_TO_COPY"
MIGRATED = os.environ.pop(TO_COPY, "")

_open = ExitStack()
atexit.register(_open.close)

os.environ["FQC_RUN_DIR"] = _open.enter_context(guard.guarded("fqc-test-"))
os.environ["FQC_DATABASE_URL"] = os.environ.get("FQC_TEST_DATABASE_URL", "")
os.environ.setdefault("FQC_LOG_LEVEL", "CRITICAL")
# On a loaded machine a slow server has not failed. Tests of time limits set their own.
os.environ.setdefault("FQC_CONNECT_TIMEOUT_SECONDS", "60")
os.environ.setdefault("FQC_STATEMENT_TIMEOUT_SECONDS", "120")
os.environ.setdefault("FQC_REQUESTS_AT_ONCE", "200")
# Parallel workers search ports of local servers in different ranges, or two would find the same one free.
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
os.environ["FQC_LOCAL_PORT_BASE"] = str(int(os.environ.get("FQC_LOCAL_PORT_BASE", "13306")) + 100 * _worker)
POSTGRES = None  # the cluster of this run, for tests that stop it
if os.environ["FQC_DATABASE_URL"] == "private":
    POSTGRES = _open.enter_context(postgres.cluster(MIGRATED))
    os.environ["FQC_DATABASE_URL"] = POSTGRES.url

from config.settings import *  # noqa: E402, F403

# A file, so that real workers see the same database.
if "sqlite3" in str(DATABASES["default"]["ENGINE"]):  # noqa: F405
    DATABASES["default"]["TEST"] = {"NAME": str(RUN_DIR / "test.sqlite3")}  # noqa: F405
PASSWORD_HASHERS = ["testing.hasher.QuickArgon2PasswordHasher"]
# Otherwise every test client would read all files of the console when it is made.
WHITENOISE_AUTOREFRESH = True
