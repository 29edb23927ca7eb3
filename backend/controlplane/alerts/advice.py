"""Advice for each metric that rules watch: the likely cause of an incident, the next action, and the chart to show.

Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from controlplane.alerts.states import STATES


@dataclass(frozen=True)
class Advice:
    cause: str
    action: str
    chart: str = ""  # the metric to plot; empty means the one that the rule watches


USUAL = Advice(
    "The value left the range that the rule allows.",
    "Compare the hours before in Monitoring, and look in History for a change at that time.",
)
ADVICE: Mapping[str, Advice] = {
    "unreachable": Advice(
        "The server is down or restarting, the network is interrupted, or the account's password was changed.",
        "Connect to the server from the control plane's machine. If it runs, check the account and the firewall.",
        "questions_per_second",
    ),
    "engine_lost": Advice(
        "The server was restarted or upgraded without the plugin, or it was uninstalled.",
        "Look for the reason in the server's error log, then install the plugin again from the instance's page. If it "
        "was removed on purpose, exempt the instance from this rule.",
        "hits_per_second",
    ),
    "drifted_parameters": Advice(
        "The parameters were set directly on the server, or its option file sets them at startup.",
        "Open Parameters. Apply the configured values again, or configure the values that run.",
        "questions_per_second",
    ),
    "change_failed": Advice(
        "The server refused a step of the change, or could not be reached in the middle of it.",
        "Open the change in History and read the step that failed. Fix the cause, then make the change again.",
        "questions_per_second",
    ),
    "answers_unusable": Advice(
        "Another program listens at this address, or the server, or a proxy in front of it, returns unexpected "
        "responses.",
        "Check which server runs at the address. If it is the right one, report what the workers' log says.",
        "questions_per_second",
    ),
    "samples_missing": Advice(
        "The server responds late or not at all. If all servers are affected, no round of polls completes.",
        "Look in the workers' log for poll_failed, instance_failed and lookout_duty_failed.",
        "questions_per_second",
    ),
    "hit_ratio": Advice(
        "Tables change more often than their results are read, or statements seldom repeat.",
        "See in Fast Query Cache which statements miss and why. Set query_cache_type to 2 for the statements that "
        "repeat, or switch the cache off.",
    ),
    "select_hit_ratio": Advice(
        "Most reads cannot be cached, or seldom repeat.",
        "Look in Fast Query Cache for the reasons why reads are not cached.",
    ),
    "buffer_pool_hit_ratio": Advice(
        "The data that is read does not fit into the buffer pool.",
        "Enlarge innodb_buffer_pool_size before the cache, or find the statements that read whole tables.",
    ),
    "prune_ratio": Advice(
        "The cache is too small for the results that are read, or stores many that are read only once.",
        "See the predicted hit ratio of other sizes in Fast Query Cache. Enlarge query_cache_size if it would rise.",
        "prunes_per_second",
    ),
    "prunes_per_second": Advice(
        "The cache is too small for the results that are read.",
        "See the predicted hit ratio of other sizes in Fast Query Cache. Enlarge query_cache_size if it would rise.",
    ),
    "connections_used_ratio": Advice(
        "An application opens more connections than before, or does not release them.",
        "Run SHOW PROCESSLIST on the server to see whose connections are in Sleep. Limit the application's pool, "
        "or raise max_connections if the memory suffices.",
        "connections",
    ),
    "replication_lag": Advice(
        "The replica applies changes more slowly than its source makes them, or one long statement holds it up.",
        "Look at the replica's process list for the statement that it applies. Results cached on a replica are as old "
        "as its data: have reads that need the newest data go to the source.",
    ),
    "stopped_channels": Advice(
        "Replication was stopped, a statement failed on the replica, or the source cannot be reached.",
        "Run SHOW REPLICA STATUS on the replica: its Last_IO_Error and Last_SQL_Error say why. Then START REPLICA.",
        "replication_lag",
    ),
    "deadlocks_per_second": Advice(
        "Transactions lock the same rows in different orders.",
        "Read the newest one in SHOW ENGINE INNODB STATUS, and let both transactions lock in the same order.",
    ),
    "row_lock_waits_per_second": Advice(
        "Many transactions change the same rows, or one transaction holds its locks for long.",
        "Find the transactions that hold and wait for locks: SELECT * FROM sys.innodb_lock_waits, or SHOW ENGINE "
        "INNODB STATUS. Make them shorter, and add an index where an UPDATE or DELETE examines more rows than it "
        "changes.",
    ),
    "temporary_disk_ratio": Advice(
        "Statements sort or group more than fits into memory, or read columns of type BLOB or TEXT.",
        "Find them in Statements and tables by the rows that they examine. Add an index for their order, or raise "
        "tmp_table_size and max_heap_table_size together.",
    ),
    "disk_free_ratio": Advice(
        "Tables or binary logs grow, or other files on the same disk do. A server whose disk is full stops writing.",
        "Compare tables and binary logs under Storage in Monitoring. With PURGE BINARY LOGS, delete those that no "
        "replica or backup needs; end transactions that have been open for hours, or enlarge the disk.",
    ),
    "memory_used_ratio": Advice(
        "The cache holds as many results as fit.",
        "A full cache is normal. Enlarge query_cache_size only if evictions are high and hits would rise.",
    ),
    "write_share": Advice(
        "The application writes more than before, and writes invalidate results.",
        "Check that the cache is still worthwhile: compare hits and invalidations in Monitoring.",
    ),
    "slow_queries_per_second": Advice(
        "Statements wait for locks or disks, or lack an index.",
        "Look for them in the server's slow query log, and explain their plans.",
    ),
    "p95_answer_time": Advice(
        "Statements wait for locks or disks, lack an index, or the cache was emptied, for example by a restart.",
        "Compare the hit ratio and running threads in Monitoring at that time, and look for the slowest statements in "
        "the server's slow query log.",
    ),
    "contained_errors_per_second": Advice(
        "The plugin caught an internal error and switched the cache off. The server executes all statements.",
        "Read the server's error log and report what the plugin wrote. Restart the server to use the cache again.",
    ),
    "stale_hits_per_second": Advice(
        "A rule allows stale results for statements that are run often.",
        "Check in the cache rules that the results of these statements may be stale for so long.",
    ),
    "near_caches_detached": Advice(
        "A near cache was stopped or restarted, or its connection to the server was interrupted; or one that "
        "reported has stopped reporting.",
        "Open Near caches to see which are detached. Check that fqc-near is running there and reaches the server, and "
        "the control plane if it reports.",
    ),
    "connections": Advice(
        "The application opens more connections than before, or does not close them.",
        "Compare with max_connections, and check the size of the application's pool.",
    ),
    "running_threads": Advice(
        "Statements wait for each other, for disks or for processors.",
        "Run SHOW PROCESSLIST on the server, and look at slow statements.",
        "running_threads",
    ),
    "uptime_seconds": Advice(
        "The server was restarted.",
        "Look in the server's error log for the reason, and in History for a change with a restart.",
    ),
}


def advice_of(metric: str) -> Advice:
    return ADVICE.get(metric, USUAL)


def chart_of(metric: str) -> str:
    """Returns the name of the metric to plot for incidents about this metric. A state of an instance has no
    samples, so for it this is a metric that shows its effect.
    """
    found = advice_of(metric).chart
    return found or ("questions_per_second" if metric in STATES else metric)
