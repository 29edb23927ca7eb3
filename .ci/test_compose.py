"""The compose file of the production shape keeps its promises: no default secrets, non-root, health checks, pinned
images."""

import getpass
import os
import re
import shutil
import subprocess
import tempfile
import time
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
# These run once and are then only read by a person, so they need no health check.
ONE_SHOT = {"database", "demo"}


class Compose(unittest.TestCase):
    def test_secrets_have_no_default(self):
        used = SECRET.findall(TEXT)
        self.assertTrue(used)
        for name, rule in used:
            # A secret is either required, or empty by default, which switches the optional part off.
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
            r"^FROM (\S+)", "".join(path.read_text() for path in ROOT.glob("*/Dockerfile*")), re.MULTILINE
        )
        images = [service["image"] for service in SERVICES.values() if "build" not in service]
        for image in froms + images:
            self.assertRegex(image, r":\d", image)

    def test_copied_paths_exist(self):
        for dockerfile in ROOT.glob("*/Dockerfile*"):
            for sources in re.findall(r"^COPY (?!--from)(?:--\S+ )*(.+) \S+$", dockerfile.read_text(), re.MULTILINE):
                for source in sources.split():
                    self.assertTrue((ROOT / source).exists(), f"{dockerfile}: {source}")

    def test_compose_accepts_it_with_its_secrets(self):
        filled = {name: value or "x" * 24 for name, value in EXAMPLE.items()}
        accepted = _config(filled | {"COMPOSE_PROFILES": "demo,mysql,near"})
        self.assertEqual(0, accepted.returncode, accepted.stderr)

    def test_compose_refuses_it_without_its_secrets(self):
        refused = _config({})
        self.assertNotEqual(0, refused.returncode)
        self.assertIn("set it in .env", refused.stderr)


GRANTS = {
    "fqc": {
        "GRANT PROCESS, SUPER, SET USER, FEDERATED ADMIN, CONNECTION ADMIN, READ_ONLY ADMIN, REPLICATION SLAVE ADMIN,"
        " REPLICATION MASTER ADMIN, BINLOG ADMIN ON *.*",
        r"GRANT SELECT ON `%`.*",
        r"GRANT CREATE TEMPORARY TABLES ON `mysql`.*",
        r"GRANT CREATE TEMPORARY TABLES ON `sys`.*",
        r"GRANT CREATE TEMPORARY TABLES ON `performance\_schema`.*",
    },
    "fqc_trial": {
        "GRANT `fqc_counts`",
        "GRANT USAGE ON *.*",
        r"GRANT SELECT ON `%`.*",
        r"GRANT CREATE TEMPORARY TABLES ON `mysql`.*",
        r"GRANT CREATE TEMPORARY TABLES ON `sys`.*",
        r"GRANT CREATE TEMPORARY TABLES ON `performance\_schema`.*",
    },
    "demo": {"GRANT USAGE ON *.*", "GRANT ALL PRIVILEGES ON `demo`.*"},
    "near": {"GRANT REPLICATION MASTER ADMIN ON *.*"},
}
ON_MYSQL = {
    "fqc": {
        "GRANT PROCESS ON *.*",
        "GRANT BINLOG_ADMIN,CONNECTION_ADMIN,PERSIST_RO_VARIABLES_ADMIN,REPLICATION_SLAVE_ADMIN,SYSTEM_VARIABLES_ADMIN"
        " ON *.*",
        "GRANT SELECT ON `performance_schema`.`table_io_waits_summary_by_table`",
        *(grant for grant in GRANTS["fqc"] if "ON *.*" not in grant),
    },
    "fqc_trial": GRANTS["fqc_trial"] - {"GRANT `fqc_counts`"} | {"GRANT `fqc_counts`@`%`"},
    "demo": GRANTS["demo"],
    "near": set(),  # no near cache can attach there
}
USES = {"fqc": "SERVER", "fqc_trial": "TRIAL", "demo": "DEMO", "near": "NEAR"}
PASSWORDS = {name: f"FQC_{use}_PASSWORD" for name, use in USES.items()}


