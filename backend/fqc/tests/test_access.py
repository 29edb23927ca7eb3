import csv
import io
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from conftest import BACKEND, Fqc, Result, Stack

from fqc.api import Api
from fqc.contexts import Context


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


def test_a_token_of_the_console_is_kept_and_its_log_out_revokes_it(
    stack: Stack, fqc: Fqc, bare: Fqc, tmp_path: Path
) -> None:
    made = fqc("token", "create", "from the console", "--scope", "viewer", "-o", "json").json
    here = {"FQC_CONFIG": str(tmp_path / "config.json")}
    words = ("login", "--url", stack.url, "--token-stdin", "-o", "json")
    assert bare(*words, stdin=f"{made['token']}\n", **here).json["scope"] == "viewer"
    assert bare("whoami", "-o", "json", **here).json["username"] == stack.username
    assert bare("logout", **here).code == 0
    assert bare(*words, stdin=f"{made['token']}\n", **here).code == 5


def test_a_wrong_password_is_denied(stack: Stack, bare: Fqc) -> None:
    wrong = bare("login", "--url", stack.url, "-u", "nobody", "--password-stdin", stdin="guessed-1\n")
    assert wrong.code == 5
    assert "guessed-1" not in wrong.err


def test_a_login_whose_token_is_refused_leaves_no_session(stack: Stack, fqc: Fqc, bare: Fqc) -> None:
    before = len(fqc("session", "list", "-o", "json").json)
    words = ("login", "--url", stack.url, "-u", stack.username, "--password-stdin", "--days", "10000")
    refused = bare(*words, stdin=f"{stack.password}\n")
    assert (refused.code, "expires_at" in refused.err) == (2, True)
    assert len(fqc("session", "list", "-o", "json").json) == before


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
    assert fqc("token", "revoke", made["id"]).code == 2  # there is no terminal for the confirmation
    assert fqc("token", "revoke", made["id"], "--yes").code == 0
    assert bare("whoami", FQC_URL=stack.url, FQC_TOKEN=made["token"]).code == 5


def logged_in(stack: Stack) -> Api:
    """Returns an API client with a session of the administrator, logged in as a browser does it."""
    api = Api(Context(stack.url))
    begun = api.get("auth/session")
    given = {"username": stack.username, "password": stack.password}
    headers = {"X-CSRFToken": begun["csrf_token"], "Referer": f"{stack.url}/", "User-Agent": "test browser"}
    api.request("POST", "auth/session", body=given, headers=headers)
    return api


def test_a_session_is_listed_and_ended(fqc: Fqc, stack: Stack) -> None:
    api = logged_in(stack)
    [made] = [each for each in fqc("session", "list", "-o", "json").json if each["browser"] == "test browser"]
    assert "would send" in fqc("session", "end", made["id"], "--dry-run").out
    assert fqc("session", "end", made["id"], "--yes").code == 0
    assert made["id"] not in fqc("session", "list").out
    assert fqc("session", "end", made["id"], "--yes").code == 3
    assert not api.get("auth/session")["is_authenticated"]


def test_all_sessions_are_ended_at_once(fqc: Fqc, stack: Stack) -> None:
    api = logged_in(stack)
    assert "would send" in fqc("session", "end", "--all", "--dry-run").out
    assert fqc("session", "end", "--yes").code == 2
    assert fqc("session", "end", "some-id", "--all", "--yes").code == 2
    assert fqc("session", "end", "--all", "--yes").err.startswith("Ended: ")
    assert fqc("session", "list", "-o", "json").json == []
    assert not api.get("auth/session")["is_authenticated"]


def test_an_access_key_is_made_disabled_enabled_and_deleted(fqc: Fqc) -> None:
    made = fqc("access-key", "create", "rpc", "--scope", "operator", "-o", "json").json
    assert made["secret"]
    listed = fqc("access-key", "list", "-o", "json")
    assert made["id"] in [each["id"] for each in listed.json]
    assert made["secret"] not in listed.out
    assert fqc("access-key", "disable", made["id"], "--dry-run").code == 0
    assert not fqc("access-key", "disable", made["id"], "-o", "json").json["is_active"]
    assert fqc("access-key", "enable", made["id"], "-o", "json").json["is_active"]
    assert fqc("access-key", "delete", made["id"]).code == 2  # there is no terminal for the confirmation
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


OLD, NEW = "a phrase of several words", "another phrase of words"


@pytest.fixture
def person(config: Path, bare: Fqc, stack: Stack, tmp_path: Path) -> Iterator[tuple[str, Fqc]]:
    """Yields a user's name, and `fqc` logged in as that user with the password OLD."""
    token = json.loads(config.read_text())["contexts"]["default"]["token"]
    api = Api(Context(stack.url, token))
    made = api.post("users", {"username": f"Person-{uuid4().hex[:8]}", "password": OLD, "role": "viewer"})
    here = {"FQC_CONFIG": str(tmp_path / "config.json")}

    def run(*arguments: str, stdin: str = "", **more: str) -> Result:
        return bare(*arguments, stdin=stdin, **here, **more)

    login = ("login", "--url", stack.url, "-u", made["username"], "--password-stdin")
    assert run(*login, stdin=f"{OLD}\n").code == 0
    yield made["username"], run
    api.replace("DELETE", f"users/{made['id']}")


