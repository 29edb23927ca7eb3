import stat
from pathlib import Path

import pytest

from fqc.contexts import Context, Contexts, apply_defaults, choose, load, path, save
from fqc.failure import Exit, Failure

KEPT = Contexts("one", {"one": Context("http://one", "secret-1"), "two": Context("http://two", "secret-2")})


def test_what_is_saved_is_loaded_and_the_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "config.json"
    save(file, KEPT)
    assert load(file) == KEPT
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in file.parent.iterdir()] == ["config.json"]


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    save(file, KEPT)
    file.chmod(0o640)
    with pytest.raises(Failure) as caught:
        load(file)
    assert caught.value.hint == f"Run: chmod 600 {file}"


@pytest.mark.parametrize("text", ["", "[]", '{"current": "x"}', '{"current": "", "contexts": {"a": {"wrong": 1}}}'])
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.json"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(Failure, match="cannot be read"):
        load(file)


def test_defaults_of_the_file_give_way_to_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    save(file, Contexts("one", KEPT.contexts, {"output": "json", "timeout": "60"}))
    environment = {"FQC_TIMEOUT": "5"}
    apply_defaults(file, environment)
    assert environment == {"FQC_OUTPUT": "json", "FQC_TIMEOUT": "5"}
    assert load(file).defaults == {"output": "json", "timeout": "60"}


def test_a_default_that_nobody_knows_is_named(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    save(file, Contexts(defaults={"colour": "never"}))
    apply_defaults(file, environment := {})
    assert environment == {}
    with pytest.raises(Failure, match="unknown default colour"):
        load(file)


def test_no_file_is_no_context(tmp_path: Path) -> None:
    assert load(tmp_path / "none") == Contexts()


@pytest.mark.parametrize(
    ("given", "url", "token"),
    [
        ({}, "http://one", "secret-1"),
        ({"name": "two"}, "http://two", "secret-2"),
        ({"name": "two", "token": "mine"}, "http://two", "mine"),
        ({"url": "http://three", "token": "mine"}, "http://three", "mine"),
    ],
)
def test_flags_win_over_the_current_context(given: dict[str, str], url: str, token: str) -> None:
    chosen = choose(KEPT, **{"name": None, "url": None, "token": None, **given})
    assert (chosen.url, chosen.token) == (url, token)


def test_a_contexts_token_is_never_sent_to_another_address() -> None:
    for name in (None, "one", "two"):
        chosen = choose(KEPT, name=name, url="http://elsewhere", token=None)
        assert chosen == Context("http://elsewhere")
    assert choose(KEPT, name=None, url="http://one.elsewhere", token=None).token == ""


@pytest.mark.parametrize(("url", "token"), [("http://one", "secret-1"), ("http://two/", "secret-2")])
def test_an_address_that_a_context_has_comes_with_its_token(url: str, token: str) -> None:
    chosen = choose(KEPT, name=None, url=url, token=None)
    assert (chosen.url, chosen.token) == (url, token)


def test_of_several_contexts_at_an_address_the_current_one_speaks() -> None:
    three = {**KEPT.contexts, "three": Context("http://one", "secret-3")}
    assert choose(Contexts("three", three), name=None, url="http://one", token=None).token == "secret-3"
    assert choose(Contexts("two", three), name=None, url="http://one", token=None).token == ""


def test_without_an_address_it_is_a_usage_error() -> None:
    with pytest.raises(Failure) as caught:
        choose(Contexts(), name=None, url=None, token=None)
    assert caught.value.code == Exit.USAGE


def test_the_file_follows_the_environment() -> None:
    assert path({"FQC_CONFIG": "/a/b"}) == Path("/a/b")
    assert path({"XDG_CONFIG_HOME": "/x"}) == Path("/x/fqc/config.json")
