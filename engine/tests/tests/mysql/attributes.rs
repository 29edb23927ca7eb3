//! Query attributes. A statement with attributes is run by the server, because functions may read them. A statement without any is like
//! any other.

use crate::shared::{TestTurn, enter};
use crate::traps::{all, binary_rows_text, rows_text, small_table, until};
use fqc_tests::client::{Client, Login, Prepared, Response, command};

const QUERY_ATTRIBUTES: u64 = 1 << 27;
const TEXT: [u8; 2] = [0xfd, 0];
const COUNTS_PARAMETERS: u8 = 8;

/// Query attributes or parameters: the name and the text of each. A parameter of a statement has an empty name.
type Values<'a> = &'a [(&'a str, &'a str)];

/// A length-encoded string of at most 250 bytes.
fn counted(text: &str) -> Vec<u8> {
    [&[text.len() as u8], text.as_bytes()].concat()
}

/// The protocol's encoding of these values.
fn bound(values: Values) -> Vec<u8> {
    let mut bytes = vec![0; values.len().div_ceil(8)];
    bytes.push(1);
    values.iter().for_each(|(name, _)| bytes.extend([&TEXT[..], &counted(name)].concat()));
    values.iter().for_each(|(_, value)| bytes.extend(counted(value)));
    bytes
}

/// The body of a text query with these attributes.
fn query_body(values: Values, text: &str) -> Vec<u8> {
    let bound = if values.is_empty() { Vec::new() } else { bound(values) };
    [&[values.len() as u8, 1], &bound[..], text.as_bytes()].concat()
}

fn query(client: &mut Client, values: Values, text: &str) -> Response {
    client.send(command::QUERY, &query_body(values, text)).unwrap();
    client.read_response().unwrap()
}

fn execute(client: &mut Client, prepared: &Prepared, values: Values) -> Response {
    let head = [&prepared.id.to_le_bytes()[..], &[COUNTS_PARAMETERS, 1, 0, 0, 0, values.len() as u8]].concat();
    client.send(command::STMT_EXECUTE, &[head, bound(values)].concat()).unwrap();
    client.read_response().unwrap()
}

/// Enters the shared server with a table `t`. Returns two sessions that send attributes; the last one is never served.
fn clients(db: &str) -> (TestTurn, Client, Client) {
    let arena = enter(db);
    small_table(&mut arena.client(), "t", "InnoDB");
    let login = arena.login();
    let login = Login { capabilities: login.capabilities | QUERY_ATTRIBUTES, ..login };
    let (client, mut plain) = (arena.client_as(&login), arena.client_as(&login));
    assert!(query(&mut plain, &[], "SET SESSION fqc_type = OFF").failure().is_none());
    (arena, client, plain)
}

/// Installs the server's function that reads an attribute. Returns false if this server has none.
fn tells_attributes(arena: &TestTurn) -> bool {
    let library = "component_query_attributes";
    if !arena.server.bring(&format!("{library}.so")) {
        assert!(std::env::var_os("FQC_MYSQLD").is_some());
        return false;
    }
    arena.client().must(&format!("INSTALL COMPONENT 'file://{library}'")).unwrap();
    true
}

const READ: &str = "SELECT v FROM t WHERE id = 2";

#[test]
fn a_text_without_attributes_is_served_and_one_with_some_is_not() {
    let (mut arena, mut client, _) = clients("attributes");
    let mut other = arena.client();
    until("a hit", || arena.counted(|| assert_eq!(rows_text(&query(&mut client, &[], READ)), "20")).1 > 0);
    // A client that does not send attributes gets the same result.
    arena.hit(&mut other, READ, "20");
    for values in [&[("n", "a")][..], &[("", "a")], &[("n", ""), ("m", "b")]] {
        for _ in 0..3 {
            assert_eq!(arena.counted(|| rows_text(&query(&mut client, values, READ))), ("20".into(), 0), "{values:?}");
        }
    }
    let only_with = "SELECT v + 1 FROM t WHERE id = 2";
    for _ in 0..3 {
        assert_eq!(arena.counted(|| rows_text(&query(&mut client, &[("n", "a")], only_with))), ("21".into(), 0));
    }
    // Results of reads with attributes are not stored for clients that send none.
    assert_eq!(arena.counted(|| rows_text(&query(&mut client, &[], only_with))), ("21".into(), 0));
    assert_eq!(arena.counted(|| rows_text(&query(&mut client, &[], READ))), ("20".into(), 1));
}

