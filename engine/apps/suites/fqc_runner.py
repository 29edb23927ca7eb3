"""A runner for Django's tests that writes the outcome of each one to a file, and asks for everything twice.

The second answer is the one that the test sees. If the first one was kept, the second one comes from the cache.
"""

import os
import unittest
from pathlib import Path

from django.db.backends.signals import connection_created
from django.dispatch import receiver
from django.test.runner import DiscoverRunner


def twice(execute, sql, params, many, context):
    if not many and sql.startswith(("SELECT", "(SELECT")) and "FOR UPDATE" not in sql:
        execute(sql, params, many, context)
        context["cursor"].fetchall()
    return execute(sql, params, many, context)


@receiver(connection_created)
def ask_twice(connection, **_):
    if twice not in connection.execute_wrappers:
        connection.execute_wrappers.append(twice)


class Result(unittest.TextTestResult):
    def _note(self, test, outcome):
        with Path(os.environ["FQC_APPS_OUTCOMES"]).open("a") as file:
            file.write(f"{test.id()}\t{outcome}\n")

    def addSuccess(self, test):
        super().addSuccess(test)
        self._note(test, "passed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._note(test, "skipped")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._note(test, "failed")

    def addError(self, test, err):
        super().addError(test, err)
        self._note(test, "failed")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self._note(test, f"failed with {subtest.params}")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._note(test, "failed as expected")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._note(test, "passed unexpectedly")


class Runner(DiscoverRunner):
    def get_resultclass(self):
        return Result
