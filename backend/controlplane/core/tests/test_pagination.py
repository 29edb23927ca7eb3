"""Cursors come from outside like everything else: one that was tampered with is refused by its name."""

from base64 import b64encode

import pytest

from testing.answers import contract

CONTRACT = contract()
LISTS = [
    path
    for path, operations in CONTRACT["paths"].items()
    if "{" not in path and any(each.get("name") == "cursor" for each in operations.get("get", {}).get("parameters", ()))
]
INSIDE = [
    "p=abc", "p=", "p=-1", f"p={'9' * 400}", "p=1e999", "p=NaN", "p=%00", "p=%ff", "p=[]",
    "p=9999-12-31T23:59:59-14:00", "p=0001-01-01T00:00:00%2B14:00", "o=-5", "o=abc", "o=999&p=1", "r=1&p=zzz",
    "r=1&o=1000", "r=1",
]  # fmt: skip
CURSORS = [b64encode(each.encode()).decode() for each in INSIDE] + ["!!!", "a", "é", "====", "A" * 6000]


def test_the_walk_finds_lists():
    assert len(LISTS) > 10


@pytest.mark.django_db
@pytest.mark.parametrize("path", LISTS)
def test_a_cursor_that_was_tampered_with_is_refused_by_its_name(admin, path):
    for cursor in CURSORS:
        answer = admin.get(path, {"cursor": cursor})
        assert answer.status_code in (200, 400), (cursor, answer.content)
        if answer.status_code == 400:
            assert [each["field"] for each in answer.json()["errors"]] == ["cursor"]
    assert admin.get(path, {"cursor": CURSORS[0]}).status_code == (200 if is_by_name(path) else 400)


def is_by_name(path):
    """Returns whether the list at this path is ordered by name: any text is then a valid value in its cursor."""
    return path.rsplit("/", 1)[1] in ("alert-rules", "channels", "instances", "latest")


@pytest.mark.django_db
def test_a_list_is_walked_to_its_end_and_back(admin):
    for number in range(5):
        body = {"name": f"t{number}", "values": {"long_query_time": "2"}}
        assert admin.post("/api/v1/templates", body).status_code == 201

    def page(cursor):
        return admin.get("/api/v1/templates", {"limit": 2, **({"cursor": cursor} if cursor else {})}).json()

    pages = [page(None)]
    while pages[-1]["next"]:
        pages.append(page(pages[-1]["next"]))
    back = [pages[-1]]
    while back[-1]["previous"]:
        back.append(page(back[-1]["previous"]))
    there = [each["id"] for found in pages for each in found["items"]]
    assert len(there) == len(set(there)) >= 5
    assert [each["id"] for found in reversed(back) for each in found["items"]] == there
