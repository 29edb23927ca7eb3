"""Settings that administrators may change at run time: approval by a second person, networks, retention, mail."""
