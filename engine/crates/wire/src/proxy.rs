//! The header by which a load balancer says for whom it connects, in front of everything that the client sends (the PROXY
//! protocol in its two versions). The server says who that is; here it only has to be passed over.

const TEXT: [u8; 4] = *b"PROX";
/// How the twelve bytes begin that mark the second version. As a packet's header, neither could be that of a hello.
const BINARY: [u8; 4] = *b"\r\n\r\n";
const BINARY_FIXED: usize = 16;

/// How many of these first bytes of a client are such a header; none while that cannot be told.
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
