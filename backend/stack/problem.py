"""The only error of this package: what failed, on what, and what to do next."""


class Problem(Exception):
    """An error that the person who ran the command can act on. Its message is printed without a traceback."""
