//! Tables and schemas that are the server's own.

/// Tables of schema `mysql` that the server itself reads or writes along with other statements.
const SERVER_OWN: &[&[u8]] = &[
    b"table_stats",
    b"table_stat",
    b"column_stats",
    b"column_stat",
    b"index_stats",
    b"index_stat",
    b"innodb_table_stats",
    b"innodb_index_stats",
    b"proc",
    b"event",
    b"gtid_slave_pos",
    b"general_log",
    b"slow_log",
    b"transaction_registry",
];

/// Tables from which the server reads what is granted for databases, tables and columns, one of which all lock that change it.
pub fn tells_grants(db: &[u8], name: &[u8]) -> bool {
    db == b"mysql" && [&b"db"[..], b"tables_priv", b"columns_priv", b"roles_mapping"].contains(&name)
}

pub fn is_server_own(db: &[u8], name: &[u8]) -> bool {
    db == b"mysql" && SERVER_OWN.contains(&name)
}

/// Of what is read there not everything is told, and its views are many.
pub fn is_system_schema(db: &[u8]) -> bool {
    [&b"mysql"[..], b"information_schema", b"performance_schema", b"sys"].iter().any(|s| s.eq_ignore_ascii_case(db))
}
