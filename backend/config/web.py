"""The web process: `python -m config.web --host 127.0.0.1 --port 8000`. The one place that says how uvicorn is started.

uvicorn by itself believes X-Forwarded-For and X-Forwarded-Proto of whoever connects from this machine; here
`config.forwarded` alone decides what is believed.
"""

from __future__ import annotations

import argparse

import uvicorn

# Longer than proxies keep an idle connection (nginx: 60 s), so that no proxy sends a request into a connection that is
# being closed.
KEEP_ALIVE_SECONDS = 75
GRACE_SECONDS = 3  # an open page keeps a connection for live figures, which must not delay the end


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--log-level", help="log level of uvicorn itself, if it differs from FQC_LOG_LEVEL")
    options = parser.parse_args()
    uvicorn.run(
        "config.asgi:application",
        host=options.host,
        port=options.port,
        log_config=None,  # log lines are formatted by `config.logs`
        log_level=options.log_level,
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


if __name__ == "__main__":
    main()
