"""The database of a run on several workers is migrated once, before they start, and copied by each of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection
from django.db.models.signals import post_migrate
from django.test.utils import setup_databases, teardown_databases
from pytest_django.plugin import DjangoDbBlocker, blocking_manager_key

from testing import settings as run


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest, django_test_environment: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    if run.MIGRATED:
        name = connection.creation._get_test_db_name()
        if connection.vendor == "sqlite":
            shutil.copyfile(run.MIGRATED, name)
        settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = name
        _empty_quickly()
        yield
        return
    request.getfixturevalue("django_db_modify_db_settings")  # a name for each worker, on a server that they share
    with django_db_blocker.unblock():
        made = _migrated()
    _empty_quickly()
    yield
    with django_db_blocker.unblock():
        teardown_databases(made, verbosity=0)


class BeforeWorkers:
    def __init__(self, blocker: DjangoDbBlocker) -> None:
        self.blocker = blocker

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self) -> None:
        if run.POSTGRES is None and connection.vendor != "sqlite":
            return  # a server that others use as well
        with self.blocker.unblock():
            _migrated()
            connection.close()
        if run.POSTGRES is not None:
            run.POSTGRES.stop("fast")
        os.environ[run.TO_COPY] = str(run.POSTGRES.data if run.POSTGRES else connection.settings_dict["NAME"])


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(BeforeWorkers(config.stash[blocking_manager_key]), "before-workers")


def _migrated() -> object:
    return setup_databases(verbosity=0, interactive=False, serialized_aliases=())


def _empty_quickly() -> None:
    """Leaves out what Django does whenever a test has emptied the database: a hundred statements for the rows of
    permissions and content types, which nothing here reads."""
    post_migrate.disconnect(create_contenttypes)
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
