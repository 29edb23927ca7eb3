"""What an administrator may set while the control plane runs: four eyes, networks, retention, mail."""