class Start(unittest.TestCase):
    """The start script of the server's image on a real server, with the paths and the network of this test."""

    product, programs, grants = "MariaDB", {"mariadbd": "mariadbd", "mariadb-install-db": "mariadb-install-db"}, GRANTS
    more = ""  # options of the server

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fqc-image-")
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        script = (ROOT / "engine/docker/start").read_text().replace("/var/lib/fqc", str(self.home / "home"))
        (self.home / "start").write_text(script.replace("/tmp/accounts", f"{self.home}/accounts"))
        self.socket = self.home / "server.sock"
        options = f"--no-defaults --user=$(id -un) --datadir={self.home}/home/data --socket={self.socket}"
        (self.home / "bin").mkdir()
        for name, program in self.programs.items():
            given = "--no-defaults" if name == "mariadb-install-db" else f"{options} --skip-networking {self.more}"
            program = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")
            (self.home / "bin" / name).write_text(f'#!/bin/sh\nexec {program} {given} "$@"\n')
            (self.home / "bin" / name).chmod(0o755)

    def _started(self, **given: str) -> subprocess.Popen:
        environment = (
            os.environ | given | {"PATH": f"{self.home}/bin:{os.environ['PATH']}", "FQC_PRODUCT": self.product}
        )
        log = (self.home / "log").open("ab")
        self.addCleanup(log.close)
        server = subprocess.Popen(["bash", self.home / "start"], env=environment, stdout=log, stderr=log)
        self.addCleanup(self._end, server)
        end = time.monotonic() + 180
        while not self._answers("SELECT 1"):
            said = (self.home / "log").read_text()[-2000:]
            self.assertTrue(server.poll() is None and time.monotonic() < end, said)
            time.sleep(0.1)
        return server

    def _end(self, server: subprocess.Popen) -> None:
        server.terminate()
        server.wait(120)

    def _answers(self, statement: str) -> str:
        user = "root" if self.product == "MySQL" else getpass.getuser()
        words = [
            "mariadb",
            "--no-defaults",
            f"--socket={self.socket}",
            f"--user={user}",
            "-B",
            "--skip-column-names",
            "-e",
            statement,
        ]
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout

    def _granted(self, name: str) -> set[str]:
        lines = self._answers(f"SHOW GRANTS FOR '{name}'@'%'").replace("\\\\", "\\").splitlines()
        return {line.partition(" TO ")[0] for line in lines}

    def test_each_account_has_exactly_its_grants_whatever_an_earlier_start_gave_it(self):
        every = dict.fromkeys(PASSWORDS.values(), "x" * 24)
        server = self._started(**every)
        for name, grants in self.grants.items():
            self.assertEqual(grants, self._granted(name), (self.home / "log").read_text()[-3000:])
        self._answers("GRANT ALL PRIVILEGES ON *.* TO 'fqc'@'%'; CREATE DATABASE kept")
        self._end(server)
        self._started(FQC_SERVER_PASSWORD="x" * 24)
        self.assertEqual(self.grants["fqc"], self._granted("fqc"))
        self.assertEqual("fqc", self._answers("SELECT GROUP_CONCAT(User) FROM mysql.user WHERE Host = '%'").strip())
        self.assertIn("kept", self._answers("SHOW DATABASES"))

    def test_no_statement_reaches_files_and_nothing_is_open_to_others(self):
        self._started(FQC_SERVER_PASSWORD="x" * 24)
        self.assertEqual(f"{self.home}/home/files/", self._answers("SELECT @@secure_file_priv").strip())
        (self.home / "known").write_text("a-kept-secret")
        self.assertEqual("NULL", self._answers(f"SELECT LOAD_FILE('{self.home}/known')").strip())
        made = [self.home / "home", *(self.home / "home").rglob("*")]
        is_open = [path for path in made if path.stat().st_mode & 0o077 and path != self.home / "home"]
        # MySQL makes some files world-readable, but inside a folder that other users cannot enter.
        inside = self.home / "home/data" if self.product == "MySQL" else None
        self.assertEqual([], [str(path) for path in is_open if inside not in path.parents])


