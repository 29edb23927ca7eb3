//! A near cache before a member of a replication group follows the log of that member, which has what all members wrote.

use crate::beside::Near;
use crate::beside::followed::{Kind, LONG, is_said, mysql, run};
use crate::beside::scene::{READ, until_served};
use fqc_tests::client::Client;
use fqc_tests::group::{self, JOIN, LEAVE, MEMBERS, Setup};
use fqc_tests::server::Server;

/// Starts a group of plain servers with the usual tables. None if there is no MySQL 9.7, or if it comes without Group Replication.
fn group_of(kind: &Kind, is_single_primary: bool) -> Option<Vec<Server>> {
    let arguments = kind.certificates.iter().flat_map(|certificates| certificates.of_server()).collect();
    let members = group::start(&Setup { is_single_primary, arguments, ..Setup::default() }).expect("a group")?;
    kind.fill(&members[0]);
    members.iter().for_each(|member| group::await_all(member).expect("the tables"));
    Some(members)
}

/// Writes `value` on one member. Checks that the near cache answers with it once another member has applied it, and serves it from then on.
fn is_heard(near: &Near, client: &mut Client, writer: &Server, member: &Server, value: usize) {
    run(&mut admin(writer), &[&format!("UPDATE d.t SET v = {value} WHERE id = 1")]);
    group::await_all(member).expect("the write");
    is_said(near, client, READ, &value.to_string());
    until_served(near, client, READ);
}

fn admin(server: &Server) -> Client {
    server.admin().expect("a connection")
}

#[test]
fn what_any_member_writes_is_heard_from_the_followed_one() {
    let Some(kind) = mysql("9.7") else { return };
    let Some(members) = group_of(&kind, false) else { return };
    let followed = &members[1];
    let near = kind.following(followed, LONG);
    let mut client = near.client();
    for round in 0..3 * MEMBERS {
        is_heard(&near, &mut client, &members[round % MEMBERS], followed, 100 + round);
    }
    // A member that has left has the past, and its near cache answers as it does. What it gets when it comes back is in its log, too.
    run(&mut admin(followed), &[LEAVE]);
    run(&mut admin(&members[0]), &["UPDATE d.t SET v = 7 WHERE id = 1"]);
    is_said(&near, &mut client, READ, "108");
    run(&mut admin(followed), &[JOIN]);
    group::await_online(followed, MEMBERS).expect("all members");
    is_said(&near, &mut client, READ, "7");
    is_heard(&near, &mut client, &members[2], followed, 8);
}

#[test]
fn the_member_that_becomes_the_primary_is_followed_further() {
    let Some(kind) = mysql("9.7") else { return };
    let Some(mut members) = group_of(&kind, true) else { return };
    let near = kind.following(&members[1], LONG);
    let mut client = near.client();
    is_heard(&near, &mut client, &members[0], &members[1], 3);
    members[0].kill9().expect("the end of the primary");
    group::await_online(&members[1], MEMBERS - 1).expect("a group without its first primary");
    is_heard(&near, &mut client, &members[1], &members[2], 4);
    // A write through the near cache itself.
    run(&mut client, &["UPDATE d.t SET v = 5 WHERE id = 1"]);
    is_said(&near, &mut client, READ, "5");
}
