"""A runner for Django's tests that writes the outcome of each one to a file."""

import os
import unittest
from pathlib import Path

from django.test.runner import DiscoverRunner


class Result(unittest.TextTestResult):
    def _note(self, test, outcome):
        with Path(os.environ["FQC_APPS_OUTCOMES"], "outcomes.tsv").open("a") as file:
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
