//! The PROXY protocol, versions 1 and 2: a header that a load balancer sends before the client's first byte, to say which client it
//! connects for. The server interprets a header that arrives and reports the client's address. So only the header's length matters here.

use std::net::{IpAddr, SocketAddr};

const TEXT: [u8; 4] = *b"PROX";
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// The beginning of the second version's signature. A hello cannot begin with these bytes or with [`TEXT`]: as a packet header they would
/// have another sequence number.
const BINARY: [u8; 4] = *b"\r\n\r\n";
const BINARY_FIXED: usize = 16;

/// The version of the PROXY protocol: 1 is text, 2 is binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Text,
    Binary,
}

/// Returns the length of the PROXY header that a connection's first bytes begin with; 0 if they begin with none. The header itself need not
/// be complete if its length can be read. None if there are too few bytes to tell: call it again with more.
pub fn header_length(bytes: &[u8]) -> Option<usize> {
    match *bytes.first_chunk()? {
        TEXT => bytes.iter().position(|&byte| byte == b'\n').map(|end| end + 1),
        BINARY => {
            let &[.., high, low] = bytes.first_chunk::<BINARY_FIXED>()?;
            Some(BINARY_FIXED + usize::from(u16::from_be_bytes([high, low])))
        }
        _ => Some(0),
    }
}

/// Returns the PROXY header for a connection to a server on behalf of a client: it states the client's address, and the address of the
/// listener that the client has connected to. For `None`, or addresses of different families, the header says that nothing is known, and
/// the server uses the connection's own address.
pub fn header(version: Version, client_and_listener: Option<(SocketAddr, SocketAddr)>) -> Vec<u8> {
    let pair = client_and_listener.map(|(client, listener)| {
        (client.ip().to_canonical(), client.port(), listener.ip().to_canonical(), listener.port())
    });
    match version {
        Version::Text => text_header(pair),
        Version::Binary => binary_header(pair),
    }
}

type Pair = (IpAddr, u16, IpAddr, u16);

fn text_header(pair: Option<Pair>) -> Vec<u8> {
    let family = match pair {
        Some((IpAddr::V4(_), _, IpAddr::V4(_), _)) => "TCP4",
        Some((IpAddr::V6(_), _, IpAddr::V6(_), _)) => "TCP6",
        _ => return b"PROXY UNKNOWN\r\n".to_vec(),
    };
    let addresses = pair.map(|(from, from_port, to, to_port)| format!("{from} {to} {from_port} {to_port}"));
    format!("PROXY {family} {}\r\n", addresses.unwrap_or_default()).into_bytes()
}

fn binary_header(pair: Option<Pair>) -> Vec<u8> {
    const LOCAL: u8 = 0x20;
    const PROXIED: u8 = 0x21;
    let (family, addresses, ports) = match pair {
        Some((IpAddr::V4(from), from_port, IpAddr::V4(to), to_port)) => {
            (0x11, [from.octets(), to.octets()].concat(), [from_port, to_port])
        }
        Some((IpAddr::V6(from), from_port, IpAddr::V6(to), to_port)) => {
            (0x21, [from.octets(), to.octets()].concat(), [from_port, to_port])
        }
        _ => return [&SIGNATURE[..], &[LOCAL, 0, 0, 0]].concat(),
    };
    let ports = ports.map(u16::to_be_bytes).concat();
    let length = (addresses.len() + ports.len()) as u16;
    [&SIGNATURE[..], &[PROXIED, family], &length.to_be_bytes(), &addresses, &ports].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(from: &str, to: &str) -> Option<(SocketAddr, SocketAddr)> {
        Some((from.parse().unwrap(), to.parse().unwrap()))
    }

    #[test]
    fn a_header_says_both_addresses_where_they_are_of_one_family() {
        let v4 = pair("10.0.0.7:40000", "127.0.0.1:3307");
        let v6 = pair("[fd00::7]:40000", "[::1]:3307");
        assert_eq!(header(Version::Text, v4), b"PROXY TCP4 10.0.0.7 127.0.0.1 40000 3307\r\n");
        assert_eq!(header(Version::Text, v6), b"PROXY TCP6 fd00::7 ::1 40000 3307\r\n");
        let binary = header(Version::Binary, v4);
        assert_eq!(binary[12..], [0x21, 0x11, 0, 12, 10, 0, 0, 7, 127, 0, 0, 1, 0x9c, 0x40, 0x0c, 0xeb]);
        assert_eq!(header(Version::Binary, v6).len(), 16 + 36);
    }

    #[test]
    fn a_mapped_address_is_the_one_that_it_stands_for() {
        let mapped = pair("[::ffff:10.0.0.7]:40000", "[::ffff:127.0.0.1]:3307");
        assert_eq!(header(Version::Text, mapped), header(Version::Text, pair("10.0.0.7:40000", "127.0.0.1:3307")));
    }

    #[test]
    fn a_header_says_when_nothing_is_known() {
        for unknown in [None, pair("10.0.0.7:40000", "[::1]:3307")] {
            assert_eq!(header(Version::Text, unknown), b"PROXY UNKNOWN\r\n");
            assert_eq!(header(Version::Binary, unknown), b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0");
        }
    }

    #[test]
    fn the_length_of_a_header_is_found_in_its_bytes() {
        for version in [Version::Text, Version::Binary] {
            for addresses in [None, pair("10.0.0.7:40000", "127.0.0.1:3307")] {
                let mut bytes = header(version, addresses);
                let length = bytes.len();
                bytes.extend_from_slice(b"hello");
                assert_eq!(header_length(&bytes), Some(length));
            }
        }
    }
}
