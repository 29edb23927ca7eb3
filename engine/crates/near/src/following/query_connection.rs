//! Sends queries to the server, on a connection of the account that reads its binary log.

use crate::account::{self, Account};
use crate::config::Config;
use crate::dial::connect_to_server;
use crate::server::Server;
use crate::stream::{PacketReader, Stream};
use flavour::Flavour;
use footprint::KeyColumn;
use near_core::binlog::changes::{CatalogueObject, LogStatus, QualifiedName};
use near_core::binlog::gtid::Gtids;
use near_core::binlog::position::Position;
use near_core::binlog::product::BinlogProduct;
use near_core::binlog::rows::RowKey;
use near_core::reason::ContextReason;
use sql::{TableName, ViewRefusal};
use std::io;
use tokio::io::AsyncWriteExt;
use wire::lenenc::Reader;
use wire::{Command, Header, push_packet};

/// A row of an answer, with its columns as text; none stands for NULL.
pub type Row = Vec<Option<Vec<u8>>>;

const ERR: u8 = 0xFF;
/// The statements that set up the connection for questions. They override the server's global values.
const SETTINGS: [&str; 2] = [
    "SET SESSION sql_mode = '', SESSION completion_type = 'NO_CHAIN'",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
];
/// The longest answer to a question that is accepted, in bytes. Answers of a proper server are far shorter.
const LONGEST_ANSWER: usize = 64 << 20;
/// The column types that can be read in row events. A table with another type is invalidated as a whole, not row by row.
const IN_ROWS: [&str; 28] = [
    "tinyint",
    "smallint",
    "mediumint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal",
    "date",
    "datetime",
    "timestamp",
    "year",
    "char",
    "varchar",
    "binary",
    "varbinary",
    "tinytext",
    "text",
    "mediumtext",
    "longtext",
    "tinyblob",
    "blob",
    "mediumblob",
    "longblob",
    "enum",
    "set",
    "bit",
    "json",
];
const VIEW: &[u8] = b"VIEW";
const NO_STATUS: &str = "the server does not tell how far its log can be seen";

/// A connection to the database server for the program's own queries. After an error it must not be used any more.
pub struct QueryConnection(PacketReader);

impl QueryConnection {
    /// Connects to the configured server, and logs in with the account that reads the binary log.
    pub async fn connect(config: &Config, account: &Account) -> io::Result<QueryConnection> {
        let stream = connect_to_server(config, None).await?;
        let is_local = matches!(config.server, Server::Unix(_));
        let mut connection =
            QueryConnection(account::log_in(stream, account, config.connector.as_ref(), is_local).await?);
        connection.0.accept_long();
        connection.query_all(&SETTINGS).await?;
        Ok(connection)
    }

    /// Sends a query and returns its rows; no rows for a statement without a result. If the server answers with an error, that is an error
    /// here.
    pub async fn query(&mut self, question: &str) -> io::Result<Vec<Row>> {
        self.query_all(&[question]).await.map(|mut answers| answers.pop().unwrap_or_default())
    }

    /// Sends all queries together, and returns the rows of each, in the same order. Returns the first error of the server; the connection
    /// cannot be used any more then, as other answers stay unread.
    pub async fn query_all(&mut self, questions: &[&str]) -> io::Result<Vec<Vec<Row>>> {
        let mut bytes = Vec::new();
        for question in questions {
            push_packet(&mut bytes, &mut 0, &[&[Command::Query as u8], question.as_bytes()].concat());
        }
        self.0.stream.write_all(&bytes).await?;
        self.0.stream.flush().await?;
        let mut answers = Vec::new();
        for _ in questions {
            answers.push(self.answer().await?);
        }
        Ok(answers)
    }

    /// Reads the server's answer to one query; an empty list if the query has no result. Fails if the server answers with an error, or with
    /// too many bytes.
    async fn answer(&mut self) -> io::Result<Vec<Row>> {
        const OK: u8 = 0;
        let first = self.0.next().await?;
        let payload = &first[Header::SIZE..];
        let columns = match payload.first() {
            Some(&OK) => return Ok(Vec::new()),
            Some(&ERR) | None => return Err(account::server_error(payload)),
            _ => Reader::new(payload).int().ok_or(io::ErrorKind::InvalidData)?,
        };
        for _ in 0..columns {
            self.0.next().await?;
        }
        let (mut rows, mut left) = (Vec::new(), LONGEST_ANSWER);
        loop {
            let packet = self.0.next().await?;
            left = left.checked_sub(packet.len()).ok_or(io::ErrorKind::InvalidData)?;
            match packet.get(Header::SIZE) {
                Some(0xFE) => return Ok(rows),
                Some(&ERR) => return Err(account::server_error(&packet[Header::SIZE..])),
                _ => rows.push(row(&packet[Header::SIZE..], columns).ok_or(io::ErrorKind::InvalidData)?),
            }
        }
    }

