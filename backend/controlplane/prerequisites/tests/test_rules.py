import json
from types import SimpleNamespace

import pytest

from controlplane.parameters.expressions import compile_expression
from controlplane.prerequisites.advice import table_advice
from controlplane.prerequisites.gate import gate_findings
from controlplane.prerequisites.readings import Readings, TableUse
from controlplane.prerequisites.rules import advice_findings

GIB = 1024**3


def codes(findings, severity):
    return [finding.code for finding in findings if finding.severity == severity]


def instance(**facts):
    usual = {
        "engine_line": "5.7",
        "engine_version": "10.11.19-MariaDB-log",
        "compatibility": "5.7",
        "fqc_version": "0.1.0",
        "minor_version": 20261120,
        "engine_obstacle": "",
        "proxy_enabled": False,
        "provider": "local",
        "product": "MariaDB",
        "edition": "",
        "takes_engine": True,
        "last_seen_at": None,
    }
    return SimpleNamespace(**usual | facts)


@pytest.mark.parametrize(
    ("facts", "blocking"),
    [
        ({}, []),
        ({"minor_version": 20200331}, []),
        ({"minor_version": 20200330}, ["minor_version"]),
        ({"minor_version": None, "compatibility": ""}, ["minor_version"]),
        ({"compatibility": "8.0"}, ["engine_line"]),
        ({"engine_line": "mysql-9.7", "compatibility": ""}, []),
        ({"proxy_enabled": True}, ["dedicated_proxy"]),
        ({"engine_obstacle": "a thread pool is loaded"}, ["engine_idle"]),
    ],
)
def test_the_gate(facts, blocking):
    assert codes(gate_findings(instance(**facts)), "blocking") == blocking


def test_the_gate_says_server_and_engine_by_name_without_the_words_of_a_managed_service():
    said = {each.code: each.seen for each in gate_findings(instance())}
    assert (said["engine_line"], said["minor_version"]) == ("MariaDB 10.11.19", "FQC 0.1.0 (2026-11-20)")
    assert gate_findings(instance())[1].facts["engine"] == "FQC 0.1.0 (2026-11-20)"
    unseen = gate_findings(instance(product="", engine_version="", minor_version=20200330, provider="external"))
    assert not any("line" in each.seen or "minor version" in each.needed for each in unseen)


def test_nothing_is_said_of_a_dedicated_proxy_where_there_is_none():
    assert "dedicated_proxy" not in {each.code for each in gate_findings(instance())}


def test_what_blocks_names_what_mends_it():
    old = {"minor_version": 20200330}
    for facts in (old, old | {"provider": "external"}, {"proxy_enabled": True}):
        for finding in gate_findings(instance(**facts)):
            if finding.is_blocking:
                assert finding.remedy and (finding.action.route or finding.action.statements)


def test_an_engine_that_serves_nothing_says_why_in_its_own_words():
    findings = gate_findings(instance(engine_obstacle="a thread pool is loaded"))
    finding = next(each for each in findings if each.code == "engine_idle")
    assert finding.seen.endswith("does not serve here: a thread pool is loaded")
    assert "metrics and alerts work" in finding.remedy


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"product": "MySQL", "edition": "Amazon RDS"}, "Amazon RDS does not load customer plugins"),
        ({"product": "MariaDB", "edition": "Amazon RDS"}, "Amazon RDS does not load customer plugins"),
        (
            {"product": "MySQL", "engine_version": "5.7.22-log", "takes_engine": False},
            "this engine cannot be loaded into MySQL 5.7.22",
        ),
    ],
)
def test_where_no_engine_can_be_loaded_the_gate_says_what_works_instead(facts, why):
    facts = {"provider": "external", "minor_version": None, "compatibility": "", **facts}
    finding = next(each for each in gate_findings(instance(**facts)) if each.code == "no_engine_there")
    assert finding.seen == f"no engine is installed, and {why}"
    assert "metrics and alerts work" in finding.remedy and "near cache (fqc-near)" in finding.remedy
    assert finding.action is None


def readings(variables=None, status=None, tables=()):
    usual = {"innodb_buffer_pool_size": str(GIB), "query_cache_size": "0", "max_connections": "10"}
    return Readings(4 * GIB, usual | (variables or {}), status or {}, list(tables), True)


