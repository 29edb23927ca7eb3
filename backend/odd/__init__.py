"""Servers that answer as no server should run next to one that is healthy. The healthy one must lose nothing.

`python -m odd --lane polls --seconds 600 --seed 1` lets the control plane do one of its duties again and again on a
real database, with a real MariaDB server and some that answer at random. After each round it looks whether the healthy
server got what it should: its sample, its near caches, its note. Without --lane, all lanes have their turn. The
backend's tests run a short slice of each lane.
"""
