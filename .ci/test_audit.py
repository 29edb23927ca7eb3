"""`make audit` never takes what was not checked for clean, fails on findings, and knows every lock file."""

import subprocess
import tomllib
import unittest
from pathlib import Path

import audit

DEPENDENCY = '{"name": "django", "version": "1.0", %s}'
FAULTY = DEPENDENCY % '"vulns": [{"id": "PYSEC-1"}]'
GOOD = DEPENDENCY % '"vulns": []'
UNKNOWN = '{"name": "django", "skip_reason": "Dependency not found on PyPI and could not be audited: django (1.0)"}'
NPM = '{"metadata": {"vulnerabilities": {"total": %d}}}'


def pip(*dependencies: str) -> str:
    return f'{{"dependencies": [{", ".join(dependencies)}]}}'


class Verdicts(unittest.TestCase):
    def test_each_tool_is_understood(self):
        for read, code, out, err, wanted in [
            (audit.read_pip, 0, pip(GOOD), "", audit.CLEAN),
            (audit.read_pip, 1, pip(GOOD, FAULTY), "", audit.FINDINGS),
            (audit.read_pip, 1, pip(UNKNOWN, FAULTY), "", audit.FINDINGS),
            (audit.read_pip, 0, pip(GOOD, UNKNOWN), "", audit.UNCHECKED),  # it exits with 0 then
            (audit.read_pip, 0, pip(), "", audit.UNCHECKED),
            (audit.read_pip, 1, "", "ConnectionError", audit.UNCHECKED),
            (audit.read_npm, 0, NPM % 0, "", audit.CLEAN),
            (audit.read_npm, 1, NPM % 2, "", audit.FINDINGS),
            (audit.read_npm, 1, '{"error": {"code": "ENOAUDIT"}}', "npm error audit endpoint", audit.UNCHECKED),
            (audit.read_cargo, 0, "", "licenses ok", audit.CLEAN),
            (audit.read_cargo, 4, "", "error[rejected]: failed to satisfy license requirements", audit.FINDINGS),
            (audit.read_cargo, 1, "", "[ERROR] failed to fetch advisory database", audit.UNCHECKED),
            (audit.read_go, 0, "No vulnerabilities found.", "", audit.CLEAN),
            (audit.read_go, 3, "Vulnerability #1", "", audit.FINDINGS),
            (audit.read_go, 1, "", "govulncheck: fetching vulnerabilities: 403", audit.UNCHECKED),
        ]:
            with self.subTest(read=read.__name__, code=code, out=out):
                self.assertEqual(wanted, read(code, out, err)[0])

    def test_a_tool_that_is_missing_has_checked_nothing(self):
        missing = audit.Audit("engine", ("no-such-tool-anywhere",), audit.read_go, "get it")
        self.assertEqual((audit.UNCHECKED, "is not installed: get it"), audit.verdict(missing))

    def test_every_lock_file_is_audited(self):
        listed = ["git", "ls-files", "*requirements.lock", "*package-lock.json", "*go.sum", "*Cargo.lock"]
        names = subprocess.run(listed, cwd=audit.ROOT, capture_output=True, text=True, check=True).stdout.split()
        folders = {name.rpartition("/")[0] for name in names}
        self.assertGreater(len(folders), 8)
        # Fuzzers are built of the engine's own crates and one more, and are not shipped. Ghost and LoopBack chose their
        # own dependencies; they only run in the lab, on loopback.
        unaudited = {"engine/fuzz", "engine/apps/ghost", "engine/apps/suites/loopback"}
        self.assertEqual(folders - unaudited, {each.folder for each in audit.AUDITS})

    def test_the_fuzzers_are_locked_with_what_the_engine_s_crates_depend_on(self):
        engine, fuzz = (needed(audit.ROOT / "engine" / folder / "Cargo.lock") for folder in (".", "fuzz"))
        shared = engine.keys() & fuzz.keys()
        self.assertIn("fqc-near", shared)
        for crate in shared:
            # What its own tests need stands in the engine's lock alone.
            self.assertLessEqual(fuzz[crate], engine[crate], crate)
            self.assertLessEqual(runtime(crate), fuzz[crate], crate)

    def test_every_locked_python_package_has_its_hash(self):
        for path in audit.ROOT.glob("**/requirements.lock"):
            entries = [entry for entry in path.read_text().replace("\\\n", " ").splitlines() if "==" in entry]
            self.assertTrue(entries)
            self.assertEqual([], [entry for entry in entries if "--hash=sha256:" not in entry], path)


def needed(lock: Path) -> dict[str, set[str]]:
    """Returns for each crate of ours the names of the packages that it depends on, by this lock file."""
    packages = tomllib.loads(lock.read_text())["package"]
    own = [package for package in packages if "source" not in package]
    return {package["name"]: {name.split()[0] for name in package.get("dependencies", [])} for package in own}


def runtime(crate: str) -> set[str]:
    """Returns the names of the foreign packages that a crate needs outside of its tests."""
    manifest = tomllib.loads((audit.ROOT / "engine/crates" / crate.removeprefix("fqc-") / "Cargo.toml").read_text())
    wanted = manifest.get("dependencies", {}).items()
    return {name for name, how in wanted if isinstance(how, str) or "version" in how}


if __name__ == "__main__":
    unittest.main()
