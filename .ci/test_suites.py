"""The summary of `make test` says what the tools said."""

import io
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import suites
from suites import SUITES, Suite, count, judge

OUTPUTS = {
    "cargo": (
        "test result: FAILED. 12 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.31s",
        (12, 2, 1),
    ),
    "cargo, several binaries": (
        "test result: ok. 3 passed; 0 failed; 0 ignored\ntest result: ok. 4 passed; 0 failed; 0 ignored",
        (7, 0, 0),
    ),
    "pytest": ("===== 2 failed, 30 passed, 1 skipped, 4 warnings in 12.01s =====", (30, 2, 1)),
    "pytest --quiet": ("1 failed, 12 passed, 1 error in 3.20s", (12, 2, 0)),
    "vitest": (" Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 41 passed | 2 skipped (44)", (41, 1, 2)),
    "playwright": ("  1 failed\n    e2e/a.spec.ts:3:1 > x\n  2 skipped\n  17 passed (41.2s)", (17, 1, 2)),
    "go": (
        "--- PASS: TestA (0.00s)\n    --- PASS: TestA/inner (0.00s)\n--- FAIL: TestB (1.00s)\n--- SKIP: TestC (0.00s)",
        (1, 1, 1),
    ),
    "coloured": ("\x1b[32m\x1b[1m5 passed\x1b[0m\x1b[32m in 0.02s\x1b[0m", (5, 0, 0)),
    "a linter": ("All checks passed!", (0, 0, 0)),
}
SUITE = Suite("any", "any", "any")


class Counting(unittest.TestCase):
    def test_numbers_are_those_the_tools_printed(self):
        for tool, (text, expected) in OUTPUTS.items():
            with self.subTest(tool):
                self.assertEqual(expected, tuple(count(text, kind) for kind in ("passed", "failed", "skipped")))

    def test_a_suite_without_numbers_counts_once(self):
        clean, broken = judge(SUITE, 0, 1.0, "fine"), judge(SUITE, 2, 1.0, "make: *** No rule")
        self.assertEqual((1, 0), (clean.passed, clean.failed))
        self.assertEqual((0, 1), (broken.passed, broken.failed))

    def test_an_exit_code_counts_as_a_failure_even_if_all_tests_passed(self):
        self.assertEqual(1, judge(SUITE, 1, 1.0, "5 passed in 0.1s").failed)

    def test_a_suite_that_could_not_run_is_told_in_capitals(self):
        skipped = judge(SUITE, 0, 1.0, "fetch: no mirror\nSKIPPED: NO SERVER COULD BE HAD\n")
        self.assertEqual((0, 0, 1), (skipped.passed, skipped.failed, skipped.skipped))
        self.assertIn("SKIPPED", suites.summary([skipped]))
        self.assertIn("any: SKIPPED: NO SERVER COULD BE HAD", suites.total([skipped]))
        self.assertEqual(1, judge(SUITE, 2, 1.0, "SKIPPED: AND THEN IT FAILED").failed)

    def test_a_suite_of_which_a_part_could_not_run_counts_what_did(self):
        partly = judge(SUITE, 0, 1.0, "SKIPPED: NO OLD SERVER\nSKIPPED: NO NEW ONE\n5 passed, 2 skipped in 0.1s")
        self.assertEqual((5, 0, 2), (partly.passed, partly.failed, partly.skipped))
        self.assertIn("PARTLY", suites.summary([partly]))
        self.assertIn("any: SKIPPED: NO OLD SERVER; NO NEW ONE", suites.total([partly]))


