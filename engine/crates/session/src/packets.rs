//! Builds packets for commands of the engine's own.

use wire::Command;

/// Returns a whole packet of the client with this command, with its header and the sequence number 0. `body` follows
/// the command byte.
pub fn command_packet(command: Command, body: &[u8]) -> Vec<u8> {
    let mut packet = Vec::with_capacity(body.len() + 5);
    let payload = [&[command as u8], body].concat();
    wire::push_packet(&mut packet, &mut 0, &payload);
    packet
}
