//! A proxy with an intended fault: now and then it answers a statement with the answer that the same bytes got before, whatever was written
//! since. A tester that does not notice that is worthless.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use fqc_tests::client::{Endpoint, command};

/// The server's answers by statement, over all connections of the proxy. They are dropped with the last connection, so that a repeated
/// history meets the same fault.
#[derive(Default)]
struct Answers {
    known: HashMap<Vec<u8>, Vec<u8>>,
    connections: usize,
}

type Memory = Arc<Mutex<Answers>>;

/// Which statements the proxy answers from its own memory, even if the answer is stale. The others reach the server.
#[derive(Clone, Copy)]
pub struct Fault {
    /// Every command whose number on its connection is a multiple of this may be answered from memory. None is if it is 0.
    pub rate: usize,
    /// The first bytes of the statements that may be answered from memory.
    pub begins: &'static [u8],
}

/// The fault that answers one in `rate` commands from memory, if it is a SELECT; none if `rate` is 0.
pub fn one_in(rate: usize) -> Fault {
    Fault { rate, begins: b"SELECT" }
}

/// Starts a proxy to this TCP endpoint, which listens as long as the process runs. Returns the proxy's own endpoint.
pub fn start(target: Endpoint, fault: Fault) -> Endpoint {
    let Endpoint::Tcp(port) = target else { panic!("the proxy connects over TCP") };
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let own = listener.local_addr().expect("a bound address").port();
    let memory = Memory::default();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let memory = memory.clone();
            memory.lock().unwrap().connections += 1;
            // The end of a connection closes it on both sides.
            thread::spawn(move || serve(client, port, &memory, fault));
        }
    });
    Endpoint::Tcp(own)
}

fn serve(mut client: TcpStream, port: u16, memory: &Memory, fault: Fault) -> io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", port))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let answered = Arc::new(Mutex::new(Vec::new()));
    let (source, sink, record) = (server.try_clone()?, client.try_clone()?, answered.clone());
    thread::spawn(move || forward_answers(source, sink, &record));
    let outcome = forward_commands(&mut client, &mut server, memory, fault, &answered);
    leave(&mut memory.lock().unwrap());
    let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
    outcome
}

fn leave(answers: &mut Answers) {
    answers.connections -= 1;
    if answers.connections == 0 {
        answers.known.clear();
    }
}

fn forward_answers(mut server: TcpStream, mut client: TcpStream, record: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 16 * 1024];
    while let Ok(count @ 1..) = server.read(&mut chunk) {
        record.lock().unwrap().extend_from_slice(&chunk[..count]);
        if client.write_all(&chunk[..count]).is_err() {
            break;
        }
    }
    let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
}

/// Forwards commands. When the next command arrives, the answer to the one before is complete, and can be remembered.
fn forward_commands(
    client: &mut TcpStream,
    server: &mut TcpStream,
    memory: &Memory,
    Fault { rate, begins }: Fault,
    answered: &Mutex<Vec<u8>>,
) -> io::Result<()> {
    let mut pending: Option<Vec<u8>> = None;
    for turn in 1.. {
        let packet = read_packet(client)?;
        let answer = std::mem::take(&mut *answered.lock().unwrap());
        if let Some(statement) = pending.take() {
            memory.lock().unwrap().known.entry(statement).or_insert(answer);
        }
        let is_query = packet[3] == 0 && packet.get(4) == Some(&command::QUERY);
        if !is_query || !packet[5..].starts_with(begins) {
            server.write_all(&packet)?;
            continue;
        }
        let known = memory.lock().unwrap().known.get(&packet).cloned();
        match known {
            Some(stale) if rate > 0 && turn % rate == 0 => client.write_all(&stale)?,
            _ => {
                pending = Some(packet.clone());
                server.write_all(&packet)?;
            }
        }
    }
    Ok(())
}

fn read_packet(from: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; 4];
    from.read_exact(&mut packet)?;
    let length = u32::from_le_bytes([packet[0], packet[1], packet[2], 0]) as usize;
    packet.resize(4 + length, 0);
    from.read_exact(&mut packet[4..])?;
    Ok(packet)
}
