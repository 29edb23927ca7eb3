"""The dashboards, the alert rules and the guide's configuration, by a real Prometheus that scrapes a control plane, its
servers and near caches: each expression has to give figures. Grafana's own schema is tried in infra/observability.
"""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from contextlib import ExitStack, suppress
from http import HTTPStatus
from pathlib import Path

import pymysql
import yaml
from controlplane.gateway.product import MARIADB
from stack.enabling import Api, enable
from stack.fleet import Administrator, Instance
from stack.owner import as_owner
from testing.ports import free_port

from test_examples import NEAR, ROOT, blocks, fresh_server

FOLDER = ROOT / "infra" / "observability"
BOARDS = {path.stem: json.loads(path.read_text()) for path in (FOLDER / "grafana").glob("*.json")}
RULES = yaml.safe_load((FOLDER / "prometheus" / "rules.yml").read_text())
PROMETHEUS, EXPORTER = (shutil.which(name) for name in ("prometheus", "prometheus-mysqld-exporter"))
PASSWORD = "a-password-of-16"
SERIES = re.compile(r"\b(?:mysql_|fqc[_:]|up\b)[a-z0-9_:]*(?:\{[^}]*\})?")
VARIABLE = re.compile(r"label_values\((\w+), (\w+)\)")
LIMIT_SECONDS = 180  # which only a fault reaches


def expressions(board):
    return {target["expr"] for panel in board["panels"] for target in panel["targets"]}


def series():
    """Returns the metric selectors of all rules, each with name and labels."""
    return {found for group in RULES["groups"] for rule in group["rules"] for found in SERIES.findall(rule["expr"])}


