//! Responses of a real server, followed to their end in pieces of every size.

mod support;

use support::{Captured, Random, response, responses};
use wire::{
    Expect, Header, MAX_PAYLOAD, Outcome, OutcomeKind, Parameter, Progress, ResponseTracker, capability, ok_packet,
    packets, push_packet, status,
};

fn expect(what: &str) -> Option<Expect> {
    Some(match what {
        "query" => Expect::Query,
        "prepare" => Expect::Prepare,
        "execute" => Expect::Execute,
        "field_list" => Expect::FieldList,
        "ok" => Expect::Ok,
        "text" => Expect::Text,
        "change_user" => Expect::ChangeUser,
        "fetch" => Expect::Fetch,
        _ => return None,
    })
}

/// Feeds a captured response to a tracker in pieces and returns the outcome. `cut` returns the length of the next piece, given the number
/// of bytes that are left.
fn follow(captured: &Captured, mut cut: impl FnMut(usize) -> usize) -> Outcome {
    let mut tracker = ResponseTracker::new(expect(captured.what).expect("a response"), captured.capabilities);
    let (last, waits) = captured.pieces.split_last().expect("some bytes");
    for wait in waits {
        let progress = feed(&mut tracker, wait, &mut cut);
        let expected = if captured.what == "query" { Progress::LocalInfile } else { Progress::More };
        assert_eq!(progress, expected, "{}", captured.name);
    }
    match feed(&mut tracker, last, &mut cut) {
        Progress::Done(outcome) => outcome,
        other => panic!("{}: {other:?}", captured.name),
    }
}

fn feed(tracker: &mut ResponseTracker, mut bytes: &[u8], cut: &mut impl FnMut(usize) -> usize) -> Progress {
    loop {
        let (piece, rest) = bytes.split_at(cut(bytes.len()));
        let progress = tracker.feed(piece);
        if rest.is_empty() {
            return progress;
        }
        assert_eq!(progress, Progress::More);
        bytes = rest;
    }
}

fn outcome(name: &str) -> Outcome {
    follow(&response(name), |length| length)
}

fn trackable() -> impl Iterator<Item = Captured> {
    responses().into_iter().filter(|captured| expect(captured.what).is_some())
}

#[test]
fn every_response_ends_at_its_last_byte_however_it_is_cut() {
    let mut random = Random(1);
    let mut count = 0;
    for captured in trackable() {
        let whole = follow(&captured, |length| length);
        assert_eq!(whole.length, captured.bytes().len() as u64, "{}", captured.name);
        assert_eq!(follow(&captured, |_| 1), whole, "{}", captured.name);
        for _ in 0..20 {
            assert_eq!(follow(&captured, |length| 1 + random.next(length)), whole, "{}", captured.name);
        }
        count += 1;
    }
    assert!(count > 200, "{count} fixtures");
}

#[test]
fn status_flags_are_where_they_are_said_to_be() {
    for captured in trackable() {
        let outcome = follow(&captured, |length| length);
        let bytes = captured.bytes();
        let Some(last) = outcome.status_offsets.as_slice().last() else { continue };
        let field = &bytes[*last as usize..][..2];
        if outcome.results <= 1 && !outcome.more_results_seen && outcome.status.is_some() {
            assert_eq!(Some(u16::from_le_bytes([field[0], field[1]])), outcome.status, "{}", captured.name);
        }
    }
}

const MODES: [&str; 6] =
    ["eof", "deprecate_eof", "track", "extended", "cached_metadata", "cached_metadata_deprecate_eof"];

/// Returns the kind without the id of the prepared statement, because the server numbers statements across connections.
fn without_id(kind: OutcomeKind) -> OutcomeKind {
    match kind {
        OutcomeKind::Prepared { id, params, columns } => {
            assert_ne!(id, 0);
            OutcomeKind::Prepared { id: 0, params, columns }
        }
        other => other,
    }
}

