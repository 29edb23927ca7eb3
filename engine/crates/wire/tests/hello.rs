//! Greetings, hellos and changes of user.

mod support;

use support::{Random, clients, response};
use wire::proxy::header_length;
use wire::{ChangeUser, ClientHello, Command, Greeting, Packet, capability};

fn hello(name: &str) -> ClientHello {
    let captured = clients().into_iter().find(|captured| captured.name == name && captured.what == "hello");
    ClientHello::parse(&captured.expect("a fixture").bytes()).expect("a hello")
}

#[test]
fn the_greeting_of_a_server_is_read() {
    let bytes = response("eof.greeting").bytes();
    let greeting = Greeting::parse(Packet::parse(&bytes).expect("a packet").payload).expect("a greeting");
    assert!(greeting.version.starts_with(b"5.5.5-10.11."), "{greeting:?}");
    assert_ne!(greeting.connection_id, 0);
    assert_eq!(greeting.status, 2);
    let offered =
        capability::DEPRECATE_EOF | capability::MARIADB_CACHE_METADATA | capability::MARIADB_EXTENDED_METADATA;
    assert_eq!(greeting.capabilities & offered, offered);
    assert_eq!(Greeting::parse(b"\xff\x10\x04Too many connections"), None);
    assert_eq!(Greeting::parse(b""), None);
}

#[test]
fn hellos_of_real_clients_are_read() {
    let plain = hello("mariadb");
    assert_eq!((plain.user.as_slice(), plain.database.as_deref()), (&b"root"[..], Some(&b"fixture"[..])));
    assert_eq!((plain.ssl_requested, plain.compress, plain.max_packet), (false, false, 1 << 20));
    assert_ne!(plain.capabilities & capability::MARIADB_CACHE_METADATA, 0);
    assert_eq!(hello("mariadb_without_database").database, None);
    assert!(hello("mariadb_compressed").compress);
    assert_eq!(hello("sysbench").charset, 45);
}

#[test]
fn a_balancers_header_is_passed_over() {
    let text = b"PROXY TCP4 10.1.2.3 10.0.0.1 51000 3306\r\n";
    let binary = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\x01\x02\x03\x0a\0\0\x01\xc7\x38\x0c\xea";
    for header in [&text[..], binary] {
        let with_hello = [header, b"\x20\0\0\x01hello"].concat();
        assert_eq!(header_length(&with_hello), Some(header.len()));
    }
    (0..text.len()).for_each(|end| assert_eq!(header_length(&text[..end]), None));
    (0..16).for_each(|end| assert_eq!(header_length(&binary[..end]), None));
    assert_eq!(header_length(b"\x20\0\0\x01"), Some(0));
}

fn built(capabilities: u64, rest: &[u8]) -> Vec<u8> {
    let mut payload = (capabilities as u32).to_le_bytes().to_vec();
    payload.extend_from_slice(&(1u32 << 24).to_le_bytes());
    payload.push(33);
    payload.extend_from_slice(&[0; 19]);
    payload.extend_from_slice(&((capabilities >> 32) as u32).to_le_bytes());
    payload.extend_from_slice(rest);
    payload
}

#[test]
fn a_request_for_tls_is_told_from_a_hello() {
    let capabilities = capability::PROTOCOL_41 | capability::SSL;
    let request = ClientHello::parse(&built(capabilities, b"")).expect("a request");
    assert!(request.ssl_requested && request.user.is_empty());
    let inside = ClientHello::parse(&built(capabilities, b"u\0\0")).expect("a hello");
    assert!(!inside.ssl_requested && inside.user == b"u");
}

#[test]
fn proofs_are_skipped_in_every_encoding() {
    let base = capability::PROTOCOL_41 | capability::CONNECT_WITH_DB;
    let long = [&b"u\0\xfc\x2c\x01"[..], &[7; 300], b"db\0"].concat();
    for (capabilities, rest) in [
        (base, &b"u\0proof\0db\0"[..]),
        (base | capability::SECURE_CONNECTION, b"u\0\x03\0\0\0db\0plugin\0"),
        (base | capability::PLUGIN_AUTH_LENENC, &long),
        (base | capability::SECURE_CONNECTION, b"u\0\0db"),
    ] {
        let hello = ClientHello::parse(&built(capabilities, rest)).expect("a hello");
        assert_eq!((hello.user.as_slice(), hello.database.as_deref()), (&b"u"[..], Some(&b"db"[..])), "{rest:?}");
    }
    assert_eq!(ClientHello::parse(&built(capability::CONNECT_WITH_DB, b"u\0\0")), None, "the old protocol");
}

#[test]
fn extended_capabilities_count_only_without_the_mysql_bit() {
    let extended = capability::PROTOCOL_41 | capability::MARIADB_BULK;
    let hello = |capabilities| ClientHello::parse(&built(capabilities, b"u\0\0")).expect("a hello").capabilities;
    assert_eq!(hello(extended), extended);
    assert_eq!(hello(extended | capability::MYSQL), capability::PROTOCOL_41 | capability::MYSQL);
}

#[test]
fn changes_of_user_are_read() {
    let parse = |payload: &[u8]| ChangeUser::parse(payload, capability::SECURE_CONNECTION);
    let change = parse(b"\x11root\0\x02abfixture\0\x2d\0plugin\0").expect("a change of user");
    assert_eq!(
        (change.user.as_slice(), change.database.as_deref(), change.charset),
        (&b"root"[..], Some(&b"fixture"[..]), Some(45))
    );
    let short = parse(b"\x11root\0\0\0").expect("a change of user");
    assert_eq!((short.database, short.charset), (None, None));
    assert_eq!(parse(b"\x11root\0\x05ab"), None, "the proof is cut off");
    assert_eq!(parse(b"\x11root"), None, "the user is cut off");
}

#[test]
fn commands_are_their_bytes() {
    for command in Command::ALL {
        assert_eq!(Command::from_byte(*command as u8), Some(*command));
    }
    assert_eq!(Command::from_byte(3), Some(Command::Query));
    assert_eq!(Command::from_byte(250), Some(Command::StmtBulkExecute));
    assert_eq!(Command::from_byte(99), None);
}

#[test]
fn any_bytes_have_an_answer() {
    let mut random = Random(3);
    let originals: Vec<Vec<u8>> = clients().iter().map(support::Captured::bytes).collect();
    for _ in 0..20_000 {
        let mut bytes = originals[random.next(originals.len())].clone();
        bytes.truncate(random.next(bytes.len() + 1));
        if !bytes.is_empty() {
            let at = random.next(bytes.len());
            bytes[at] = random.next(256) as u8;
        }
        ClientHello::parse(&bytes);
        Greeting::parse(&bytes);
        ChangeUser::parse(&bytes, random.next(1 << 30) as u64);
    }
}