@pytest.mark.parametrize(
    ("reads", "requests", "advice"),
    [(100, 1000, []), (200, 1000, []), (201, 1000, ["buffer_pool_hit_ratio"]), (900, 999, [])],
)
def test_a_buffer_pool_that_misses_too_much_is_advised_against(reads, requests, advice):
    status = {"Innodb_buffer_pool_reads": str(reads), "Innodb_buffer_pool_read_requests": str(requests)}
    assert codes(advice_findings(readings(status=status)), "advice") == advice


def test_memory_over_the_class_names_a_buffer_pool_that_would_fit():
    found = advice_findings(readings({"innodb_buffer_pool_size": str(5 * GIB)}))
    finding = next(each for each in found if each.code == "memory_tight")
    assert 3 * GIB < proposed(finding, "innodb_buffer_pool_size") <= 4 * GIB


def proposed(finding, name):
    """Returns the value that a finding's action sets the parameter `name` to, computed for a class of 4 GiB."""
    assert finding.action.route == "changes"
    return compile_expression(finding.action.body["parameters"][name]).evaluate({"DBInstanceClassMemory": 4 * GIB})


def test_a_buffer_pool_that_misses_is_given_what_the_class_has_left_if_that_is_any():
    status = {"Innodb_buffer_pool_reads": "900", "Innodb_buffer_pool_read_requests": "1000"}
    for pool, is_mended in ((GIB, True), (4 * GIB - 1024, False)):
        found = advice_findings(readings({"innodb_buffer_pool_size": str(pool)}, status=status))
        finding = next(each for each in found if each.code == "buffer_pool_hit_ratio")
        assert bool(finding.action) == is_mended
        if is_mended:
            assert pool < proposed(finding, "innodb_buffer_pool_size") <= 4 * GIB * 9 // 10


