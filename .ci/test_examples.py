"""Every fenced block of the README, of the guides and of the pages of `fqc-near` in the reference is tried here, by its
kind, or says in a comment above itself who runs it (`<!-- run by: a file of ours -->`) or why nobody can
(`<!-- not run: why -->`).
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

import pymysql
import yaml
from controlplane.gateway.local import LocalServer
from controlplane.gateway.local_accounts import COUNTING_ROLE
from controlplane.gateway.product import MARIADB, MYSQL
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from testing.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
PLUGIN, NEAR = (ROOT / "engine" / "dist" / name for name in ("fqc.so", "fqc-near"))
CLI = ROOT / "backend" / "fqc" / ".venv" / "bin" / "fqc"
BLOCK = re.compile(r"(?:^<!-- (not run|run by): (.+?) -->\n\n?)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)", re.MULTILINE)
KINDS = {"sql", "sh", "console", "toml", "ini", "yaml", ""}
NEAR_FOLDER = "/etc/fqc-near"
NO_PROMTOOL = "promtool is not installed (Debian's package prometheus): configurations of Prometheus are only parsed"


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    product: str  # whose part of the page it is in
    kind: str
    text: str
    mark: str = ""
    told: str = ""

    def __str__(self):
        return f"{self.page}:{self.line}"


def pages():
    docs = ROOT / "docs"
    return [ROOT / "README.md", *sorted(docs.glob("guides/*.md")), *sorted(docs.glob("reference/near-*.md"))]


def blocks_of(page, text):
    for found in BLOCK.finditer(text):
        before = text[: found.start()]
        heading = (HEADING.findall(BLOCK.sub("", before)) or [""])[-1]
        is_mysql = MYSQL.name in heading or page.endswith("own-mysql.md")
        product = MYSQL.name if is_mysql else MARIADB.name
        mark, told, kind, words = found.groups(default="")
        yield Block(page, before.count("\n") + 1, product, kind, words, mark, told)


@lru_cache
def blocks():
    return [block for path in pages() for block in blocks_of(str(path.relative_to(ROOT)), path.read_text())]


def tried(*kinds):
    return [block for block in blocks() if block.kind in kinds and not block.mark]


def lines_of(block):
    """Returns the lines of a block that a reader types, without prompts and comments."""
    typed = (re.sub(r"\s+#.*", "", line).removeprefix("$ ").strip() for line in block.text.splitlines())
    return [line for line in typed if line]


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Examples(unittest.TestCase):
    def test_every_block_is_tried_or_says_who_runs_it_or_why_nobody_can(self):
        self.assertGreater(len(blocks()), 40)
        for path in pages():
            fences = len(re.findall(r"^ *(```|~~~)", path.read_text(), re.MULTILINE))
            self.assertEqual(fences, 2 * sum(block.page == str(path.relative_to(ROOT)) for block in blocks()), path)
        for block in blocks():
            with self.subTest(str(block)):
                self.assertTrue(block.mark or block.kind in KINDS)
                if block.mark == "run by":
                    self.assertTrue((ROOT / block.told).exists(), block.told)

    def test_each_way_that_the_readme_offers_is_copy_and_paste(self):
        text = (ROOT / "README.md").read_text()
        ways = re.findall(r"\]\(#([\w-]+)\)", text[: text.index("\n## ")])
        self.assertEqual(5, len(ways))
        sections = {part.partition("\n")[0].lower().replace(" ", "-"): part for part in text.split("\n## ")}
        for way in ways:
            found = [block for block in blocks_of("README.md", sections[way]) if block.mark != "not run"]
            self.assertTrue(found, way)

    def test_a_block_that_nobody_runs_is_seen(self):
        [block] = blocks_of("docs/guides/x.md", "# X\n\n```perl\nprint 1\n```\n")
        self.assertFalse(block.mark or block.kind in KINDS)
        [block] = blocks_of("docs/guides/x.md", "<!-- not run: no Docker -->\n\n```sh\ndocker\n```\n")
        self.assertEqual(("not run", "no Docker"), (block.mark, block.told))

    def test_commands_are_targets_or_understood_by_the_command_line(self):
        """Other suites run the make targets. Commands of fqc are only parsed, by appending `--help`, and not
        executed.
        """
        targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        for block in tried("sh", "console"):
            for line in lines_of(block):
                with self.subTest(f"{block}: {line}"):
                    program, *words = line.split()
                    self.assertIn(program, ("make", "fqc"))
                    if program == "make":
                        self.assertIn(words[0], targets)
                    else:
                        code, said = run(CLI, *words, "--help")
                        self.assertEqual(0, code, said)

    def test_sql_and_options_are_understood_by_the_server_that_they_are_for(self):
        for product in (MARIADB, MYSQL):
            program = os.environ.get("FQC_MYSQLD", "") if product is MYSQL else ""
            of_product = [block for block in tried("sql", "ini") if block.product == product.name]
            self.assertTrue(of_product)
            if product is MYSQL and not Path(program).is_file():
                print("NOT TRIED: THE STATEMENTS FOR MYSQL IN THE GUIDES, SINCE NO SERVER COULD BE HAD")
                continue
            with fresh_server(product, program) as server:
                for block in of_product:
                    if block.kind == "sql":
                        with self.subTest(str(block)):
                            execute(server, block.text)
                for block in of_product:
                    if block.kind == "ini":
                        with self.subTest(str(block)):
                            self._start_with(server, block.text)

    def _start_with(self, server, options):
        """Restarts the server with the options of a page, and checks that the plugin runs with them. The last page of
        the guide has uninstalled the plugin, so the options alone must load it."""
        server.stop()
        (server.folder / "configured.cnf").write_text(options)
        server.start()
        self.assertEqual(("ON", 64 * 1024**2), asked(server, "SELECT @@query_cache_type, @@query_cache_size"))
        self.assertTrue(asked(server, "SHOW FQC STATUS"))

    def test_options_and_rules_of_the_near_cache_are_valid(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "ca.pem").write_bytes(certificate())
            (Path(folder) / "password").write_text("a password\n")
            for block in tried("toml"):
                name = re.search(rf"# (?:{NEAR_FOLDER}/|/etc/)(\S+)", block.text)[1]
                (Path(folder) / name).write_text(block.text.replace(NEAR_FOLDER, folder))
            commands = [line for block in tried("") for line in lines_of(block)]
            commands.append(f"fqc-near --config {NEAR_FOLDER}/fqc-near.toml")
            for line in commands:
                with self.subTest(line):
                    program, *words = line.replace(NEAR_FOLDER, folder).split()
                    self.assertEqual("fqc-near", program)
                    code, said = run(NEAR, *words, "--check")
                    self.assertEqual(0, code, said)

    def test_configurations_of_prometheus_are_valid(self):
        tool = shutil.which("promtool")
        for block in tried("yaml"):
            with self.subTest(str(block)), tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
                self.assertIn("scrape_configs", yaml.safe_load(block.text))
                file.write(block.text)
                file.flush()
                if tool:
                    code, said = run(tool, "check", "config", "--syntax-only", file.name)
                    self.assertEqual(0, code, said)
        if tool is None:
            self.skipTest(NO_PROMTOOL)


@contextmanager
def fresh_server(product, program):
    with tempfile.TemporaryDirectory(prefix="fqc-examples-") as folder:
        server = LocalServer(Path(folder) / "server", free_port(), "fqc", "a-password", product, program)
        try:
            server.make({})
            server.install_engine_file(PLUGIN)
            server.start()
            # The control plane gives it to the servers that it makes; a page does so itself.
            execute(server, f"DROP ROLE {COUNTING_ROLE};\n")
            yield server
        finally:
            server.stop(force=True)


def execute(server, block):
    """Executes the statements of a block. INSTALL PLUGIN may fail because the plugin is there: the page before may have
    left it, while the text of each page begins without it."""
    text = re.sub(r"^--.*\n", "", block, flags=re.MULTILINE)
    with server.as_owner() as connection, connection.cursor() as cursor:
        for statement in filter(None, (part.strip() for part in re.split(r";\s*\n", text))):
            try:
                cursor.execute(statement)
            except pymysql.MySQLError as error:
                if error.args[0] not in server.product.engine_installed_errors:
                    raise


def asked(server, text):
    with server.as_owner() as connection, connection.cursor() as cursor:
        cursor.execute(text)
        return cursor.fetchone()


def certificate():
    """Returns a self-signed CA certificate, as PEM, that has not signed any other certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "authority")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    return made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


if __name__ == "__main__":
    unittest.main()