@unittest.skipUnless(PROMETHEUS and EXPORTER, "NO PROMETHEUS COULD BE HAD: WHAT THE DASHBOARDS ASK WAS NOT TRIED")
class Dashboards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = ExitStack()
        cls.addClassCleanup(cls.keep.close)
        cls.folder = Path(cls.keep.enter_context(tempfile.TemporaryDirectory(prefix="fqc-watched-")))
        up = cls._stack()
        cls.instances = [Instance(**each) for each in up["instances"]]
        api = Api(up["address"])
        api.log_in(Administrator(**up["admin"]))
        for instance in cls.instances:
            enable(api, instance)
            with as_owner(instance) as owner:
                cls._prepare(owner)
        cls.nears, cls.beats = [], 0
        ports = [instance.port for instance in cls.instances] + cls._near_caches()
        cls.clients = [cls._client(port) for port in ports]
        token = api.call("POST", "tokens", {"name": "prometheus", "scope": "viewer"})["token"]
        cls._prometheus(up["address"], token)

    @classmethod
    def _stack(cls):
        home = str(cls.folder / "run")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FQC_")}

        def run(*words):
            done = subprocess.run(
                [sys.executable, "-m", "stack", *words, "--run-dir", home],
                cwd=ROOT / "backend", env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            return done.stdout

        cls.keep.callback(run, "reset")
        return json.loads(run("up", "--ports", "auto", "--json"))

    @staticmethod
    def _prepare(owner):
        with owner.cursor() as cursor:
            cursor.execute("CREATE DATABASE watched")
            cursor.execute("CREATE TABLE watched.t (a INT PRIMARY KEY, b INT) ENGINE=InnoDB")
            cursor.execute("INSERT INTO watched.t VALUES (1, 0), (2, 0)")
            for name, grant in (
                ("app", "ALL ON watched.*"),
                ("feed", "REPLICATION MASTER ADMIN ON *.*"),
                ("reader", "REPLICATION SLAVE, BINLOG MONITOR, PROCESS, SELECT ON *.*"),
                ("exporter", "USAGE ON *.*"),
            ):
                cursor.execute(f"CREATE USER {name}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'")
                cursor.execute(f"GRANT {grant} TO {name}@'127.0.0.1'")

    @classmethod
    def _near_caches(cls):
        """Starts one near cache of each kind, since their counters differ. Returns their ports."""
        password = cls._write("password", PASSWORD)
        rules = cls._write("rules.toml", '[[rule]]\nname = "all"\nschema = "watched"\ncache = "always"\nttl = 60\n')
        server = cls.keep.enter_context(fresh_server(MARIADB, ""))
        server.stop()
        server.configure({"log_bin": "log", "binlog_format": "ROW", "log_slave_updates": "ON", "server_id": "1"})
        server.start()
        with server.as_owner() as owner:
            cls._prepare(owner)
        first = cls.instances[0].port
        return [
            cls._near("leases", first, "--feed-user", "feed", "--feed-password-file", password),
            cls._near("rules", first, "--rules", rules),
            cls._near("relay", first),
            cls._near("log", server.port, "--binlog-user", "reader", "--binlog-password-file", password),
        ]

    @classmethod
    def _near(cls, name, port, *words):
        listen, metrics = free_port(), free_port()
        own = ["--listen", f"127.0.0.1:{listen}", "--metrics", f"127.0.0.1:{metrics}", "--threads", "1"]
        cls._run(f"near-{name}", NEAR, "--server", f"127.0.0.1:{port}", "--name", name, *own, *words)
        cls.nears.append(f"127.0.0.1:{metrics}")
        return listen

    @classmethod
    def _prometheus(cls, address, token):
        exporter, cls.prometheus = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        own = cls._write("exporter.cnf", f"[client]\nuser=exporter\npassword={PASSWORD}\n")
        cls._run("exporter", EXPORTER, f"--config.my-cnf={own}", f"--web.listen-address={exporter}")
        cls._write("token", token)
        meant = {
            "fqc.example.com:443": address.removeprefix("http://"), "https://fqc.example.com": address,
            "scheme: https": "scheme: http", "/etc/prometheus/fqc.token": str(cls.folder / "token"),
            "127.0.0.1:9104": exporter, '"127.0.0.1:9308"': ", ".join(f'"{each}"' for each in cls.nears),
        }  # fmt: skip
        jobs = {job["job_name"]: job for job in cls._guide(meant)["scrape_configs"]}
        assert jobs.keys() == {"fqc", "mysqld", "fqc-near"}, jobs
        every = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        rules = [str(FOLDER / "prometheus" / "rules.yml")]
        configured = {"global": every, "rule_files": rules, "scrape_configs": list(jobs.values())}
        file = cls._write("prometheus.yml", yaml.safe_dump(configured))
        words = [f"--config.file={file}", f"--storage.tsdb.path={cls.folder / 'figures'}"]
        cls._run("prometheus", PROMETHEUS, *words, f"--web.listen-address={cls.prometheus}")

    @staticmethod
    def _guide(meant):
        """Returns the scrape jobs of the guide. Each key of `meant`, a text of the guide, is replaced by its value."""
        told = [block.text for block in blocks() if block.page.endswith("prometheus.md") and block.kind == "yaml"]
        text = "\n".join(told[:3])
        for old, new in meant.items():
            assert old in text, f"the guide does not name {old}"
            text = text.replace(old, new)
        return {"scrape_configs": [job for part in text.split("scrape_configs:\n")[1:] for job in yaml.safe_load(part)]}

    @classmethod
    def _write(cls, name, text):
        (cls.folder / name).write_text(text)
        return cls.folder / name

    @classmethod
    def _run(cls, name, *words):
        log = cls.keep.enter_context((cls.folder / f"{name}.log").open("wb"))
        process = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log)
        cls.keep.callback(process.wait)
        cls.keep.callback(process.terminate)

    @classmethod
    def _until(cls, what, look, told=()):
        """Calls `look` until its result is not empty, and returns the result. Fails with the texts `what` and `told`
        if that takes too long."""
        end = time.monotonic() + LIMIT_SECONDS
        while not (found := look()):
            assert time.monotonic() < end, f"{what} {sorted(told)}\n{cls._logs()}"
            time.sleep(0.1)
        return found

    @classmethod
    def _logs(cls):
        return "\n".join(f"{path.name}: {path.read_text()[-1000:]}" for path in cls.folder.glob("*.log"))

    @classmethod
    def _client(cls, port):
        def connected():
            with suppress(pymysql.MySQLError):
                return pymysql.connect(
                    host="127.0.0.1", port=port, user="app", password=PASSWORD, autocommit=True, ssl_disabled=True
                )
            return None

        return cls.keep.enter_context(cls._until(f"nothing answers at {port}", connected))

    def _beat(self):
        """Sends reads that repeat, one that does not, one that must not be cached, and a write."""
        type(self).beats += 1
        for client in self.clients:
            with client.cursor() as cursor:
                for _ in range(3):
                    cursor.execute("SELECT b FROM watched.t WHERE a = 1")
                cursor.execute(f"SELECT b + {self.beats} FROM watched.t WHERE a = 1")
                cursor.execute("SELECT SQL_NO_CACHE b FROM watched.t WHERE a = 1")
        with self.clients[0].cursor() as cursor:
            cursor.execute("UPDATE watched.t SET b = b + 1 WHERE a = 2")

    def _asked(self, path, **words):
        query = urllib.parse.urlencode(words)
        try:
            with urllib.request.urlopen(f"http://{self.prometheus}/api/v1/{path}?{query}", timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.SERVICE_UNAVAILABLE:
                return None  # it answers, and has not read its data yet
            raise AssertionError(f"{words}: {error.read().decode()}") from error
        except urllib.error.URLError:
            return None  # it has not started yet

    def _figures(self, expression):
        told = self._asked("query", query=expression)
        return [float(each["value"][1]) for each in told["result"]] if told else []

    def _give_figures(self, expressions):
        """Waits until each entry has figures. `expressions` has alternative forms for each name; one of them is
        enough.
        """
        waiting = dict(expressions)

        def are_there():
            self._beat()
            for name, forms in list(waiting.items()):
                if any((found := self._figures(form)) and not any(map(math.isnan, found)) for form in forms):
                    del waiting[name]
            return not waiting

        self._until("these give no figures", are_there, waiting)

    def _values(self, board):
        """Returns the values that the dashboard's variable offers."""
        for variable in board["templating"]["list"]:
            if variable["type"] == "query":
                series, label = VARIABLE.fullmatch(variable["definition"]).groups()
                return self._asked(f"label/{label}/values", **{"match[]": series}) or []
        return []

    def test_every_expression_of_every_panel_gives_figures(self):
        self.assertEqual({"fleet", "instance", "near"}, BOARDS.keys())
        chosen = {"fleet": [""], "instance": [self.instances[0].name], "near": list(self.nears)}
        for name, board in BOARDS.items():
            self.assertGreater(len(expressions(board)), 8)
            meant = {each: each.replace("$__rate_interval", "10s") for each in expressions(board)}
            self._give_figures({
                each: [form.replace("$instance", value) for value in chosen[name]] for each, form in meant.items()
            })  # fmt: skip

    def test_every_server_and_every_near_cache_can_be_chosen(self):
        for name, there in (("instance", {each.name for each in self.instances}), ("near", set(self.nears))):
            self._until(f"{name} misses some", lambda: set(self._values(BOARDS[name])) == there)  # noqa: B023

    def test_every_series_of_every_rule_is_there_and_every_rule_is_evaluated(self):
        self.assertGreater(len(series()), 12)
        self._give_figures({each: [each] for each in series()})
        told = [rule for group in self._asked("rules")["groups"] for rule in group["rules"]]
        self.assertEqual(sum(len(group["rules"]) for group in RULES["groups"]), len(told))
        self.assertEqual({}, {rule["name"]: rule["lastError"] for rule in told if rule["health"] == "err"})

    def test_a_metric_that_nothing_has_gives_no_figures(self):
        self._give_figures({"fqc_instances": ["fqc_instances"]})
        self.assertEqual([], self._figures("fqc_instance"))
        self.assertEqual([], self._figures('fqc_mails{state="fialed"}'))


@unittest.skipUnless(EXPORTER, "NO MYSQLD_EXPORTER COULD BE HAD: WHAT IT READS OF THE PLUGIN WAS NOT TRIED")
class WithoutControlPlane(unittest.TestCase):
    def test_the_exporter_reads_every_counter_of_the_plugin_without_a_query_of_its_own(self):
        with fresh_server(MARIADB, "") as server, tempfile.TemporaryDirectory() as folder:
            with server.as_owner() as owner, owner.cursor() as cursor:
                cursor.execute(f"CREATE USER exporter@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'")
                cursor.execute("INSTALL SONAME 'fqc'")
                cursor.execute("SHOW GLOBAL STATUS WHERE Variable_name REGEXP '^(Fqc|Qcache)_'")
                status = dict(cursor.fetchall())
            own = Path(folder) / "exporter.cnf"
            own.write_text(f"[client]\nuser=exporter\npassword={PASSWORD}\nhost=127.0.0.1\nport={server.port}\n")
            address = f"127.0.0.1:{free_port()}"
            words = [EXPORTER, f"--config.my-cnf={own}", f"--web.listen-address={address}"]
            with subprocess.Popen(words, stderr=subprocess.DEVNULL) as exporter:
                try:
                    told = self._told(exporter, address)
                finally:
                    exporter.terminate()
        self.assertGreater(len(status), 50)
        # The exporter leaves out status variables whose values are not numbers.
        left_out = {name for name in status if f"mysql_global_status_{name.lower()}" not in told}
        self.assertEqual({"Fqc_obstacle", "Fqc_untested_server"}, left_out)

    def _told(self, exporter, address):
        end = time.monotonic() + LIMIT_SECONDS
        while True:
            with (
                suppress(urllib.error.URLError),
                urllib.request.urlopen(f"http://{address}/metrics", timeout=60) as page,
            ):
                return set(re.findall(r"^(\w+)", page.read().decode(), re.MULTILINE))
            self.assertTrue(exporter.poll() is None and time.monotonic() < end)
            time.sleep(0.1)


if __name__ == "__main__":
    unittest.main()
