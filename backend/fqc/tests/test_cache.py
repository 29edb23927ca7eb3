from conftest import Fqc


def test_the_cache_is_enabled_tried_and_disabled(fqc: Fqc, instance: str) -> None:
    plan = fqc("cache", "enable", instance, "--size", "8M", "--dry-run", "-o", "json").json
    assert "query_cache_size" in [line["name"] for line in plan["lines"]]
    assert not fqc("cache", "status", instance, "-o", "json").json["is_enabled"]

    assert fqc("cache", "enable", instance, "--size", "8M", "--wait").code == 0
    status = fqc("cache", "status", instance, "-o", "json").json
    assert (status["is_enabled"], status["size_bytes"]) == (True, 8 << 20)
    # A second time there is nothing to do: neither the cache nor the buffer pool is shrunk again.
    assert fqc("cache", "enable", instance, "--dry-run", "-o", "json").json["lines"] == []

    tried = fqc("cache", "trial", instance, "SELECT VERSION()", "--repetitions", "5", "-o", "json").json
    assert tried["repetitions"] == 5
    assert fqc("cache", "trial", instance, "DROP DATABASE test").code in (2, 4)

    assert fqc("cache", "disable", instance, "--wait").code == 0
    assert not fqc("cache", "status", instance, "-o", "json").json["is_enabled"]


def test_advice_names_every_rule_of_size(fqc: Fqc, other: str) -> None:
    advice = fqc("cache", "advice", other, "-o", "json").json
    assert {each["rule"] for each in advice["sizes"]} >= {"buffer_pool", "result_set"}
    assert "buffer_pool" in fqc("cache", "advice", other).out


def test_counters_and_queries_are_shown_as_the_engine_names_them(fqc: Fqc, other: str) -> None:
    told = fqc("cache", "status", other).out
    assert "Qcache_hits" in told and "Fqc_answered_in_" not in told
    assert fqc("cache", "queries", other).code == 0
