import json
from pathlib import Path

from conftest import Fqc, Stack


def test_login_keeps_a_token_and_not_the_password(stack: Stack, fqc: Fqc, config: Path) -> None:
    kept = config.read_text()
    assert stack.password not in kept
    assert json.loads(kept)["contexts"]["default"]["token"].startswith("fqc_")
    assert fqc("whoami", "-o", "json").json == {"username": stack.username, "role": "admin", "url": stack.url}


def test_a_dry_login_asks_for_no_password_and_keeps_nothing(stack: Stack, bare: Fqc, config: Path) -> None:
    kept = config.read_text()
    shown = bare("login", "--url", stack.url, "-u", stack.username, "--dry-run", "-o", "json").json
    assert (shown["method"], shown["path"]) == ("POST", "/api/v1/tokens")
    assert config.read_text() == kept


def test_a_wrong_password_is_denied(stack: Stack, bare: Fqc) -> None:
    wrong = bare("login", "--url", stack.url, "-u", "nobody", "--password-stdin", stdin="guessed-1\n")
    assert wrong.code == 5
    assert "guessed-1" not in wrong.err


def test_a_second_context_is_made_used_and_logged_out_of(stack: Stack, bare: Fqc, tmp_path: Path) -> None:
    here = {"FQC_CONFIG": str(tmp_path / "config.json")}
    login = ("login", "--url", stack.url, "-u", stack.username, "--password-stdin", "--scope", "viewer")
    for name in ("a", "b"):
        assert bare(*login, "--context", name, stdin=stack.password, **here).code == 0
    for command in ("use", "remove"):
        assert "Would" in bare("context", command, "a", "--dry-run", **here).err
    assert bare("context", "use", "a", **here).code == 0
    listed = bare("context", "list", "-o", "json", **here).json
    assert [(each["name"], each["is_current"]) for each in listed] == [("a", True), ("b", False)]
    token = json.loads((tmp_path / "config.json").read_text())["contexts"]["b"]["token"]
    assert bare("logout", "--context", "b", "--dry-run", **here).code == 0
    assert bare("whoami", "--context", "b", **here).code == 0
    assert bare("logout", "--context", "b", **here).code == 0
    assert bare("whoami", FQC_URL=stack.url, FQC_TOKEN=token).code == 5
    assert bare("whoami", "--context", "b", **here).code == 3
    assert bare("context", "remove", "a", **here).code == 0
    assert bare("context", "list", "-o", "json", **here).json == []


def test_an_unknown_token_is_denied_and_told_to_log_in(stack: Stack, bare: Fqc) -> None:
    denied = bare("instance", "list", FQC_URL=stack.url, FQC_TOKEN="fqc_wrong")
    assert denied.code == 5
    assert "fqc login" in denied.err


def test_a_viewer_may_look_and_not_alter(viewer: Fqc, instance: str) -> None:
    assert viewer("instance", "show", instance).code == 0
    assert viewer("param", "set", instance, "table_open_cache=1000").code == 5


def test_a_token_is_listed_and_revoked(fqc: Fqc, bare: Fqc, stack: Stack) -> None:
    made = fqc("token", "create", "short", "--days", "1", "-o", "json").json
    assert made["id"] in [each["id"] for each in fqc("token", "list", "-o", "json").json]
    assert fqc("token", "revoke", made["id"]).code == 2  # nobody to ask
    assert fqc("token", "revoke", made["id"], "--yes").code == 0
    assert bare("whoami", FQC_URL=stack.url, FQC_TOKEN=made["token"]).code == 5


def test_an_access_key_is_made_disabled_enabled_and_deleted(fqc: Fqc) -> None:
    made = fqc("access-key", "create", "rpc", "--scope", "operator", "-o", "json").json
    assert made["secret"]
    listed = fqc("access-key", "list", "-o", "json")
    assert made["id"] in [each["id"] for each in listed.json]
    assert made["secret"] not in listed.out
    assert fqc("access-key", "disable", made["id"], "--dry-run").code == 0
    assert not fqc("access-key", "disable", made["id"], "-o", "json").json["is_active"]
    assert fqc("access-key", "enable", made["id"], "-o", "json").json["is_active"]
    assert fqc("access-key", "delete", made["id"]).code == 2  # nobody to ask
    assert fqc("access-key", "delete", made["id"], "--yes").code == 0
    assert fqc("access-key", "disable", made["id"]).code == 3


def test_what_was_done_is_in_the_audit(fqc: Fqc, stack: Stack) -> None:
    made = fqc("token", "create", "audited", "-o", "json").json
    events = fqc("audit", "--target", made["id"], "--since", "1h", "-o", "json").json
    assert [each["actor"] for each in events] == [stack.username]
    assert made["token"] not in json.dumps(events)


def test_a_dry_run_makes_no_token(fqc: Fqc) -> None:
    would = fqc("token", "create", "never-made", "--dry-run", "-o", "json").json
    assert would["path"] == "/api/v1/tokens"
    assert "never-made" not in fqc("token", "list").out
