"""A small fleet under random faults: what is asked of it, what breaks it, and whether its ledger is right afterwards.

`python -m faults --seconds 600 --database postgresql --broker valkey` runs web, workers and scheduler as production
does, on a real database and broker, with real MariaDB servers behind proxies that note each SET GLOBAL. Clients ask for
changes and fleet applies while processes are killed and paused, connections cut, servers, database and broker stopped,
and the disk filled. Then everything is mended, and when all is quiet the books are compared: what clients were told,
the rows, the audit trail, what each server was sent, and what it runs.
"""
