"""What the control plane does per second and per core, measured. Run: `python -m bench --help`. See README.md."""
