from conftest import Fqc


def test_metrics_say_their_formula(fqc: Fqc) -> None:
    named = {each["name"]: each["formula"] for each in fqc("metrics", "list", "-o", "json").json}
    assert "hits" in named["hit_ratio"]


def test_a_course_has_a_line_per_metric(fqc: Fqc, other: str) -> None:
    shown = fqc("metrics", "show", other, "-m", "connections", "-m", "uptime_seconds", "--since", "10m")
    assert [line.split()[0] for line in shown.out.splitlines()] == ["METRIC", "connections", "uptime_seconds"]
    assert fqc("metrics", "show", "-m", "connections").code == 0
    assert fqc("metrics", "latest", "-m", "connections").code == 0


def test_an_unknown_metric_is_a_usage_error(fqc: Fqc, other: str) -> None:
    assert fqc("metrics", "show", other, "-m", "no_such").code == 2


def test_a_rule_is_tried_made_edited_and_deleted(fqc: Fqc, other: str) -> None:
    rule = ("alert", "rule", "create", "cold cache", "--when", "hit_ratio < 20", "--instance", other)
    assert fqc(*rule, "--dry-run", "-o", "json").json["instance_count"] == 1
    assert "cold cache" not in fqc("alert", "rule", "list").out
    made = fqc(*rule, "--for", "5m", "-o", "json").json
    assert (made["comparison"], made["for_seconds"], made["scope"]) == ("lt", 300, "instance")
    edited = fqc("alert", "rule", "edit", made["id"], "--when", "hit_ratio <= 10.5", "--disable", "-o", "json").json
    assert (edited["comparison"], edited["threshold"], edited["is_enabled"]) == ("le", 10.5, False)
    assert edited["instance_id"] == made["instance_id"]
    excepted = fqc("alert", "rule", "override", made["id"], other, "--threshold", "5", "-o", "json").json
    assert [(each["instance_id"], each["threshold"]) for each in excepted["overrides"]] == [(made["instance_id"], 5)]
    assert f"{made['instance_id']}: exempt" in fqc("alert", "rule", "override", made["id"], other, "--exempt").out
    assert fqc("alert", "rule", "override", made["id"], other, "-o", "json").json["overrides"] == []
    assert fqc("alert", "rule", "show", "cold cache", "-o", "json").json["id"] == made["id"]
    assert fqc("alert", "rule", "delete", "cold cache", "--yes").code == 0
    assert fqc("alert", "rule", "show", made["id"]).code == 3


def test_a_condition_that_cannot_be_read_is_a_usage_error(fqc: Fqc) -> None:
    assert fqc("alert", "rule", "create", "x", "--when", "hit_ratio ~ 1").code == 2


def test_a_silence_is_made_and_ended(fqc: Fqc, other: str) -> None:
    made = fqc("alert", "silence", "create", "moving", "--for", "2h", "--instance", other, "-o", "json").json
    assert made["id"] in fqc("alert", "silence", "list", "--in-force").out
    assert fqc("alert", "silence", "end", made["id"]).code == 0
    assert made["id"] not in fqc("alert", "silence", "list", "--in-force").out


def test_incidents_are_listed(fqc: Fqc) -> None:
    assert fqc("alert", "incident", "list", "--open", "-o", "json").code == 0
    assert fqc("alert", "incident", "show", "inc-none").code == 3


def test_a_channel_is_made_edited_and_deleted_and_shows_no_secret(fqc: Fqc) -> None:
    mail = ("alert", "channel", "create", "orders", "--kind", "mail", "--to", "dba@example.com", "--tag", "team=orders")
    assert fqc(*mail, "--dry-run").code == 0
    made = fqc(*mail, "-o", "json").json
    assert (made["recipients"], made["tags"], made["has_secret"]) == (["dba@example.com"], {"team": "orders"}, False)
    edited = fqc("alert", "channel", "edit", "orders", "--to", "team@example.com", "--disable", "-o", "json").json
    assert (edited["recipients"], edited["is_enabled"], edited["tags"]) == (["team@example.com"], False, made["tags"])
    assert "orders" in fqc("alert", "channel", "list").out
    assert fqc("alert", "channel", "delete", "orders", "--yes").code == 0
    assert fqc("alert", "channel", "show", "orders").code == 3
