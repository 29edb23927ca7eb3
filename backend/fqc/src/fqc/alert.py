"""`fqc alert`: the commands for alert rules, incidents, silences and channels, each in a module of its own."""

from __future__ import annotations

from fqc import alert_rule, channel, incident, silence
from fqc.noun import Noun

app = Noun("Alert rules, incidents, silences and channels.")
app.add_typer(alert_rule.app, name="rule")
app.add_typer(incident.app, name="incident")
app.add_typer(silence.app, name="silence")
app.add_typer(channel.app, name="channel")
