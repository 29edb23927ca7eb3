//! The address of the control plane, the verification of its certificate, and the token that lets this program report.

use crate::options::Options;
use crate::server::{Connector, Server};
use crate::tls;
use std::fmt::{Display, Formatter};
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use tokio::task::spawn_blocking;

/// The path of reports, below the path in the option `control-plane`.
const REPORTS: &str = "/api/v1/near-caches/reports";

/// The control plane that this program reports to, as configured.
pub struct ControlPlane {
    /// The host and port of the control plane, to connect to.
    pub server: Server,
    /// The value of the header `Host` in requests: the host as in the option, with its port if one was given.
    pub host: String,
    /// The path of the URL that reports are posted to.
    pub path: String,
    /// TLS to the control plane; none for plain HTTP, which is only allowed on this machine.
    pub connector: Option<Connector>,
    token_file: PathBuf,
}

impl ControlPlane {
    /// Reads the options of the control plane. None if `control-plane` is not set. An error if one of them is invalid. The token's file is
    /// not read yet.
    pub fn of(options: &Options) -> Result<Option<ControlPlane>, String> {
        let (url, token_file) = (options.text("control-plane"), options.text("control-plane-token-file"));
        if url.is_empty() {
            let others = ["control-plane-token-file", "control-plane-ca"];
            return match others.into_iter().find(|name| !options.text(name).is_empty()) {
                Some(name) => Err(format!("{name}: needs control-plane")),
                None => Ok(None),
            };
        }
        if token_file.is_empty() {
            return Err(options.error("control-plane", "needs control-plane-token-file"));
        }
        let (is_secure, host, server, path) = options.value("control-plane", url_parts)?;
        let connector = if is_secure { Some(connector(options, &server)?) } else { None };
        let path = format!("{path}{REPORTS}");
        Ok(Some(ControlPlane { server, host, path, connector, token_file: token_file.into() }))
    }

    /// Reads the token that lets this program report from its file, at each call. Spaces and line breaks around it are removed. An error if
    /// the file cannot be read, or is empty or has more than one word.
    pub async fn token(&self) -> io::Result<String> {
        let wrong = |error| io::Error::other(format!("no token in {}: {error}", self.token_file.display()));
        let file = self.token_file.clone();
        let text = spawn_blocking(move || std::fs::read_to_string(file)).await?.map_err(wrong)?;
        let token = text.trim();
        let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        is_token.then(|| token.to_owned()).ok_or_else(|| wrong(io::Error::other("it is not one line")))
    }
}

impl Display for ControlPlane {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.connector.is_some() { "https" } else { "http" };
        write!(formatter, "{scheme}://{}{}", self.host, self.path.trim_end_matches(REPORTS))
    }
}

/// Splits the URL of the control plane. Returns true if it uses TLS, the value of the header `Host`, the server to connect to, and the path
/// that the API's paths are below, without a slash at the end. An error if the URL is malformed, or has plain HTTP to another machine,
/// since the token would be readable.
fn url_parts(url: &str) -> Result<(bool, String, Server, String), String> {
    let (scheme, rest) = url.split_once("://").ok_or("must be an address such as https://fqc.internal")?;
    let (is_secure, usual_port) = match scheme {
        "https" => (true, 443),
        "http" => (false, 80),
        _ => return Err("must begin with https://".into()),
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let is_plain = rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"@?#".contains(&byte));
    if authority.is_empty() || !is_plain {
        return Err("must be SCHEME://HOST:PORT, with a path if there is one, and nothing else".into());
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().map_err(|_| format!("`{port}` is no port"))?),
        _ => (authority, usual_port),
    };
    let name = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if !is_secure && !is_here(name) {
        return Err(
            "must begin with https://, unless it is on this machine: the token must not be read on its way".into()
        );
    }
    let server = Server::Tcp { host: name.into(), port };
    Ok((is_secure, authority.into(), server, path.trim_end_matches('/').into()))
}

/// Returns true if a host is this machine: `localhost`, or a loopback address.
fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Makes the TLS to the control plane, whose certificate must be for its host.
fn connector(options: &Options, server: &Server) -> Result<Connector, String> {
    let tls = match options.text("control-plane-ca") {
        "" => tls::system_connector("control-plane-ca").map_err(|error| options.error("control-plane", error))?,
        _ => options.value("control-plane-ca", |file| tls::connector(file, true))?,
    };
    let name = tls::name(server.host()).map_err(|error| options.error("control-plane", error))?;
    Ok(Connector { tls, name })
}

#[cfg(test)]
mod tests {
    use super::url_parts;

    /// Returns what [`url_parts`] returns, as one text with spaces between the parts.
    fn read(url: &str) -> Result<String, String> {
        url_parts(url).map(|(is_secure, host, server, path)| format!("{is_secure} {host} {server} {path}"))
    }

    #[test]
    fn addresses_are_read_in_every_form() {
        assert_eq!(read("https://fqc.internal").as_deref(), Ok("true fqc.internal fqc.internal:443 "));
        assert_eq!(
            read("https://fqc.internal:8443/fqc/").as_deref(),
            Ok("true fqc.internal:8443 fqc.internal:8443 /fqc")
        );
        assert_eq!(read("http://[::1]:8000").as_deref(), Ok("false [::1]:8000 [::1]:8000 "));
        assert_eq!(read("https://[fd00::1]").as_deref(), Ok("true [fd00::1] [fd00::1]:443 "));
        assert_eq!(read("http://127.0.0.1:8000/").as_deref(), Ok("false 127.0.0.1:8000 127.0.0.1:8000 "));
    }

    #[test]
    fn what_would_show_the_token_or_is_no_address_is_refused() {
        let wrong = [
            "fqc.internal",
            "ftp://fqc.internal",
            "http://fqc.internal",
            "http://10.0.0.1:8000",
            "https://",
            "https:///x",
            "https://me:secret@fqc.internal",
            "https://fqc.internal/?a=1",
            "https://fqc.internal:many",
            "https://a b",
            "https://fqc.internal\r\nX: y",
        ];
        for url in wrong {
            assert!(read(url).is_err(), "{url}");
        }
    }
}
