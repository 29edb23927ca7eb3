from conftest import Fqc


def test_rules_are_added_in_their_order_shown_and_removed(fqc: Fqc, instance: str) -> None:
    add = ("rules", "add", instance, "--cache")
    planned = fqc(*add, "never", "--table", "shop.stock", "--dry-run", "-o", "json").json
    assert planned["text"] == '[{"table": "shop.stock", "cache": "never"}]'
    assert [line["name"] for line in planned["change"]["lines"]] == ["fqc_rules"]
    assert "No rules." in fqc("rules", "list", instance).out

    assert fqc(*add, "never", "--table", "shop.stock", "--wait").code == 0
    assert fqc(*add, "always", "--table", "shop.ranking", "--ttl", "10", "--position", "1", "--wait").code == 0
    rules = fqc("rules", "list", instance, "-o", "json").json["rules"]
    assert [(rule["table"], rule["cache"], rule["ttl"]) for rule in rules] == [
        ("shop.ranking", "always", 10),
        ("shop.stock", "never", None),
    ]
    shown = fqc("rules", "list", instance).out
    assert "table shop.ranking" in shown and "10 s" in shown

    assert fqc("rules", "remove", instance, "3").code == 3
    for _ in range(2):
        assert fqc("rules", "remove", instance, "1", "--wait").code == 0
    assert fqc("rules", "list", instance, "-o", "json").json["rules"] == []


def test_a_wrong_rule_is_refused_before_anything_changes(fqc: Fqc, instance: str) -> None:
    refused = fqc("rules", "add", instance, "--cache", "always", "--table", "stock")
    assert refused.code == 4
    assert "table" in refused.out and "always needs a ttl from 1 to 3600 seconds" in refused.out
    assert fqc("rules", "list", instance, "-o", "json").json["rules"] == []
