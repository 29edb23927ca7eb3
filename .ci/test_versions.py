"""One version in all parts, which the programs tell, and a release that is made of that commit alone."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "packages"))

import release  # noqa: E402
import versions  # noqa: E402

VERSION = versions.version_of()
CRATES = sorted((ROOT / "engine").glob("crates/*/Cargo.toml"))


def told_by(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class EveryPart(unittest.TestCase):
    def test_each_part_states_the_same_version(self) -> None:
        self.assertEqual({VERSION}, {version for _, version in versions.stated()})

    def test_no_crate_has_a_version_of_its_own(self) -> None:
        self.assertGreater(len(CRATES), 5)
        for crate in CRATES:
            self.assertIn("\nversion.workspace = true\n", crate.read_text(), crate)

    def test_each_lock_names_each_crate_of_ours_in_the_same_version(self) -> None:
        for lock in ("engine/Cargo.lock", "engine/fuzz/Cargo.lock"):
            ours = re.findall(r'^name = "(fqc-.+)"\nversion = "(.+)"$', (ROOT / lock).read_text(), re.MULTILINE)
            self.assertEqual({VERSION}, {version for name, version in ours if name != "fqc-fuzz"}, lock)

    def test_the_built_programs_tell_it(self) -> None:
        self.assertEqual(f"fqc {VERSION}\n", told_by(ROOT / "backend/fqc/.venv/bin/fqc", "--version"))
        self.assertEqual(f"fqc-near {VERSION}\n", told_by(ROOT / "engine/dist/fqc-near", "--version"))
        self.assertIn(f"{VERSION}\0".encode(), (ROOT / "engine/dist/fqc.so").read_bytes())

    def test_the_console_shows_it(self) -> None:
        scripts = list((ROOT / "frontend/dist/assets").glob("*.js"))
        self.assertTrue(any(VERSION in script.read_text() for script in scripts))


class Releasing(unittest.TestCase):
    """Releases in a repository of the test's own with the files that state a version."""

    def setUp(self) -> None:
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for path in {place.path for place in versions.PLACES} | {"CHANGELOG.md", release.SOAK}:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, self.root / path)
        self.git("init", "--quiet")
        self.commit()
        self.soak()

    def git(self, *words: str) -> None:
        identity = ("-c", "user.name=release", "-c", "user.email=release@localhost")
        subprocess.run(("git", *identity, *words), cwd=self.root, check=True)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "all")

    def soak(self) -> None:
        head = release.run("git", "rev-parse", "HEAD", cwd=self.root).strip()
        (self.root / release.SOAK).write_text(f"# The last soak\n\nOf commit `{head}`, on 2 cores.\n")
        self.commit()

    def refused_for(self, version: str) -> str:
        return "\n".join(release.refusals(self.root, version))

    def test_a_clean_tree_whose_parts_agree_can_be_released(self) -> None:
        self.assertEqual("", self.refused_for(VERSION))

    def test_a_change_that_is_not_committed_is_named(self) -> None:
        (self.root / "README.md").write_text((self.root / "README.md").read_text() + "more\n")
        (self.root / "new").touch()
        self.assertEqual("The tree has changes that are not committed: README.md, new", self.refused_for(VERSION))

    def test_a_commit_that_no_soak_searched_is_not_released(self) -> None:
        (self.root / "engine/crates/a/tests").mkdir(parents=True)
        (self.root / "engine/crates/a/tests/b.rs").touch()
        self.commit()
        self.assertEqual("", self.refused_for(VERSION))
        (self.root / "engine/crates/a/c.rs").touch()
        self.commit()
        self.assertRegex(self.refused_for(VERSION), "^Since the last soak, .* such as engine/crates/a/c.rs: run")
        (self.root / release.SOAK).write_text(f"Of commit `{'0' * 40}`, on 2 cores.\n")
        self.commit()
        self.assertRegex(self.refused_for(VERSION), "^The last soak was of 00000000, which is not in this clone: run")
        (self.root / release.SOAK).write_text("No run has been recorded.\n")
        self.commit()
        self.assertRegex(self.refused_for(VERSION), "^No soak is recorded: run make soak RECORD=1, and commit")

    def test_a_version_that_is_tagged_is_not_released_again(self) -> None:
        self.git("tag", f"v{VERSION}")
        self.assertEqual(f"The tag v{VERSION} exists.", self.refused_for(VERSION))

    def test_another_version_is_written_to_every_part_before_it_is_released(self) -> None:
        self.assertIn("run make version VERSION=77.0.1", self.refused_for("77.0.1"))
        self.assertIn("CHANGELOG.md has no heading: ## 77.0.1", self.refused_for("77.0.1"))
        for place in versions.PLACES:
            place.write(self.root, "77.0.1")
        self.assertEqual("77.0.1", versions.version_of(self.root))
        changes = self.root / "CHANGELOG.md"
        changes.write_text(changes.read_text().replace(f"## {VERSION}\n", "## 77.0.1\n"))
        self.commit()
        self.assertRegex(self.refused_for("77.0.1"), "^Since the last soak, .* such as engine/Cargo.lock: run")
        self.soak()
        self.assertEqual("", self.refused_for("77.0.1"))

    def test_a_part_that_differs_is_named(self) -> None:
        versions.Place("backend/config/version.py", r'^VERSION = "(.+)"$').write(self.root, "77.0.1")
        with self.assertRaisesRegex(SystemExit, "backend/config/version.py"):
            versions.version_of(self.root)
        self.assertIn("backend/config/version.py (77.0.1)", self.refused_for(VERSION))


if __name__ == "__main__":
    unittest.main()
