"""A circle of the engine's modules is found, wherever it closes."""

import tempfile
import unittest
from pathlib import Path

import circles


class Circles(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.crate = Path(folder.name)

    def circle(self, **files: str) -> list[str]:
        for name, text in files.items():
            path = self.crate / "src" / f"{name.replace('__', '/')}.rs"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return ["::".join(one) for one in circles.circle(circles.needs(circles.modules(self.crate)))]

    def test_files_that_name_each_other_are_one(self) -> None:
        found = self.circle(lib="mod a; mod b;", a="use crate::b::B;", b="use super::a;")
        self.assertEqual(["a", "b", "a"], found)

    def test_folders_that_need_each_other_are_one_whichever_files_do(self) -> None:
        found = self.circle(a="mod x;", a__x="use crate::b::{y::Y, Z};", b="mod y;", b__y="fn f() { crate::a::g() }")
        self.assertEqual(["a", "b", "a"], found)

    def test_a_circle_in_a_folder_is_one(self) -> None:
        found = self.circle(a="mod x; mod y;", a__x="use super::y::Y;", a__y="use crate::a::x::X;")
        self.assertEqual(["a::x", "a::y", "a::x"], found)

    def test_a_module_and_its_own_folder_are_none(self) -> None:
        self.assertEqual([], self.circle(a="mod x; use x::X;", a__x="use super::A; use crate::a::B;"))

    def test_tests_and_words_are_none(self) -> None:
        tested = '// crate::b\nconst B: &str = "crate::b";\n#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n'
        self.assertEqual([], self.circle(a=tested, b="use crate::a::A;"))

    def test_the_engine_has_none(self) -> None:
        crates = [path for path in circles.CRATES.iterdir() if (path / "src").is_dir()]
        self.assertGreater(len(crates), 10)
        for crate in crates:
            self.assertEqual([], circles.circle(circles.needs(circles.modules(crate))), crate.name)


if __name__ == "__main__":
    unittest.main()
