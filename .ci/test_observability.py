"""Prometheus' rules and Grafana's dashboards: Prometheus' own tool tests the rules, and every metric that they use
exists."""

import itertools
import json
import re
import shutil
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "infra" / "observability"
OWN = re.compile(r"(?<![\w:])fqc_[a-z_]+")
OF_SERVERS = re.compile(r"mysql_global_status_([a-z0-9_]+)")
OF_ANY_SERVER = {"threads_connected", "threads_running"}


def expressions():
    """Returns the PromQL expressions of all rules and panels, as one text."""
    rules = (FOLDER / "prometheus" / "rules.yml").read_text()
    boards = [json.loads(path.read_text()) for path in sorted((FOLDER / "grafana").glob("*.json"))]
    targets = [target["expr"] for board in boards for panel in board["panels"] for target in panel["targets"]]
    return "\n".join([*re.findall(r"expr: (.*(?:\n {10}.*)*)", rules), *targets])


def cells(place):
    """Returns the cells of the dashboard's grid that a panel covers."""
    return itertools.product(range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"]))


class Observability(unittest.TestCase):
    def test_rules_do_what_their_tests_say(self):
        tool = shutil.which("promtool")
        if tool is None:
            self.skipTest("promtool is not installed (Debian's package prometheus): the alert rules are NOT tested")
        words = [tool, "test", "rules", "rules_test.yml"]
        done = subprocess.run(words, cwd=FOLDER / "prometheus", capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_metric_of_the_control_plane_and_of_near_caches_is_one_that_they_expose(self):
        sources = ROOT.glob("backend/controlplane/*/exposition.py")
        exposed = set(re.findall(r'"(fqc_[a-z_]+)"', "\n".join(path.read_text() for path in sources)))
        near = (ROOT / "engine" / "crates" / "near" / "src" / "metrics.rs").read_text()
        exposed |= {f"fqc_near_{name}" for name in re.findall(r'"([a-z_]+)"', near)}
        named = set(OWN.findall(expressions()))
        self.assertGreater(len(named), 4)
        self.assertEqual(named - exposed, set())

    def test_every_counter_of_a_server_is_one_that_the_engine_has(self):
        known = (ROOT / "docs" / "reference" / "engine.json").read_text().lower()
        named = set(OF_SERVERS.findall(expressions())) - OF_ANY_SERVER
        self.assertGreater(len(named), 8)
        self.assertEqual({name for name in named if f'"{name}"' not in known}, set())

    def test_dashboards_ask_the_data_source_that_was_chosen(self):
        paths = sorted((FOLDER / "grafana").glob("*.json"))
        self.assertGreater(len(paths), 1)
        for path in paths:
            board = json.loads(path.read_text())
            self.assertEqual(board["templating"]["list"][0]["type"], "datasource")
            taken = [cell for panel in board["panels"] for cell in cells(panel["gridPos"])]
            self.assertEqual(len(taken), len(set(taken)), f"{path.name}: a panel lies on another")
            for panel in board["panels"]:
                self.assertEqual(panel["datasource"]["uid"], "${datasource}", f"{path.name}: {panel['title']}")
                self.assertTrue(all(target["expr"] for target in panel["targets"]))


if __name__ == "__main__":
    unittest.main()
