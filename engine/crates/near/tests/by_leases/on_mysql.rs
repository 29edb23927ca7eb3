//! Near caches that are attached to MySQL 9.7, where it differs from MariaDB. Each test does nothing if that is not installed.

use crate::beside::executions::{prepared, row, run, until_run_here};
use crate::beside::followed::mysql;
use crate::beside::scene::{READ, Scene, ask, hits, until_served};
use crate::beside::{near, wait_until};
use fqc_tests::client::{Client, Login, Param, command};

const QUERY_ATTRIBUTES: u64 = 1 << 27;

/// Starts MySQL and a near cache that is attached to it. None if MySQL is not installed.
fn scene() -> Option<Scene> {
    mysql("9.7").map(|kind| Scene::on(kind.options, 1))
}

/// Sends a read as clients do that have agreed on query attributes, with one attribute or with none. Returns its first value.
fn read_with(client: &mut Client, attribute: Option<&str>, text: &str) -> Option<Vec<u8>> {
    let attributes = match attribute {
        // The number of attributes, that of their sets, a bitmap of NULLs, a flag for types, and then type, name and value.
        Some(value) => [&[1, 1, 0, 1, 0xfd, 0, 1, b'a', value.len() as u8], value.as_bytes()].concat(),
        None => vec![0, 1],
    };
    client.send(command::QUERY, &[&attributes, text.as_bytes()].concat()).expect("it is sent");
    client.read_response().expect("an answer").rows(false)[0][0].clone()
}

#[test]
fn a_write_by_any_connection_is_seen_at_once() {
    let Some(scene) = scene() else { return };
    let (mut client, mut direct) = (scene.near().client(), scene.direct());
    let mut other = scene.near().client();
    for value in 2..20 {
        until_served(scene.near(), &mut client, READ);
        let writer = if value % 2 == 0 { &mut direct } else { &mut other };
        ask(writer, &format!("UPDATE d.t SET v = {value} WHERE id = 1"));
        assert_eq!(ask(&mut client, READ), value.to_string());
    }
}

#[test]
fn a_read_of_a_client_that_may_send_attributes_is_answered_from_memory() {
    let Some(scene) = scene() else { return };
    let login = Login { capabilities: Login::default().capabilities | QUERY_ATTRIBUTES, ..Login::default() };
    let mut client = Client::connect(&scene.near().unix(), &login).expect("a connection");
    let one = Some(b"1".to_vec());
    let mut is_hit = |attribute| {
        let before = hits(scene.near());
        assert_eq!(read_with(&mut client, attribute, READ), one);
        hits(scene.near()) > before
    };
    wait_until("it is answered from memory", || is_hit(None));
    // A function of the server may read an attribute.
    assert!((0..5).all(|_| !is_hit(Some("x"))));
    ask(&mut scene.direct(), "UPDATE d.t SET v = 5 WHERE id = 1");
    assert_eq!(read_with(&mut client, None, READ), Some(b"5".to_vec()));
}

/// MySQL compares a parameter by the types that it has had before.
#[test]
fn an_execution_is_not_answered_with_the_result_of_other_earlier_types() {
    let Some(scene) = scene() else { return };
    let (mut client, mut direct) = (scene.near().client(), scene.direct());
    ask(&mut direct, "CREATE TABLE d.w (id INT PRIMARY KEY, v VARCHAR(20))");
    ask(&mut direct, "INSERT INTO d.w VALUES (1, '7'), (2, '7.0')");
    const BY_VALUE: &str = "SELECT id FROM d.w WHERE v = ? ORDER BY id";
    let [number, text] = [Param::Int(7), Param::Text("7".into())];
    let by_text = prepared(&mut client, BY_VALUE);
    let expected = row(&until_run_here(scene.near(), &mut client, &by_text, std::slice::from_ref(&text)));
    // The same value as a number first, and then as text, on statements of their own.
    for params in [[number.clone(), text.clone()], [text, number]] {
        let (here, there) = (prepared(&mut client, BY_VALUE), prepared(&mut direct, BY_VALUE));
        for _ in 0..3 {
            for param in &params {
                let param = std::slice::from_ref(param);
                assert_eq!(row(&run(&mut client, &here, param)), row(&run(&mut direct, &there, param)));
            }
        }
    }
    assert_eq!(row(&run(&mut client, &by_text, &[Param::Text("7".into())])), expected);
}

#[test]
fn only_an_administrator_of_replicas_may_attach() {
    let Some(scene) = scene() else { return };
    ask(&mut scene.direct(), "CREATE USER nobody@'%'");
    let near = near(&scene.server, &["--feed-user", "nobody"]);
    wait_until("the refusal is told", || near.log().contains("error 1227"));
    let mut client = near.client();
    assert!((0..5).all(|_| ask(&mut client, READ) == "1"));
    assert_eq!(hits(&near), 0);
}
