"""Benchmarks of the control plane: its work per second and per core. Run: `python -m bench --help`. See README.md."""
