"""A suite sees what it names and nothing else, and all of that is in its digest."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import inputs
import suites
from inputs import Inputs, hidden, hiding
from suites import SUITES, Result, keep, unchanged


def write(root: Path, name: str, text: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


class Checkout(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        for number, name in enumerate(("a/one", "a/two", "b/three", "top", ".run/log"), 1):
            write(self.root, name, str(number))


class Seeing(Checkout):
    def test_what_is_not_named_is_hidden_whole(self):
        names = {str(path.relative_to(self.root)) for path in hidden(("a/one", "top"), self.root)}
        self.assertEqual({"a/two", "b", ".run"}, names)

    def test_git_is_left_to_all(self):
        write(self.root, ".git/HEAD", "")
        self.assertNotIn(self.root / ".git", hidden(("a/one",), self.root))

    def test_even_who_sees_everything_sees_no_runs(self):
        self.assertEqual([self.root / ".run"], hidden((".",), self.root))

    @unittest.skipUnless(inputs.can_hide(), "the system grants no mount namespace")
    def test_a_hidden_folder_is_empty_a_hidden_file_too_and_only_for_the_suite(self):
        paths = hidden(("a/one", "top"), self.root)
        with tempfile.TemporaryDirectory() as folder:
            command = hiding(paths, ["cat", "a/one", "a/two", "top", "b/three"], Path(folder))
            done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
            who = subprocess.run(hiding(paths, ["id", "-u"], Path(folder)), capture_output=True, text=True, check=True)
        self.assertEqual("14", done.stdout)
        self.assertIn("b/three: No such file", done.stderr)
        self.assertEqual(str(os.geteuid()), who.stdout.strip())
        self.assertEqual("2", (self.root / "a/two").read_text())


class Caches(unittest.TestCase):
    def test_no_file_of_the_repository_lies_in_one(self):
        listed = subprocess.run(["git", "ls-files"], cwd=inputs.ROOT, capture_output=True, text=True, check=True)
        names = listed.stdout.splitlines()
        self.assertIn("Makefile", names)
        self.assertEqual([], [name for name in names if (inputs.CACHES | inputs.INSTALLED) & set(name.split("/"))])


class Digests(Checkout):
    def digest(self) -> str:
        return Inputs(self.root).digest(("a", "b/node_modules"))

    def test_each_thing_that_is_seen_changes_it(self):
        write(self.root, "b/node_modules/x", "installed")
        digests = [self.digest()]
        for change in (
            lambda: write(self.root, "a/one", "other"),
            lambda: write(self.root, "a/new", ""),
            lambda: (self.root / "a/new").rename(self.root / "a/renamed"),
            lambda: (self.root / "a/one").chmod(0o700),
            lambda: write(self.root, "b/node_modules/x", "another"),
        ):
            change()
            digests.append(self.digest())
        self.assertEqual(len(digests), len(set(digests)))

    def test_what_is_not_seen_and_caches_change_nothing(self):
        before = self.digest()
        for name in ("b/three", "top", "a/__pycache__/x"):
            write(self.root, name, "other")
        self.assertEqual(before, self.digest())

    def test_the_environment_that_a_suite_is_given_changes_it_and_a_terminal_does_not(self):
        before = self.digest()
        with mock.patch.dict(os.environ, {"TERM": "another", "MAKELEVEL": "7"}):
            self.assertEqual(before, self.digest())
        with mock.patch.dict(os.environ, {"FQC_ANYTHING": "x"}):
            self.assertNotEqual(before, self.digest())


class Sparing(Checkout):
    """Of a suite that sees `frontend`, and not `engine/plugin`."""

    suite = next(suite for suite in SUITES if suite.target == "test-frontend")

    def setUp(self):
        super().setUp()
        write(self.root, "frontend/page", "1")
        write(self.root, "engine/plugin", "1")
        patch = mock.patch.object(suites, "LOGS", self.root / ".run")
        patch.start()
        self.addCleanup(patch.stop)

    def spared(self) -> bool:
        return [each.suite for each in unchanged(Inputs(self.root))] == [self.suite]

    def run_of(self, **facts: int) -> Result:
        return Result(
            **{"suite": self.suite, "exit_code": 0, "seconds": 1.0, "passed": 5, "failed": 0, "skipped": 1} | facts
        )

    def after(self, result: Result) -> bool:
        before = Inputs(self.root)
        keep([result], before, Inputs(self.root))
        return self.spared()

    def test_a_pass_spares_the_next_run_until_an_input_changes(self):
        self.assertFalse(self.spared())
        self.assertTrue(self.after(self.run_of()))
        write(self.root, "engine/plugin", "2")
        self.assertTrue(self.spared())
        write(self.root, "frontend/page", "2")
        self.assertFalse(self.spared())

    def test_a_pass_on_a_build_machine_spares_a_run_at_the_desk(self):
        with mock.patch.dict(os.environ, {"CI": "true", "NO_COLOR": "1", "CARGO_TERM_COLOR": "never"}):
            self.assertTrue(self.after(self.run_of()))
        self.assertTrue(self.spared())

    def test_what_failed_or_passed_at_its_second_try_runs_again(self):
        self.assertTrue(self.after(self.run_of()))
        self.assertFalse(self.after(self.run_of(exit_code=1)))
        self.assertFalse(self.after(self.run_of(tries=2)))

    def test_inputs_that_moved_during_the_run_are_not_taken_as_passed_even_if_moved_back(self):
        before = Inputs(self.root)
        write(self.root, "frontend/page", "2")
        write(self.root, "frontend/page", "1")
        keep([self.run_of()], before, Inputs(self.root))
        self.assertFalse(self.spared())

    def test_a_pass_of_yesterday_is_none(self):
        self.assertTrue(self.after(self.run_of()))
        with mock.patch.object(inputs, "KEPT_FOR_SECONDS", 0):
            self.assertFalse(self.spared())

    def test_build_machines_and_whoever_asks_for_a_fresh_run_get_one(self):
        for name in ("CI", "FRESH"):
            with mock.patch.dict(os.environ, {name: "1"}):
                self.assertFalse(suites.may_spare())

    def test_the_summary_says_what_was_not_run(self):
        self.assertTrue(self.after(self.run_of()))
        spared, run = unchanged(Inputs(self.root))[0], self.run_of(suite=SUITES[0], passed=2)
        self.assertRegex(
            suites.summary([spared]), r"frontend +unchanged, passed at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d +5 +0 +1"
        )
        self.assertIn("7 passed, 0 failed; 5 of them earlier", suites.total([spared, run]))
        self.assertEqual("2 passed, 0 failed", suites.total([run]))


if __name__ == "__main__":
    unittest.main()
