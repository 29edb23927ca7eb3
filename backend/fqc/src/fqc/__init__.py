"""The `fqc` command: the control plane's API for people and scripts.

Knows the API and nothing of the control plane's inside; imports no Django. What the API refuses, it refuses. Modules
are named after the nouns that they serve; heavy libraries (httpx, rich, yaml) are imported where they are used, so
that a command starts quickly.

The words of comments are explained in `docs/concepts/words.md`.
"""

__version__ = "1.0.0"
