"""How `fqc-near` is started before an instance. Pure."""

from __future__ import annotations

from controlplane.near_caches.ways import options

REPORTS = "--control-plane {url} --control-plane-token-file /etc/fqc-near/token"


def start_command(host: str, port: int, product: str, mode: str) -> str:
    server = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return f"fqc-near --server {server} --listen 127.0.0.1:3307 {options(mode, product)}"


def report_command(host: str, port: int, product: str, mode: str, url: str) -> str:
    return f"{start_command(host, port, product, mode)} {REPORTS.format(url=url)}"
