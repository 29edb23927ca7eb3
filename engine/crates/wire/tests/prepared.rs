//! Executions of prepared statements.

mod support;

use support::{Random, clients};
use wire::{
    Bound, Execute, Interpretation, NO_TYPE, Packet, Param, Parameter, ParameterTypes, Params, have_time, push_packet,
    types_alone, types_refused, with_types,
};

fn captured() -> Vec<Vec<u8>> {
    clients().iter().filter(|captured| captured.what == "execute").map(support::Captured::bytes).collect()
}

fn new_types(payload: &[u8], count: u16) -> Option<Vec<u8>> {
    Execute::parse(payload, 0)?.new_types(count).map(<[u8]>::to_vec)
}

#[test]
fn executions_of_a_real_client_are_split() {
    let payloads = captured();
    let begin = Execute::parse(&payloads[0], 0).expect("an execution");
    assert_eq!(begin.params(0, &[]), Some(Params { nulls: &[], types: &[], values: &[], are_types_new: false }));
    let first = Execute::parse(&payloads[1], 0).expect("an execution");
    assert_eq!((first.flags, first.iterations), (0, 1));
    let bound = first.params(1, &[]).expect("parameters");
    assert_eq!((bound.nulls, bound.types, bound.are_types_new), (&[0][..], &[8, 0][..], true));
    let second = Execute::parse(&payloads[2], 0).expect("an execution");
    assert_eq!((second.id, second.params(1, &[])), (first.id, None), "no types are known");
    let remembered = second.params(1, bound.types).expect("parameters");
    assert_eq!((remembered.types, remembered.are_types_new), (bound.types, false));
    assert_eq!(remembered, Params { are_types_new: false, ..bound }, "the same value again");
}

#[test]
fn an_execution_without_types_can_be_given_those_of_the_one_before() {
    let payloads = captured();
    let packet = |payload: &[u8]| {
        let mut packet = Vec::new();
        push_packet(&mut packet, &mut 0, payload);
        packet
    };
    let (first, second) = (packet(&payloads[1]), packet(&payloads[2]));
    let types = new_types(&payloads[1], 1).expect("types");
    let types = types.as_slice();
    assert_eq!(with_types(&second, types, 0), first, "the same value again");
    assert_eq!(with_types(&first, &[9, 9], 0), first, "with types of its own");
    assert_eq!(with_types(&packet(&payloads[0]), &[], 0), packet(&payloads[0]), "without parameters");
    assert_eq!(with_types(&second[..9], types, 0), second[..9]);
    assert_eq!(new_types(&payloads[2], 1), None);
}

#[test]
fn types_can_be_told_without_a_value() {
    let types = [3, 0, 0xfd, 0, 8, 0x80];
    let told = |packet: &[u8]| {
        let packet = Packet::parse(packet).expect("a packet");
        let execute = Execute::parse(packet.payload, 0).expect("an execution");
        assert_eq!((execute.id, execute.flags, execute.new_types(3)), (7, 0, Some(&types[..])));
        execute.params(3, &[]).map(|params| params.iter().all(|param| param.value == Bound::Null))
    };
    assert_eq!(told(&types_alone(7, &types, 0)), None, "a value is missing");
    let refused = types_refused(7, &types, 0);
    let piece = Packet::parse(&refused).expect("a piece").payload;
    assert_eq!(piece, [24, 7, 0, 0, 0, 0xff, 0xff]);
    assert_eq!(told(&refused[piece.len() + 4..]), Some(true));
}

#[test]
fn types_that_are_cut_short_are_not_those_of_before() {
    let payload = [&[23, 9, 0, 0, 0, 0, 1, 0, 0, 0][..], &[0, 1, 3]].concat();
    assert_eq!(new_types(&payload, 1), Some(vec![]));
}

/// Returns the payload of an execution of statement 9 that binds these types.
fn execution(nulls: &[u8], types: &[u8], values: &[u8]) -> Vec<u8> {
    [&[23, 9, 0, 0, 0, 0, 1, 0, 0, 0][..], nulls, &[1], types, values].concat()
}

fn values(nulls: &[u8], types: &[u8], values: &[u8]) -> Option<Vec<String>> {
    let payload = execution(nulls, types, values);
    let execute = Execute::parse(&payload, 0)?;
    let params = execute.params((types.len() / 2) as u16, &[])?;
    Some(params.iter().map(|Param { value, .. }| format!("{value:?}")).collect())
}

