//! Attributes before the text of a query and among the parameters of an execution, as MySQL's clients send them.

mod support;

use support::{Random, clients};
use wire::capability::QUERY_ATTRIBUTES;
use wire::{Bound, Execute, Packet, Query, types_refused, with_types};

fn payloads(name: &str, what: &str) -> Vec<Vec<u8>> {
    let of_client = clients().into_iter().filter(|captured| captured.name == name && captured.what == what);
    of_client.map(|captured| captured.bytes()).collect()
}

/// Returns the text of each query that a captured client sent, and whether the query has attributes.
fn texts(name: &str) -> Vec<(String, bool)> {
    let read = |payload: Vec<u8>| {
        let query = Query::parse(&payload[1..], QUERY_ATTRIBUTES).expect("a query");
        (String::from_utf8_lossy(query.text).into_owned(), query.has_attributes)
    };
    payloads(name, "query").into_iter().map(read).collect()
}

#[test]
fn the_text_of_a_query_follows_its_attributes() {
    let stock = texts("mysql");
    assert_eq!(stock.last(), Some(&("SELECT 1".to_owned(), false)), "{stock:?}");
    assert!(stock.contains(&("select $$".to_owned(), false)), "{stock:?}");
    let connector = texts("connector_python");
    assert_eq!(connector.last(), Some(&("SELECT 2".to_owned(), true)), "{connector:?}");
    assert!(connector[..connector.len() - 1].iter().all(|(_, has_attributes)| !has_attributes));
}

#[test]
fn a_query_of_ours_is_read_back() {
    for capabilities in [0, QUERY_ATTRIBUTES] {
        let packet = Query::packet(b"SELECT 1", capabilities);
        let payload = Packet::parse(&packet).expect("a packet").payload;
        assert_eq!(Query::parse(&payload[1..], capabilities), Some(Query { text: b"SELECT 1", has_attributes: false }));
    }
    assert_eq!(Query::packet(b"SELECT 1", QUERY_ATTRIBUTES)[4..], payloads("mysql", "query")[2]);
}

#[test]
fn attributes_that_cannot_be_read_have_no_text_after_them() {
    let whole = payloads("connector_python", "query").pop().expect("one with attributes");
    let text = whole.windows(6).position(|part| part == b"SELECT").expect("a text");
    for end in 1..text {
        assert_eq!(Query::parse(&whole[1..end], QUERY_ATTRIBUTES), None, "{end}");
    }
    assert_eq!(Query::parse(&[0, 2, b'x'], QUERY_ATTRIBUTES), None, "two sets");
}

#[test]
fn parameters_without_names_are_those_of_any_execution() {
    let executions = payloads("connector_python", "execute");
    for (payload, value) in executions.iter().zip([1, 2]) {
        let execute = Execute::parse(payload, QUERY_ATTRIBUTES).expect("an execution");
        assert!(!execute.has_attributes(1) && execute.has_attributes(0) && execute.has_attributes(2));
        assert_eq!((execute.flags, execute.new_types(1)), (0, Some(&[1, 0x80][..])));
        let params = execute.params(1, &[]).expect("parameters");
        assert_eq!(params.iter().map(|param| param.value).collect::<Vec<_>>(), [Bound::Integer(value)]);
        assert_eq!(execute.params(2, &[]), None);
    }
    let named = Execute::parse(&executions[2], QUERY_ATTRIBUTES).expect("an execution");
    assert!(named.has_attributes(1) && named.params(1, &[1, 0x80]).is_none());
    assert_eq!(named.new_types(1), Some(&[][..]), "whatever it binds, it is not known");
    let bare = Execute::parse(&[23, 1, 0, 0, 0, 0, 1, 0, 0, 0], QUERY_ATTRIBUTES).expect("an execution");
    assert!(!bare.has_attributes(0) && bare.has_attributes(1));
}

#[test]
fn types_are_told_with_empty_names() {
    let whole = payloads("connector_python", "execute").swap_remove(0);
    let mut packet = Vec::new();
    wire::push_packet(&mut packet, &mut 0, &whole);
    let head = [&whole[..12], &[0]].concat();
    let mut without_types = Vec::new();
    wire::push_packet(&mut without_types, &mut 0, &[&head[..], &whole[16..]].concat());
    assert_eq!(with_types(&without_types, &[1, 0x80], QUERY_ATTRIBUTES), packet);
    assert_eq!(with_types(&packet, &[9, 9], QUERY_ATTRIBUTES), packet, "with types of its own");
    let refused = types_refused(7, &[1, 0x80, 8, 0], QUERY_ATTRIBUTES);
    let piece = Packet::parse(&refused).expect("a piece").payload;
    let payload = Packet::parse(&refused[piece.len() + 4..]).expect("a packet").payload;
    let execute = Execute::parse(payload, QUERY_ATTRIBUTES).expect("an execution");
    assert_eq!((execute.id, execute.flags, execute.new_types(2)), (7, 0, Some(&[1, 0x80, 8, 0][..])));
    assert!(execute.params(2, &[]).expect("parameters").iter().all(|param| param.value == Bound::Null));
}

#[test]
fn any_bytes_are_read_without_harm() {
    let mut random = Random(3);
    for _ in 0..100_000 {
        let bytes: Vec<u8> = (0..random.next(30)).map(|_| [0, 1, 2, 8, 0xfe, 0xff][random.next(6)]).collect();
        if let Some(query) = Query::parse(&bytes, QUERY_ATTRIBUTES) {
            assert!(bytes.ends_with(query.text));
        }
        if let Some(execute) = Execute::parse(&bytes, QUERY_ATTRIBUTES) {
            let count = random.next(5) as u16;
            if let Some(params) = execute.params(count, &[]) {
                assert_eq!(params.iter().count(), usize::from(count));
            }
        }
    }
}
