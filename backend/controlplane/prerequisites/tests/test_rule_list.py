"""The grammar of `fqc_rules` and the effect of rules are the same here as in the engine."""

import json

import pytest

from controlplane.gateway.errors import RefusedStatement
from controlplane.prerequisites.rule_list import Rule, Subject, check, effects, parse

DIGEST = "0123456789abcdef0123456789ABCDEF"
RIGHT = [
    "",
    "  ",
    "[]",
    '[{"table": "shop.stock", "cache": "never"}]',
    '[{"schema": "shop", "account": "report@%", "cache": "normal"}, {"table": "%.%", "cache": "always", "ttl": 3600}]',
    f'[{{"digest": "{DIGEST}", "table": null, "ttl": null, "cache": "never"}}]',
]
WRONG = {
    '{"table": "a.b", "cache": "never"}': "rules_not_a_list",
    "[{": "rules_not_a_list",
    '[{"table": "a.b", "table": "a.c", "cache": "never"}]': "rules_not_a_list",
    "[NaN]": "rules_not_a_list",
    "[1]": "rule_not_an_object",
    '[{"cache": "never"}]': "rule_without_match",
    '[{"tabel": "a.b", "table": "a.b", "cache": "never"}]': "rule_unknown_field",
    '[{"schema": 7, "cache": "never"}]': "rule_not_a_text",
    '[{"digest": "12", "cache": "never"}]': "rule_digest",
    '[{"table": "stock", "cache": "never"}]': "rule_table",
    '[{"table": "a.b"}]': "rule_cache",
    '[{"table": "a.b", "cache": "Never"}]': "rule_cache",
    '[{"table": "a.b", "cache": "always"}]': "rule_ttl",
    '[{"table": "a.b", "cache": "always", "ttl": 0}]': "rule_ttl",
    '[{"table": "a.b", "cache": "always", "ttl": 3601}]': "rule_ttl",
    '[{"table": "a.b", "cache": "always", "ttl": 1.5}]': "rule_ttl",
    '[{"table": "a.b", "cache": "always", "ttl": true}]': "rule_ttl",
    '[{"table": "a.b", "cache": "never", "ttl": 5}]': "rule_ttl_unused",
}


@pytest.mark.parametrize("text", RIGHT)
def test_what_the_engine_accepts_is_right(text):
    assert parse(text)[1] == []


@pytest.mark.parametrize(("text", "code"), WRONG.items())
def test_what_is_wrong_is_told_by_its_code(text, code):
    assert [error.code for error in parse(text)[1]] == [code]


@pytest.mark.django_db
def test_the_engine_itself_accepts_and_refuses_the_same(shared_server):
    server = shared_server.connect()
    try:
        for text in RIGHT:
            server.run("SET GLOBAL fqc_rules = %s", [text])
        for text in WRONG:
            with pytest.raises(RefusedStatement):
                server.run("SET GLOBAL fqc_rules = %s", [text])
    finally:
        server.run("SET GLOBAL fqc_rules = DEFAULT")
        server.close()


def test_an_error_names_its_rule_and_its_field():
    rules = [{"table": "a.b", "cache": "never"}, {"table": "b", "cache": "always", "ttl": 0}]
    assert [(each.index, each.field) for each in check(rules)[1]] == [(1, "table"), (1, "ttl")]


def subject(digest, *tables):
    return Subject(digest * 32, tables)


ITEMS, BOTH, UNKNOWN = subject("a", "shop.items"), subject("b", "shop.items", "hr.pay"), subject("c")


@pytest.mark.parametrize(
    ("rule", "decided"),
    [
        (Rule("never", table="shop.items"), [ITEMS, BOTH]),
        (Rule("never", table="SHOP.it%"), [ITEMS, BOTH]),
        (Rule("never", schema="hr"), [BOTH]),
        (Rule("always", table="shop.items", ttl=5), [ITEMS]),
        (Rule("always", schema="%", ttl=5), [ITEMS, BOTH]),
        (Rule("never", digest="C" * 32), [UNKNOWN]),
        (Rule("never", account="report@%"), [ITEMS, BOTH, UNKNOWN]),
        (Rule("never", table="shop.it"), []),
    ],
)
def test_a_rule_fits_what_the_engine_says_it_fits(rule, decided):
    assert effects([rule], [ITEMS, BOTH, UNKNOWN])[0].statements == decided


def test_the_first_rule_that_fits_decides_and_one_for_an_account_leaves_others_to_the_next():
    rules = [Rule("normal", digest="a" * 32), Rule("never", account="a@b"), Rule("never", schema="shop")]
    found = effects(rules, [ITEMS, BOTH])
    assert [each.statements for each in found] == [[ITEMS], [BOTH], [BOTH]]
    assert [each.is_by_account for each in found] == [False, True, False]


def test_what_is_read_is_written_again():
    text = '[{"digest": "' + DIGEST + '", "cache": "always", "ttl": 5}]'
    assert json.dumps([rule.written() for rule in parse(text)[0]]) == text
