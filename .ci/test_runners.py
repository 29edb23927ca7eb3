"""The reports of test runners reach the summary, whichever runner it is."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from testing import late

import cargo_tests
import go_tests
import junit

HERE = Path(__file__).resolve().parent
PYTEST = """
import pytest
class TestA:
    @pytest.mark.parametrize("value", [1, 2])
    def test_b(self, value):
        print("\\x1b[31m")
        assert value == 1
def test_c():
    pytest.skip("not here")
"""
GO = """package a
import "testing"
func TestA(t *testing.T) { t.Run("x", func(t *testing.T) {}) }
func TestB(t *testing.T) { t.Fatal("no") }
"""
CARGO = """
#[test] fn passes() {}
#[test] fn fails() { println!("\\u{1}"); panic!("no {}", 7) }
#[test] #[ignore] fn rests() {}
"""


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        reports = mock.patch.dict(os.environ, {junit.FOLDER: folder.name})
        reports.start()
        self.addCleanup(reports.stop)

    def outcomes(self) -> dict[str, str]:
        return {case.name: case.outcome for case in junit.read(self.folder)}

    def test_pytest(self):
        (self.folder / "test_a.py").write_text(PYTEST)
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:django", "-c", os.devnull, f"--rootdir={self.folder}"]
        words += [
            "-p",
            "no:cacheprovider",
            "-o",
            "junit_family=xunit1",
            f"--junitxml={self.folder}/pytest.xml",
            "test_a.py",
        ]
        subprocess.run(words, cwd=self.folder, capture_output=True, check=False)
        expected = {"test_a.py::TestA::test_b[1]": "passed", "test_a.py::TestA::test_b[2]": "failed"}
        self.assertEqual(expected | {"test_a.py::test_c": "skipped"}, self.outcomes())
        failed = next(case for case in junit.read(self.folder) if case.outcome == "failed")
        self.assertEqual("test_a.py::TestA::test_b", failed.again)
        self.assertIn("assert 2 == 1", failed.message)

    def test_cargo(self):
        source, program = self.folder / "a.rs", self.folder / "a"
        source.write_text(CARGO)
        subprocess.run(["rustc", "--test", "-o", program, source], check=True, capture_output=True)
        with mock.patch("builtins.print"):
            code, cases = cargo_tests.run(cargo_tests.Program("p", "t", str(program), self.folder), [])
            self.assertEqual(
                0, cargo_tests.run(cargo_tests.Program("p", "t", str(program), self.folder), ["passes"])[0]
            )
        junit.write("cargo", cases)
        self.assertEqual(101, code)
        self.assertEqual({"passes": "passed", "fails": "failed", "rests": "skipped"}, self.outcomes())
        self.assertIn("no 7", next(case.message for case in junit.read(self.folder) if case.outcome == "failed"))

    def test_a_test_program_that_dies_has_failed(self):
        program = cargo_tests.Program("p", "t", "/bin/false", self.folder)
        with mock.patch("builtins.print"):
            code, cases = cargo_tests.run(program, [])
        self.assertEqual((1, ["failed"]), (code, [case.outcome for case in cases]))

    def test_cargo_names_its_programs(self):
        said = (
            '{"executable":"/t/a","profile":{"test":true},"manifest_path":"/w/crates/near/Cargo.toml",'
            '"package_id":"path+file:///w/crates/near#fqc-near@0.1.0","target":{"name":"rules"}}\n'
            '{"executable":"/t/b","profile":{"test":false},"manifest_path":"/w/crates/near/Cargo.toml",'
            '"package_id":"path+file:///w/crates/near#fqc-near@0.1.0","target":{"name":"fqc-near"}}\n{"reason":"x"}\n'
        )
        (found,) = cargo_tests.programs(said)
        self.assertEqual(("fqc-near", "rules", Path("/w/crates/near")), (found.package, found.target, found.folder))
        for choice, expected in (
            ("fqc-near", True),
            ("fqc-near:a,rules", True),
            ("fqc-near:a", False),
            ("near", False),
        ):
            self.assertEqual(expected, cargo_tests.is_among(found, [choice]), choice)

    def test_cargo_programs_start_in_the_order_in_which_they_are_named(self):
        found = [cargo_tests.Program("near", target, "", self.folder) for target in ("a", "b", "c")]
        found.append(cargo_tests.Program("other", "c", "", self.folder))
        for choices, expected in (
            ([], ["near-a", "near-b", "near-c", "other-c"]),
            (["near:c", "near"], ["near-c", "near-a", "near-b"]),
        ):
            self.assertEqual(expected, [each.name for each in cargo_tests.in_order(found, choices)], choices)

    def test_a_cargo_test_that_was_asked_for_and_did_not_run_is_no_success(self):
        ran = [junit.Case("a", "passed"), junit.Case("b", "failed")]
        with mock.patch("builtins.print"):
            self.assertEqual(["c"], cargo_tests.not_found(["c", "a"], ran))
            self.assertEqual([], cargo_tests.not_found(["b", "a"], ran))

    def test_no_program_keeps_the_path_of_the_checkout_that_built_it(self):
        """A new checkout starts from the programs of an older one, which may be gone."""
        words = ["git", "grep", "-lE", "env!\\(.CARGO_(MANIFEST|BIN_EXE|WORKSPACE|TARGET)", "--", "*.rs"]
        found = subprocess.run(words, cwd=HERE.parent, capture_output=True, text=True, check=False)
        self.assertEqual(("", ""), (found.stdout, found.stderr))

    def test_a_go_test_that_was_asked_for_and_did_not_run_is_no_success(self):
        (self.folder / "go.mod").write_text("module a\n")
        (self.folder / "a_test.go").write_text(GO)
        words = [sys.executable, HERE / "go_tests.py", "-run", "^TestC$", "./..."]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(1, done.returncode)

    def test_go(self):
        (self.folder / "go.mod").write_text("module a\n")
        (self.folder / "a_test.go").write_text(GO)
        words = [sys.executable, HERE / "go_tests.py", "-count=1", "./..."]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(1, done.returncode)
        self.assertEqual({"TestA": "passed", "TestB": "failed"}, self.outcomes())
        self.assertIn("--- PASS: TestA/x", done.stdout)
        self.assertIn("a_test.go:4: no", next(case.message for case in junit.read(self.folder) if case.message))

    def test_a_run_of_pytest_that_is_late_leaves_its_tests_out_and_says_why(self):
        (self.folder / "test_a.py").write_text("def test_a(): assert False\n")
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:django", "-c", os.devnull, f"--rootdir={self.folder}"]
        words += ["-p", "no:cacheprovider", "-p", "testing.late_plugin", "-o", "junit_family=xunit1"]
        words += [f"--junitxml={self.folder}/pytest.xml", "test_a.py"]
        environment = os.environ | {"PYTHONPATH": str(HERE.parent / "backend"), late.NAME: "0"}
        subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, check=True)
        self.assertEqual([("skipped", late.REASON)], [(case.outcome, case.message) for case in junit.read(self.folder)])

    def cargo_late(self, source: str) -> tuple[int, dict[str, str]]:
        """Returns the exit code and the outcomes of a test program with this source that starts when no time is
        left."""
        (self.folder / "a.rs").write_text(source)
        words = ["rustc", "--test", "-o", self.folder / "a", self.folder / "a.rs"]
        subprocess.run(words, check=True, capture_output=True)
        program = cargo_tests.Program("p", "t", str(self.folder / "a"), self.folder)
        with mock.patch.dict(os.environ, {late.NAME: "0"}), mock.patch("builtins.print"):
            code, cases = cargo_tests.run(program, [])
        return code, {case.name: case.outcome for case in cases}

    def test_a_cargo_program_that_is_late_runs_its_tests_of_wrong_rows_alone(self):
        source = "#[test] fn a() { panic!() } mod traps { #[test] fn kept() {} }"
        self.assertEqual((0, {"a": "skipped", "traps::kept": "passed"}), self.cargo_late(source))

    def test_a_cargo_program_that_is_late_and_has_none_of_them_has_not_failed(self):
        self.assertEqual((0, {"fails": "skipped"}), self.cargo_late("#[test] fn fails() { panic!() }"))

    def test_why_playwright_skipped_a_test_is_read(self):
        (self.folder / "a.xml").write_text(
            "<testsuites><testsuite><testcase name='a'><properties><property name='skip' value='why'/></properties>"
            "<skipped/></testcase></testsuite></testsuites>"
        )
        self.assertEqual(["why"], [case.message for case in junit.read(self.folder)])

    def test_go_that_does_not_compile_has_failed(self):
        (self.folder / "go.mod").write_text("module a\n")
        (self.folder / "a_test.go").write_text("package a\nfunc x() { y() }\n")
        with mock.patch("builtins.print"), mock.patch.object(os, "environ", os.environ):
            before = Path.cwd()
            os.chdir(self.folder)
            try:
                self.assertNotEqual(0, go_tests.main(["./..."]))
            finally:
                os.chdir(before)
        self.assertEqual(["failed"], list(self.outcomes().values()))

    def test_a_report_that_its_runner_could_not_finish_counts_nothing(self):
        (self.folder / "cut.xml").write_text("<testsuites><testsuite><testcase name='a'>")
        self.assertEqual([], junit.read(self.folder))

    def test_playwright_and_vitest_name_the_file(self):
        (self.folder / "a.xml").write_text(
            '<testsuites><testsuite><testcase classname="drafts.spec.ts" name="a form is kept" time="1.5">'
            '<failure message="drafts.spec.ts:63:1 a form">Error: no</failure></testcase></testsuite></testsuites>'
        )
        (case,) = junit.read(self.folder)
        self.assertEqual(("drafts.spec.ts > a form is kept", "drafts.spec.ts"), (case.name, case.again))


if __name__ == "__main__":
    unittest.main()
