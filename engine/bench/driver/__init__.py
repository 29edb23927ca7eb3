"""Measures a server without a query cache, with its own, and with the plugin, in turn on one machine.

Pure: workload, report, statistic, published, tables, summary. They start nothing and read no clock.
Deliberately absent: a load generator of our own; all load comes from sysbench.
"""
