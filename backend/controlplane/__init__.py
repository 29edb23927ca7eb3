"""The control plane: one package per noun, each with its own models, services, selectors and views.

The words of comments are explained in `docs/concepts/words.md`.
"""
