"""Two pages are the same if nothing differs but what differs at each visit."""

import pytest

from lab.application import Extent, same
from lab.browser import Page
from lab.ghost import Ghost
from lab.keycloak import Keycloak
from lab.measure import compared
from lab.mediawiki import MediaWiki
from lab.wagtail import Wagtail
from lab.wordpress import WordPress

TOKENS = ("a" * 64, "b" * 64)
ALIKE = {
    WordPress: '<input name="_wpnonce" value="{}"/> at {} pm, {} mins ago',
    MediaWiki: '"wgRequestId":"{}","wgBackendResponseTime":{},"wgTitle":"A page"<!-- {} seconds -->',
    Ghost: '<script src="/a.js?v={}"></script><time>{}</time><a href="/r/{}">',
    Keycloak: '<form action="/login?session_code={}&amp;tab_id={}"><input name="code" value="{}"/>',
    Wagtail: '<input name="csrfmiddlewaretoken" value="{}"> {}:{}',
}
VALUES = {
    WordPress: (("0123456789", "11:52", "2"), ("abcdef0123", "11:53", "3")),
    MediaWiki: (("a1", "12", "0.1"), ("b2", "345", "0.2")),
    Ghost: (
        ("0123456789", "2026-01-01T10:00:00.000Z", "a" * 24),
        ("abcdef0123", "2026-01-02T11:01:01.000Z", "b" * 24),
    ),
    Keycloak: (("a-1", "b", "c.d"), ("e_2", "f", "g")),
    Wagtail: ((TOKENS[0], "11", "52"), (TOKENS[1], "11", "53")),
}


@pytest.mark.parametrize("kind", ALIKE)
def test_fields_against_forgery_and_times_do_not_make_a_page_another_one(kind):
    one, other = (same(kind(), Page(200, ALIKE[kind].format(*values))) for values in VALUES[kind])
    assert one == other


def test_what_mediawiki_keeps_itself_for_some_minutes_does_not_make_a_page_another_one():
    tag = '<option value="mw-replace">\nReplaced</option>\n'
    texts = (f'["site","1kcqd"]<select>{tag}</select>', '["site","1hj6i"]<select></select>')
    one, other = (same(MediaWiki(), Page(200, text)) for text in texts)
    assert one == other


def test_the_order_of_keys_does_not_make_json_another_one():
    texts = ('{"title": "A", "tags": [1, 2]}', '{"tags":[1,2],"title":"A"}', '{"tags":[2,1],"title":"A"}')
    one, other, different = (same(Ghost(), Page(200, text)) for text in texts)
    assert one == other != different


@pytest.mark.parametrize("kind", ALIKE)
def test_a_text_or_a_status_that_differs_makes_a_page_another_one(kind):
    pages = [Page(200, "The title in round 1"), Page(200, "The title in round 2"), Page(404, "The title in round 1")]
    assert len({same(kind(), page) for page in pages}) == 3


def test_changes_of_one_second_may_be_listed_in_any_order_but_none_may_be_missing():
    watchlist = next(step for step in MediaWiki().crawl(1, Extent(20, 3, 2)) if "watchlist" in step.name)
    texts = {"off": "<li>A</li><li>B</li>", "plugin": "<li>B</li><li>A</li>", "binlog": "<li>A</li>"}
    pages = {mode: Page(200, text) for mode, text in texts.items()}
    (found,) = compared(MediaWiki(), 1, watchlist, pages)
    assert found.mode == "binlog"
    assert "-B</li>" in found.lines