#[test]
fn what_is_written_under_attributes_shows() {
    let (mut arena, mut writer, _) = clients("attributes_write");
    let mut reader = arena.client();
    let with: Values = &[("n", "a")];
    let run = |writer: &mut Client, values: Values, text: &str| {
        assert!(query(writer, values, text).failure().is_none(), "{text}");
    };
    let update = "UPDATE t SET v = v + 1 WHERE id = 2";
    arena.check_write_shows(&mut reader, READ, || run(&mut writer, with, update), "21");
    for (begin, write, commit) in [(with, &[][..], &[][..]), (&[], with, &[]), (&[], &[], with), (with, with, with)] {
        let before = arena.warm(&mut reader, READ);
        run(&mut writer, begin, "BEGIN");
        run(&mut writer, write, update);
        assert_eq!(rows_text(&query(&mut writer, &[], READ)), (before.parse::<u32>().unwrap() + 1).to_string());
        (0..3).for_each(|_| assert_eq!(rows_text(&reader.query(READ).unwrap()), before));
        let after = (before.parse::<u32>().unwrap() + 1).to_string();
        arena.check_write_shows(&mut reader, READ, || run(&mut writer, commit, "COMMIT"), &after);
    }
}

#[test]
fn functions_are_told_the_attributes_of_their_statement() {
    let (arena, mut client, mut plain) = clients("attributes_told");
    if !tells_attributes(&arena) {
        return;
    }
    let asked = "SELECT v, mysql_query_attribute_string('n') FROM t WHERE id = 2";
    let by_number = "SELECT v, mysql_query_attribute_string('n') FROM t WHERE id = ?";
    let [of_client, of_plain] = [&mut client, &mut plain].map(|one| one.prepare(by_number).unwrap().1.unwrap());
    for values in [&[("n", "a")][..], &[("n", "b")], &[], &[("m", "x"), ("n", "c")], &[("n", "a")]] {
        let truth = query(&mut plain, values, asked);
        let expected = values.iter().find(|(name, _)| *name == "n").map_or("NULL", |(_, value)| *value);
        assert_eq!(rows_text(&truth), format!("20,{expected}"));
        assert_eq!(query(&mut client, values, asked), truth, "{values:?}");
        let values = [&[("", "2")], values].concat();
        let truth = execute(&mut plain, &of_plain, &values);
        assert_eq!(binary_rows_text(&truth), format!("20,{expected}"));
        assert_eq!(execute(&mut client, &of_client, &values), truth, "{values:?}");
    }
    all(&mut arena.client(), &["UNINSTALL COMPONENT 'file://component_query_attributes'"]);
}

#[test]
fn an_execution_without_attributes_is_served_and_one_with_some_is_not() {
    let (mut arena, mut client, _) = clients("attributes_prepared");
    let mut prepare = || client.prepare("SELECT v FROM t WHERE id = ?").unwrap().1.unwrap();
    let [first, second] = [prepare(), prepare()];
    let mut run =
        |prepared, values: Values| arena.counted(|| binary_rows_text(&execute(&mut client, prepared, values)));
    until("a hit", || run(&first, &[("", "3")]) == ("30".into(), 1));
    (0..3).for_each(|_| assert_eq!(run(&first, &[("", "3"), ("n", "a")]), ("30".into(), 0)));
    (0..3).for_each(|_| assert_eq!(run(&first, &[("named", "3")]), ("30".into(), 0)));
    // The server now goes by the types of an execution that the engine did not parse, so it is unknown what they were.
    (0..3).for_each(|_| assert_eq!(run(&first, &[("", "3")]), ("30".into(), 0)));
    assert_eq!(run(&second, &[("", "3")]), ("30".into(), 1));
    assert_eq!(run(&second, &[("", "4")]).0, "40");
}

/// Checks that query attributes that cannot be parsed are left to the server.
#[test]
fn attributes_that_are_cut_or_garbled() {
    let whole = query_body(&[("n", "a")], READ);
    let cut = (0..whole.len() - READ.len()).map(|length| whole[..length].to_vec());
    let garbled = [vec![0, 2], vec![0, 0], vec![0xfb, 1], vec![0xff, 1], vec![2, 1, 0, 0]];
    let bodies: Vec<_> = cut.chain(garbled.map(|head| [&head[..], READ.as_bytes()].concat())).collect();
    for body in bodies {
        let (mut arena, client, plain) = clients("attributes_garbled");
        let [served, truth] = [client, plain].map(|mut one| {
            one.send(command::QUERY, &body).unwrap();
            one.read_response().map_err(|error| error.kind())
        });
        assert_eq!(served, truth, "{body:?}");
        let mut other = arena.client();
        arena.warm(&mut other, READ);
        other.must("DROP DATABASE attributes_garbled").unwrap();
    }
}
