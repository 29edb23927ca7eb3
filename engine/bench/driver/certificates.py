"""Makes a temporary certificate authority, and certificates for the servers and for sysbench, under names that
sysbench expects."""

from __future__ import annotations

import subprocess
from pathlib import Path

DAYS = "2"


def make_certificates(folder: Path) -> None:
    folder.mkdir()
    _openssl(
        folder,
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", DAYS, "-subj", "/CN=bench authority"),
        *("-keyout", "ca-key.pem", "-out", "cacert.pem"),
    )
    for name in ("server", "client"):
        key, request, certificate = f"{name}-key.pem", f"{name}-request.pem", f"{name}-cert.pem"
        _openssl(
            folder,
            *("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN=bench {name}", "-keyout", key, "-out", request),
        )
        _openssl(
            folder,
            *("x509", "-req", "-days", DAYS, "-in", request, "-CA", "cacert.pem", "-CAkey", "ca-key.pem"),
            *("-CAcreateserial", "-out", certificate),
        )


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
