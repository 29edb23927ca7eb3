"""Test suites of frameworks, each from where a package manager has it: how it is fetched, and how its tests are
started."""
