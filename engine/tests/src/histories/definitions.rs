//! Registers (counters that only grow) that live in the schema: a view, a function, a table swapped by RENAME, one emptied by TRUNCATE, a
//! partition that is exchanged. Each change of a definition is a write like any other.

use std::io;

use super::register::Register;
use super::session::{Outcome, Session};
use super::stage::Stage;
use crate::differential::generate::in_words_of;

/// A register for each kind of definition.
#[derive(Default)]
pub struct Definitions {
    view: Register,
    function: Register,
    swapped: Register,
    emptied: Register,
    exchanged: Register,
}

impl Definitions {
    /// The statements that create the view, the function and the tables of [`Definitions`], which all show the value 0.
    pub fn setup() -> Vec<String> {
        [
            "CREATE TABLE one (id INT PRIMARY KEY)",
            "INSERT INTO one VALUES (1)",
            "CREATE VIEW defined AS SELECT id * 0 v FROM one",
            "CREATE FUNCTION defined() RETURNS BIGINT DETERMINISTIC RETURN 0",
            "CREATE TABLE swapped (v BIGINT)",
            "INSERT INTO swapped VALUES (0)",
            "CREATE TABLE emptied (v BIGINT)",
            "CREATE TABLE exchanged (id INT, v BIGINT, PRIMARY KEY (id)) PARTITION BY HASH (id) PARTITIONS 2",
            "INSERT INTO exchanged VALUES (2, 0)",
        ]
        .map(String::from)
        .into()
    }

    /// Changes a random definition about once a second until the run is over.
    pub fn writer(&self, session: &mut Session, stage: &Stage) -> io::Result<()> {
        while stage.goes_on() {
            // The schema stays unchanged for a second after each change. Otherwise nothing could be cached.
            let outcome = self.write(session, stage).and_then(|()| session.text("DO SLEEP(1)").map(drop));
            if let Err(failure) = outcome {
                session.recover(&failure)?;
            }
        }
        Ok(())
    }

    fn write(&self, session: &mut Session, stage: &Stage) -> Outcome<()> {
        let register =
            [&self.view, &self.function, &self.swapped, &self.emptied, &self.exchanged][session.random.below(5)];
        let value = register.attempt();
        let statements: Vec<String> = match register {
            one if std::ptr::eq(one, &self.view) => {
                vec![format!("CREATE OR REPLACE VIEW defined AS SELECT id * {value} v FROM one")]
            }
            one if std::ptr::eq(one, &self.function) => {
                vec![format!("CREATE OR REPLACE FUNCTION defined() RETURNS BIGINT DETERMINISTIC RETURN {value}")]
            }
            one if std::ptr::eq(one, &self.swapped) => vec![
                "DROP TABLE IF EXISTS swap_new, swap_old".into(),
                "CREATE TABLE swap_new (v BIGINT)".into(),
                format!("INSERT INTO swap_new VALUES ({value})"),
                "RENAME TABLE swapped TO swap_old, swap_new TO swapped".into(),
            ],
            one if std::ptr::eq(one, &self.emptied) => {
                vec!["TRUNCATE TABLE emptied".into(), format!("INSERT INTO emptied VALUES ({value})")]
            }
            _ => vec![
                "DROP TABLE IF EXISTS exchange_with".into(),
                "CREATE TABLE exchange_with (id INT, v BIGINT, PRIMARY KEY (id))".into(),
                format!("INSERT INTO exchange_with VALUES (2, {value})"),
                "ALTER TABLE exchanged EXCHANGE PARTITION p0 WITH TABLE exchange_with".into(),
            ],
        };
        for statement in statements.iter().flat_map(|statement| in_words_of(stage.product, statement)) {
            session.text(&statement)?;
        }
        register.acknowledge(value, &statements.join("; "));
        Ok(())
    }

    /// Reads and checks random definitions until the run is over.
    pub fn reader(&self, session: &mut Session, stage: &Stage) -> io::Result<()> {
        let reads = [
            (&self.view, "SELECT v FROM defined"),
            (&self.function, "SELECT defined() v FROM one"),
            (&self.swapped, "SELECT v FROM swapped"),
            (&self.emptied, "SELECT v FROM emptied"),
            (&self.exchanged, "SELECT v FROM exchanged"),
        ];
        while stage.goes_on() {
            let (register, statement) = reads[session.random.below(reads.len())];
            let floor = register.floor(stage, session.member);
            match session.numbers(statement) {
                Ok(rows) => rows.iter().for_each(|row| register.check(session, stage, floor, row[0], statement)),
                Err(failure) => session.recover(&failure)?,
            }
        }
        Ok(())
    }
}