#[test]
fn outcomes_are_told_in_every_mode() {
    let rows = |rows, columns| OutcomeKind::ResultSet { rows, columns };
    for mode in MODES {
        for (name, kind) in [
            ("rows", rows(4, 2)),
            ("no_rows", rows(0, 1)),
            ("null_first", rows(1, 2)),
            ("empty_string", rows(1, 1)),
            ("many_columns", rows(1, 300)),
            ("ok", OutcomeKind::Ok),
            ("error", OutcomeKind::Err { code: 1054 }),
            ("error_in_rows", OutcomeKind::Err { code: 1242 }),
            ("procedure", OutcomeKind::Ok),
            ("procedure_fails", OutcomeKind::Err { code: 1644 }),
            ("several", rows(1, 1)),
            ("several_fail", OutcomeKind::Err { code: 1054 }),
            ("local_infile", OutcomeKind::Ok),
            ("prepare", OutcomeKind::Prepared { id: 0, params: 1, columns: 2 }),
            ("prepare_params", OutcomeKind::Prepared { id: 0, params: 2, columns: 0 }),
            ("prepare_plain", OutcomeKind::Prepared { id: 0, params: 0, columns: 1 }),
            ("prepare_nothing", OutcomeKind::Prepared { id: 0, params: 0, columns: 0 }),
            ("prepare_fails", OutcomeKind::Err { code: 1054 }),
            ("execute", rows(4, 2)),
            ("execute_again", rows(4, 2)),
            ("execute_cursor", rows(0, 2)),
            ("fetch", rows(2, 0)),
            ("fetch_end", rows(2, 0)),
            ("fetch_fails", OutcomeKind::Err { code: 1243 }),
            ("execute_procedure", OutcomeKind::Ok),
            ("field_list", rows(0, 3)),
            ("field_list_fails", OutcomeKind::Err { code: 1146 }),
            ("statistics", OutcomeKind::Text),
            ("init_db_fails", OutcomeKind::Err { code: 1049 }),
            ("change_user", OutcomeKind::Ok),
        ] {
            assert_eq!(without_id(outcome(&format!("{mode}.{name}")).kind), kind, "{mode}.{name}");
        }
    }
}

#[test]
fn counts_flags_and_ids_are_read() {
    for mode in MODES {
        let insert = outcome(&format!("{mode}.insert"));
        assert_eq!((insert.affected_rows, insert.last_insert_id > 0), (2, true), "{mode}");
        assert_eq!(outcome(&format!("{mode}.warning")).warnings, 2, "{mode}");
        let several = outcome(&format!("{mode}.several"));
        assert_eq!((several.results, several.more_results_seen), (3, true), "{mode}");
        let begins = |name| outcome(&format!("{mode}.{name}")).has_columns;
        assert!(begins("rows") && begins("error_in_rows") && !begins("error") && !begins("ok"), "{mode}");
        let flags = |name| outcome(&format!("{mode}.{name}")).status.expect("an OK or EOF");
        assert_eq!(flags("begin") & status::IN_TRANS, status::IN_TRANS, "{mode}");
        assert_eq!(flags("rows_in_transaction") & status::IN_TRANS, status::IN_TRANS, "{mode}");
        assert_eq!(flags("commit") & status::IN_TRANS, 0, "{mode}");
        assert_eq!(flags("rows") & status::AUTOCOMMIT, status::AUTOCOMMIT, "{mode}");
        assert_eq!(flags("execute_cursor") & status::CURSOR_EXISTS, status::CURSOR_EXISTS, "{mode}");
        assert_eq!(flags("fetch_end") & status::LAST_ROW_SENT, status::LAST_ROW_SENT, "{mode}");
    }
    let tracked = outcome("track.set").status.expect("an OK");
    assert_eq!(tracked & status::SESSION_STATE_CHANGED, status::SESSION_STATE_CHANGED);
}

#[test]
fn repeated_metadata_may_be_left_out() {
    for mode in ["cached_metadata", "cached_metadata_deprecate_eof"] {
        assert!(!outcome(&format!("{mode}.execute_again")).metadata_follows, "{mode}");
        assert!(outcome(&format!("{mode}.rows")).metadata_follows, "{mode}");
    }
}

