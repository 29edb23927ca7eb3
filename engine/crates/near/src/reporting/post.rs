//! One request to the control plane and its answer, in as much of HTTP/1.1 as that needs.

use crate::control_plane::ControlPlane;
use crate::stream::{Stream, connect};
use near_core::one_line::one_line;
use serde_json::Value;
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The longest answer of the control plane that is accepted, in bytes.
const LONGEST: usize = 64 << 10;
/// The longest reason of a refusal that is logged, in characters.
const LONGEST_DETAIL: usize = 200;

/// Sends one report on a new connection, without a time limit. Returns the answer's JSON. Any status but 200 is an error, with the reason
/// that the control plane gives.
pub async fn post(control_plane: &ControlPlane, token: &str, body: &str) -> io::Result<Value> {
    let mut stream = connect(&control_plane.server).await?;
    if let Some(connector) = &control_plane.connector {
        stream = Box::new(connector.tls.connect(connector.name.clone(), stream).await?);
    }
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nUser-Agent: fqc-near/{}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        control_plane.path,
        control_plane.host,
        env!("CARGO_PKG_VERSION"),
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await?;
    stream.flush().await?;
    let (status, body) = answer(&mut stream).await?;
    let json: Option<Value> = serde_json::from_slice(&body).ok();
    match (status, json) {
        (200, Some(json)) => Ok(json),
        (_, json) => Err(refusal(status, json.as_ref())),
    }
}

/// Explains an answer of the control plane that is no success. `json`: the answer's JSON, if it is JSON; the reason is in its field
/// `detail`.
fn refusal(status: u16, json: Option<&Value>) -> io::Error {
    let detail = json.and_then(|json| json.get("detail")).and_then(Value::as_str).unwrap_or("no reason was given");
    io::Error::other(format!("it answers {status}: {}", one_line(detail, LONGEST_DETAIL)))
}

/// Reads one HTTP response. Returns its status and its body.
async fn answer(stream: &mut Stream) -> io::Result<(u16, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if bytes.len() > LONGEST {
            return Err(io::Error::other("its answer is too long"));
        }
        // Some servers end the connection without closing TLS. That is no error, because the answer itself says where it ends.
        let is_over = matches!(stream.read_buf(&mut bytes).await, Ok(0) | Err(_));
        if let Some(answer) = parse(&bytes, is_over) {
            return Ok(answer);
        }
        if is_over {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Parses an HTTP response. Returns its status and body; none if it is incomplete, or no response of HTTP/1. `is_over`: the connection has
/// ended, so no more bytes will come.
fn parse(bytes: &[u8], is_over: bool) -> Option<(u16, Vec<u8>)> {
    let end = find(bytes, b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let status = head.strip_prefix("HTTP/1.")?.get(2..5)?.parse().ok()?;
    let body = &bytes[end + 4..];
    let field = |wanted: &str| {
        let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        fields.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    let is_chunked = field("Transfer-Encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
    let body = match field("Content-Length").and_then(|length| length.parse().ok()) {
        _ if is_chunked => joined(body)?,
        Some(length) => body.get(..length)?.to_vec(),
        None => is_over.then(|| body.to_vec())?,
    };
    Some((status, body))
}

/// Joins the chunks of an HTTP body; none if the last chunk has not come yet, or one is malformed. `rest`: the body as it was received.
fn joined(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = find(rest, b"\r\n")?;
        let size = std::str::from_utf8(&rest[..end]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        rest = &rest[end + 2..];
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(..size)?);
        rest = rest[size..].get(2..)?;
    }
}

/// Returns the index where `wanted` first occurs in `bytes`; none if it does not occur.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|found| found == wanted)
}

#[cfg(test)]
mod tests {
    use super::parse;

    /// Parses an HTTP response, and returns its body as text.
    fn body(answer: &str, is_over: bool) -> Option<String> {
        parse(answer.as_bytes(), is_over).map(|(_, body)| String::from_utf8(body).expect("text"))
    }

    #[test]
    fn an_answer_ends_where_it_says() {
        let sized = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody";
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nbo\r\n2;x=y\r\ndy\r\n0\r\n\r\n";
        for answer in [sized, chunked] {
            assert_eq!(body(answer, false).as_deref(), Some("body"));
            // The last four bytes end the last chunk, and the parser does not need them.
            (0..answer.len() - 4).for_each(|cut| assert_eq!(body(&answer[..cut], true), None, "{cut}"));
        }
        let open = "HTTP/1.0 401 Unauthorized\r\n\r\nbody";
        assert_eq!((body(open, false), parse(open.as_bytes(), true)), (None, Some((401, b"body".to_vec()))));
    }

    #[test]
    fn what_is_no_answer_is_none() {
        let wrong = [
            "SSH-2.0\r\n\r\n",
            "HTTP/1.1\r\n\r\n",
            "HTTP/1.1 many\r\n\r\n",
            "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
            "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n\u{e9}\r\n",
        ];
        wrong.iter().for_each(|answer| assert_eq!(body(answer, true), None, "{answer}"));
    }
}
