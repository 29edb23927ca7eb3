//! The server that the tests start, and their client, without the plugin.

use fqc_tests::client::{Client, Login};
use fqc_tests::server::{Options, Product, Server};

#[test]
fn a_plain_server_answers_accounts_with_and_without_a_password() {
    let mut server = Server::start(Options { product: Product::MySql, ..Options::default() }).expect("a plain server");
    let mut admin = server.admin().expect("root through the socket");
    assert!(!admin.server_version.contains("MariaDB"), "{}", admin.server_version);
    admin.must("CREATE USER u@'%' IDENTIFIED BY 'secret'").unwrap();
    let login = Login::user("u", "secret");
    let mut first = Client::connect(&server.unix_endpoint(), &login).expect("the whole proof");
    assert_eq!(first.scalar("SELECT CURRENT_USER()").unwrap().as_deref(), Some("u@%"));
    let mut second = Client::connect(&server.endpoint(), &login).expect("the short proof");
    assert_eq!(second.scalar("SELECT 1").unwrap().as_deref(), Some("1"));
    assert!(second.change_user(&Login::default()).unwrap().failure().is_none());
    server.shutdown().expect("an orderly end");
}
