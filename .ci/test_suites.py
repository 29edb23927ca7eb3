"""The summary of `make test` says what the runners reported."""

import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import junit
import suites
from suites import SUITES, Result, Suite, late

SUITE = Suite("any", "any")
BAD = junit.Case("tests/test_a.py::test_b[1]", "failed", 1.0, "assert 1 == 2", "tests/test_a.py::test_b")
GOOD = junit.Case("tests/test_a.py::test_c", "passed")


class Case(unittest.TestCase):
    """A test case with a folder for logs of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        logs = mock.patch.object(suites, "LOGS", self.folder)
        logs.start()
        self.addCleanup(logs.stop)

    def log(self, text: str, suite: Suite = SUITE) -> None:
        suite.log.write_text(text)


class Judging(Case):
    def test_a_suite_counts_the_tests_of_all_its_reports(self):
        SUITE.reports.mkdir(parents=True)
        with mock.patch.dict(os.environ, {junit.FOLDER: str(SUITE.reports)}):
            junit.write("one", [GOOD, junit.Case("skipped", "skipped")])
            junit.write("two", [BAD])
        result = suites.judge(SUITE, 1, 1.0)
        self.assertEqual((1, 1, 1), (result.passed, result.failed, result.skipped))

    def test_a_suite_without_reports_counts_once(self):
        clean, broken = suites.judge(SUITE, 0, 1.0), suites.judge(SUITE, 2, 1.0)
        self.assertEqual((1, 0), (clean.passed, clean.failed))
        self.assertEqual((0, 1), (broken.passed, broken.failed))

    def test_an_exit_code_counts_as_a_failure_even_if_all_tests_passed(self):
        self.assertEqual(1, Result(SUITE, 1, 1.0, [GOOD]).failed)

    def test_a_suite_that_could_not_run_is_named_in_capitals(self):
        self.log("fetch: no mirror\nSKIPPED: NO SERVER COULD BE HAD\n")
        skipped = suites.judge(SUITE, 0, 1.0)
        self.assertEqual((0, 0, 1), (skipped.passed, skipped.failed, skipped.skipped))
        self.assertIn("SKIPPED", suites.summary([skipped]))
        self.assertIn("any: SKIPPED: NO SERVER COULD BE HAD", suites.total([skipped]))
        self.assertEqual(1, suites.judge(SUITE, 2, 1.0).failed)

    def test_a_suite_of_which_a_part_could_not_run_counts_what_did(self):
        partly = Result(SUITE, 0, 1.0, [GOOD], "NO OLD SERVER; NO NEW ONE")
        self.assertEqual(1, partly.passed)
        self.assertIn("PARTLY", suites.summary([partly]))

    def test_the_end_of_the_output_names_the_tests_of_both_tries(self):
        twice = Result(SUITE, 1, 1.0, [BAD], tries=2, earlier=[junit.Case("first", "failed")])
        self.assertEqual("", suites.what_failed([Result(SUITE, 0, 1.0, [GOOD])]))
        lines = suites.what_failed([twice]).splitlines()
        self.assertEqual(["first", BAD.name], [each.rpartition(": ")[2] for each in lines if each.startswith("failed")])
        self.assertIn("why: assert 1 == 2", lines[-1])

    def test_a_panic_is_quoted_from_its_beginning(self):
        case = junit.Case("a", "failed", 0, "noise\nthread 'a' panicked at tests/a.rs:3:1:\nassertion failed: kept\n")
        self.assertEqual("panicked at tests/a.rs:3:1: assertion failed: kept", suites.reason_of(case))

    def test_of_a_long_reason_the_end_is_quoted_too(self):
        reason = suites.reason_of(junit.Case("a", "failed", 0, "AssertionError: " + "step " * 500 + "timed out"))
        self.assertTrue(reason.startswith("AssertionError: step"))
        self.assertTrue(reason.endswith("step timed out"))
        self.assertLess(len(reason), 700)


class Again(Case):
    def again(self, first: Result, second: Result) -> tuple[Result, mock.Mock]:
        self.log("what the first try printed")
        ci, quiet = mock.patch.dict(os.environ, {"CI": "true"}), mock.patch("builtins.print")
        with ci, quiet, mock.patch.object(suites, "run", return_value=second) as run:
            return suites.run_again(first), run

    def test_a_failed_suite_is_run_once_more_on_a_build_machine_alone(self):
        failed, good = Result(SUITE, 1, 1.0, [BAD]), Result(SUITE, 0, 1.0, [GOOD])
        with mock.patch.dict(os.environ):
            os.environ.pop("CI", None)
            self.assertIs(failed, suites.run_again(failed))
        unchanged, run = self.again(good, good)
        self.assertIs(good, unchanged)
        run.assert_not_called()
        again, run = self.again(failed, good)
        run.assert_called_once_with(SUITE, only=[])
        self.assertEqual("ok, 2nd", suites.state_of(again))
        self.assertIn(BAD.name, suites.what_failed([again]))

    def test_of_a_long_suite_only_what_failed_is_run_once_more(self):
        suite = Suite("long", "any", takes_names=True)
        again, run = self.again(Result(suite, 1, 1.0, [BAD, GOOD]), Result(suite, 0, 1.0, [GOOD]))
        run.assert_called_once_with(suite, only=["tests/test_a.py::test_b"])
        self.assertEqual((0, 2), (again.exit_code, again.passed))

    def test_what_broke_off_is_run_again_as_a_whole(self):
        suite = Suite("long", "any", takes_names=True)
        for words in ("the program ended with exit code -11", "any did not end in time", "left behind: 7 mariadbd"):
            self.log(words)
            self.assertEqual([], suites.names_for_again(Result(suite, 1, 1.0, [BAD])))

    def test_there_is_no_second_try_without_time_for_it(self):
        failed = Result(SUITE, 1, 1.0)
        with mock.patch.dict(os.environ, {"CI": "true"}), mock.patch.object(suites, "ALL_SECONDS", 0):
            self.assertIs(failed, suites.run_again(failed))

    def test_a_test_that_needs_a_second_try_twice_in_a_row_fails_the_run(self):
        record = self.folder / "cache" / "second-tries.json"
        flaky = [Result(SUITE, 0, 1.0, [GOOD], tries=2, earlier=[BAD])]
        self.assertEqual([], suites.repeated_second_tries(flaky, record))
        self.assertEqual([f"any: {BAD.name}"], suites.repeated_second_tries(flaky, record))
        self.assertEqual([], suites.repeated_second_tries([Result(SUITE, 0, 1.0, [GOOD])], record))
        self.assertEqual([], suites.repeated_second_tries(flaky, record))


class Late(Case):
    LARGE = Suite("large", "large", is_large=True)

    def test_a_large_suite_on_a_build_machine_knows_until_when_tests_may_begin(self):
        with mock.patch.dict(os.environ, {"CI": "true"}):
            end = float(suites.environment(self.LARGE, "any")[late.NAME])
            self.assertNotIn(late.NAME, suites.environment(SUITE, "any"))
            self.assertAlmostEqual(time.time() + suites.seconds_left(), end + 20 * 60, delta=60)
            os.environ.pop("CI")
            self.assertNotIn(late.NAME, suites.environment(self.LARGE, "any"))

    def test_the_last_line_says_how_many_tests_were_left_out(self):
        late_one, skipped = (junit.Case("a", "skipped", message=words) for words in (late.REASON, "no RabbitMQ"))
        results = [Result(SUITE, 0, 1.0, [GOOD, skipped]), Result(self.LARGE, 0, 1.0, [GOOD, late_one, skipped])]
        expected = "2 passed, 0 failed; TESTS LEFT OUT, SINCE NO TIME WAS LEFT: 1 of large"
        self.assertEqual(expected, suites.total(results))
        self.assertEqual("1 passed, 0 failed", suites.total(results[:1]))

    def test_a_suite_for_which_no_time_is_left_is_not_run_and_named_and_fails_nothing(self):
        left = suites.ALL_SECONDS - suites.LATE_SECONDS - 1
        with (
            mock.patch.object(suites, "seconds_left", return_value=left),
            mock.patch.object(suites, "run") as run,
            mock.patch("builtins.print"),
        ):
            results = suites.run_side_by_side([SUITE, self.LARGE])
        run.assert_not_called()
        self.assertEqual([0, 0], [each.exit_code for each in results])
        self.assertEqual("0 passed, 0 failed; NOT RUN, SINCE NO TIME WAS LEFT: any, large", suites.total(results))
        self.assertEqual(2, suites.summary(results).count("NOT RUN"))


class Running(Case):
    def test_lanes_are_kept_and_everything_runs(self):
        at_work, most = [], []

        def run(suite: Suite) -> Result:
            at_work.append(suite.lane)
            most.append(at_work.count("a"))
            at_work.remove(suite.lane)
            return Result(suite, 0, 0.0)

        wanted = [Suite(str(number), str(number), "a" if number % 2 else "") for number in range(12)]
        with mock.patch.object(suites, "run", side_effect=run), mock.patch("builtins.print"):
            results = suites.run_side_by_side(wanted)
        self.assertEqual(set(wanted), {result.suite for result in results})
        self.assertEqual(1, max(most))

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

    def test_a_suite_tells_the_processor_time_of_all_that_it_has_waited_for(self):
        (self.folder / "Makefile").write_text("any:\n\t@timeout 0.3 sh -c 'while :; do :; done' || true\n")
        with mock.patch.object(suites, "ROOT", self.folder):
            result = suites.run(SUITE)
        self.assertEqual(0, result.exit_code)
        self.assertGreater(result.processor_seconds, 0.01)

    def test_a_suite_that_does_not_end_is_ended_and_says_what_it_waited_for(self):
        (self.folder / "Makefile").write_text("any:\n\tsleep 600\n")
        with mock.patch.object(suites, "ROOT", self.folder), mock.patch.object(suites, "seconds_left", return_value=1):
            result = suites.run(SUITE)
        text = SUITE.log.read_text()
        self.assertEqual((0, 1), (result.passed, result.failed))
        self.assertRegex(text, r"(?m)^still running: \d+ sleep 600")
        self.assertIn("any did not end in time", text)

    def test_servers_keep_their_files_in_memory_where_that_has_room_and_lets_them_load_plugins(self):
        def folder(free: int, flags: int = 0) -> str:
            state = SimpleNamespace(f_bavail=free >> 12, f_frsize=1 << 12, f_flag=flags)
            with (
                mock.patch.object(suites, "MEMORY", self.folder),
                mock.patch("os.statvfs", return_value=state),
                suites.own_folder(Suite("many", "many", has_many_servers=True)) as own,
            ):
                return str(Path(own).parent)

        memory, disk = str(self.folder), tempfile.gettempdir()
        self.assertEqual(memory, folder(suites.MEMORY_BYTES))
        self.assertEqual(disk, folder(suites.MEMORY_BYTES - 4096))
        self.assertEqual(disk, folder(suites.MEMORY_BYTES, os.ST_NOEXEC))
        with suites.own_folder(SUITE) as own:
            self.assertEqual(disk, str(Path(own).parent))
        with mock.patch.object(suites, "MEMORY", self.folder / "none"):
            self.assertIsNone(suites.folder_in_memory())

    def test_every_suite_is_a_target_that_can_be_run_alone(self):
        makefile = (Path(__file__).resolve().parents[1] / "Makefile").read_text()
        for suite in SUITES:
            self.assertRegex(makefile, rf"(?m)^{suite.target}:")


if __name__ == "__main__":
    unittest.main()
