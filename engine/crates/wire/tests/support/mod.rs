//! The fixtures, and random choices that are the same on every run.
#![allow(dead_code)] // each test file uses its part

/// Bytes that a real server or client sent.
pub struct Captured {
    /// The name of the fixture.
    pub name: &'static str,
    /// The kind of the fixture, for example the command that a response answers.
    pub what: &'static str,
    /// The capabilities that client and server had agreed on.
    pub capabilities: u64,
    /// The bytes, cut where the server waited for the client.
    pub pieces: Vec<Vec<u8>>,
}

impl Captured {
    pub fn bytes(&self) -> Vec<u8> {
        self.pieces.concat()
    }
}

/// Returns all captured responses of servers.
pub fn responses() -> Vec<Captured> {
    let texts = [include_str!("../fixtures/responses.txt"), include_str!("../fixtures/mysql.txt")];
    texts.into_iter().flat_map(parse).collect()
}

pub fn clients() -> Vec<Captured> {
    parse(include_str!("../fixtures/clients.txt"))
}

/// Returns the captured response with this name. Panics if there is none.
pub fn response(name: &str) -> Captured {
    responses().into_iter().find(|captured| captured.name == name).unwrap_or_else(|| panic!("no fixture {name}"))
}

fn parse(text: &'static str) -> Vec<Captured> {
    let captured = |line: &'static str| {
        let [name, what, capabilities, hex] = line.split(' ').collect::<Vec<_>>().try_into().expect("four fields");
        let capabilities = u64::from_str_radix(capabilities, 16).expect("hexadecimal capabilities");
        Captured { name, what, capabilities, pieces: hex.split('/').map(unhex).collect() }
    };
    text.lines().map(captured).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect()
}

/// A small deterministic random generator (SplitMix64). The field is its state.
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `limit`, which must not be 0.
    pub fn next(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ bits >> 31) % limit as u64) as usize
    }
}
