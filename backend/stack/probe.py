"""Checks whether the web process in this container is ready; the container's health check.

It sends the public host and scheme, as the proxy in front does, since other requests are refused or redirected.
"""

import os
import sys
import urllib.request
from urllib.parse import urlsplit


def main(address: str) -> int:
    public = urlsplit(os.environ["FQC_PUBLIC_URL"])
    headers = {"Host": public.netloc, "X-Forwarded-Proto": public.scheme}
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{address}/readyz", headers=headers), timeout=4) as answer:
            return 0 if answer.status == 200 else 1
    except OSError as error:
        print(f"{address}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main("http://127.0.0.1:8000"))
