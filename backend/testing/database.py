"""`--database`: selects the tests whose result can depend on the database, for a second database in addition to the
whole run.

`--every N`: selects each Nth of these, in the order of their names. Such a test uses the database and no server of a
fleet. Tests that do the same on every path of the API are left to the whole run, and so are sign-ins by Keycloak, whose
start takes more processor time than all these tests together.
"""

from __future__ import annotations

from pathlib import Path

import pytest

# The fixtures of servers of a fleet, and of Keycloak.
SERVERS = {"shared_server", "shared_mysql", "older_mysql", "own_server", "keycloak"}
# Test files (`test_NAME.py`) that do the same on every path of the API.
OF_EVERY_PATH = {"access", "answers", "bodies", "callers", "contract", "event_contract", "if_match", "known_names"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database", action="store_true", help="only tests whose outcome can depend on the database")
    parser.addoption("--every", type=int, default=1, help="with --database: each Nth of these tests")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skips the files that do the same on every path, since collecting them generates the cases of every operation
    in each worker."""
    return True if config.getoption("--database") and _subject(collection_path) in OF_EVERY_PATH else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--database"):
        return
    found = sorted(item.nodeid for item in items if depends_on_it(item))[:: config.getoption("--every")]
    chosen = set(found)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
    items[:] = [item for item in items if item.nodeid in chosen]


def depends_on_it(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    uses_it = item.get_closest_marker("django_db") is not None or bool(fixtures & {"db", "transactional_db"})
    return uses_it and not fixtures & SERVERS


def _subject(path: Path) -> str:
    return path.stem.removeprefix("test_")
