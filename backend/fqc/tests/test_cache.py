from typing import Any

from conftest import Fqc, eventually


def test_the_cache_is_enabled_tried_and_disabled(fqc: Fqc, instance: str) -> None:
    plan = fqc("cache", "enable", instance, "--size", "8M", "--dry-run", "-o", "json").json
    assert "query_cache_size" in [line["name"] for line in plan["lines"]]
    assert not fqc("cache", "status", instance, "-o", "json").json["is_enabled"]

    assert fqc("cache", "enable", instance, "--size", "8M", "--wait").code == 0
    status = fqc("cache", "status", instance, "-o", "json").json
    assert (status["is_enabled"], status["size_bytes"]) == (True, 8 << 20)
    # The second time there is nothing to do: neither the cache nor the buffer pool is changed again.
    assert fqc("cache", "enable", instance, "--dry-run", "-o", "json").json["lines"] == []

    tried = fqc("cache", "trial", instance, "SELECT VERSION()", "--repetitions", "5", "-o", "json").json
    assert tried["repetitions"] == 5
    assert fqc("cache", "trial", instance, "DROP DATABASE test").code in (2, 4)

    assert fqc("cache", "disable", instance, "--wait").code == 0
    assert not fqc("cache", "status", instance, "-o", "json").json["is_enabled"]


def test_the_figures_of_the_past_hour_are_the_same_in_every_command(fqc: Fqc, other: str) -> None:
    def whole(series: list[dict[str, Any]]) -> dict[str, Any]:
        return {each["name"]: each["whole"] for each in series}

    def of_hour() -> tuple[dict[str, Any], dict[str, Any]]:
        told = fqc("cache", "status", other, "-o", "json").json["headlines"]
        names = [word for each in told for word in ("-m", each["name"])]
        shown = fqc("metrics", "show", other, *names, "--since", "1h", "--points", "60", "-o", "json").json["series"]
        return {each["name"]: each["value"] for each in told}, whole(shown)

    # A poll may happen between the two queries.
    told, shown = eventually(of_hour, lambda both: both[0] == both[1])
    assert told == shown and len(told) == 5
    assert "Reads from caches, past hour" in fqc("cache", "status", other).out
    fleet = fqc("fleet", "status", "-o", "json").json["headlines"]
    assert [each["name"] for each in fleet] == list(told)
    assert "Served from caches, past hour" in fqc("fleet", "status").out


def test_advice_names_every_rule_of_size(fqc: Fqc, other: str) -> None:
    advice = fqc("cache", "advice", other, "-o", "json").json
    assert {each["rule"] for each in advice["sizes"]} >= {"buffer_pool", "result_set"}
    assert "buffer_pool" in fqc("cache", "advice", other).out


def test_counters_and_queries_are_shown_as_the_engine_names_them(fqc: Fqc, other: str) -> None:
    told = fqc("cache", "status", other).out
    assert "Qcache_hits" in told and "Fqc_answered_in_" not in told
    assert fqc("cache", "queries", other).code == 0
