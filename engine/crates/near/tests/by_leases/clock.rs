//! The wall clocks of a server and of its near cache are changed all the time. Leases must not depend on them.

use crate::beside::scene::{READ, ask, prepare, said, until_served};
use crate::beside::{Folder, near_in, plugin, stepping, wait_until};
use fqc_tests::client::{Client, command};
use fqc_tests::server::{Options, Server};

#[test]
fn steps_of_the_clock_make_nothing_outdated_and_end_no_lease() {
    let folder = Folder::fresh();
    let (environment, password) = ([stepping(&folder, &[])], folder.write("password", "secret\n"));
    let options = Options { plugin: Some(plugin()), environment: environment.to_vec(), ..Options::default() };
    let server = Server::start(options).expect("a server with the plugin");
    prepare(&server);
    let address = format!("127.0.0.1:{}", server.port());
    let near = near_in(&environment, &["--server", &address, "--feed-user", "feed", "--feed-password-file", &password]);
    let (mut client, mut direct) = (near.client(), Client::root(&server.endpoint()).expect("a connection"));
    wait_until("a step back", || ask(&mut direct, "SELECT SYSDATE(6)") > ask(&mut direct, "SELECT SYSDATE(6)"));
    for value in 10..60 {
        until_served(&near, &mut client, READ);
        let is_stopped = value % 5 == 0;
        if is_stopped {
            near.signal(libc::SIGSTOP);
        }
        direct.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).expect("it is written");
        client.send(command::QUERY, READ.as_bytes()).expect("it is sent");
        if is_stopped {
            near.signal(libc::SIGCONT);
        }
        assert_eq!(said(&client.read_response().expect("an answer")), value.to_string());
    }
}