class Failures(unittest.TestCase):
    def test_each_tool_names_its_own(self):
        text = "\n".join(
            (
                "test result: FAILED. 1 passed",
                "test lasting::a_row_is_kept ... FAILED",
                "test lasting::another ... ok",
                "FAILED config/tests/test_a.py::test_b - AssertionError: no",
                " FAIL  src/lib/told.test.ts > all are told",
                "  1 failed",
                "    [chromium] e2e/a.spec.ts:3:1 x ",
                "--- FAIL: TestB (1.00s)",
                "    --- FAIL: TestB/inner (1.00s)",
                "panic: test timed out after 30m0s",
                "\trunning tests:",
                "\t\tTestC (5m3s)",
                "test lasting::a_row_is_kept ... FAILED",
            )
        )
        expected = ["lasting::a_row_is_kept", "config/tests/test_a.py::test_b", "src/lib/told.test.ts > all are told"]
        expected += ["[chromium] e2e/a.spec.ts:3:1 x", "TestB", "TestB/inner", "TestC (5m3s)"]
        self.assertEqual(expected, suites.failures(text))

    def test_each_tool_says_why(self):
        text = "\n".join(
            (
                "E       AssertionError: no",
                "  1) [chromium] e2e/a.spec.ts:3:1 x ───",
                "",
                "    \x1b[31mError: \x1b[39mexpect(locator).toBeVisible() failed",
                "thread 'a_row_is_kept' (7) panicked at tests/a.rs:3:1:",
                "assertion failed: kept",
                "note: run with `RUST_BACKTRACE=1`",
                "    instance_test.go:7: it says of itself nothing",
                "near did not end in time; it was ended",
            )
        )
        expected = ["AssertionError: no", "Error: expect(locator).toBeVisible() failed"]
        expected += ["thread 'a_row_is_kept' (7) panicked at tests/a.rs:3:1: assertion failed: kept"]
        expected += ["instance_test.go:7: it says of itself nothing", "near did not end in time; it was ended"]
        self.assertEqual(expected, suites.reasons(text))

    def test_a_test_that_passed_when_it_was_tried_again_is_named(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(suites, "LOGS", Path(folder)):
            suites.log_of(SUITE).write_text("  1 flaky\n    [chromium] e2e/a.spec.ts:3:1 x\n  2 passed (3.0s)\n")
            good = judge(SUITE, 0, 1.0, "  2 passed (3.0s)")
            self.assertIn("failed: any", suites.what_failed([good]))

    def test_the_end_of_the_output_names_the_tests_of_both_tries(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(suites, "LOGS", Path(folder)):
            suites.first_log_of(SUITE).write_text("test one ... FAILED\n")
            suites.log_of(SUITE).write_text("test two ... FAILED\n")
            passed, again = judge(SUITE, 0, 1.0, ""), replace(judge(SUITE, 1, 1.0, ""), tries=2)
            self.assertEqual("", suites.what_failed([passed]))
            told = suites.what_failed([again]).splitlines()
        self.assertEqual(["one", "two"], [line.rpartition(": ")[2] for line in told])


class Again(unittest.TestCase):
    def test_a_failed_suite_is_run_once_more_on_a_build_machine_alone(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(suites, "LOGS", Path(folder)):
            suites.log_of(SUITE).write_text("test one ... FAILED\n")
            failed, good = judge(SUITE, 1, 1.0, ""), judge(SUITE, 0, 1.0, "")
            with mock.patch.object(suites, "run", return_value=good) as run, mock.patch("builtins.print"):
                with mock.patch.dict(os.environ):
                    os.environ.pop("CI", None)
                    self.assertEqual(1, suites.run_again(failed, is_hiding=False).exit_code)
                with mock.patch.dict(os.environ, {"CI": "true"}):
                    self.assertIs(good, suites.run_again(good, is_hiding=False))
                    run.assert_not_called()
                    again = suites.run_again(failed, is_hiding=False)
            self.assertEqual("ok, 2nd", suites.state_of(again))
            self.assertIn("one", suites.what_failed([again]))

    def test_of_a_long_suite_only_what_failed_is_run_once_more(self):
        suite = replace(SUITE, target="test-engine")
        text = "test a::b ... FAILED\ntest result: FAILED. 5 passed; 1 failed; 0 ignored\n"
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(suites, "LOGS", Path(folder)):
            suites.log_of(suite).write_text(text)
            good = judge(suite, 0, 1.0, "test result: ok. 1 passed; 0 failed; 0 ignored")
            patches = mock.patch.dict(os.environ, {"CI": "true"}), mock.patch("builtins.print")
            with patches[0], patches[1], mock.patch.object(suites, "run", return_value=good) as run:
                again = suites.run_again(judge(suite, 2, 1.0, text), is_hiding=False)
            run.assert_called_once_with(suite, is_hiding=False, only=["a::b"])
        self.assertEqual((0, 6, "ok, 2nd"), (again.exit_code, again.passed, suites.state_of(again)))

    def test_tools_are_asked_for_all_of_a_test(self):
        said = {
            "FAILED config/test_a.py::test_b[a b] - no\n1 failed, 3 passed in 2.00s": "config/test_a.py::test_b",
            "    [beside others] x e2e/a.spec.ts:110:1 x a chart\n  1 failed": "e2e/a.spec.ts:110",
            "    --- FAIL: TestB/inner (1.00s)\n--- FAIL: TestB (1.00s)": "TestB",
        }
        for text, expected in said.items():
            self.assertEqual([expected], suites.names_for_again(replace(SUITE, target="e2e"), text))

    def test_what_broke_off_is_run_again_as_a_whole(self):
        failed = "test a ... FAILED\ntest result: FAILED. 5 passed; 1 failed; 0 ignored\n"
        for more in (
            "  process didn't exit successfully: `a` (signal: 11, SIGSEGV: invalid memory reference)",
            "any did not end in time; it was ended",
            "left behind: 7 mariadbd",
            "panic: test timed out after 30m0s",
            "test result: FAILED. 5 passed; 1 failed; 0 ignored",
        ):
            self.assertEqual([], suites.names_for_again(replace(SUITE, target="test-engine"), failed + more))


class Leftovers(unittest.TestCase):
    def test_what_outlives_its_suite_is_named_ended_and_counted(self):
        words = [sys.executable, "-c", "import time; time.sleep(600)"]
        left = subprocess.Popen(words, env=os.environ | {suites.MARK: suites.mark_of(SUITE)})
        # Its environment can be read a moment after it was started.
        self.assertTrue(suites.wait_until(lambda: suites.process.marked(suites.mark_of(SUITE), suites.MARK), 60))
        log = io.StringIO()
        with mock.patch.object(suites, "END_SECONDS", 1):
            self.assertEqual(1, suites.end_leftovers(SUITE, log))
        self.assertEqual(-signal.SIGTERM, left.wait())
        self.assertIn(f"left behind: {left.pid}", log.getvalue())
        self.assertEqual(0, suites.end_leftovers(SUITE, log))


class Hanging(unittest.TestCase):
    def test_a_suite_that_does_not_end_is_ended_and_says_what_it_waited_for(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(suites, "LOGS", Path(folder)):
            Path(folder, "Makefile").write_text("any:\n\tsleep 600\n")
            with mock.patch.object(suites, "ROOT", Path(folder)), mock.patch.object(suites, "SUITE_SECONDS", 1):
                result = suites.run(SUITE)
            text = suites.log_of(SUITE).read_text()
        self.assertEqual((0, 1), (result.passed, result.failed))
        self.assertRegex(text, r"(?m)^still running: \d+ sleep 600")
        self.assertIn("any did not end in time", text)

    def test_there_is_no_second_try_without_time_for_it(self):
        failed = judge(SUITE, 1, 1.0, "")
        with mock.patch.dict(os.environ, {"CI": "true"}), mock.patch.object(suites, "ALL_SECONDS", 0):
            self.assertIs(failed, suites.run_again(failed, is_hiding=False))
            self.assertEqual(1, suites.seconds_for_a_suite())


class Targets(unittest.TestCase):
    def test_every_suite_is_a_target_that_can_be_run_alone(self):
        makefile = (Path(__file__).resolve().parents[1] / "Makefile").read_text()
        for suite in SUITES:
            self.assertRegex(makefile, rf"(?m)^{suite.target}:")


if __name__ == "__main__":
    unittest.main()
