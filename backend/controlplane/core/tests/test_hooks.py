"""The graph of calls upwards, in the running program and in its source, is the one that is allowed."""

import ast
from pathlib import Path

import pytest

from controlplane.core import hooks

ROOT = Path(__file__).resolve().parents[2]
# The hook and its calling app; the apps that fill it, and with which part.
ALLOWED = {
    "core.stream_credentials.HOLDER_OF": {"accounts": "accounts.stream_credentials.holder_of"},
    "core.stream_credentials.STILL_VALID": {"accounts": "accounts.stream_credentials.still_valid"},
    "core.events.EVENT_FACTS": {
        "samples": "metrics.live.sample_facts",
        "fleet_apply": "rollouts.selectors.progress_facts",
    },
    "parameters.selectors.EVALUATION_CONTEXT": {"fleet": "fleet.showing.evaluation_context"},
    "parameters.selectors.FLEET_LINE": {"fleet": "fleet.selectors.fleet_line"},
    "fleet.services.ENDS_WITH_INSTANCE": {"incidents": "alerts.incidents.instance_leave"},
    "fleet.sealed.SEALED_ABOVE": {"channels": "alerts.models.Channel"},
    "metrics.exposition.COLLECTORS": {"alerts": "alerts.exposition.AlertCollector"},
}
# Functions that find modules or models by a text, which import-linter cannot follow.
BY_NAME = {"import_module", "import_string", "__import__", "get_model"}
ALLOWED_BY_NAME = {
    ("accounts.session_store", "get_model"),  # its own app's model, whose module names this class
    ("metrics.partitions", "get_model"),  # a migration's historic model
}


def sources() -> dict[str, ast.Module]:
    """Returns the syntax tree of each module that is neither a test nor a migration, by its path without
    `controlplane.`.
    """
    files = [file.relative_to(ROOT) for file in ROOT.rglob("*.py")]
    kept = [file for file in files if not {"tests", "migrations"} & set(file.parts)]
    assert len(kept) > 100
    return {".".join(file.with_suffix("").parts): ast.parse((ROOT / file).read_text()) for file in kept}


def app(path: str) -> str:
    return path.partition(".")[0]


def test_the_graph_of_calls_upwards_is_the_one_that_is_allowed() -> None:
    graph = {
        path: {name: f"{part.__module__}.{part.__qualname__}" for name, part in hook.parts.items()}
        for path, hook in hooks.declared().items()
    }
    allowed = {path: {name: f"controlplane.{part}" for name, part in parts.items()} for path, parts in ALLOWED.items()}
    assert graph == allowed


def test_only_the_app_that_declares_a_hook_calls_it_and_only_the_start_of_another_fills_it() -> None:
    fillers = {path: {f"{app(part)}.apps" for part in parts.values()} for path, parts in ALLOWED.items()}
    found: dict[str, set[str]] = {path: set() for path in ALLOWED}
    for module, tree in sources().items():
        for name in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {
            node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
        }:
            for path in (path for path in ALLOWED if path.rpartition(".")[2] == name):
                found[path].add(module)
    for path, modules in found.items():
        starts = {module for module in modules if module.endswith(".apps")}
        assert starts == fillers[path]
        assert {app(module) for module in modules - starts} == {app(path)}, path


def test_nothing_else_is_found_by_a_text() -> None:
    found = {
        (module, name)
        for module, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for name in [getattr(node.func, "attr", getattr(node.func, "id", ""))]
        if name in BY_NAME
    }
    assert found == ALLOWED_BY_NAME


def test_a_name_that_is_taken_is_refused_and_a_hook_of_one_part_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "_DECLARED", {})
    hook: hooks.Hook[str] = hooks.Hook("here")
    with pytest.raises(ValueError):
        _ = hook.part
    hook.fill("app", "part")
    assert hook.part == "part"
    with pytest.raises(ValueError, match="filled twice"):
        hook.fill("app", "another")