class StartNear(unittest.TestCase):
    """The start script of the near cache's image, with a program instead of fqc-near that prints its environment."""

    def _given(self, **environment: str) -> tuple[dict[str, str], str]:
        with tempfile.TemporaryDirectory(prefix="fqc-near-") as folder:
            home = Path(folder)
            script = (ROOT / "engine/docker/start-near").read_text().replace("/tmp/", f"{home}/")
            (home / "start-near").write_text(script)
            (home / "fqc-near").write_text("#!/bin/sh\nexec env\n")
            (home / "fqc-near").chmod(0o755)
            told = subprocess.run(
                ["sh", home / "start-near"],
                env=environment | {"PATH": f"{home}:{os.environ['PATH']}"},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            found = dict(line.split("=", 1) for line in told.splitlines() if line.startswith("FQC_"))
            kept = home / "feed-password"
            self.assertTrue(not kept.exists() or kept.stat().st_mode & 0o077 == 0)
            return found, kept.read_text() if kept.exists() else ""

    def test_the_password_is_handed_over_in_a_file_alone(self):
        found, kept = self._given(FQC_NEAR_FEED_USER="near", FQC_NEAR_PASSWORD="x" * 24)
        self.assertEqual("x" * 24 + "\n", kept)
        self.assertEqual({"FQC_NEAR_FEED_USER", "FQC_NEAR_FEED_PASSWORD_FILE"}, set(found))

    def test_without_a_password_it_only_relays(self):
        self.assertEqual(({}, ""), self._given(FQC_NEAR_FEED_USER="near", FQC_NEAR_PASSWORD=""))


MYSQLD = os.environ.get("FQC_MYSQLD", "")


@unittest.skipUnless(Path(MYSQLD).is_file(), "NO MYSQL SERVER IS HERE: set FQC_MYSQLD")
class StartOfMySQL(Start):
    product, programs, grants = "MySQL", {"mysqld": MYSQLD}, ON_MYSQL
    # Options that the image's option file sets.
    more = f"--plugin-dir={Path(MYSQLD).parent.parent}/root/usr/lib/mysql/plugin"
    more += " --plugin-load-add=auth_socket.so --mysqlx=OFF"

    def test_the_image_has_the_same_program_and_its_option_file_is_understood(self):
        dockerfile = (ROOT / "engine/Dockerfile.mysql").read_text()
        self.assertIn("scripts/fetch-server MySQL tested /opt/mysql", dockerfile)
        lines = (ROOT / "engine/docker/mysql.cnf").read_text().replace("/opt/mysql", str(Path(MYSQLD).parent.parent))
        file = self.home / "my.cnf"
        file.write_text(lines.replace("/var/lib/fqc/data", str(self.home / "none")))
        words = [MYSQLD, f"--defaults-file={file}", "--secure-file-priv=NULL", "--validate-config"]
        words += [f"--user={getpass.getuser()}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual(0, done.returncode, done.stderr)


def _last_user(service: dict) -> str:
    users = re.findall(r"^USER (\S+)", (ROOT / service["build"]["dockerfile"]).read_text(), re.MULTILINE)
    return users[-1] if users else ""


def _config(variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs `docker compose config` if the client is installed; otherwise the parser that the client is built on."""
    environment = {name: value for name, value in os.environ.items() if name not in EXAMPLE} | variables
    if shutil.which("docker") and not subprocess.run(["docker", "compose", "version"], capture_output=True).returncode:
        return _run(["docker", "compose", "config", "--quiet"], environment)
    with tempfile.NamedTemporaryFile("w", suffix=".yml", dir=ROOT) as filled:
        # The parser's own command does not read the environment.
        filled.write(re.sub(r"\$\{(\w+)[^}]*\}", lambda match: variables.get(match[1], match[0]), TEXT))
        filled.flush()
        return _run(["go", "run", PARSER, filled.name], environment)


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    unittest.main()
