"""How `fqc-near` is started before an instance. Pure."""

from __future__ import annotations

REPORTS = "--rules /etc/fqc-near/rules.toml --control-plane {url} --control-plane-token-file /etc/fqc-near/token"


def start_command(host: str, port: int, options: str) -> str:
    server = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return f"fqc-near --server {server} --listen 127.0.0.1:3307 {options}"


def report_command(host: str, port: int, url: str) -> str:
    return start_command(host, port, REPORTS.format(url=url))