#[test]
fn values_of_every_type_are_read() {
    let integer = |value: i128| format!("{:?}", Bound::Integer(value));
    let bytes = |value: &[u8]| format!("{:?}", Bound::Bytes(value));
    for (types, raw, expected) in [
        (&[1, 0][..], &[0xFF][..], integer(-1)),
        (&[1, 0x80], &[0xFF], integer(255)),
        (&[2, 0], &[0, 0x80], integer(-32768)),
        (&[13, 0], &[7, 0], integer(7)),
        (&[3, 0], &[0xFE, 0xFF, 0xFF, 0xFF], integer(-2)),
        (&[9, 0x80], &[0xFE, 0xFF, 0xFF, 0xFF], integer(0xFFFF_FFFE)),
        (&[8, 0], &[0xFF; 8], integer(-1)),
        (&[8, 0x80], &[0xFF; 8], integer(i128::from(u64::MAX))),
        (&[4, 0], &[1, 2, 3, 4], bytes(&[1, 2, 3, 4])),
        (&[5, 0], &[1; 8], bytes(&[1; 8])),
        (&[6, 0], &[], format!("{:?}", Bound::Null)),
        (&[12, 0], &[4, 0xE4, 7, 1, 2], bytes(&[0xE4, 7, 1, 2])),
        (&[11, 0], &[0], bytes(&[])),
        (&[253, 0], b"\x03abc", bytes(b"abc")),
        (&[246, 0], b"\x041.50", bytes(b"1.50")),
        (&[15, 0], b"\0", bytes(b"")),
    ] {
        assert_eq!(values(&[0], types, raw), Some(vec![expected]), "{types:?}");
    }
}

#[test]
fn nulls_have_no_bytes() {
    let null = format!("{:?}", Bound::Null);
    assert_eq!(values(&[0b01], &[3, 0, 1, 0], &[5]), Some(vec![null.clone(), format!("{:?}", Bound::Integer(5))]));
    let ten = values(&[0xFF, 0x03], &[3, 0].repeat(10), &[]);
    assert_eq!(ten, Some(vec![null; 10]));
}

#[test]
fn a_null_tells_of_no_type() {
    let payload = execution(&[0b10], &[3, 0, 253, 0, 1, 0x80], &[1, 2, 3, 4, 5]);
    let execute = Execute::parse(&payload, 0).expect("an execution");
    let params = execute.params(3, &[]).expect("parameters");
    assert_eq!(params.types_of_values().collect::<Vec<_>>(), [[3, 0], NO_TYPE, [1, 0x80]]);
}

#[test]
fn what_does_not_fit_is_refused() {
    assert_eq!(values(&[0], &[3, 0], &[1, 2, 3]), None, "too short");
    assert_eq!(values(&[0], &[3, 0], &[1, 2, 3, 4, 5]), None, "too long");
    assert_eq!(values(&[0], &[253, 0], b"\x05abc"), None, "a string beyond the end");
    assert_eq!(values(&[0], &[100, 0], &[1]), None, "an unknown type");
    let payload = execution(&[0], &[3, 0], &[1, 2, 3, 4]);
    let execute = Execute::parse(&payload, 0).expect("an execution");
    for count in [0, 2, 9, u16::MAX] {
        assert_eq!(execute.params(count, &[]), None, "{count} parameters");
    }
    let mut strange = payload.clone();
    strange[11] = 2;
    assert_eq!(Execute::parse(&strange, 0).expect("an execution").params(1, &[3, 0]), None, "an unknown flag");
    assert_eq!(Execute::parse(&[23, 1, 0, 0], 0), None);
}

#[test]
fn any_bytes_have_an_answer() {
    let mut random = Random(5);
    for _ in 0..50_000 {
        let bytes: Vec<u8> = (0..random.next(60)).map(|_| random.next(256) as u8).collect();
        let types: Vec<u8> = (0..random.next(20)).map(|_| random.next(256) as u8).collect();
        if let Some(execute) = Execute::parse(&bytes, 0) {
            execute.params(random.next(20) as u16, &types);
        }
    }
}

#[test]
fn mysql_goes_by_the_types_of_the_first_values_that_did_not_fit() {
    const INTEGER: [u8; 2] = [8, 0];
    const DOUBLE: [u8; 2] = [5, 0];
    let interpretation = |by: &ParameterTypes, nulls: u8, kind: [u8; 2], value: &[u8]| {
        let payload = execution(&[nulls], &kind, value);
        let execute = Execute::parse(&payload, 0).expect("an execution");
        by.interpret(&execute.params(1, &[]).expect("parameters"))
    };
    let mut by = ParameterTypes::new(vec![Parameter { type_code: 8, is_unsigned: false, is_binary: false }]);
    assert_eq!(interpretation(&by, 0, INTEGER, &[1; 8]), Interpretation::Alike);
    assert_eq!(interpretation(&by, 1, INTEGER, &[]), Interpretation::Alike, "a NULL fits");
    assert_eq!(interpretation(&by, 0, [253, 0], b"\x01a"), Interpretation::Unclear);
    assert_eq!(interpretation(&by, 0, DOUBLE, &[1; 8]), Interpretation::Reprepared(vec![DOUBLE]));
    by.reprepare(vec![DOUBLE]);
    assert_eq!(interpretation(&by, 0, DOUBLE, &[2; 8]), Interpretation::Alike);
    assert_eq!(interpretation(&by, 0, INTEGER, &[1; 8]), Interpretation::Mixed);
    assert_eq!(interpretation(&by, 1, DOUBLE, &[]), Interpretation::InPart);
}

#[test]
fn a_time_among_types_is_found() {
    assert!(have_time(&[8, 0, 11, 0]) && have_time(&[19, 0]));
    assert!(!have_time(&[]) && !have_time(&[8, 11, 12, 19]));
}
