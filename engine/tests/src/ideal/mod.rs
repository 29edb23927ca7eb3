//! The ideal cache: a server of the MySQL protocol that answers every read with the same row, and knows neither statements nor results.
//!
//! Each connection has a thread, which receives and sends with one system call each. So a cache inside of a server with such threads cannot
//! answer faster, and a load test of this shows the limit that kernel and load generator set. Deliberately absent: accounts, TLS, prepared
//! statements, and anything that a load generator's text protocol does not need.

mod answers;
mod recorder;

pub use recorder::Recorder;

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

const HEADER: usize = 4;
const COM_QUIT: u8 = 1;
const COM_QUERY: u8 = 3;
const BUFFER_BYTES: usize = 16 << 10;

/// Serves this port of the loopback interface for ever; port 0 takes a free one. Prints the port once it listens. With a recorder, each
/// read is recorded. Returns only if it cannot accept connections.
pub fn listen(port: u16, recorder: Option<Recorder>) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    println!("listening on port {}", listener.local_addr()?.port());
    let recorder = recorder.map(Arc::new);
    loop {
        let (stream, _) = listener.accept()?;
        let recorder = recorder.clone();
        // A connection that breaks has ended like any other.
        thread::Builder::new().stack_size(128 << 10).spawn(move || _ = serve(stream, recorder.as_deref()))?;
    }
}

/// Serves one connection until it ends. Errors mean that it was cut.
fn serve(mut stream: TcpStream, recorder: Option<&Recorder>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.write_all(&answers::greeting())?;
    let mut buffer = vec![0; BUFFER_BYTES];
    receive(&mut stream, &mut buffer)?;
    send(&stream, &answers::ok(2))?;
    let (row, ok) = (answers::row(), answers::ok(1));
    loop {
        match receive(&mut stream, &mut buffer)? {
            [COM_QUIT, ..] => return recorder.map_or(Ok(()), Recorder::flush),
            [COM_QUERY, text @ ..] if is_read(text) => {
                recorder.map_or(Ok(()), |recorder| recorder.note(text))?;
                send(&stream, &row)?;
            }
            _ => send(&stream, &ok)?,
        }
    }
}

fn is_read(text: &[u8]) -> bool {
    text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case(b"SELECT"))
}

/// Waits for the next packet, and returns its payload. A client waits for each answer before it sends another packet, so the buffer never
/// holds a second one.
fn receive<'a>(stream: &mut TcpStream, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let mut length = 0;
    loop {
        match stream.read(&mut buffer[length..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            got => length += got,
        }
        let announced = HEADER + u32::from_le_bytes([buffer[0], buffer[1], buffer[2], 0]) as usize;
        if length >= HEADER && length >= announced {
            return Ok(&buffer[HEADER..announced]);
        }
    }
}

fn send(mut stream: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)
}
