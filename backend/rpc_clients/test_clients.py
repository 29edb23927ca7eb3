"""The managed service's official clients, unmodified, enable the cache through the RPC endpoint."""

from __future__ import annotations

import re

import pytest
from stack.waiting import wait_until

from conftest import HERE, LANGUAGES, NO_MYSQL, ON_MYSQL, WAIT_SECONDS, Run, Stack

PAGE = HERE.parents[1] / "docs/guides/official-sdks.md"
SNIPPETS = {"python": "python/snippet.py", "node": "node/snippet.mjs", "go": "go/snippet/main.go"}
FENCES = {"python": "python", "node": "js", "go": "go"}
CACHE_SIZE = "{DBInstanceClassMemory/32}"


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_whole_story_of_enabling_the_cache(stories: dict[str, Run], language: str) -> None:
    assert count_of_steps(stories[language]) >= 8


def test_the_same_story_on_a_mysql_server(stories: dict[str, Run]) -> None:
    if ON_MYSQL not in stories:
        pytest.skip(NO_MYSQL)
    assert count_of_steps(stories[ON_MYSQL]) >= 8


def count_of_steps(story: Run) -> int:
    return len([line for line in story.finished().splitlines() if re.match(r"\w+: ", line)])


def test_the_snippet_of_the_page_runs(stack: Stack, stories: dict[str, Run], language: str) -> None:
    """Waits for the run of the whole example first, because the snippet needs the instance that it leaves."""
    stories[language].finished()
    printed = stack.start(language, "snippet").finished()
    assert re.search(r"^query_cache_size \d+$", printed, re.MULTILINE), printed
    assert wait_until(lambda: stack.configured(language)["query_cache_size"] == CACHE_SIZE, WAIT_SECONDS)


def test_the_page_shows_the_snippet_that_runs(language: str) -> None:
    (shown,) = re.findall(rf"^```{FENCES[language]}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert shown == (HERE / SNIPPETS[language]).read_text()
