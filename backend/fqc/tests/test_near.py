from typing import Any

from conftest import Fqc, eventually


def serves(found: list[dict[str, Any]]) -> bool:
    return [each["state"] for each in found] == ["serving"]


def test_a_near_cache_is_listed_once_the_cache_of_its_server_is_on(fqc: Fqc, instance: str) -> None:
    refused = fqc("near", "check", instance)
    assert (refused.code, "REPLICATION MASTER ADMIN" in refused.out) == (4, True)
    assert fqc("cache", "enable", instance, "--size", "8M", "--wait").code == 0
    try:
        found = eventually(lambda: fqc("near", "list", instance, "-o", "json").json, serves)
        assert [(each["name"], each["state"]) for each in found] == [(instance, "serving")]
        assert instance in fqc("near", "list", instance).out
        checked = fqc("near", "check", instance)
        assert (checked.code, "fqc-near --server" in checked.out) == (0, True)
    finally:
        assert fqc("cache", "disable", instance, "--wait").code == 0


def test_an_instance_without_near_caches_lists_none(fqc: Fqc, other: str) -> None:
    assert fqc("near", "list", other, "-o", "json").json == []
