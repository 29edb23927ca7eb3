"""`fqc alert`: rules, incidents and silences, each a noun of its own."""

from __future__ import annotations

from fqc import alert_rule, incident, silence
from fqc.noun import Noun

app = Noun("Alert rules, incidents and silences.")
app.add_typer(alert_rule.app, name="rule")
app.add_typer(incident.app, name="incident")
app.add_typer(silence.app, name="silence")