    /// Asks the server about its log, and returns which part of it a new read can see, and the position where it ends. An error if the
    /// server does not report that.
    pub async fn log_status(&mut self, product: &BinlogProduct) -> io::Result<(LogStatus, Position)> {
        let status = if product.has_gtids {
            self.mysql_log_status(product).await?
        } else {
            self.mariadb_log_status(product).await?
        };
        status.ok_or_else(|| io::Error::other(NO_STATUS))
    }

    /// Asks MariaDB about its log, for [`log_status`](Self::log_status): a consistent snapshot has a log position, and contains exactly
    /// what the log has before it. None if the server does not report the position.
    async fn mariadb_log_status(&mut self, product: &BinlogProduct) -> io::Result<Option<(LogStatus, Position)>> {
        let snapshot = "SHOW STATUS LIKE 'Binlog_snapshot_%'";
        let questions = ["START TRANSACTION WITH CONSISTENT SNAPSHOT", snapshot, "COMMIT", product.status];
        let answers = self.query_all(&questions).await?;
        let status = |name: &str| {
            let is_it = |row: &&Row| value(row, 0).is_some_and(|is| is.eq_ignore_ascii_case(name.as_bytes()));
            answers[1].iter().find(is_it).and_then(|row| value(row, 1))
        };
        let file = status("Binlog_snapshot_file");
        let visible = file.zip(status("Binlog_snapshot_position")).and_then(|(file, at)| position(file, at));
        let end = answers[3].first().and_then(|row| position(value(row, 0)?, value(row, 1)?));
        Ok(visible.map(LogStatus::VisibleUpTo).zip(end))
    }

    /// Asks MySQL about its log, for [`log_status`](Self::log_status): reads the executed GTIDs and the log position from one status query.
    /// The server determines the GTIDs first, so the position is behind all of them. None if the row cannot be parsed.
    async fn mysql_log_status(&mut self, product: &BinlogProduct) -> io::Result<Option<(LogStatus, Position)>> {
        let rows = self.query(product.status).await?;
        let Some([Some(file), Some(at), _, _, Some(visible)]) = rows.first().map(Vec::as_slice) else {
            return Ok(None);
        };
        Ok(position(file, at)
            .zip(Gtids::parse(visible))
            .map(|(position, visible)| (LogStatus::WrittenUpTo(position, visible), position)))
    }

    /// Looks a name up in the server's catalogue. Returns what it stands for if the log has everything that can change its rows: an InnoDB
    /// table whose columns have the same values at every read, with the parent tables whose changes cascade to it, or a view whose
    /// definition is understood. Otherwise the inner error is the reason why results of this name are not kept. The outer error means that
    /// the server could not be asked.
    pub async fn look_up(
        &mut self,
        flavour: &'static Flavour,
        name: &QualifiedName,
    ) -> io::Result<Result<CatalogueObject, ContextReason>> {
        let [schema, table] = [&name.schema, &name.table].map(|name| flavour.literal(name));
        let catalogue = &flavour.catalogue;
        let about = [catalogue.any_table, catalogue.parents, catalogue.columns, catalogue.unique_keys];
        let questions = about.map(|question| flavour::fill_in(question, &schema, &table));
        let answers = self.query_all(&questions.each_ref().map(String::as_str)).await?;
        let [tables, parents, columns, unique_keys] = answers.as_slice() else {
            return Ok(Err(ContextReason::TableHidden));
        };
        let Some(parents) = parents.iter().map(|row| parent(flavour, row)).collect::<Option<Vec<_>>>() else {
            return Ok(Err(ContextReason::Cascades));
        };
        // More than one row: the catalogue also finds names that differ in case.
        let (engine, kind) = match tables.as_slice() {
            [row] => (value(row, 0).unwrap_or_default(), value(row, 1).unwrap_or_default()),
            // MySQL's query returns no row for a view.
            [] => (&b""[..], VIEW),
            _ => return Ok(Err(ContextReason::TableHidden)),
        };
        if kind == VIEW {
            return Ok(view(flavour, name, &self.query(&flavour::fill_in(catalogue.view, &schema, &table)).await?));
        }
        let is_snapshot = flavour.engines.snapshot.iter().any(|known| known.as_bytes() == engine);
        let mode = sql::LexMode::new(flavour);
        let are_fixed = footprint::computed(columns).all(|text| sql::is_deterministic(text, mode));
        Ok(if footprint::has_time(columns) {
            Err(ContextReason::TimeColumn)
        } else if is_snapshot && kind == b"BASE TABLE" && are_fixed {
            Ok(if parents.is_empty() {
                CatalogueObject::Table(key(columns, unique_keys))
            } else {
                CatalogueObject::Child(parents)
            })
        } else {
            Err(ContextReason::TableEngine)
        })
    }

