"""What is one product's is said in one place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import controlplane
from controlplane.gateway.product import MARIADB, MYSQL, PRODUCTS, Product, product_of

MARIADBS = re.compile(
    r"mariadb|sequence engine|information_schema\.(system_variables|table_statistics)|userstat|global_priv"
    r"|max_statement_time|\bsoname\b|query-cache-|pool-size-max|create or replace (user|role)",
    re.IGNORECASE,
)
ERRORS = MARIADB.killed_errors | MARIADB.timeout_errors | MARIADB.engine_installed_errors
# The product, the grants of its accounts, and two texts that explain it to people.
SAID_IN = {"gateway/product.py", "gateway/local_accounts.py", "metrics/definitions.py", "catalogue/reference.py"}


@pytest.mark.parametrize(
    ("version", "product"),
    [
        ("10.11.19-MariaDB-log", MARIADB),
        ("12.0.2-MARIADB", MARIADB),
        ("8.4.3", MYSQL),
        ("8.0.39-30 Percona Server", MYSQL),
        ("", MYSQL),
    ],
)
def test_a_server_is_recognised_by_its_version(version: str, product: Product) -> None:
    assert product_of(version) is product


def test_no_number_means_two_things() -> None:
    meanings = [numbers for each in PRODUCTS for numbers in (each.killed_errors, each.timeout_errors)]
    meanings.append(MARIADB.engine_installed_errors)
    assert sum(map(len, meanings)) == len(frozenset().union(*meanings))


def test_what_is_mariadbs_is_said_of_the_product_alone() -> None:
    root = Path(controlplane.__file__).parent
    files = {str(file.relative_to(root)): file for file in root.rglob("*.py")}
    named = {
        name
        for name, file in files.items()
        if not {"tests", "migrations"} & set(Path(name).parts) and any(_said(ast.parse(file.read_text())))
    }
    assert named == SAID_IN


def _said(tree: ast.AST) -> Iterator[bool]:
    nodes = list(ast.walk(tree))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield node.value in ERRORS if isinstance(node.value, int) else bool(MARIADBS.search(str(node.value)))
        elif isinstance(node, ast.Name | ast.Attribute | ast.alias):
            yield bool(MARIADBS.search(ast.unparse(node)))
