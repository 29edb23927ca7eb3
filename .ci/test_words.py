"""Comments are found with the code that they belong to, and half sentences among them."""

import re
import unittest

import words

RUST = """\
/// Of the last read.
/// None was kept.
pub fn number(&self) -> u64 {
    // The server counts from one.
    self.number + 1 // not a comment of its own line
}
"""
PYTHON = '''\
def number() -> int:
    """Returns none of them.

    There are two.
    """
    # Which is what the server says.
    return 1
'''


class Words(unittest.TestCase):
    def told(self, path: str, text: str) -> list[tuple[int, str, str, bool]]:
        found = words.comments(path, text.splitlines())
        return [(each.line, each.text, each.item, words.is_half_a_sentence(each)) for each in found]

    def test_lines_that_follow_each_other_are_one_comment_of_the_line_below(self):
        first, second = self.told("a.rs", RUST)
        self.assertEqual((1, "Of the last read. None was kept.", "pub fn number(&self) -> u64 {", True), first)
        self.assertEqual(
            (4, "The server counts from one.", "self.number + 1 // not a comment of its own line", False), second
        )

    def test_a_docstring_belongs_to_the_line_above(self):
        first, second = self.told("a.py", PYTHON)
        self.assertEqual((2, "Returns none of them. There are two.", "def number() -> int:", False), first)
        self.assertTrue(second[3])

    def test_the_share_is_that_of_all_comments(self):
        found = list(words.comments("a.rs", RUST.splitlines()))
        self.assertEqual(0.5, words.share(found))

    def test_a_signature_is_shown_to_its_end(self):
        lines = ["/**", " * Sums up.", " */", "export function sum(", "  one: number,", "): number {", "  return one;"]
        [comment] = words.comments("a.ts", lines)
        self.assertEqual(("Sums up.", "export function sum("), (comment.text, comment.item))
        self.assertEqual("export function sum(\none: number,\n): number {", comment.signature)

    def test_a_signature_begins_with_the_type_that_has_the_item(self):
        lines = [
            "impl Slot {",
            "    fn new() -> Self {",
            "    }",
            "",
            "    /// Sums up.",
            "    fn sum(self) -> u64 {",
            "}",
        ]
        [comment] = words.comments("a.rs", lines)
        self.assertEqual("impl Slot {\nfn sum(self) -> u64 {", comment.signature)

    def test_the_glossary_explains_the_words_of_a_text(self):
        found = words.explained("Renews the leases of a change set.")
        self.assertEqual(["lease, by leases, exact", "change set, change"], [line.split(":")[0] for line in found][:2])
        self.assertEqual([], words.explained("Nothing at all."))

    def test_each_word_of_the_glossary_is_in_a_comment(self):
        text = "\n".join(each.text for each in words.every())
        missing = [
            names
            for names, _ in words.ENTRY.findall(words.GLOSSARY.read_text())
            if not any(
                re.search(rf"\b{re.escape(name)}", text, re.IGNORECASE)
                for name in re.sub(r" \(.*?\)", "", names).split(", ")
            )
        ]
        self.assertEqual([], missing)

    def test_documented_items_of_this_repository_can_be_drawn(self):
        self.assertGreater(sum(bool(words.DOCUMENTED.match(each.item)) for each in words.every()), 1000)


if __name__ == "__main__":
    unittest.main()