def test_everybody_changes_his_own_password_and_stays_logged_in(person: tuple[str, Fqc], stack: Stack) -> None:
    name, run = person
    assert run("password", "--dry-run", "-o", "json").json["body"] == {"keep_tokens": True}
    refused = run("password", "--password-stdin", stdin=f"not it\n{NEW}\n")
    assert (refused.code, "current password" in refused.err) == (2, True)
    assert run("password", "--password-stdin", "-o", "json", stdin=f"{OLD}\n{NEW}\n").json == {
        "ended": {"sessions": 0, "tokens": 0, "access_keys": 0}
    }
    assert run("whoami").code == 0
    login = ("login", "--url", stack.url, "-u", name.upper(), "--password-stdin", "--context", "again")
    assert run(*login, stdin=f"{OLD}\n").code == 5
    assert run(*login, stdin=f"{NEW}\n").code == 0
    ended = run("password", "--password-stdin", "--end-tokens", "-o", "json", stdin=f"{NEW}\n{OLD}\n").json["ended"]
    assert ended["tokens"] == 1
    assert run("whoami", "--context", "default").code == 5
    assert run("whoami").code == 0


def test_an_admin_resets_a_password_and_reads_what_ended(person: tuple[str, Fqc], fqc: Fqc) -> None:
    name, run = person
    reset = ("user", "reset-password", name.lower(), "--password-stdin")
    assert fqc(*reset, stdin=f"{NEW}\n").code == 2  # there is no terminal for the confirmation
    assert fqc(*reset, "--dry-run", "-o", "json").json["body"] == {"keep_tokens": False}
    weak = fqc(*reset, "--yes", stdin="short\n")
    assert "Use at least 12 characters" in weak.err
    assert run("whoami").code == 0
    assert fqc(*reset, "--yes", "-o", "json", stdin=f"{NEW}\n").json["ended"]["tokens"] == 1
    assert run("whoami").code == 5


def test_an_admin_makes_a_user_gives_another_role_and_deletes_the_user(fqc: Fqc) -> None:
    name = f"new-{uuid4().hex[:8]}"
    words = ("user", "create", name, "--role", "viewer", "--password-stdin")
    assert "would send POST" in fqc(*words, "--dry-run").out
    assert fqc(*words, "-o", "json", stdin="seven green bicycles\n").json["role"] == "viewer"
    assert fqc("user", "role", name, "operator", "-o", "json").json["role"] == "operator"
    assert fqc("user", "delete", name, "--yes").code == 0
    assert fqc("user", "delete", name, "--yes").code == 3


def test_an_admin_reads_and_changes_settings(fqc: Fqc) -> None:
    before = fqc("settings", "show", "-o", "json").json
    changed = fqc("settings", "set", "raw_retention_hours=30", 'mail_to=["dba@example.com"]', "-o", "json").json
    assert (changed["raw_retention_hours"], changed["mail_to"]) == (30, ["dba@example.com"])
    back = f"raw_retention_hours={before['raw_retention_hours']}"
    assert fqc("settings", "set", back, f"mail_to={json.dumps(before['mail_to'])}").code == 0
    for wrong in ("raw_retention_hours=many", "nonsense=1", "version=1", "raw_retention_hours"):
        assert fqc("settings", "set", wrong).code == 2


def test_a_user_is_disabled_and_enabled(person: tuple[str, Fqc], fqc: Fqc) -> None:
    name, run = person
    kept = fqc("user", "disable", name, "--keep-tokens", "--yes", "-o", "json").json
    assert (kept["is_active"], kept["ended"]["tokens"]) == (False, 0)
    assert run("whoami").code == 5
    assert fqc("user", "enable", name, "-o", "json").json["is_active"]
    assert run("whoami").code == 0
    assert "Tokens revoked" in fqc("user", "disable", name, "--yes").out
    assert fqc("user", "enable", name).code == 0
    assert run("whoami").code == 5
    assert fqc("user", "disable", "nobody-of-this-name", "--yes").code == 3
    assert name in [each["username"] for each in fqc("user", "list", "-o", "json").json]


def test_the_audit_is_exported_as_csv_and_as_json_lines(fqc: Fqc, viewer: Fqc, tmp_path: Path) -> None:
    made = fqc("token", "create", "=exported", "-o", "json").json
    rows = list(csv.DictReader(io.StringIO(fqc("audit", "export", "--since", "1h").out)))
    assert [row["target_name"] for row in rows if row["target_id"] == made["id"]] == ["'=exported"]
    file = tmp_path / "audit.jsonl"
    export = ("audit", "export", "--since", "1h", "--format", "jsonl", "--file", str(file))
    denied = viewer(*export)
    assert (denied.code, file.exists()) == (5, False)
    assert fqc(*export).code == 0
    events = [json.loads(line) for line in file.read_text().splitlines()]
    assert {"audit.exported", "token.created"} <= {each["action"] for each in events}
    assert file.stat().st_mode & 0o777 == 0o600
    assert "File exists" in fqc(*export).err
    assert fqc("audit", "--action", "audit.exported", "-o", "json").json


def test_the_request_of_the_guide_makes_an_access_key(fqc: Fqc, stack: Stack) -> None:
    page = (BACKEND.parent / "docs/guides/official-sdks.md").read_text()
    (request,) = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    token = fqc("token", "create", "guide", "--scope", "operator", "-o", "json").json["token"]
    own = os.environ | {"FQC_URL": stack.url, "FQC_TOKEN": token}
    done = subprocess.run(["bash", "-c", request], env=own, capture_output=True, text=True, check=True)
    made = json.loads(done.stdout)
    assert made["secret"] and made["id"] in [each["id"] for each in fqc("access-key", "list", "-o", "json").json]