#[test]
fn bytes_after_the_end_confuse() {
    for captured in trackable() {
        let mut tracker = ResponseTracker::new(expect(captured.what).expect("a response"), captured.capabilities);
        for piece in &captured.pieces {
            tracker.feed(piece);
        }
        assert_eq!(tracker.feed(&[0]), Progress::Confused, "{}", captured.name);
        let mut longer = captured.bytes();
        longer.push(0);
        let mut tracker = ResponseTracker::new(expect(captured.what).expect("a response"), captured.capabilities);
        assert_eq!(tracker.feed(&longer), Progress::Confused, "{}", captured.name);
    }
}

#[test]
fn a_broken_sequence_confuses() {
    let mut bytes = response("eof.rows").bytes();
    let second = packets(&bytes).next().expect("a packet").payload.len() + Header::SIZE;
    bytes[second + 3] = 7;
    assert_eq!(ResponseTracker::new(Expect::Query, 0).feed(&bytes), Progress::Confused);
}

#[test]
fn the_response_to_a_long_command_begins_later() {
    let follow = |sequence| ResponseTracker::new(Expect::Query, 0).feed(&ok_packet(sequence, 1, 0, 2, 0));
    assert!(matches!(follow(1), Progress::Done(_)));
    assert_eq!(follow(9), follow(1));
}

#[test]
fn commands_without_a_response_and_without_an_end() {
    let mut nothing = ResponseTracker::new(Expect::Nothing, 0);
    assert_eq!(nothing.feed(&[]), Progress::More);
    assert_eq!(nothing.feed(&[1]), Progress::Confused);
    let mut endless = ResponseTracker::new(Expect::Endless, 0);
    assert_eq!(endless.feed(&[1, 2, 3]), Progress::More);
}

/// Returns a response with a result of one column whose rows have these payloads.
fn result_with_rows(rows: &[&[u8]], capabilities: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut sequence = 1;
    let mut push = |payload: &[u8]| push_packet(&mut out, &mut sequence, payload);
    push(&[1]);
    push(b"\x03def\0\0\0\x01a\0\x0c\x21\0\0\0\0\0\xfd\0\0\0\0\0");
    let eof: &[u8] = &[0xFE, 0, 0, 2, 0];
    let ok: &[u8] = &[0xFE, 0, 0, 2, 0, 0, 0];
    let deprecates_eof = capabilities & capability::DEPRECATE_EOF != 0;
    if !deprecates_eof {
        push(eof);
    }
    rows.iter().for_each(|row| push(row));
    push(if deprecates_eof { ok } else { eof });
    out
}

#[test]
fn rows_of_any_size_and_first_byte_are_rows() {
    let mut huge = vec![0xFE];
    huge.extend_from_slice(&(MAX_PAYLOAD as u64 + 1).to_le_bytes());
    huge.resize(1 + 8 + MAX_PAYLOAD + 1, b'x');
    let mut exact = vec![0xFD, 0xFB, 0xFF, 0xFF];
    exact.resize(MAX_PAYLOAD, b'x');
    let rows: [&[u8]; 4] = [&[0xFB], &[0], &huge, &exact];
    for capabilities in [0, capability::DEPRECATE_EOF] {
        let bytes = result_with_rows(&rows, capabilities);
        for piece in [bytes.len(), 1 << 20, 12_345] {
            let mut tracker = ResponseTracker::new(Expect::Query, capabilities);
            let mut progress = Progress::More;
            for part in bytes.chunks(piece) {
                assert_eq!(progress, Progress::More);
                progress = tracker.feed(part);
            }
            let Progress::Done(outcome) = progress else { panic!("{progress:?}") };
            assert_eq!(outcome.kind, OutcomeKind::ResultSet { rows: 4, columns: 1 });
            assert_eq!(outcome.length, bytes.len() as u64);
        }
    }
}

