//! Hits wait for nobody: they are served while every lock is held that the plugin has.

mod traps;

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fqc_tests::client::{Client, Param, Prepared, command};
use fqc_tests::server::{Options, Server};
use traps::{Arena, PATIENCE, plugin, said, said_binary, small_table, until};

const READ: &str = "SELECT v FROM t WHERE id = 3";
const READERS: usize = 4;
const HITS: usize = 500;

/// While its file exists, all locks are held.
struct Gate(PathBuf);

impl Gate {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("fqc-tests-gate-{}", std::process::id())))
    }

    fn held(&self) -> PathBuf {
        self.0.with_extension("held")
    }

    fn shut(&self) {
        File::create(&self.0).unwrap();
        until("all locks", || self.held().exists());
    }

    fn open(&self) {
        fs::remove_file(&self.0).unwrap();
        until("their release", || !self.held().exists());
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = (fs::remove_file(&self.0), fs::remove_file(self.held()));
    }
}

/// Text and prepared, by turns. False: one of them waits.
fn read_again_and_again(client: &mut Client, prepared: &Prepared) -> bool {
    (0..HITS / 2).all(|_| {
        let Ok(text) = client.query(READ) else { return false };
        let Ok(binary) = client.execute(prepared, &[Param::Int(4)]) else { return false };
        assert_eq!((said(&text), said_binary(&binary)), ("30".into(), "40".into()));
        true
    })
}

#[test]
fn hits_are_served_while_every_lock_is_held() {
    for arguments in [&[][..], &["--thread-handling=pool-of-threads"]] {
        let gate = Gate::new();
        let environment = vec![("FQC_FAULT".into(), format!("locks:{}", gate.0.display()))];
        let arguments = arguments.iter().map(|one| one.to_string()).collect();
        let options = Options { plugin: Some(plugin::path()), arguments, environment, ..Options::default() };
        let mut arena = Arena::on(Arc::new(Server::start(options).unwrap()), "l_held");
        let mut writer = arena.client();
        small_table(&mut writer, "t", "InnoDB");
        let readers: Vec<_> = (0..READERS)
            .map(|_| {
                let mut client = arena.client();
                arena.warm(&mut client, READ);
                let prepared = client.prepare("SELECT v FROM t WHERE id = ?").unwrap().1.unwrap();
                arena.warm_prepared(&mut client, &prepared, &[Param::Int(4)]);
                (client, prepared)
            })
            .collect();
        let before = arena.hits();
        gate.shut();
        writer.send(command::QUERY, b"SELECT v, id FROM t WHERE id = 5").unwrap();
        let served: Vec<_> = thread::scope(|scope| {
            let read = |(mut client, prepared)| scope.spawn(move || read_again_and_again(&mut client, &prepared));
            let reading: Vec<_> = readers.into_iter().map(read).collect();
            reading.into_iter().map(|one| one.join().unwrap()).collect()
        });
        if served != [true; READERS] {
            gate.open();
            panic!("served: {served:?}\n{}{}", arena.server.reasons(), arena.server.error_log());
        }
        // What is not a hit waits: the locks were held indeed.
        writer.set_timeout(Some(Duration::from_millis(1))).unwrap();
        assert!(writer.read_response().is_err(), "a read that nobody knew was answered");
        gate.open();
        writer.set_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(said(&writer.read_response().unwrap()), "50,5");
        assert_eq!(arena.hits() - before, (READERS * HITS) as u64);
    }
}
