"""The version of the product. `scripts/packages/versions.py` writes it here, and to every other part."""

VERSION = "1.0.0"
