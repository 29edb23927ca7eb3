"""Errors of the dialect: a code that clients compare, a message for people, an HTTP status. Pure."""

from __future__ import annotations


class RpcError(Exception):
    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status
