"""The commands that start `fqc-near` for an instance: by hand, as a service of the machine, or in a container. Pure."""

from __future__ import annotations

from collections.abc import Mapping

LISTEN = "127.0.0.1:3307"
CONFIG_FILE = "/etc/fqc-near.toml"
REPORTS = "--control-plane {url} --control-plane-token-file /etc/fqc-near/token"
# systemd gives the unit access to a password that otherwise only root may read.
CREDENTIAL = "/run/credentials/fqc-near.service/password"
PLACEHOLDER = "'choose a password'"
PASSWORD_OPTIONS = ("feed-password-file", "binlog-password-file")
DROP_IN = "/etc/systemd/system/fqc-near.service.d/password.conf"


def start_command(host: str, port: int, options: Mapping[str, str]) -> str:
    words = [f"--{name} {value}" for name, value in options.items()]
    return " ".join(["fqc-near", f"--server {_address(host, port)}", f"--listen {LISTEN}", *words])


def report_command(host: str, port: int, options: Mapping[str, str], url: str) -> str:
    return f"{start_command(host, port, options)} {REPORTS.format(url=url)}"


def config_lines(host: str, port: int, options: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the lines of the configuration file with which the packaged systemd unit starts `fqc-near` for
    a server.
    """
    values = {name: CREDENTIAL if name in PASSWORD_OPTIONS else value for name, value in options.items()}
    own = (f'{name} = "{value}"' for name, value in values.items())
    return (f"# {CONFIG_FILE}", f'server = "{_address(host, port)}"', f'listen = ["{LISTEN}"]', *own)


def service_lines(options: Mapping[str, str]) -> tuple[str, ...]:
    """Returns commands for root on the application's machine, which start the packaged systemd unit of `fqc-near` after
    the package and its configuration file are installed.
    """
    start = "systemctl enable --now fqc-near"
    password = next((options[name] for name in PASSWORD_OPTIONS if name in options), None)
    if password is None:
        return (start,)
    return (
        f"install -D -m 600 /dev/stdin {password} <<< {PLACEHOLDER}",
        f"install -D -m 644 /dev/stdin {DROP_IN} <<< $'[Service]\\nLoadCredential=password:{password}'",
        "systemctl daemon-reload",
        start,
    )


def docker_command(host: str, port: int, options: Mapping[str, str]) -> str:
    """Returns the command that starts `fqc-near` in a container, from the image that engine/Dockerfile.near makes.

    Paths in it are those of the machine, not of the container.
    """
    values = {"server": _address(host, port), "listen": LISTEN, **options}
    if values.pop("feed-password-file", None):
        values["password"] = PLACEHOLDER
    words = [f"--env FQC_NEAR_{name.upper().replace('-', '_')}={value}" for name, value in values.items()]
    files = ["--volume /etc/fqc-near:/etc/fqc-near:ro"] if any("/etc/" in value for value in values.values()) else []
    return " ".join(["docker run --detach --name fqc-near --network host", *files, *words, "fqc-near"])


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
