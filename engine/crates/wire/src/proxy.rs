//! The PROXY protocol, versions 1 and 2: a header that a load balancer sends before the client's first byte, to say whose
//! connection it is. The server reads it and tells the result; here its length is all that matters.

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
