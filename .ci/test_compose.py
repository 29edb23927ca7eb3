"""The production shape keeps its promises: no default secrets, non-root, health checks, pinned images."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docker-compose.yml").read_text()
PARSER = "github.com/compose-spec/compose-go/v2/cmd@v2.16.2"
SERVICES = yaml.safe_load(TEXT)["services"]
EXAMPLE = dict(
    line.split("=", 1) for line in (ROOT / ".env.example").read_text().splitlines() if line and not line.startswith("#")
)
SECRET = re.compile(r"\$\{(\w*(?:PASSWORD|SECRET|KEYS)\w*)([^}]*)\}")
# Written once, and then only read by a person: they need no health check of their own.
ONE_SHOT = {"database", "demo"}


class Compose(unittest.TestCase):
    def test_secrets_have_no_default(self):
        used = SECRET.findall(TEXT)
        self.assertTrue(used)
        for name, rule in used:
            # Either required, or empty, which switches the optional part off.
            self.assertTrue(rule.startswith(":?") or rule == ":-", f"{name}{rule}")

    def test_every_variable_is_in_the_example_and_its_secrets_are_empty(self):
        for name in re.findall(r"(?<!\$)\$\{(\w+)", TEXT):
            self.assertTrue(name in EXAMPLE or name == "FQC_VERSION", name)
        for name, value in EXAMPLE.items():
            if re.search("PASSWORD|SECRET|KEYS", name):
                self.assertEqual("", value, name)

    def test_nothing_runs_as_root_or_may_become_it(self):
        for name, service in SERVICES.items():
            self.assertEqual(["ALL"], service["cap_drop"], name)
            self.assertIn("no-new-privileges:true", service["security_opt"], name)
            self.assertTrue("user" in service or _last_user(service) not in ("", "root", "0"), name)

    def test_every_lasting_service_has_a_health_check(self):
        for name in SERVICES.keys() - ONE_SHOT:
            dockerfile = SERVICES[name].get("build", {}).get("dockerfile")
            in_image = dockerfile and "HEALTHCHECK" in (ROOT / dockerfile).read_text()
            self.assertTrue("healthcheck" in SERVICES[name] or in_image, name)

    def test_only_the_console_is_published_and_on_loopback_unless_said_otherwise(self):
        self.assertEqual(["web"], [name for name, service in SERVICES.items() if "ports" in service])
        self.assertTrue(all(port.startswith("${FQC_WEB_BIND:-127.0.0.1}:") for port in SERVICES["web"]["ports"]))

    def test_images_are_pinned(self):
        froms = re.findall(
            r"^FROM (\S+)", "".join(path.read_text() for path in ROOT.glob("*/Dockerfile")), re.MULTILINE
        )
        images = [service["image"] for service in SERVICES.values() if "build" not in service]
        for image in froms + images:
            self.assertRegex(image, r":\d", image)

    def test_copied_paths_exist(self):
        for dockerfile in ROOT.glob("*/Dockerfile"):
            for sources in re.findall(r"^COPY (?!--from)(?:--\S+ )*(.+) \S+$", dockerfile.read_text(), re.MULTILINE):
                for source in sources.split():
                    self.assertTrue((ROOT / source).exists(), f"{dockerfile}: {source}")

    def test_compose_accepts_it_with_its_secrets(self):
        filled = {name: value or "x" * 24 for name, value in EXAMPLE.items()}
        accepted = _config(filled | {"COMPOSE_PROFILES": "demo"})
        self.assertEqual(0, accepted.returncode, accepted.stderr)

    def test_compose_refuses_it_without_its_secrets(self):
        refused = _config({})
        self.assertNotEqual(0, refused.returncode)
        self.assertIn("set it in .env", refused.stderr)


def _last_user(service: dict) -> str:
    users = re.findall(r"^USER (\S+)", (ROOT / service["build"]["dockerfile"]).read_text(), re.MULTILINE)
    return users[-1] if users else ""


def _config(variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """`docker compose config` where the client is; elsewhere the parser that the client is built on."""
    environment = {name: value for name, value in os.environ.items() if name not in EXAMPLE} | variables
    if shutil.which("docker") and not subprocess.run(["docker", "compose", "version"], capture_output=True).returncode:
        return _run(["docker", "compose", "config", "--quiet"], environment)
    with tempfile.NamedTemporaryFile("w", suffix=".yml", dir=ROOT) as filled:
        # That parser's own command does not read the environment.
        filled.write(re.sub(r"\$\{(\w+)[^}]*\}", lambda match: variables.get(match[1], match[0]), TEXT))
        filled.flush()
        return _run(["go", "run", PARSER, filled.name], environment)


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    unittest.main()