def test_a_size_beyond_the_rules_is_brought_back_by_its_action():
    found = advice_findings(readings({"query_cache_size": str(GIB), "fqc_rules": ""}))
    finding = next(each for each in found if each.code == "cache_size_unusual")
    assert finding.action.body == {"parameters": {"query_cache_size": str(GIB // 10 // 1024 * 1024)}}


def test_a_table_that_is_mostly_written_is_left_out_by_a_rule_before_the_others_and_then_said_no_more():
    tables = [TableUse("shop", "carts", 1000, 9000)]
    mine = {"schema": "shop", "cache": "normal"}
    [finding] = advice_findings(readings({"fqc_rules": json.dumps([mine])}, tables=tables))
    rules = finding.action.body["parameters"]["fqc_rules"]
    assert json.loads(rules) == [{"table": "shop.carts", "cache": "never"}, mine]
    assert advice_findings(readings({"fqc_rules": rules}, tables=tables)) == []
    [without_engine] = advice_findings(readings(tables=tables))
    assert without_engine.action.body == {"parameters": {"query_cache_type": "2"}}


def test_tables_that_are_mostly_written_are_named():
    tables = [
        TableUse("shop", "carts", 1000, 9000),
        TableUse("shop", "items", 90000, 10),
        TableUse("shop", "new", 1, 5),
    ]
    found = [each for each in advice_findings(readings(tables=tables)) if each.code == "table_write_heavy"]
    assert [each.seen.split(":")[0] for each in found] == ["shop.carts"]


def test_an_unusual_size_and_the_servers_own_cache_are_noticed():
    variables = {"query_cache_size": str(GIB), "query_cache_type": "ON"}
    assert codes(advice_findings(readings(variables)), "advice") == ["cache_size_unusual", "classic_cache_on"]


@pytest.mark.parametrize(
    ("variables", "is_node"),
    [
        ({"wsrep_on": "ON", "wsrep_provider": "/usr/lib/galera/libgalera_smm.so"}, True),
        ({"wsrep_on": "OFF", "wsrep_provider": "/usr/lib/galera/libgalera_smm.so"}, False),
        ({"wsrep_on": "ON", "wsrep_provider": "none"}, False),
        ({}, False),
    ],
)
def test_on_a_node_of_a_cluster_it_is_said_that_nothing_is_cached(variables, is_node):
    assert ("cluster_node" in codes(advice_findings(readings(variables)), "advice")) == is_node


def with_rules(*rules, status=None):
    return advice_findings(readings({"fqc_rules": json.dumps(rules)}, status=status))


@pytest.mark.parametrize(
    ("rule", "severity"),
    [
        ({"cache": "always", "ttl": 10}, "advice"),
        ({"table": "%", "cache": "always", "ttl": 10}, "advice"),
        ({"table": "%.%", "account": "%@%", "cache": "always", "ttl": 10}, "advice"),
        ({"table": "shop.ranking", "cache": "always", "ttl": 3600}, "advice"),
        ({"table": "shop.ranking", "cache": "always", "ttl": 60}, "notice"),
        ({"schema": "reports", "cache": "always", "ttl": 5}, "notice"),
        ({"digest": "0f" * 16, "cache": "always", "ttl": 5}, "notice"),
        ({"account": "report@%", "cache": "always", "ttl": 5}, "notice"),
        ({"cache": "never"}, None),
        ({"table": "shop.stock", "cache": "normal"}, None),
    ],
)
def test_reads_that_may_be_outdated_are_advised_to_be_limited(rule, severity):
    found = [finding for finding in with_rules(rule) if finding.code == "stale_reads"]
    assert [finding.severity for finding in found] == ([severity] if severity else [])
    assert [bool(finding.action) for finding in found] == ([severity == "advice"] if severity else [])


def test_the_action_leaves_the_other_rules_and_what_was_served_is_told():
    limited = {"table": "shop.ranking", "cache": "always", "ttl": 10}
    status = {"Fqc_stale_hits": "7", "Fqc_hits": "20"}
    found = with_rules({"table": "shop.stock", "cache": "never"}, limited, {"cache": "always", "ttl": 9}, status=status)
    [finding] = [each for each in found if each.code == "stale_reads"]
    assert "all tables may be 9 s old; 7 of 20 hits were stale" in finding.seen
    assert json.loads(finding.action.body["parameters"]["fqc_rules"]) == [
        {"table": "shop.stock", "cache": "never"},
        limited,
    ]


@pytest.mark.parametrize("text", ["", "[]", "not json", "{}", "[1]"])
def test_without_such_rules_nothing_is_said(text):
    assert "stale_reads" not in [each.code for each in advice_findings(readings({"fqc_rules": text}))]


@pytest.mark.parametrize(
    ("version", "is_warned"),
    [
        ("10.11.19-MariaDB-0+deb12u1", False),
        ("11.8.9-MariaDB-0+deb13u1 from Debian", False),
        ("10.6.21-MariaDB", True),
        ("12.1.2-MariaDB", True),
        ("11.80.1-MariaDB", True),
        ("9.7.4", False),
        ("8.4.6", False),  # the gate has a finding for versions that no engine loads into
        ("", False),
    ],
)
def test_a_version_that_the_engine_is_not_tested_with_is_warned_of(version, is_warned):
    assert ("server_not_tested" in codes(advice_findings(readings({"version": version})), "advice")) == is_warned


@pytest.mark.parametrize(("version", "is_warned"), [("8.4.6", True), ("9.7.4", False)])
def test_an_engine_that_was_asked_into_an_untested_server_is_warned_of(version, is_warned):
    loaded = readings({"version": version, "fqc_minor_version": "20261129"})
    assert ("server_not_tested" in codes(advice_findings(loaded), "advice")) == is_warned


@pytest.mark.parametrize(("hits", "advises"), [(900, False), (400, True)])
def test_where_type_1_runs_well_nothing_advises_type_2(hits, advises):
    running = {"query_cache_type": "ON", "query_cache_size": "67108864", "fqc_minor_version": "20261120"}
    status = {"Qcache_hits": str(hits), "Qcache_inserts": str(1000 - hits)}
    found = advice_findings(readings(running, status, [TableUse("shop", "log", 10, 100_000)]))
    [table] = [each for each in found if each.code == "table_write_heavy"]
    assert ("query_cache_type 2" in table.remedy) is advises
    read_mostly = table_advice(TableUse("shop", "items", 100_000, 10), readings(running, status))
    assert read_mostly["advice"] == ("sql_cache" if advises else "keep")