    /// Sends a command that the server answers without end, such as a request for its log. Returns the payload of the first packet, and the
    /// stream that the other packets come on; an error if the server refuses the command.
    pub async fn start_stream(mut self, command: &[u8]) -> io::Result<(Vec<u8>, Stream)> {
        let mut packet = Vec::new();
        push_packet(&mut packet, &mut 0, command);
        self.0.stream.write_all(&packet).await?;
        self.0.stream.flush().await?;
        let first = self.0.next().await?.split_off(Header::SIZE);
        if first.first() == Some(&ERR) { Err(account::server_error(&first)) } else { Ok((first, self.0.stream)) }
    }
}

/// Returns the parent table of a foreign key, from its row in the catalogue. None if its name is not certain: the catalogue may report the
/// name of a file, in which `@` and a number stand for a special character.
fn parent(flavour: &'static Flavour, row: &Row) -> Option<QualifiedName> {
    let [schema, table] = [0, 1].map(|index| value(row, index).filter(|name| !name.contains(&b'@')));
    QualifiedName::of(TableName { db: Some(schema?.to_vec()), name: table?.to_vec() }, b"", flavour)
}

/// Returns the tables and views that a view reads, or the reason why its results are not kept. `name`: the view; `rows`: the catalogue's
/// rows for it. Whether it runs with the rights of its definer or of its invoker does not matter, as the log has every change of
/// privileges.
fn view(flavour: &'static Flavour, name: &QualifiedName, rows: &[Row]) -> Result<CatalogueObject, ContextReason> {
    let [row] = rows else { return Err(ContextReason::TableHidden) };
    let definition = value(row, 2).filter(|text| !text.is_empty()).ok_or(ContextReason::ViewHidden)?;
    let tables = sql::view(flavour, definition).map_err(|against| match against {
        ViewRefusal::NotUnderstood => ContextReason::View,
        ViewRefusal::Function => ContextReason::ViewFunction,
        ViewRefusal::SystemSchema => ContextReason::ViewSystemSchema,
        ViewRefusal::NoCacheHint => ContextReason::NoCacheHint,
    })?;
    let names = tables.into_iter().map(|table| QualifiedName::of(table, &name.schema, flavour)).collect::<Option<_>>();
    names.map(CatalogueObject::View).ok_or(ContextReason::TableName)
}

/// Returns the key column that identifies a table's rows. `columns` and `unique_keys`: the catalogue's rows for them. None if there is no
/// single integer key, or if row events of the table cannot be read; then the table is invalidated as a whole.
fn key(columns: &[Row], unique_keys: &[Row]) -> Option<RowKey> {
    let is_known = |row: &Row| value(row, 1).is_some_and(|kind| IN_ROWS.iter().any(|known| known.as_bytes() == kind));
    let (index, column) = footprint::key_of(columns).filter(|_| columns.iter().all(is_known))?;
    let column = KeyColumn { unique_keys: footprint::unique_keys(unique_keys, columns), ..column };
    Some(RowKey { column, index, columns: columns.len() })
}

/// Returns a column's value. None if it is NULL, or if the row has no such column.
pub fn value(row: &Row, column: usize) -> Option<&[u8]> {
    row.get(column)?.as_deref()
}

/// Reads a log position: the file's name and the offset in digits. None if either is malformed.
fn position(file: &[u8], at: &[u8]) -> Option<Position> {
    Position::of(file, std::str::from_utf8(at).ok()?.parse().ok()?)
}

/// Parses a row with this number of columns. None if it is malformed.
fn row(payload: &[u8], columns: u64) -> Option<Row> {
    let mut reader = Reader::new(payload);
    (0..columns).map(|_| Some(reader.text_value()?.map(<[u8]>::to_vec))).collect()
}
