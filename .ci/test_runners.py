"""What runners report reaches the summary, whichever runner it is."""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from testing import slices

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
MANY_GO = 'package a\nimport "testing"\n' + "".join(f"func TestA{n}(t *testing.T) {{}}\n" for n in range(40))
MANY_CARGO = "mod traps { #[test] fn kept() {} }\n" + "".join(f"#[test] fn a{n}() {{}}\n" for n in range(40))
MANY_PYTEST = "import pytest\n@pytest.mark.parametrize('number', range(40))\ndef test_a(number): pass\n"
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

    def slice_of(self, run: Callable[[], object], seed: str) -> set[str]:
        """The tests that run in a slice of a quarter."""
        for report in self.folder.glob("*.xml"):
            report.unlink()
        with mock.patch.dict(os.environ, {slices.NAME: f"4:{seed}"}), mock.patch("builtins.print"):
            run()
        return set(self.outcomes())

    def assert_slices_differ(self, run: Callable[[], object]) -> tuple[set[str], set[str]]:
        one, again, other = (self.slice_of(run, seed) for seed in ("one", "one", "other"))
        self.assertEqual(one, again)
        self.assertNotEqual(one, other)
        for each in (one, other):
            self.assertTrue(1 <= len(each) <= 22, each)
        return one, other

    def test_a_slice_of_pytest_has_some_tests_and_the_next_commit_has_others(self):
        (self.folder / "test_a.py").write_text(MANY_PYTEST)
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:django", "-c", os.devnull, f"--rootdir={self.folder}"]
        words += ["-p", "no:cacheprovider", "-p", "testing.slices", "-o", "junit_family=xunit1"]
        words += [f"--junitxml={self.folder}/pytest.xml", "test_a.py"]
        path = {"PYTHONPATH": str(HERE.parent / "backend")}

        def run() -> None:
            subprocess.run(words, cwd=self.folder, env=os.environ | path, capture_output=True, check=True)

        self.assert_slices_differ(run)

    def test_a_slice_of_cargo_leaves_out_no_test_of_wrong_rows(self):
        source, program = self.folder / "a.rs", self.folder / "a"
        source.write_text(MANY_CARGO)
        subprocess.run(["rustc", "--test", "-o", program, source], check=True, capture_output=True)
        one = cargo_tests.Program("p", "t", str(program), self.folder)
        for slice_ in self.assert_slices_differ(lambda: junit.write("cargo", cargo_tests.run(one, [])[1])):
            self.assertIn("traps::kept", slice_)

    def code_of_an_empty_slice(self, run: Callable[[], int]) -> int:
        environment, quiet = mock.patch.dict(os.environ, {slices.NAME: "4:one"}), mock.patch("builtins.print")
        with environment, quiet, mock.patch.object(slices, "is_among", return_value=False):
            return run()

    def test_a_cargo_program_without_a_test_in_the_slice_has_not_failed(self):
        source, program = self.folder / "a.rs", self.folder / "a"
        source.write_text("#[test] fn fails() { panic!() }")
        subprocess.run(["rustc", "--test", "-o", program, source], check=True, capture_output=True)
        one = cargo_tests.Program("p", "t", str(program), self.folder)
        self.assertEqual(0, self.code_of_an_empty_slice(lambda: cargo_tests.run(one, [])[0]))

    def test_a_slice_of_go_has_some_tests_and_the_next_commit_has_others(self):
        (self.folder / "go.mod").write_text("module a\n")
        (self.folder / "a_test.go").write_text(MANY_GO)
        with contextlib.chdir(self.folder):
            self.assert_slices_differ(lambda: go_tests.main(["./..."]))
            self.assertEqual(0, self.code_of_an_empty_slice(lambda: go_tests.main(["./..."])))

    def test_a_slice_of_the_browser_has_some_files_and_the_next_commit_has_others(self):
        frontend = HERE.parent / "frontend"
        files = {file.name for file in frontend.glob("e2e/*.spec.ts")}

        def chosen(asked: str) -> set[str]:
            words = ["npx", "playwright", "test", "--list"]
            environment = os.environ | {slices.NAME: asked}
            return {
                *re.findall(
                    r"[\w-]+\.spec\.ts", subprocess.check_output(words, cwd=frontend, env=environment, text=True)
                )
            }

        self.assertEqual(files, chosen("1:"))
        one, other = chosen("4:one"), chosen("4:other")
        self.assertNotEqual(one, other)
        self.assertEqual([-(-len(files) // 4)] * 2, [len(one), len(other)])

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
