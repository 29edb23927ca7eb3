"""An answer that shows a secret. A repeat of the request gets the name of what was made, but never the secret."""

from __future__ import annotations

from typing import Any

from rest_framework.response import Response


class ShownOnce(Response):
    """The answer to a request that made something with a secret, which only this answer shows.

    `made` names it, such as "token tok-1"; a repeat of the request gets that name alone.
    """

    def __init__(self, data: Any, made: str) -> None:
        super().__init__(data, 201)
        self.made = made