#[test]
fn progress_reports_are_no_errors() {
    let mut bytes = Vec::new();
    let mut sequence = 1;
    push_packet(&mut bytes, &mut sequence, &[0xFF, 0xFF, 0xFF, 1, 1, 2, 0, 0, 0, 4, b'c', b'o', b'p', b'y']);
    push_packet(&mut bytes, &mut sequence, &[0, 0, 0, 2, 0, 0, 0]);
    let follow = |capabilities| ResponseTracker::new(Expect::Query, capabilities).feed(&bytes);
    assert!(matches!(follow(capability::MARIADB_PROGRESS), Progress::Done(outcome) if outcome.kind == OutcomeKind::Ok));
    assert_eq!(follow(0), Progress::Confused);
}

#[test]
fn any_bytes_have_an_answer() {
    let mut random = Random(7);
    let captured: Vec<Captured> = trackable().collect();
    for _ in 0..20_000 {
        let original = &captured[random.next(captured.len())];
        let mut bytes = original.bytes();
        for _ in 0..1 + random.next(4) {
            let at = random.next(bytes.len());
            bytes[at] = random.next(256) as u8;
        }
        let mut tracker = ResponseTracker::new(expect(original.what).expect("a response"), original.capabilities);
        for part in bytes.chunks(1 + random.next(100)) {
            tracker.feed(part);
        }
    }
}

#[test]
fn outcomes_of_mysql_are_told_in_every_mode() {
    let rows = |rows, columns| OutcomeKind::ResultSet { rows, columns };
    for mode in ["mysql_eof", "mysql_track", "mysql_metadata", "mysql_metadata_deprecate_eof", "mysql_attributes"] {
        for (name, kind) in [
            ("rows", rows(4, 2)),
            ("many_columns", rows(1, 300)),
            ("ok", OutcomeKind::Ok),
            ("error_in_rows", OutcomeKind::Err { code: 1242 }),
            ("several", rows(1, 1)),
            ("table", rows(4, 3)),
            ("values", rows(2, 2)),
            ("vector", rows(1, 1)),
            ("flush_test", OutcomeKind::Ok),
            ("process_test", rows(0, 3)),
            ("prepare", OutcomeKind::Prepared { id: 0, params: 1, columns: 2 }),
            ("prepare_params", OutcomeKind::Prepared { id: 0, params: 2, columns: 0 }),
            ("prepare_nothing", OutcomeKind::Prepared { id: 0, params: 0, columns: 0 }),
            ("execute", rows(3, 2)),
            ("execute_cursor", rows(0, 2)),
            ("fetch", rows(2, 0)),
            ("reset_connection", OutcomeKind::Ok),
            ("change_user", OutcomeKind::Ok),
        ] {
            assert_eq!(without_id(outcome(&format!("{mode}.{name}")).kind), kind, "{mode}.{name}");
        }
    }
}

#[test]
fn what_mysql_takes_a_parameter_for_is_told() {
    let number = Parameter { type_code: 8, is_unsigned: false, is_binary: true };
    let text = Parameter { type_code: 253, is_unsigned: false, is_binary: false };
    for mode in ["mysql_eof", "mysql_track", "mysql_metadata_deprecate_eof", "mysql_attributes"] {
        for (name, parameters) in [("prepare", vec![number]), ("prepare_params", vec![text, number])] {
            assert_eq!(outcome(&format!("{mode}.{name}")).parameters, parameters, "{mode}.{name}");
        }
    }
    assert_eq!(outcome("mysql_metadata.prepare_alone").parameters, []);
}

#[test]
fn definitions_that_mysql_leaves_out_are_not_waited_for() {
    for mode in ["mysql_metadata", "mysql_metadata_deprecate_eof"] {
        for (name, follows) in [
            ("rows", true),
            ("prepare", true),
            ("rows_alone", false),
            ("prepare_alone", false),
            ("execute_alone", false),
        ] {
            assert_eq!(outcome(&format!("{mode}.{name}")).metadata_follows, follows, "{mode}.{name}");
        }
    }
}
