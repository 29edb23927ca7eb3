"""Mails and channels show a severity in the console's colour."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TONES = {"warning": "warn", "critical": "danger", "resolved": "ok"}


class SeverityColours(unittest.TestCase):
    def test_a_severity_has_one_colour_everywhere(self):
        letters = (ROOT / "backend" / "controlplane" / "alerts" / "letters.py").read_text()
        styles = (ROOT / "frontend" / "src" / "app" / "styles.css").read_text()
        for severity, tone in TONES.items():
            said = re.search(rf'"{severity}": "(#\w{{6}})"', letters)
            shown = re.search(rf"--fqc-{tone}: (#\w{{6}})", styles)
            self.assertTrue(said and shown, severity)
            self.assertEqual(said.group(1), shown.group(1), severity)


if __name__ == "__main__":
    unittest.main()
