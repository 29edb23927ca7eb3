"""Names of products occur in one module only, apart from the listed exceptions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import controlplane
from controlplane.gateway.product import MARIADB, MYSQL, PRODUCTS, Product, edition_of, is_managed, product_of

MARIADBS = re.compile(
    r"mariadb|sequence engine|information_schema\.(system_variables|table_statistics)|userstat|global_priv"
    r"|max_statement_time|\bsoname\b|query-cache-|pool-size-max|create or replace (user|role)",
    re.IGNORECASE,
)
ERRORS = MARIADB.killed_errors | MARIADB.timeout_errors | MARIADB.engine_installed_errors
# The exceptions: the product, the grants of its accounts, how near caches follow its log, and two texts for users.
SAID_IN = {
    "gateway/product.py", "gateway/local_accounts.py", "near_caches/ways.py", "metrics/definitions.py",
    "catalogue/reference.py",
}  # fmt: skip


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


@pytest.mark.parametrize(
    ("variables", "edition"),
    [
        ({"version_comment": "Debian 12"}, "Debian"),
        ({"version_comment": "(Ubuntu)"}, "Ubuntu"),
        ({"version_comment": "MySQL Community Server - GPL"}, "Community"),
        ({"version_comment": "mariadb.org binary distribution"}, "Community"),
        ({"version_comment": "MySQL Enterprise Server - Commercial"}, "Enterprise"),
        ({"version_comment": "Percona Server (GPL), Release 30, Revision 41ebc5d9"}, "Percona Server"),
        ({"version_comment": "Source distribution", "basedir": "/rdsdbbin/mysql/"}, "Amazon RDS"),
        ({"version_comment": "MySQL Community Server (GPL)", "aurora_version": "3.04.0"}, "Amazon Aurora"),
        ({"version": "8.0.37-azure", "version_comment": "MySQL Community Server (GPL)"}, "Azure Database"),
        ({"version": "8.0.31-google", "version_comment": "(Google)"}, "Google Cloud SQL"),
        ({"version": "9.7.4", "version_comment": "Source distribution", "basedir": "/usr/"}, ""),
        ({}, ""),
    ],
)
def test_an_edition_is_recognised_by_what_servers_of_it_say_simulated_where_none_can_be_had(
    variables: dict[str, str], edition: str
) -> None:
    assert edition_of(variables) == edition
    assert is_managed(edition) is (edition.split(" ")[0] in ("Amazon", "Azure", "Google"))


def test_no_number_means_two_things() -> None:
    meanings = [numbers for each in PRODUCTS for numbers in (each.killed_errors, each.timeout_errors)]
    meanings.append(MARIADB.engine_installed_errors | MYSQL.engine_installed_errors)
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
