//! Serves `/metrics` and `/healthz` over HTTP, to any client on this machine.

use crate::shared::Shared;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

/// The longest HTTP request that is accepted, in bytes.
const REQUEST: usize = 8 << 10;
/// How long one HTTP request and its response may take together. After that the connection is closed.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers HTTP requests for `/metrics` and `/healthz`, until the task is cancelled. Every response closes its connection.
pub async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = shared.clone();
                tokio::spawn(async move { timeout(PATIENCE, answer(stream, &shared)).await });
            }
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Reads one HTTP request and sends the response. A request that is too long, or breaks off, gets no response.
async fn answer(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if request.len() > REQUEST || stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    let (status, body) = match path(&request) {
        Some("/metrics") => ("200 OK", shared.metrics()),
        Some("/healthz") if shared.is_draining() => ("503 Service Unavailable", "draining\n".into()),
        Some("/healthz") => ("200 OK", "ok\n".into()),
        Some(_) => ("404 Not Found", "/metrics and /healthz are here\n".into()),
        None => ("405 Method Not Allowed", "only GET\n".into()),
    };
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await
}

/// Returns the path of a GET request, without the query after `?`. None for other methods, and if the first line is not UTF-8. `request`:
/// its head at least.
pub fn path(request: &[u8]) -> Option<&str> {
    let line = request.split(|&byte| byte == b'\r').next()?;
    std::str::from_utf8(line).ok()?.strip_prefix("GET ")?.split([' ', '?']).next()
}
