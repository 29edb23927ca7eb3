"""The only error of this package: what failed, on what, and what to do next."""


class Problem(Exception):
    """Shown to the person who ran the command, without a traceback."""
