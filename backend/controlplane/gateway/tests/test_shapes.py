"""Digests made here are those of the engine."""

import pytest

from controlplane.gateway.reports import DIGEST, QUERIES, QUERY
from controlplane.gateway.shapes import digest_of, shape_of
from testing.workers import until

TEXTS = [
    "SELECT v FROM shapes.t WHERE id = 1",
    "SELECT v  FROM shapes.t\nWHERE id IN (1, 2.5, -3) AND v <> 'it''s' AND v <> \"a\\\"b\"",
    "SELECT `id`, t.v AS v2 FROM shapes.t WHERE v LIKE 'größe%' LIMIT 10",
    "SELECT 1+2 FROM shapes.t t1 WHERE t1.id=7",
    "SELECT COUNT(*) FROM shapes.`t` WHERE id>=10 AND id<20",
]


def test_a_digest_is_that_of_the_engine(shared_server):
    owner = shared_server.connect()
    owner.run("CREATE OR REPLACE DATABASE shapes")
    owner.run("CREATE TABLE shapes.t (id INT PRIMARY KEY, v VARCHAR(20))")
    owner.run("SET GLOBAL query_cache_size = 1048576")
    owner.run("SET GLOBAL query_cache_type = 1")
    # The engine shows all literals in the same way.
    shapes = [shape_of(text).replace("'?'", "?") for text in TEXTS]

    def is_told() -> bool:
        session = shared_server.connect()
        for text in TEXTS:
            session.run(text)
        session.close()
        told = {row[DIGEST]: row[QUERY] for row in owner.named_rows(f"SHOW FQC {QUERIES}")}
        return [told.get(digest_of(text)) for text in TEXTS] == shapes

    try:
        until(is_told, "the engine, which wakes up first, calls them the same")
    finally:
        owner.run("SET GLOBAL query_cache_type = 0")
        owner.run("SET GLOBAL query_cache_size = 0")
        owner.run("DROP DATABASE shapes")
        owner.close()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 -- x",
        "SELECT /* x */ 1",
        "SELECT @a",
        "SELECT 0x1F",
        "SELECT x'1f'",
        "SELECT 'a' 'b''",
        "SELECT ?",
        "SELECT 1e5",
        "SELECT .5",
    ],
)
def test_a_text_that_is_not_plain_has_no_digest(text):
    assert digest_of(text) is None
