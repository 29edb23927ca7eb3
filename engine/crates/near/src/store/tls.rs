//! TLS to the servers of a store, and error messages that help an operator to fix a server that does not answer.

use crate::stream::Stream;
use crate::tls;
use near_core::one_line::{LONGEST_LINE, one_line};
use rustls::{AlertDescription, CertificateError, Error};
use std::io;
use std::time::Duration;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// The longest time that a TLS handshake may take.
const LONGEST: Duration = Duration::from_secs(1);
/// How many of a certificate's names an error message lists.
const NAMES: usize = 5;

/// The configured TLS to the servers of a store. Two are equal if their options are, whatever is in the files that these name.
#[derive(Clone)]
pub struct Tls {
    pub connector: TlsConnector,
    /// The values of the options that the connector was made from: `store-tls`, `store-ca` and `store-tls-name`. They decide whether two
    /// are equal.
    pub options_used: [String; 3],
    /// The name that the certificates of all servers must be for. None: each certificate must be for the host of its server.
    pub name: Option<String>,
}

impl PartialEq for Tls {
    fn eq(&self, other: &Tls) -> bool {
        self.options_used == other.options_used
    }
}

impl Eq for Tls {}

impl Tls {
    /// Does the TLS handshake with the server `host` on a new connection. Takes a second at most. The error explains what an operator
    /// should check.
    pub async fn handshake(&self, stream: Stream, host: &str) -> io::Result<Stream> {
        let name = tls::name(self.name.as_deref().unwrap_or(host)).map_err(io::Error::other)?;
        match timeout(LONGEST, self.connector.connect(name, stream)).await {
            Ok(Ok(stream)) => Ok(Box::new(stream)),
            Ok(Err(error)) if is_end(&error) => {
                Err(io::Error::other("it ends the connection where TLS should begin: is this its port for TLS?"))
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(handshake_timeout()),
        }
    }
}

/// Returns the error for a TLS handshake that takes too long.
pub fn handshake_timeout() -> io::Error {
    io::Error::other("TLS with it does not begin in time: is this its port for TLS?")
}

/// Explains the error of a connection that has ended before the first answer: the server may expect TLS, or a certificate. Returns other
/// errors unchanged. `has_tls`: TLS is used.
pub fn explain_no_answer(error: io::Error, has_tls: bool) -> io::Error {
    match (is_end(&error), has_tls) {
        (false, _) => error,
        (true, false) => io::Error::other("it ends the connection without an answer: does it want TLS (store-tls)?"),
        (true, true) => io::Error::other(
            "it ends the connection without an answer: does it demand certificates of its clients (tls-auth-clients)?",
        ),
    }
}

/// Returns true if the error says that the other side has ended the connection.
fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}

/// Returns an error about a server in one line, for logs and metrics, with a hint what to check where the cause is known.
pub fn explain_in_one_line(error: &io::Error) -> String {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    let words = match of_tls {
        Some(error) => explain(error),
        None if error.kind() == io::ErrorKind::TimedOut => "nothing comes from it within store-timeout-ms".into(),
        None => error.to_string(),
    };
    one_line(&words, LONGEST_LINE)
}

/// Explains an error of TLS to an operator.
fn explain(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(error) => explain_certificate(error),
        Error::InvalidMessage(_) => "it does not speak TLS: is this its port for TLS?".into(),
        Error::AlertReceived(AlertDescription::CertificateRequired | AlertDescription::HandshakeFailure) => {
            "it refuses TLS with fqc-near, which has no certificate: does it demand certificates of its clients (tls-auth-clients)?"
                .into()
        }
        error => format!("no TLS with it: {error}"),
    }
}

/// Explains what is wrong with the server's certificate.
fn explain_certificate(error: &CertificateError) -> String {
    use CertificateError::{
        BadSignature, Expired, ExpiredContext, NotValidForNameContext, NotValidYet, NotValidYetContext, Other,
        UnknownIssuer,
    };
    match error {
        // BadSignature: an authority of the same name, but with another key, has signed it.
        UnknownIssuer | BadSignature => {
            "its certificate comes from no authority that is trusted here (store-ca)".into()
        }
        Expired | ExpiredContext { .. } => "its certificate has expired".into(),
        NotValidYet | NotValidYetContext { .. } => "its certificate is not valid yet, by this machine's clock".into(),
        NotValidForNameContext { expected, presented } => {
            let names: Vec<_> = presented.iter().take(NAMES).map(|name| plain(name)).collect();
            format!("its certificate is not for {}, but for {} (store-tls-name)", expected.to_str(), names.join(", "))
        }
        Other(error) if error.to_string() == "CaUsedAsEndEntity" => {
            "its certificate is an authority's own (CA:TRUE): give it one that the authority has made for it".into()
        }
        error => format!("its certificate is not valid: {error}"),
    }
}

/// Returns the host name that a certificate is for; the library gives it as `DnsName("db.internal")`.
fn plain(name: &str) -> &str {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_store_says_is_one_line_of_text() {
        let options_used = io::Error::other(format!("ERR \u{1b}[2Jno\nway {}", "x".repeat(5000)));
        let told = explain_in_one_line(&options_used);
        assert!(told.starts_with("ERR [2Jno way x"), "{told}");
        assert_eq!(told.len(), LONGEST_LINE);
    }
}
