"""Runs the whole product on one machine: web, worker, scheduler and a local fleet, under one run directory.

Invariants: nothing is signalled unless it is proved to be ours (pid, start time and boot); everything that runs
listens on loopback; every wait has a condition and a limit, and a failure names the log that explains it.
Deliberately absent: restarting what crashed (production has its own supervisor), and any import of Django or of a
third-party package outside `demo`: this package must work when the rest of the tree does not.
"""
